//! What a job is, and how far it is.

use std::sync::Arc;
use std::time::Duration;

use config::{ModelId, PlayConfig};
use models::EvaluationCache;
use play::EvaluatorCounts;

use crate::threshold::Threshold;

/// What to play.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the games of the run depend on.
    pub config: PlayConfig,
    /// The model that plays both sides.
    pub model: ModelId,
    /// Name of this worker; games of different workers differ.
    pub worker: String,
    /// Games this worker shall have published with this model when the job is done.
    pub games: u64,
    /// Whether nothing but a stop ends the job before all of them are played. Its calibration games come first then.
    pub whole: bool,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub cache: usize,
    /// Evaluations of the model that outlive the process.
    pub evaluations: Option<Arc<EvaluationCache>>,
    /// Whether games say when they were played.
    pub times: bool,
    /// Whether to hand off games in progress on shutdown, and to continue games that others handed off.
    pub handoff_on_shutdown: bool,
    /// How often a state of one of its games is published for viewers at most; `None`: never.
    pub live: Option<Duration>,
    /// Whether other models play next, so that games of any model may be continued.
    pub follow_latest: bool,
    /// Root value for the mover below which it resigns, if resignation is on, in the games that are still to be started.
    pub threshold: Threshold,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JobProgress {
    /// Games published or ready to be, those of earlier processes included.
    pub games: u64,
    /// Games finished by this process.
    pub finished: u64,
    /// Finished games that wait to be published.
    pub unpublished: u64,
    /// Moves in the finished games.
    pub moves: u64,
    /// Evaluations of this process.
    pub evaluator: EvaluatorCounts,
    /// Visits by which the moves of the finished games were chosen.
    pub visits: u64,
    /// Games of other processes that this one has resumed.
    pub resumed: u64,
    /// Games in progress that were discarded at shutdown.
    pub discarded: u64,
    /// Games in progress that were handed off for that reason.
    pub handed_off: u64,
    /// The resign threshold in force.
    pub threshold: Option<f32>,
    /// Time since this process began the job.
    pub time: Duration,
}
