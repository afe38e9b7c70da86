//! The model of an interactive command, and its device.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use analysis::{AnalysisOptions, Engine};
use anyhow::Context;
use config::RunName;
use models::{ConfiguredModel, EvaluationCacheOptions, ModelError, ModelName, Models, Place, Priority, Searcher};
use runtime::{EvalcacheArgs, InferenceArgs, ResourceArgs, Stop};
use store::Store;

/// How soon a request to stop is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Which model, and where it runs.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct PlayerArgs {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), a file of weights, uniform or random
    #[arg(long, env = "TENGEN_MODEL", value_name = "MODEL|FILE")]
    model: ModelName,
    /// Run whose rules a file, uniform or random plays by [default: those of configs/9x9.toml, on the board size of the
    /// file; uniform and random play on any]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    inference: InferenceArgs,
    #[command(flatten)]
    evalcache: EvalcacheArgs,
}

impl PlayerArgs {
    /// The same for a command that searches on one thread, whose log names as many.
    pub(crate) fn on_one_thread(&self) -> PlayerArgs {
        let mut args = self.clone();
        args.resources.devices.threads = Some(1);
        args
    }

    /// The file of the model, where it is one.
    pub(crate) fn model_file(&self) -> Option<&Path> {
        self.model.file()
    }

    /// Opens the model, for batches of so many positions. `client` is the name of the program for inference servers.
    pub(crate) fn open(&self, store: &str, client: &str, batch: usize, stop: &Stop) -> anyhow::Result<ConfiguredModel> {
        let models = Models::new(Store::open_or_empty(store)?);
        let place = Place::open(&self.resources, &self.inference, client, Priority::Interactive, stop)?;
        let model = ConfiguredModel::open(&models, &self.model, self.run.as_ref(), &place, batch)?;
        let evaluations = EvaluationCacheOptions::of(&self.evalcache).map_err(ModelError::from)?;
        Ok(ConfiguredModel { searcher: model.searcher.keeping(evaluations.as_ref())?, ..model })
    }

    /// Starts the analysis engine of a model that was opened for batches of [`analysis::BATCH`] positions.
    pub(crate) fn start_engine(
        &self,
        searcher: &Arc<Searcher>,
        seed: u64,
    ) -> anyhow::Result<(Engine, AnalysisOptions)> {
        let options = AnalysisOptions::new(searcher.settings(), searcher.budget(), self.resources.threads(), seed);
        let (opened, cache) = (Arc::clone(searcher), self.cache());
        let engine = Engine::start(options, move || opened.evaluator(cache)).context("cannot start a thread")?;
        Ok((engine, options))
    }

    /// Bytes for evaluations in memory, for each thread.
    pub(crate) fn cache(&self) -> usize {
        self.resources.cache()
    }
}

/// What rounds the evaluations of a file of searches: symmetry and steps of the evaluation cache; `None` without a
/// cache. The rest of the set's name has what a pool of servers or a new release may change without harm: arithmetic
/// and tables.
pub(crate) fn rounding(searcher: &Searcher) -> Option<String> {
    searcher.kept().map(|kept| format!("{} {}", kept.set().symmetries, kept.set().steps))
}

/// The next position that is over; all of them soon after a request to stop.
pub(crate) fn receive<T>(finished: &Receiver<T>, engine: &Engine, stop: &Stop) -> Option<T> {
    if stop.requested() {
        engine.stop_all();
    }
    finished.recv_timeout(PATIENCE).ok()
}
