//! Many games at once, one batch at a time.
//!
//! The cast: a [`SearchDriver`] searches one position after another for one side; a [`Selfplay`] game has one of them,
//! a [`Match`] game has two. [`run`] keeps many games going: in each round every game hands its leaves to a model, the
//! models evaluate, and every game takes its evaluations and moves when its budget is spent. What happens in a game
//! depends on its model, its settings and its seed, never on the games beside it.

mod batches;
mod built_in;
mod cached;
mod calibration_games;
mod external_player;
mod game_randomization;
mod instrumented;
mod matches;
mod opening;
mod scheduler;
mod search_driver;
mod search_plan;
mod seed;
mod selfplay;
mod stored;
mod termination;

pub use built_in::{RandomModel, Uniform};
pub use cached::Cached;
pub use calibration_games::{CalibrationGames, FIRST_WORKER};
pub use external_player::{ExternalPlayer, ExternalPlayerError, Response};
pub use instrumented::{EvaluatorCounts, EvaluatorStats, Instrumented};
pub use matches::{By, Finish, Match, MatchSpec, Side, Void};
pub use scheduler::{BatchedGame, run};
pub use search_driver::{Budget, SearchDriver};
pub use seed::{GameRng, game_seed, generator};
pub use selfplay::{Selfplay, SelfplaySpec};
pub use stored::{EvaluationStore, Stored};
