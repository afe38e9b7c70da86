//! Arguments of all commands: the run, and what this machine lends to it.

use std::path::PathBuf;

use anyhow::Context;
use config::{PlayerId, PlayerRef, RunName};
use gtp::engines::EngineSpecs;
use models::{EvaluationCacheOptions, ModelError, Models, Place, Priority};
use runtime::{Classify, EvalcacheArgs, Stop};
use store::Store;

use crate::{Arena, EvaluatorError, RatedRun, Resources};

/// Arguments of all commands.
#[derive(clap::Args, Debug)]
pub(crate) struct CommonArgs {
    /// Run to rate [default: the run of the first named model]. The run 9x9-demo is in memory where the store has none
    /// of this name: its results are printed and not stored
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME", global = true)]
    run: Option<RunName>,
    /// Engines that may play, as [[engine]] tables: name with a capital first letter, command, and more as in
    /// configs/engines/gnugo.toml [default: none; those of that file can be named without it]
    #[arg(long, env = "TENGEN_ENGINES", value_name = "FILE", global = true)]
    engines: Option<PathBuf>,
    /// Name of this worker, unique in its run
    #[arg(long, env = "JOB_COMPLETION_INDEX", default_value = play::FIRST_WORKER, value_name = "NAME", global = true)]
    worker: String,
    #[command(flatten)]
    resources: runtime::ResourceArgs,
    #[command(flatten)]
    inference: runtime::InferenceArgs,
    #[command(flatten)]
    evalcache: EvalcacheArgs,
    #[command(flatten)]
    times: runtime::TimesArgs,
    #[command(flatten)]
    store: runtime::StoreArgs,
    #[command(flatten)]
    service: runtime::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: runtime::LogArgs,
}

impl CommonArgs {
    /// The name of the run to measure, where the players have one of their own, and the models of the store.
    pub(super) fn open(&self, own: Option<&RunName>, stop: &Stop) -> anyhow::Result<(RunName, Models)> {
        // Nothing waits for the run here, so that a misspelt folder need not be made.
        self.start(Store::open_or_empty(&self.store.store)?, own, stop)
    }

    /// The same for a command that waits for the run, which may begin the store.
    pub(super) fn open_to_wait(&self, own: Option<&RunName>, stop: &Stop) -> anyhow::Result<(RunName, Models)> {
        self.start(Store::open(&self.store.store)?, own, stop)
    }

    fn start(&self, store: Store, own: Option<&RunName>, stop: &Stop) -> anyhow::Result<(RunName, Models)> {
        let models = Models::new(store);
        let name = runtime::named_run(self.run.as_ref().or(own))?.clone();
        self.service.start("evaluator", Some(name.as_str()), stop)?;
        Ok((name, models))
    }

    /// The run to measure, where no device is needed.
    pub(super) fn rated(&self, own: Option<&RunName>, stop: &Stop) -> anyhow::Result<RatedRun> {
        let (name, models) = self.open(own, stop)?;
        let rated = RatedRun::open(models, &name)?;
        stop.health().set_ready();
        Ok(rated)
    }

    /// What this machine lends to matches.
    pub(super) fn resources(&self, stop: &Stop) -> anyhow::Result<Resources> {
        let client = format!("evaluator {}", self.worker);
        let place = Place::open(&self.resources, &self.inference, &client, Priority::Interactive, stop)?;
        Ok(Resources {
            threads: place.search_threads(&self.resources),
            place,
            cache: self.resources.cache(),
            times: self.times.times.unwrap_or(true),
            engines: self.declarations()?,
            worker: self.worker.clone(),
            evaluations: EvaluationCacheOptions::of(&self.evalcache).map_err(ModelError::from)?,
        })
    }

    /// The programs that may play.
    fn declarations(&self) -> anyhow::Result<EngineSpecs> {
        let Some(path) = &self.engines else { return Ok(EngineSpecs::default()) };
        let read = || -> anyhow::Result<EngineSpecs> { Ok(EngineSpecs::from_toml(&std::fs::read_to_string(path)?)?) };
        let read = read().with_context(|| path.display().to_string()).misconfigured()?;
        if read.engine.is_empty() {
            tracing::warn!(file = %path.display(), "the file of --engines has no [[engine]] table");
        }
        Ok(read)
    }
}

/// The place where players of a run meet. Reads all results, of which later only new ones are read: in a long run that
/// takes longer than a process without progress lives.
pub(super) fn arena(rated: RatedRun, resources: Resources, stop: &Stop) -> Result<Arena, EvaluatorError> {
    let name = rated.run().name();
    if rated.models().is_in_memory(name)? {
        tracing::warn!(run = %name, "results are not stored: the run is in memory; --run NAME stores them in a run");
    }
    let arena = Arena::open(rated, resources)?;
    arena.rated().run().matches().all_noting(&|| stop.health().heartbeat())?;
    Ok(arena)
}

/// The run of a player, if it is a model of one.
fn run_of(player: &PlayerRef) -> Option<&RunName> {
    match player {
        PlayerRef::Exact(PlayerId::Model { id, .. }) => id.run(),
        PlayerRef::Newest(run, _) => Some(run),
        PlayerRef::Exact(PlayerId::Engine(_)) => None,
    }
}

/// The first run that one of these players has.
pub(super) fn run_of_any<'a>(players: impl IntoIterator<Item = &'a PlayerRef>) -> Option<&'a RunName> {
    players.into_iter().find_map(run_of)
}
