//! What can go wrong while training.

use std::io;
use std::path::PathBuf;

use config::{ModelId, RunName};
use exit_class::{Classified, ExitClass};
use net::NetError;
use onnx::OnnxError;
use record::RecordError;
use store::{Checkpoint, Run, StoreError};

impl TrainerError {
    /// Converts an error of publishing: a refusal means that another trainer was faster.
    pub(crate) fn of_publishing(run: &Run, what: impl FnOnce() -> String, error: StoreError) -> TrainerError {
        match error {
            StoreError::AlreadyExists { .. } => TrainerError::Rival { what: what(), run: run.name().clone() },
            error => error.into(),
        }
    }

    /// A run with this checkpoint of generation 1 cannot begin with another model.
    pub(crate) fn in_training(run: &Run, checkpoint: &Checkpoint) -> TrainerError {
        TrainerError::InTraining { model: run.name().model(1), step: checkpoint.step }
    }
}

/// Why no model came of it.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
    /// The store did not do its part.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Training went wrong: a device, an example, or a loss that is no number.
    #[error("training model {generation}")]
    Train {
        /// The number of the model.
        generation: u32,
        /// The problem.
        #[source]
        source: NetError,
    },
    /// The state that training should resume from cannot be used.
    #[error(
        "run {run}: checkpoint {step} cannot be used ({problem}); delete its folder to resume from the checkpoint or \
         model before it"
    )]
    Checkpoint {
        /// The run.
        run: RunName,
        /// Its step.
        step: u64,
        /// The problem.
        problem: String,
    },
    /// Model 1 is made by a bootstrap, which a trainer does not resume, and which no other model may overtake.
    #[error("run {run}: a bootstrap is in progress; resume it with `trainer bootstrap --sgf`")]
    Bootstrapping {
        /// The run.
        run: RunName,
    },
    /// Model 1 is made by a bootstrap from something else.
    #[error("run {run}: a bootstrap from {names} is in progress; resume it with these files, their contents unchanged")]
    OtherBootstrap {
        /// The run.
        run: RunName,
        /// The files, and the model, that it began with.
        names: String,
    },
    /// The device or the precision that was requested cannot be used.
    #[error("the trainer cannot start")]
    Device(#[source] NetError),
    /// Another trainer has published something else meanwhile.
    #[error(
        "{what} of run {run} is published with other contents: another trainer works on this run; stop one of the two"
    )]
    Rival {
        /// A checkpoint, or a model.
        what: String,
        /// The run.
        run: RunName,
    },
    /// The weights of the model to go on from cannot be used.
    #[error("{model} cannot be opened")]
    Parent {
        /// Its id.
        model: ModelId,
        /// The problem.
        #[source]
        source: NetError,
    },
    /// Weights to begin with that are of no use.
    #[error("{name} cannot be used")]
    Weights {
        /// A file, or a model.
        name: String,
        /// The problem.
        #[source]
        source: NetError,
    },
    /// An ONNX file to begin with that is of no use.
    #[error("{name} cannot be used")]
    Onnx {
        /// The file.
        name: String,
        /// The problem.
        #[source]
        source: OnnxError,
    },
    /// A run that is to begin with a model, and has begun.
    #[error("{newest} exists; only a run without models can start from another model")]
    HasModels {
        /// The newest model of the run.
        newest: ModelId,
    },
    /// A run that is to begin with a model, and trains its first already.
    #[error("{model} is in training (checkpoint {step}); only a run without checkpoints can start from another model")]
    InTraining {
        /// The model that is being trained.
        model: ModelId,
        /// The step of its checkpoint.
        step: u64,
    },
    /// A file that cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A collection of games or positions that cannot be read.
    #[error("{name}: {problem}")]
    Collection {
        /// Its name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A game that does not go by the rules.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Collections without a game for training.
    #[error("no game to train on: {left_out} unusable, {holdout} held out (selfplay.holdout_fraction)")]
    NoGames {
        /// Records that are of no use.
        left_out: usize,
        /// Games that are not trained on.
        holdout: usize,
    },
    /// Shards without a single example.
    #[error(
        "run {run}: the shards of generation {generation} hold no examples; delete their folder, and the shuffler \
         samples them again"
    )]
    NoExamples {
        /// The run.
        run: RunName,
        /// The number of the model that was to be trained on them.
        generation: u32,
    },
}

impl Classified for TrainerError {
    fn class(&self) -> ExitClass {
        match self {
            TrainerError::Store(error) => error.class(),
            TrainerError::Train { source, .. } | TrainerError::Parent { source, .. } | TrainerError::Device(source) => {
                source.class()
            }
            TrainerError::Rival { .. }
            | TrainerError::Weights { .. }
            | TrainerError::Onnx { .. }
            | TrainerError::Bootstrapping { .. }
            | TrainerError::OtherBootstrap { .. }
            | TrainerError::HasModels { .. }
            | TrainerError::InTraining { .. }
            | TrainerError::File { .. }
            | TrainerError::Collection { .. }
            | TrainerError::NoGames { .. } => ExitClass::Configuration,
            TrainerError::Checkpoint { .. } | TrainerError::Record(_) | TrainerError::NoExamples { .. } => {
                ExitClass::Failure
            }
        }
    }
}
