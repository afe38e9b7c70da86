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
    /// How many games it plays.
    pub extent: Extent,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub cache: usize,
    /// Evaluations of the model that outlive the process.
    pub evaluations: Option<Arc<EvaluationCache>>,
    /// Whether games say when they were played.
    pub times: bool,
    /// Games in progress at shutdown. With a hand-off it also continues games that others handed off.
    pub on_shutdown: OnShutdown,
    /// How often a state of one of its games is published for viewers at most; `None`: never.
    pub live: Option<Duration>,
    /// Which models play next.
    pub follow: Follow,
    /// Root value for the mover below which it resigns, if resignation is on, in the games that are still to be
    /// started.
    pub threshold: Threshold,
}

/// How many games a worker shall have published with the model of a job when the job is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many, before which nothing but a stop ends the job. Its calibration games come first.
    Whole(u64),
    /// So many, unless something ends the job before: a newer model, or the games of other workers.
    AtMost(u64),
    /// As many as it plays until something ends the job.
    Open,
}

impl Extent {
    /// The number of games, if there is a bound.
    pub(crate) fn games(self) -> Option<u64> {
        match self {
            Extent::Whole(games) | Extent::AtMost(games) => Some(games),
            Extent::Open => None,
        }
    }

    /// A number that no game of the job has, nor any after it.
    pub(crate) fn end(self) -> u64 {
        self.games().unwrap_or(u64::MAX)
    }
}

/// Which models a worker plays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// One; games of others are none of its business.
    One,
    /// The newest of its run at any time, so that it may continue games of any model.
    Newest,
}

/// Games in progress at shutdown.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnShutdown {
    /// Lost and counted; a worker plays the same games at every restart
    Discard,
    /// Stored for the next worker; resumed games name both models
    Handoff,
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
    /// Games in progress that were handed off at shutdown.
    pub handed_off: u64,
    /// The resign threshold in force.
    pub threshold: Option<f32>,
    /// Time since this process began the job.
    pub time: Duration,
}
