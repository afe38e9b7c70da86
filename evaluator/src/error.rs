//! What can go wrong while models are measured.

use config::{EngineName, ModelId, RunName};
use exit_class::{Classified, ExitClass};
use gtp::engines::{EngineError, Identity};
use mcts::EvaluateError;
use models::ModelError;
use ratings::RatingError;

/// Why models were not measured.
#[derive(Debug, thiserror::Error)]
pub enum EvaluatorError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// A model or a run cannot be found or opened.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model was to play itself.
    #[error("{0} cannot play itself; name two players")]
    Itself(String),
    /// A model that cannot be the champion of the run.
    #[error("{model} cannot be the next champion of run {run}: it is no model of the run that is newer than the last")]
    NoCandidate {
        /// The model.
        model: ModelId,
        /// The run.
        run: RunName,
    },
    /// A retired model that is to pass a promotion test.
    #[error("{0} is retired; bring it back with `evaluator unretire {0}`, or add --include-retired")]
    Retired(ModelId),
    /// A model that cannot be retired or brought back.
    #[error("{model} cannot be {what}: {reason}")]
    NotRetirable {
        /// The model.
        model: ModelId,
        /// `retired` or `brought back`.
        what: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// Another program cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Another program than the one that played under this name before.
    #[error(
        "{name} is not the {name} that has played in this run: that was {known:?}, and this is {found:?}; give it another name"
    )]
    OtherEngine {
        /// The name.
        name: EngineName,
        /// Who played before.
        known: Box<Identity>,
        /// Who is here now.
        found: Box<Identity>,
    },
    /// Consecutive games of a match were void.
    #[error("{games} consecutive games of {first} and {second} were void; last error: {reason}")]
    Voids {
        /// One of the players.
        first: String,
        /// The other.
        second: String,
        /// Games in a row.
        games: usize,
        /// Why the last one did.
        reason: String,
    },
    /// A network failed while it was used.
    #[error("the match of {first} and {second} failed")]
    Evaluate {
        /// One of the players.
        first: String,
        /// The other.
        second: String,
        /// What the network said.
        source: EvaluateError,
    },
    /// A run on another board, which is to be rated along.
    #[error(
        "run {run} plays on a board of {size}x{size}, and this run on {own}x{own}: their ratings have nothing in common"
    )]
    OtherBoard {
        /// The other run.
        run: RunName,
        /// The side of its board.
        size: usize,
        /// The side of the board of this run.
        own: usize,
    },
    /// The results cannot be rated on the scale that was requested.
    #[error("cannot rate run {run} with these options")]
    Anchor {
        /// The run.
        run: RunName,
        /// Why not.
        source: Box<crate::rate::RateError>,
    },
    /// The results cannot be turned into ratings.
    #[error("cannot rate run {run}")]
    Rating {
        /// The run.
        run: RunName,
        /// Why not.
        source: RatingError,
    },
}

impl Classified for EvaluatorError {
    fn class(&self) -> ExitClass {
        match self {
            EvaluatorError::Store(error) => error.class(),
            EvaluatorError::Model(error) => error.class(),
            EvaluatorError::Engine(error) => error.class(),
            EvaluatorError::Itself(_)
            | EvaluatorError::NoCandidate { .. }
            | EvaluatorError::Retired(_)
            | EvaluatorError::NotRetirable { .. }
            | EvaluatorError::Anchor { .. }
            | EvaluatorError::OtherBoard { .. }
            | EvaluatorError::OtherEngine { .. } => ExitClass::Configuration,
            EvaluatorError::Evaluate { source, .. } => models::evaluate_class(source),
            EvaluatorError::Voids { .. } | EvaluatorError::Rating { .. } => ExitClass::Failure,
        }
    }
}
