//! What the threads of a job have in common.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use config::PlayConfig;
use play::EvaluatorStats;
use runtime::Stop;

use crate::job::Job;
use crate::live::LiveGame;
use crate::series::Series;
use crate::shares::Shares;

/// What all threads of a job share.
pub(crate) struct Shared<'a> {
    pub(crate) job: &'a Job,
    /// Id of the job's model, as records have it.
    pub(crate) name: &'a str,
    /// As the model plays by it.
    pub(crate) config: &'a PlayConfig,
    /// The series that the games belong to.
    pub(crate) series: &'a Series,
    /// The games that are to be begun.
    pub(crate) shares: Shares,
    /// The game that viewers see.
    pub(crate) live: Option<LiveGame>,
    pub(crate) stats: Arc<EvaluatorStats>,
    /// No more games are to be started.
    pub(crate) enough: AtomicBool,
    /// A thread or the collector has failed: the games in progress are to stay as they are.
    pub(crate) failed: AtomicBool,
    pub(crate) stop: &'a Stop,
}
