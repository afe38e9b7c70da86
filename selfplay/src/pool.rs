//! Plays a job on worker threads.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use models::Model;
use runtime::Stop;
use store::Run;

use crate::collector::Collector;
use crate::handoff::{self, InProgressGames};
use crate::job::{Job, JobProgress};
use crate::live::LiveGame;
use crate::shared::Shared;
use crate::shares::Shares;
use crate::{SelfplayError, series, worker};

/// Finished games that wait for their publication, at most: the channel reserves memory for all of them.
const MOST_WAITING: usize = 1024;

/// Plays until the wanted games are published, or `stop` is requested; then games in progress are discarded or handed
/// off ([`Job::on_shutdown`]), and finished games are published all the same.
///
/// `watch` receives the progress several times a second. When it breaks or fails no more games are started, and those
/// in progress are finished, or left in `in_progress` if the configuration says so. Games in `in_progress` are
/// continued first; they count for the model that began them.
///
/// # Errors
/// The model cannot be opened or fails, the store refuses the games, or `watch` has failed. Games that were published
/// stay published, and those in progress stay in `in_progress`, unless `watch` has failed: then they are finished as
/// after a break.
pub fn play(
    run: &Run,
    job: &Job,
    model: &Model,
    in_progress: &mut InProgressGames,
    stop: &Stop,
    watch: &mut dyn FnMut(JobProgress) -> Result<ControlFlow<()>, SelfplayError>,
) -> Result<JobProgress, SelfplayError> {
    let (number, series) = series::of(&job.model, &job.worker);
    let (config, name) = (job.config.at(number), job.model.to_string());
    let resumed = in_progress.begin(run, job)?;
    let (begun, here) = handoff::begun(run, job, in_progress)?;
    let done = begun.range(..job.extent.end()).filter(|index| !here.contains(index)).count() as u64;
    let shared = Shared {
        job,
        name: &name,
        config: &config,
        series: &series,
        shares: Shares::new(job, &config, &series, begun),
        live: job.live.map(LiveGame::new),
        stats: Arc::default(),
        enough: AtomicBool::new(false),
        failed: AtomicBool::new(false),
        stop,
    };
    let InProgressGames { games, acquired, .. } = &mut *in_progress;
    let progress = JobProgress { games: done, resumed, ..JobProgress::default() };
    let collector = Collector::new(run, &shared, acquired, progress)?;
    let mut progress = std::thread::scope(|scope| {
        // Threads that finish games faster than those are published wait, so that little remains to publish when the
        // process is to stop.
        let (sender, finished) = mpsc::sync_channel(config.selfplay.games_per_file.min(MOST_WAITING));
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
        (progress.handed_off, progress.discarded) = in_progress.stop(run, &job.worker, job.on_shutdown)?;
    }
    Ok(progress)
}
