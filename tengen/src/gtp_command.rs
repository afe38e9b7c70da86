//! `tengen gtp`: a model that plays over GTP.

use cli::{Blame, PlaceArgs, Stop};
use config::{ModelId, ModelRef, RunName};
use evaluator::Searcher as Opened;
use go::{Game, Move, Scoring, Size};
use mcts::Evaluate;
use play::{Budget, Seed, Thinker, game_seed, generator};
use store::Store;

use crate::gtp::{self, Decision, Player, PlayerError, Session, Setup};
use crate::model;

/// Leaves that are evaluated together while one game is played.
const BATCH: usize = 8;

/// Arguments of `tengen gtp`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The model: v15-330, or v15 for the newest of run v15; or a built-in one, uniform or random
    #[arg(long, env = "TENGEN_MODEL")]
    model: ModelRef,
    /// The run whose rules a built-in model plays by [default: the rules of configs/9x9.toml, on any board]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Visits for each move [default: as the model was published with]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    visits: Option<u32>,
    /// Resign when the expected outcome falls below this, from -1 to 0 [default: never]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    resign: Option<f32>,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Answers GTP commands on standard input until `quit` or the end of the input.
///
/// # Errors
/// No such model, or one that cannot be opened.
pub fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let device = args.place.device.parse().misconfigured()?;
    let store = Store::open(store)?;
    let id = model::resolve(&store, &args.model)?;
    let config = model::configuration(&store, &id, args.run.as_ref(), &[])?;
    let opened = Opened::open(&store, &config, &id, device, BATCH)?;
    let setup = Setup {
        size: Size::new(config.game.size).misconfigured()?,
        any_size: !matches!(id, ModelId::Trained { .. }),
        komi: config.game.komi,
        scoring: opened.settings().scoring,
        name: "Tengen".to_owned(),
        version: format!("{} {id}", env!("CARGO_PKG_VERSION")),
    };
    let mut player = Voice {
        evaluator: opened.evaluator(args.place.cache()),
        opened,
        visits: args.visits.unwrap_or(config.search.visits),
        resign: args.resign,
        rng: generator(game_seed(config.seed, &id.to_string(), "gtp", 0)),
    };
    Ok(gtp::run(&mut Session::new(setup, &mut player), stop)?)
}

/// A model that thinks about each position anew.
struct Voice {
    opened: Opened,
    evaluator: Box<dyn Evaluate>,
    visits: u32,
    resign: Option<f32>,
    rng: Seed,
}

impl Player for Voice {
    fn genmove(&mut self, game: &Game, komi: f32) -> Result<Decision, PlayerError> {
        let settings = mcts::Settings { komi, ..self.opened.settings() };
        if is_settled(game, settings.scoring) {
            return Ok(Decision::Move(Move::Pass));
        }
        let budget = Budget { visits: self.visits, leaves: self.opened.leaves().min(BATCH) };
        let mut thinker = Thinker::new(game.clone(), settings, budget, None);
        while !thinker.is_done() {
            let mut pushed = 0;
            thinker.push(&mut *self.evaluator, &mut pushed, &mut self.rng);
            if pushed > 0 {
                self.evaluator.evaluate()?;
            }
            thinker.take(&*self.evaluator);
        }
        let search = thinker.search();
        let value = search.root_value().mover(game.to_move());
        if self.resign.is_some_and(|bound| value < bound) {
            return Ok(Decision::Resign);
        }
        Ok(Decision::Move(search.best_move().map_or(Move::Pass, |best| best.mv)))
    }
}

/// Whether no move can change the result any more.
fn is_settled(game: &Game, scoring: Scoring) -> bool {
    scoring == Scoring::PassAlive && game.all_pass_alive()
}
