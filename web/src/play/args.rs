//! What was typed: where models run, and how much visitors may use.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use models::{EvaluationCacheOptions, ModelError, Models, Place, Priority};
use runtime::{EvalcacheArgs, InferenceArgs, ResourceArgs, Stop, within};
use store::Store;

use super::desk::Desk;
use super::engines::{Engines, EnginesOptions};
use super::files::OfferedFile;
use super::offload::Offload;
use super::reports::Reports;
use super::state::Play;
use crate::WebError;

/// Searches at a time for each thread: their leaves share batches.
const SEARCHES: usize = 8;
/// Searches at a time with inference servers.
const REMOTE_SEARCHES: usize = 64;
/// Searches that wait, and as many other requests.
const MOST_WAITING: usize = 1000;
/// Threads for work that may wait.
const OFFLOAD: usize = 4;
/// Threads that open models, which may wait for a store; what needs no model, or an open one, waits for none of them.
const OPENERS: usize = 4;

/// Arguments of the pages for players.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Play and analysis")]
pub struct PlayArgs {
    /// File of weights that visitors may choose, by its name without the folder; may be repeated. The models of the
    /// store, 9x9-demo, uniform and random are always there [default: none]
    #[arg(long = "model-file", value_name = "FILE")]
    pub model_files: Vec<PathBuf>,
    /// Searches at the same time; others wait in a queue [default: 8 per thread, 64 with --inference]
    #[arg(long, env = "TENGEN_SEARCHES", value_name = "N", allow_negative_numbers = true, value_parser = within(1..=4096_usize))]
    pub searches: Option<usize>,
    /// Maximum visits of a search
    #[arg(long, env = "TENGEN_MOST_VISITS", default_value = "10000", value_name = "N", allow_negative_numbers = true, value_parser = within(1..=mcts::MOST_VISITS))]
    pub most_visits: u32,
    /// Models that are open at the same time; requests for others wait until one is idle
    #[arg(long, env = "TENGEN_OPEN_MODELS", default_value = "8", value_name = "N", allow_negative_numbers = true, value_parser = within(1..=256_usize))]
    pub open_models: usize,
    /// Memory for finished analyses, in MiB
    #[arg(long, env = "TENGEN_REPORTS_MIB", default_value = "64", value_name = "N", allow_negative_numbers = true, value_parser = within(0..=1_048_576_usize))]
    pub reports_mib: usize,
    /// Threads and device.
    #[command(flatten)]
    pub resources: ResourceArgs,
    /// Inference servers.
    #[command(flatten)]
    pub inference: InferenceArgs,
    /// Evaluations that outlive the process.
    #[command(flatten)]
    pub evalcache: EvalcacheArgs,
}

impl PlayArgs {
    /// What the pages share, for the models of a store.
    ///
    /// # Errors
    /// Arguments that cannot be used; threads that cannot be started.
    pub(super) fn open(&self, store: &Store) -> Result<Play, WebError> {
        // Requested when models are closed, which is after the last response of the server.
        let stop = Stop::never();
        let place = Place::open(&self.resources, &self.inference, "serve", Priority::Interactive, &stop)?;
        let threads = self.resources.threads();
        let remote = self.inference.inference.is_some();
        let searches = self.searches.unwrap_or(if remote { REMOTE_SEARCHES } else { SEARCHES * threads });
        let options = EnginesOptions {
            place,
            threads,
            cache: self.resources.cache(),
            kept: EvaluationCacheOptions::of(&self.evalcache).map_err(ModelError::from)?,
            most: self.open_models,
            files: OfferedFile::read_all(&self.model_files)?,
            stop,
        };
        Ok(Play {
            engines: Engines::new(Models::new(store.clone()), options),
            desk: Desk::new(searches, MOST_WAITING),
            reports: Reports::new(self.reports_mib << 20),
            offload: Offload::start(OFFLOAD, MOST_WAITING).map_err(WebError::Threads)?,
            openers: Offload::start(OPENERS, MOST_WAITING).map_err(WebError::Threads)?,
            most_visits: self.most_visits,
            visitors: AtomicU64::new(0),
        })
    }
}
