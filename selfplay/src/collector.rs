//! The other end of the worker threads: collects the games that they finish, publishes them, and reports progress.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use record::{GameRecord, SearchKind, Totals};
use store::Run;

use crate::SelfplayError;
use crate::handoff::AcquiredFiles;
use crate::job::{Job, JobProgress};
use crate::live::LivePublisher;
use crate::shared::Shared;
use crate::writer::GameWriter;

/// The longest time between two reports of progress.
const REPORT: Duration = Duration::from_millis(200);

/// Collects the games of a job.
pub(crate) struct Collector<'a> {
    shared: &'a Shared<'a>,
    writer: GameWriter<'a>,
    live: LivePublisher<'a>,
    /// What the games of the job's own model were like.
    totals: Totals,
    progress: JobProgress,
    began: Instant,
}

impl<'a> Collector<'a> {
    /// A collector of a job that is so far already.
    pub(crate) fn new(
        run: &'a Run,
        shared: &'a Shared<'a>,
        acquired: &'a mut AcquiredFiles,
        progress: JobProgress,
    ) -> Result<Collector<'a>, SelfplayError> {
        let writer = GameWriter::new(run, &shared.job.worker, shared.config.selfplay.games_per_file, acquired);
        let live = LivePublisher::new(run, &shared.job.worker, shared.live.as_ref())?;
        Ok(Collector { shared, writer, live, totals: Totals::default(), progress, began: Instant::now() })
    }

    /// Collects until all threads have ended. An error of `watch` ends the job as a break does, and is the result when
    /// what was finished is published. When games cannot be published, the threads leave theirs as they are, and the
    /// publication of all that were finished by then is tried again.
    pub(crate) fn collect(
        mut self,
        finished: Receiver<GameRecord>,
        watch: &mut dyn FnMut(JobProgress) -> Result<ControlFlow<()>, SelfplayError>,
    ) -> Result<JobProgress, SelfplayError> {
        let mut watched = Ok(ControlFlow::Continue(()));
        let mut failure = None;
        loop {
            match finished.recv_timeout(REPORT) {
                Ok(record) => self.put(record),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if failure.is_some() {
                continue;
            }
            if let Err(error) = self.publish() {
                self.shared.failed.store(true, Ordering::Relaxed);
                failure = Some(error);
                continue;
            }
            self.update();
            if watched.is_ok() {
                watched = watch(self.progress);
            }
            if !matches!(watched, Ok(ControlFlow::Continue(()))) {
                self.shared.enough.store(true, Ordering::Relaxed);
            }
        }
        let published = self.writer.publish();
        self.update();
        log(self.shared.job, &self.totals);
        if published.is_err() && self.progress.unpublished > 0 {
            tracing::error!(games = self.progress.unpublished, "cannot publish finished games; they are lost");
        }
        failure.map_or(published, Err)?;
        watched.map(|_| self.progress)
    }

    /// Publishes what is due.
    fn publish(&mut self) -> Result<(), SelfplayError> {
        self.writer.publish_due()?;
        Ok(self.live.publish()?)
    }

    fn put(&mut self, record: GameRecord) {
        let JobProgress { games, finished, moves, visits, .. } = &mut self.progress;
        if record.black == self.shared.name && record.worker == self.shared.series.as_str() {
            *games += 1;
            self.totals.add(&record);
        }
        *finished += 1;
        *moves += record.turns.len() as u64;
        *visits += self::visits(&record, self.shared.config.selfplay.fast_visits);
        self.writer.put(record);
    }

    fn update(&mut self) {
        self.progress.unpublished = self.writer.games() as u64;
        self.progress.threshold = self.shared.job.threshold.get();
        self.progress.evaluator = self.shared.stats.counts();
        self.progress.time = self.began.elapsed();
    }
}

/// Visits by which the moves of a game were chosen: each search ends at its budget, which counts what it has inherited.
/// Full searches have the budget that was in force when the game began, whichever model finishes it.
fn visits(game: &GameRecord, fast_visits: u32) -> u64 {
    let budget = |kind| match kind {
        SearchKind::Full => u64::from(game.visits_budget),
        SearchKind::Fast => u64::from(fast_visits),
        SearchKind::Given | SearchKind::Policy => 0,
    };
    game.turns.iter().map(|turn| budget(turn.kind)).sum()
}

/// Logs what the games of a model were like.
fn log(job: &Job, totals: &Totals) {
    tracing::info!(
        model = %job.model,
        games = totals.games(),
        mean_value = totals.mean_value(),
        mean_depth = totals.mean_depth(),
        mean_length = totals.mean_length(),
        black_won = totals.black_share(),
        "games of this model"
    );
}
