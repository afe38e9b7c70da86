//! Errors of models.

use std::io;
use std::path::{Path, PathBuf};

use config::{ConfigError, ModelId, RunName};
use exit_class::{Classified, ExitClass};
use net::{Fault, NetError, UnknownName};
use remote::RemoteError;
use runtime::RunError;
use store::{Run, StoreError};

use crate::{EvaluationCacheError, demo};

/// A model that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run whose settings it has cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Overrides that cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The named run does not exist.
    #[error("there is no run {run} in {store}; known are {}", list(known))]
    NoRun {
        /// The run.
        run: RunName,
        /// The store.
        store: String,
        /// The runs of the store.
        known: Vec<RunName>,
    },
    /// The named run has no model.
    #[error(
        "run {run} has no model yet in {store}; wait for its first model, or name uniform, random or {}",
        demo::NAME
    )]
    NoModel {
        /// The run.
        run: RunName,
        /// The store.
        store: String,
    },
    /// A model that was never published.
    #[error("there is no model {model} in {store}; {known}")]
    Missing {
        /// The model.
        model: ModelId,
        /// The store.
        store: String,
        /// The newest model of the run, or why it has none.
        known: String,
    },
    /// A model without weights where weights are needed.
    #[error("{model} has no weights; name a trained model, such as v15-330 or {}", demo::NAME)]
    BuiltIn {
        /// The model.
        model: ModelId,
    },
    /// A model of another board size.
    #[error(
        "{model} plays on {found}x{found} boards, and this run on {wanted}x{wanted}; name a model and a run of the same size"
    )]
    OtherBoard {
        /// The model.
        model: String,
        /// The side of its board.
        found: usize,
        /// The side of the run's board.
        wanted: usize,
    },
    /// Search settings that a model cannot have.
    #[error("{player} cannot play")]
    Settings {
        /// The model and the settings.
        player: String,
        /// The bad setting.
        source: ConfigError,
    },
    /// A precision that there is not.
    #[error("{player} cannot play: its precision")]
    Precision {
        /// The model and the settings.
        player: String,
        /// The bad precision.
        source: UnknownName,
    },
    /// A precision where inference servers evaluate.
    #[error(
        "{player} cannot play: inference servers compute with numbers of their own; leave out precision or --inference"
    )]
    PrecisionOnServer {
        /// The model and the settings.
        player: String,
    },
    /// A value of `evalcache` other than `off`.
    #[error("{player} cannot play: evalcache={value} is no setting; evalcache=off plays without --evalcache")]
    EvaluationCache {
        /// The model and the settings.
        player: String,
        /// The bad value.
        value: String,
    },
    /// A file of weights that cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The response of the file system.
        source: io::Error,
    },
    /// A file of weights where inference servers evaluate.
    #[error("{}: inference servers evaluate models of the store; name one, or leave --inference out", path.display())]
    FileOnServer {
        /// The file.
        path: PathBuf,
    },
    /// A model whose metadata has no digest of its weights.
    #[error("model {model}: the digest in model.toml is not the SHA-256 of a file; restore the file from a backup")]
    Digest {
        /// The model.
        model: ModelId,
    },
    /// A device that is none.
    #[error(transparent)]
    UnknownDevice(#[from] UnknownName),
    /// A device that cannot be used. Boxed, so that a `Result` stays small.
    #[error(transparent)]
    Device(Box<NetError>),
    /// Inference servers that cannot be used.
    #[error(transparent)]
    Inference(Box<RemoteError>),
    /// Weights that cannot be used.
    #[error("cannot open model {model}")]
    Open {
        /// The model or its file.
        model: String,
        /// The reason. Boxed, so that a `Result` stays small.
        source: Box<NetError>,
    },
    /// A file of weights that cannot be used.
    #[error("cannot open model {}", path.display())]
    OpenFile {
        /// The file.
        path: PathBuf,
        /// The reason. Boxed, so that a `Result` stays small.
        source: Box<NetError>,
    },
    /// An evaluation cache that cannot be used.
    #[error("cannot open the evaluation cache")]
    Evaluations(#[source] Box<EvaluationCacheError>),
}

impl ModelError {
    pub(crate) fn unusable(model: &str, source: NetError) -> ModelError {
        ModelError::Open { model: model.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn unusable_file(path: &Path, source: NetError) -> ModelError {
        ModelError::OpenFile { path: path.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn device(source: NetError) -> ModelError {
        ModelError::Device(Box::new(source))
    }

    pub(crate) fn no_model(run: &Run) -> ModelError {
        ModelError::NoModel { run: run.name().clone(), store: run.store().root().to_owned() }
    }

    /// Says that the run does not exist, and which do.
    pub fn no_run(run: &Run) -> ModelError {
        match run.store().runs() {
            Ok(known) => ModelError::NoRun { run: run.name().clone(), store: run.store().root().to_owned(), known },
            Err(error) => error.into(),
        }
    }

    /// Names the model, where the store names a file that does not exist.
    pub(crate) fn of_model(run: &Run, model: &ModelId, error: StoreError) -> ModelError {
        if !matches!(error, StoreError::NotFound { .. }) {
            return error.into();
        }
        let name = run.name();
        let known = match (run.models().newest(), run.exists()) {
            (Ok(Some(newest)), _) => format!("the newest of run {name} is {}", name.model(newest)),
            (Ok(None), Ok(true)) => format!("run {name} has no model yet"),
            (Ok(None), Ok(false)) => format!("there is no run {name}"),
            (Err(error), _) | (_, Err(error)) => return error.into(),
        };
        ModelError::Missing { model: model.clone(), store: run.store().root().to_owned(), known }
    }
}

impl From<RemoteError> for ModelError {
    fn from(error: RemoteError) -> ModelError {
        ModelError::Inference(Box::new(error))
    }
}

impl From<EvaluationCacheError> for ModelError {
    fn from(error: EvaluationCacheError) -> ModelError {
        ModelError::Evaluations(Box::new(error))
    }
}

impl Classified for ModelError {
    fn class(&self) -> ExitClass {
        match self {
            ModelError::Store(error) => error.class(),
            ModelError::Run(error) => error.class(),
            // The name of the file was typed, and a restart reads the same bytes.
            ModelError::OpenFile { source, .. } if matches!(source.fault(), Fault::Weights | Fault::Input) => {
                ExitClass::Configuration
            }
            ModelError::Open { source, .. } | ModelError::OpenFile { source, .. } | ModelError::Device(source) => {
                source.class()
            }
            ModelError::Inference(error) => error.class(),
            ModelError::Digest { .. } => ExitClass::Failure,
            ModelError::Evaluations(source) => source.class(),
            _ => ExitClass::Configuration,
        }
    }
}

fn list(runs: &[RunName]) -> String {
    let built_in = ModelId::BUILT_IN.iter().map(ModelId::to_string);
    let names: Vec<String> = runs.iter().map(RunName::to_string).chain(built_in).collect();
    format!("{} and {}", names.join(", "), demo::NAME)
}
