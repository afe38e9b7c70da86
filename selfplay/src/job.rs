//! One job: games of one model, split over worker threads.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::Duration;

use cli::Stop;
use config::{ModelConfig, ModelId, RunConfig};
use play::{EvaluatorCounts, EvaluatorStats};
use store::Run;

use crate::collector::Collector;
use crate::handed::{self, Unfinished};
use crate::{Model, SelfplayError, Threshold, models, worker};

/// What to play.
#[derive(Clone, Debug)]
pub struct Job {
    /// The run the games belong to.
    pub config: RunConfig,
    /// The model that plays both sides.
    pub model: ModelId,
    /// Name of this worker; games of different workers differ.
    pub worker: String,
    /// Games this worker shall have published with this model when the job is done.
    pub games: u64,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub cache: usize,
    /// Whether games say when they were played.
    pub times: bool,
    /// Whether games in progress are left to others when the process is to stop, and such games are gone on with.
    pub hand_on: bool,
    /// Whether other models play next, so that games of any may be gone on with.
    pub follows: bool,
    /// Root value for the mover below which it resigns, if anybody may, in the games that are still to be started.
    pub threshold: Threshold,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Games published or ready to be, those of earlier processes included.
    pub games: u64,
    /// Games wanted.
    pub wanted: u64,
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
    /// Games in progress that were given up because the process was asked to stop.
    pub abandoned: u64,
    /// Games in progress that were left to others for that reason.
    pub left: u64,
    /// The resign threshold in force.
    pub threshold: Option<f32>,
    /// Time since this process began the job.
    pub time: Duration,
}

/// What all threads of a job share.
pub(crate) struct Shared<'a> {
    pub(crate) job: &'a Job,
    /// As the model plays by it.
    pub(crate) config: &'a ModelConfig,
    /// Name of the series the games belong to.
    pub(crate) series: &'a str,
    /// Games of the series that are not to be begun.
    pub(crate) begun: &'a BTreeSet<u64>,
    pub(crate) stats: Arc<EvaluatorStats>,
    /// No more games are to be started.
    pub(crate) enough: AtomicBool,
    pub(crate) stop: &'a Stop,
}

/// Plays until the wanted games are published, or `stop` is requested; then games in progress are given up, or left to others
/// ([`Job::hand_on`]), and what is finished is published all the same.
///
/// `watch` is told several times a second how far the job is. When it breaks or fails no more games are started, and those in
/// progress are finished, or left in `unfinished` if the configuration says so. Games in `unfinished` are gone on with
/// first; they count for the model that began them.
///
/// # Errors
/// The model cannot be opened or fails, the store refuses the games, or `watch` has failed. Games that were published stay
/// published.
pub fn play(
    run: &Run,
    job: &Job,
    model: &Model,
    unfinished: &mut Unfinished,
    stop: &Stop,
    watch: &mut dyn FnMut(Progress) -> Result<ControlFlow<()>, SelfplayError>,
) -> Result<Progress, SelfplayError> {
    let (number, series) = models::series(&job.model, &job.worker);
    let config = job.config.at(number);
    let resumed = unfinished.begin(run, job)?;
    let (begun, here) = handed::begun(run, job, unfinished)?;
    let done = begun.range(..job.games).filter(|index| !here.contains(index)).count() as u64;
    let shared = Shared {
        job,
        config: &config,
        series: &series,
        begun: &begun,
        stats: Arc::default(),
        enough: AtomicBool::new(false),
        stop,
    };
    let Unfinished { games, taken } = &mut *unfinished;
    let progress = Progress { games: done, wanted: job.games, resumed, ..Progress::default() };
    let collector = Collector::new(run, &shared, taken, progress);
    let mut progress = std::thread::scope(|scope| {
        // Threads that finish games faster than those are published wait, so that little is left to publish when the process
        // is to stop.
        let (sender, finished) = mpsc::sync_channel(config.selfplay.games_per_file);
        let threads: Vec<_> = (games.iter_mut().enumerate())
            .map(|(thread, games)| {
                let (shared, sender) = (&shared, sender.clone());
                scope.spawn(move || worker::play(shared, thread, model, games, &sender))
            })
            .collect();
        drop(sender);
        let collected = collector.collect(finished, watch);
        let ended = threads.into_iter().map(|thread| thread.join().expect("a worker thread does not panic"));
        let played: Result<(), SelfplayError> = ended.fold(Ok(()), Result::and);
        collected.and_then(|progress| played.map(|()| progress))
    })?;
    if stop.requested() {
        (progress.left, progress.abandoned) = unfinished.put_down(run, &job.worker, job.hand_on)?;
    }
    Ok(progress)
}
