//! `evaluator sprt` and `evaluator gate`: sequential tests.

use config::{ModelRef, PlayerRef};
use ratings::sprt::Sprt;
use runtime::{Stop, drive, within};

use super::matches::even;
use super::{arena, run_of_any};
use crate::comparison::Test;
use crate::driver::Schedule;
use crate::gate::Gate;
use crate::{Arena, Bar, Matches};

/// Elo that players may differ by in a question.
const MOST_ELO: f64 = 10_000.0;

/// Games after which a test without a verdict ends, if nothing else is said: twice what one of 10 Elo is expected to
/// take at its worst.
const MOST_GAMES: &str = "20000";

/// Arguments of `evaluator sprt`.
#[derive(clap::Args, Debug)]
pub(super) struct SprtArgs {
    /// The player whose lead is tested, as --pair takes it
    #[arg(value_name = "A")]
    first: PlayerRef,
    /// The other player
    #[arg(value_name = "B")]
    second: PlayerRef,
    /// The lead, in Elo, that is not worth having
    #[arg(long, value_name = "ELO0", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo0: f64,
    /// The lead, in Elo, that is to be found
    #[arg(long, value_name = "ELO1", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo1: f64,
    #[command(flatten)]
    errors: ErrorArgs,
}

/// Arguments of `evaluator gate`.
#[derive(clap::Args, Debug)]
pub(super) struct GateArgs {
    /// The model, newer than the champion: v15-330, or v15 for the newest of run v15
    model: ModelRef,
    /// The lead, in Elo, that is not worth having
    #[arg(long, default_value = "0", value_name = "ELO0", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo0: f64,
    /// The lead, in Elo, for which a new champion is worth having
    #[arg(long, default_value = "35", value_name = "ELO1", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo1: f64,
    #[command(flatten)]
    errors: ErrorArgs,
    /// Let retired models be tested
    #[arg(long)]
    include_retired: bool,
}

/// How sure a test is, and how long it takes.
#[derive(clap::Args, Debug)]
struct ErrorArgs {
    /// The share of tests that may find for ELO1 where ELO0 is true
    #[arg(long, default_value = "0.05", value_name = "SHARE", allow_negative_numbers = true, value_parser = within(1e-9..=0.499))]
    alpha: f64,
    /// The share of tests that may find for ELO0 where ELO1 is true
    #[arg(long, default_value = "0.05", value_name = "SHARE", allow_negative_numbers = true, value_parser = within(1e-9..=0.499))]
    beta: f64,
    /// Games after which a test without a verdict ends, earlier ones included; an even number
    #[arg(long, default_value = MOST_GAMES, value_name = "N", allow_negative_numbers = true, value_parser = even)]
    games: u64,
}

pub(super) fn sprt(args: &super::Args, sprt: &SprtArgs, stop: &Stop) -> anyhow::Result<()> {
    let SprtArgs { first, second, elo0, elo1, errors } = sprt;
    let test = Sprt::new(*elo0, *elo1, errors.alpha, errors.beta)?;
    let place = args.place()?;
    let rated = args.rated(run_of_any([first, second]), stop)?;
    let players = [rated.resolve(first)?, rated.resolve(second)?];
    decide(arena(rated, place)?, Test::new(players, test, errors.games), stop)
}

pub(super) fn gate(args: &super::Args, gate: &GateArgs, stop: &Stop) -> anyhow::Result<()> {
    let GateArgs { model, elo0, elo1, errors, include_retired } = gate;
    let test = Sprt::new(*elo0, *elo1, errors.alpha, errors.beta)?;
    let place = args.place()?;
    let mut rated = args.rated(model.run(), stop)?;
    if *include_retired {
        rated = rated.including_retired();
    }
    let candidate = rated.models().resolve(model)?;
    let gate = Gate::new(&rated, &candidate, test, errors.games)?;
    decide(arena(rated, place)?, gate, stop)
}

/// Plays until the verdict, and prints it.
fn decide(arena: Arena, schedule: impl Schedule, stop: &Stop) -> anyhow::Result<()> {
    let mut matches = Matches::new(arena, schedule, Bar::default(), stop);
    drive(&mut matches, stop)?;
    matches.conclusion()?.iter().try_for_each(runtime::print)
}
