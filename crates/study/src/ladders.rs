//! `tengen study ladders`: whether a search plays ladders that work and leaves those that do not.
//!
//! The suite is made by code and judged by an exact reader: a pattern that begins a ladder, somewhere near a corner,
//! and stones of the hunted side elsewhere that may or may not break it. In half of the positions it is the hunter's
//! turn, in half that of the hunted; in half of each the ladder works.

mod reader;
mod suite;

use std::fmt;

use config::{QInit, RunConfig};
use go::{Game, MAX_SIDE, Size};
use mcts::{Purpose, Settings};
use models::{ModelSource, Models, Searcher};
use play::Budget;
use record::statistics::wilson;
use runtime::{Classify, Stop};
use serde::Serialize;

use crate::batched_search::BatchedSearch;
use crate::model::ModelArgs;
use suite::{Kind, Ladder};

/// Compared settings: rules for first visits, and leaves of one position that wait together.
const Q_INITS: [QInit; 3] = [QInit::LOSS, QInit::PARENT, QInit::Zero];
const LEAVES: [usize; 3] = [1, 2, 8];

/// Keys that these and `--visits` set.
const OWN: [&str; 3] = ["search.q_init", "search.leaves", "search.visits"];

/// Arguments of `tengen study ladders`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    of: ModelArgs,
    /// Visits per position
    #[arg(long, default_value = "400", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=mcts::MOST_VISITS))]
    visits: u32,
    /// Positions of each of the four kinds per board
    #[arg(long, default_value = "50", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=100_000_usize))]
    positions: usize,
    /// Board size; may be repeated [default: the model's, or 9, 13 and 19]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(Size::MIN.side()..=MAX_SIDE))]
    size: Vec<usize>,
    /// Print the positions instead of searching them
    #[arg(long, conflicts_with = "json")]
    show: bool,
}

/// How often one way of searching was right on one board.
#[derive(Serialize)]
struct Row {
    model: String,
    board: usize,
    visits: u32,
    q_init: String,
    leaves: usize,
    /// Of every kind of position, and of all together.
    rates: Vec<Success>,
}

/// Right moves, with the 95 % interval of their share.
#[derive(Serialize)]
struct Success {
    kind: &'static str,
    right: usize,
    positions: usize,
    share: f64,
    low: f64,
    high: f64,
}

impl Success {
    fn new(kind: &'static str, right: usize, positions: usize) -> Success {
        let (low, high) = wilson(right, positions);
        Success { kind, right, positions, share: right as f64 / positions.max(1) as f64, low, high }
    }
}

impl fmt::Display for Success {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| 100.0 * share;
        let text = format!("{:.0} ({:.0}–{:.0})", percent(self.share), percent(self.low), percent(self.high));
        write!(f, "{text:>14}")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>5} {:>6} {:>6} {:>6}", self.board, self.visits, self.q_init, self.leaves)?;
        self.rates.iter().try_for_each(|rate| write!(f, " {rate}"))
    }
}

/// Plays the suite with a model and prints how often it was right.
///
/// # Errors
/// A model or a configuration that cannot be used, or a device that fails.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let (models, model) = args.of.find(store)?;
    let own = args.of.own_configuration(&models, &model)?.game.size;
    let sizes = match &args.size[..] {
        [] if model.is_built_in() => vec![9, 13, 19],
        [] => vec![own],
        sizes => sizes.to_vec(),
    };
    if args.show {
        return sizes.iter().try_for_each(|&side| suite(side, args.positions)?.iter().try_for_each(runtime::print));
    }
    // The error that opens no model of another board advises to name another run.
    if let Some(side) = sizes.iter().find(|&&side| side != own).filter(|_| !model.is_built_in()) {
        let problem = format!("--size is {side}, and {model} plays on {own}x{own} boards; leave out --size");
        return Err(anyhow::anyhow!(problem)).misconfigured();
    }
    // A board that is too small is an error before hours of search on another.
    let boards: Vec<Board<'_>> =
        sizes.into_iter().map(|side| Board::open(&models, args, &model, side)).collect::<anyhow::Result<_>>()?;
    if !args.of.json {
        print_head(args, &model)?;
    }
    boards.iter().try_for_each(|board| board.play(stop))
}

