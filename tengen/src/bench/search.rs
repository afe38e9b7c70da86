//! The search by itself: whole games with the model `uniform`, on one core.

use std::fmt;

use anyhow::anyhow;
use config::{Preset, RunConfig};
use go::{Game, MAX_SIDE, Move, Size};
use mcts::{Evaluator, LARGEST_TREE, Purpose, Settings, choice};
use play::{Budget, GameRng, SearchDriver, Uniform, generator};
use runtime::{Classify, Stop};
use serde::Serialize;

use super::Bench;
use super::clock::Rate;

/// Arguments of `tengen bench search`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Board size; may be repeated
    #[arg(long, default_values = ["9", "19"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(Size::MIN.side()..=MAX_SIDE))]
    size: Vec<usize>,
    /// Visits per move
    #[arg(long, default_value = "800", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=mcts::MOST_VISITS))]
    visits: u32,
    /// Override a key of configs/9x9.toml, such as search.prune_pass_alive=false; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "search")]
struct Case {
    board: usize,
    algorithm: &'static str,
    visits: u32,
    visits_per_s_per_core: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Case { board, algorithm, visits, visits_per_s_per_core } = self;
        write!(f, "search {board}x{board}, {algorithm}, {visits} visits a move: ")?;
        write!(f, "{visits_per_s_per_core:.0} visits/s on a core")
    }
}

/// Keys that the benchmark gives values of its own.
const OWN: [&str; 3] = ["game.size", "search.algorithm", "search.visits"];

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    let is_own = |set: &&String| OWN.contains(&set.split('=').next().unwrap_or_default().trim());
    if let Some(set) = args.overrides.iter().find(is_own) {
        return Err(anyhow!("--set {set}: the benchmark sets the key itself; use --size and --visits")).misconfigured();
    }
    for size in &args.size {
        for algorithm in ["puct", "gumbel"] {
            if !bench.stop.requested() {
                bench.report(&measure(bench, args, *size, algorithm)?)?;
            }
        }
    }
    Ok(())
}

fn measure(bench: &Bench<'_>, args: &Args, side: usize, algorithm: &'static str) -> anyhow::Result<Case> {
    let given = [format!("game.size={side}"), format!("search.algorithm={algorithm}")];
    let config = Preset::NineByNine.with(&[&given[..], &args.overrides].concat())?;
    let mut game = UniformGame::new(&config, args.visits);
    let rate = Rate::measure(bench.time, bench.stop, || game.think_and_move(bench.stop))?;
    Ok(Case { board: side, algorithm, visits: args.visits, visits_per_s_per_core: rate.per_core() })
}

/// Games without end between searches that know nothing.
struct UniformGame {
    settings: Settings,
    board: Size,
    budget: Budget,
    driver: SearchDriver,
    model: Uniform,
    rng: GameRng,
}

impl UniformGame {
    fn new(config: &RunConfig, visits: u32) -> UniformGame {
        let settings = Settings::new(&config.search, &config.game);
        let board = config.game.board();
        let budget = Budget { visits, leaves: config.search.leaves };
        let driver = SearchDriver::new(Game::new(board), settings, budget, Purpose::Win);
        UniformGame { settings, board, budget, driver, model: Uniform::new(), rng: generator(1) }
    }

    /// Searches one move, or until `stop` is requested, plays one of those it has visited, and returns how many visits
    /// were made.
    fn think_and_move(&mut self, stop: &Stop) -> anyhow::Result<f64> {
        let inherited = self.driver.search().visits();
        while !self.driver.is_done() && !stop.requested() {
            if self.driver.search().is_full(LARGEST_TREE) {
                let visits = self.driver.search().visits();
                let size = runtime::format::bytes(LARGEST_TREE as u64);
                return Err(anyhow!("the tree has {size} after {visits} visits; lower --visits")).misconfigured();
            }
            self.driver.submit(&mut self.model, &mut self.rng);
            self.model.flush().map_err(|error| anyhow::anyhow!(error))?;
            self.driver.take(&self.model);
        }
        let search = self.driver.search();
        let made = search.visits() - inherited;
        if stop.requested() {
            return Ok(made.into());
        }
        // The best move would be the first point each time, and the boards like no game.
        let moves = search.root_moves();
        let visits: Vec<u32> = moves.iter().map(|root| root.visits).collect();
        let mv = choice::draw(&visits, 1.0, &mut self.rng).map_or(Move::Pass, |index| moves[index].mv);
        self.driver.advance(mv)?;
        if self.driver.search().game().is_over(self.settings.scoring) {
            self.driver = SearchDriver::new(Game::new(self.board), self.settings, self.budget, Purpose::Win);
        }
        Ok(made.into())
    }
}
