//! The model of an interactive command, and its device.

use config::{ModelId, RunConfig, RunName};
use models::{EvaluationCacheOptions, ModelName, Models, Place, Priority, Searcher};
use runtime::{Classify, EvalcacheArgs, InferenceArgs, ResourceArgs, Stop};
use store::Store;
use study::model;

/// Which model, and where it runs.
#[derive(clap::Args, Debug)]
pub(crate) struct PlayerArgs {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), a file of weights, uniform or random
    #[arg(long, env = "TENGEN_MODEL", value_name = "MODEL|FILE")]
    model: ModelName,
    /// Run whose rules a file or a built-in model plays by [default: those of configs/9x9.toml, any board size]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    inference: InferenceArgs,
    #[command(flatten)]
    evalcache: EvalcacheArgs,
}

/// An open model with the configuration of its run.
pub(crate) struct Player {
    /// The configuration.
    pub(crate) config: RunConfig,
    /// The model with its search settings.
    pub(crate) searcher: Searcher,
    /// Whether it plays on boards of any size, as built-in models do.
    pub(crate) any_size: bool,
}

impl PlayerArgs {
    /// Opens the model, for batches of so many positions. `client` is the name of the program for inference servers.
    pub(crate) fn open(&self, store: &str, client: &str, batch: usize, stop: &Stop) -> anyhow::Result<Player> {
        let models = Models::new(Store::open(store)?);
        let place = Place::open(&self.resources, &self.inference, client, Priority::Interactive, stop)?;
        let configuration = |id| model::configuration(&models, id, self.run.as_ref(), &[]);
        let (config, searcher, any_size) = match &self.model {
            ModelName::Model(model) => {
                let id = models.resolve(model)?;
                let config = configuration(&id)?;
                let opened = Searcher::open(&models, &config, &id, &place, batch)?;
                (config, opened, !matches!(id, ModelId::Trained { .. }))
            }
            ModelName::File(path) => {
                let config = configuration(&ModelId::Uniform)?;
                let opened = Searcher::of_file(path, &config, &place, batch)?;
                (config, opened, false)
            }
        };
        let evaluations = EvaluationCacheOptions::of(&self.evalcache).misconfigured()?;
        Ok(Player { config, searcher: searcher.keeping(evaluations.as_ref())?, any_size })
    }

    /// Bytes for evaluations in memory, for each thread.
    pub(crate) fn cache(&self) -> usize {
        self.resources.cache()
    }

    /// Threads to use.
    pub(crate) fn threads(&self) -> usize {
        self.resources.threads()
    }
}