fn print_head(args: &Args, model: &ModelSource) -> anyhow::Result<()> {
    runtime::print(format!(
        "Right moves of {model} in %, with 95 % intervals; {} positions of each kind",
        args.positions
    ))?;
    let kinds: String = Kind::ALL.iter().map(|kind| format!(" {:>14}", kind.name())).collect();
    runtime::print(format!("board visits q_init leaves{kinds} {:>14}", "all"))
}

/// The suite of one board, and who plays it.
struct Board<'a> {
    args: &'a Args,
    config: RunConfig,
    player: Searcher,
    ladders: Vec<Ladder>,
    games: Vec<Game>,
}

impl<'a> Board<'a> {
    fn open(models: &Models, args: &'a Args, model: &ModelSource, side: usize) -> anyhow::Result<Board<'a>> {
        let given = [format!("game.size={side}"), "search.algorithm=puct".to_owned()];
        let config = args.of.configuration(models, model, &given, &OWN)?;
        let player = args.of.open(models, &config, model)?;
        let ladders = suite(side, args.positions)?;
        let games = ladders.iter().map(|ladder| ladder.game.clone()).collect();
        Ok(Board { args, config, player, ladders, games })
    }

    /// First with a single visit, which is to say by the policy alone.
    fn play(&self, stop: &Stop) -> anyhow::Result<()> {
        let rows = Q_INITS.into_iter().flat_map(|q_init| LEAVES.map(|leaves| (q_init, leaves, self.args.visits)));
        for (q_init, leaves, visits) in [(QInit::PARENT, 1, 1)].into_iter().chain(rows) {
            if stop.requested() {
                break;
            }
            let Some(row) = self.row(q_init, Budget { visits, leaves }, stop)? else { break };
            if self.args.of.json { runtime::print(serde_json::to_string(&row)?)? } else { runtime::print(row)? }
        }
        Ok(())
    }

    /// None when the program is to stop.
    fn row(&self, q_init: QInit, budget: Budget, stop: &Stop) -> anyhow::Result<Option<Row>> {
        let search = config::Search { q_init, ..self.config.search.clone() };
        let settings = Settings::new(&search, &self.config.game);
        let mut evaluator = self.player.evaluator(self.args.of.resources.cache());
        let mut right = [0; Kind::ALL.len()];
        let (model, seed) = (&mut *evaluator, self.config.seed);
        let searches = BatchedSearch { model, settings, budget, purpose: Purpose::Win, seed, stop };
        let mut done = 0;
        searches.on(&self.games, &mut |index, driver| {
            let ladder = &self.ladders[index];
            let is_right = driver.search().best_move().is_some_and(|best| ladder.is_right(best.mv));
            right[ladder.kind as usize] += usize::from(is_right);
            done += 1;
        })?;
        if done < self.games.len() {
            return Ok(None);
        }
        let mut rates: Vec<Success> =
            Kind::ALL.map(|kind| Success::new(kind.name(), right[kind as usize], self.args.positions)).into();
        rates.push(Success::new("all", right.iter().sum(), self.games.len()));
        Ok(Some(Row {
            model: self.player.name().to_owned(),
            board: self.config.game.size,
            visits: budget.visits,
            q_init: q_init.to_string(),
            leaves: budget.leaves,
            rates,
        }))
    }
}

/// The positions of a board; the same every time.
fn suite(side: usize, count: usize) -> anyhow::Result<Vec<Ladder>> {
    let size = Size::new(side).misconfigured()?;
    let made = suite::make(size, count);
    made.ok_or_else(|| anyhow::anyhow!("a board of {side}x{side} is too small for ladders; try 7 or more"))
        .misconfigured()
}
