//! `evaluator sprt` and `evaluator gate`: sequential tests.

use config::{ModelRef, PlayerRef};
use ratings::sprt::Sprt;
use runtime::{Stop, drive, within};

use super::args::{CommonArgs, arena, run_of_any};
use super::matches::even;
use crate::comparison::SequentialTest;
use crate::driver::Schedule;
use crate::gate::Gate;
use crate::rate::MOST_ELO;
use crate::{Arena, Console, Matches};

/// Games of a test without a verdict, at most, by default.
const MOST_GAMES: u64 = 20_000;

/// Arguments of `evaluator sprt`.
#[derive(clap::Args, Debug)]
pub(super) struct SprtArgs {
    /// Player whose lead is tested, in the form of --pair
    #[arg(value_name = "A", value_parser = models::player_with_id)]
    first: PlayerRef,
    /// Opponent
    #[arg(value_name = "B", value_parser = models::player_with_id)]
    second: PlayerRef,
    /// Null hypothesis: lead in Elo
    #[arg(long, value_name = "ELO0", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo0: f64,
    /// Alternative hypothesis: lead in Elo
    #[arg(long, value_name = "ELO1", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo1: f64,
    #[command(flatten)]
    errors: ErrorArgs,
}

/// Arguments of `evaluator gate`.
#[derive(clap::Args, Debug)]
pub(super) struct GateArgs {
    /// Model, newer than the champion: v15-330, or v15 for the newest of run v15
    #[arg(value_parser = models::model_with_id)]
    model: ModelRef,
    /// Null hypothesis: lead in Elo
    #[arg(long, default_value = "0", value_name = "ELO0", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo0: f64,
    /// Alternative hypothesis: lead in Elo
    #[arg(long, default_value = "35", value_name = "ELO1", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo1: f64,
    #[command(flatten)]
    errors: ErrorArgs,
    /// Allow retired models
    #[arg(long)]
    include_retired: bool,
}

/// How sure a test is, and how long it takes.
#[derive(clap::Args, Debug)]
struct ErrorArgs {
    /// Error probability if ELO0 is true (type I)
    #[arg(long, default_value = "0.05", value_name = "SHARE", allow_negative_numbers = true, value_parser = within(1e-9..=0.499))]
    alpha: f64,
    /// Error probability if ELO1 is true (type II)
    #[arg(long, default_value = "0.05", value_name = "SHARE", allow_negative_numbers = true, value_parser = within(1e-9..=0.499))]
    beta: f64,
    /// Maximum games without a verdict, earlier ones included; even
    #[arg(long, default_value_t = MOST_GAMES, value_name = "N", allow_negative_numbers = true, value_parser = even)]
    games: u64,
}

pub(super) fn sprt(args: &CommonArgs, sprt: &SprtArgs, stop: &Stop) -> anyhow::Result<()> {
    let SprtArgs { first, second, elo0, elo1, errors } = sprt;
    let test = Sprt::new(*elo0, *elo1, errors.alpha, errors.beta)?;
    let resources = args.resources(stop)?;
    let rated = args.rated(run_of_any([first, second]), stop)?;
    let players = [rated.resolve(first)?, rated.resolve(second)?];
    decide(arena(rated, resources, stop)?, SequentialTest::new(players, test, errors.games), stop)
}

pub(super) fn gate(args: &CommonArgs, gate: &GateArgs, stop: &Stop) -> anyhow::Result<()> {
    let GateArgs { model, elo0, elo1, errors, include_retired } = gate;
    let test = Sprt::new(*elo0, *elo1, errors.alpha, errors.beta)?;
    let resources = args.resources(stop)?;
    let mut rated = args.rated(model.run(), stop)?;
    if *include_retired {
        rated = rated.including_retired();
    }
    let candidate = rated.models().resolve(model)?;
    let gate = Gate::new(&rated, &candidate, test, errors.games)?;
    decide(arena(rated, resources, stop)?, gate, stop)
}

/// Plays until the verdict, and prints it.
fn decide(arena: Arena, schedule: impl Schedule, stop: &Stop) -> anyhow::Result<()> {
    let mut matches = Matches::new(arena, schedule, Console::new(stop.health().clone()), stop);
    drive(&mut matches, stop)?;
    matches.conclusion()?.iter().try_for_each(runtime::print)
}
