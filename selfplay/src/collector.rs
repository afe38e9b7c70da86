//! The other end of the worker threads: collects the games that they finish, publishes them, and reports progress.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use config::{Algorithm, PlayConfig, Search};
use record::{GameRecord, SearchKind, Totals};
use store::Run;

use crate::SelfplayError;
use crate::handoff::AcquiredFiles;
use crate::job::{Job, JobProgress, Shared};
use crate::live::LivePublisher;
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

    /// Collects until all threads have ended. An error of `watch` ends the job as a break does, and is the result when what was
    /// finished is published. When games cannot be published, the threads leave theirs as they are, and the
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
        if published.is_err() {
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
        if record.black == self.shared.job.model.to_string() && record.worker == self.shared.series {
            *games += 1;
            self.totals.add(&record);
        }
        *finished += 1;
        *moves += record.turns.len() as u64;
        *visits += self::visits(&record, self.shared.config);
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
fn visits(game: &GameRecord, config: &PlayConfig) -> u64 {
    let budget = |kind| match kind {
        SearchKind::Full => u64::from(config.search.visits),
        SearchKind::Fast => u64::from(config.selfplay.fast_visits),
        SearchKind::Given | SearchKind::Policy => 0,
    };
    game.turns.iter().map(|turn| budget(turn.kind)).sum()
}

/// Logs what the games of a model were like.
fn log(job: &Job, totals: &Totals) {
    let Job { config, model, .. } = job;
    tracing::info!(
        %model,
        games = totals.games(),
        mean_value = totals.mean_value(),
        mean_depth = totals.mean_depth(),
        mean_length = totals.mean_length(),
        black_won = totals.black_share(),
        "games of this model"
    );
    let search = config.search.at(model.number());
    if let Some(depth) = totals.mean_depth().filter(|&depth| looks_one_move_ahead(&search, depth)) {
        let Search { visits, gumbel_moves, .. } = search;
        tracing::warn!(
            %model,
            mean_depth = depth,
            visits,
            gumbel_moves,
            "searches are one ply deep; decrease search.gumbel_moves or increase search.visits"
        );
    }
}

/// Whether a Gumbel search gives nearly every move that it considers its first visit, and nothing more, as with 16 visits
/// for 16 moves. Fewer moves at equal visits are much stronger (`experiments/0038-gumbel-moves-considered`).
fn looks_one_move_ahead(search: &Search, mean_depth: f64) -> bool {
    search.algorithm == Algorithm::Gumbel && search.visits > 2 && mean_depth < 1.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_that_return_the_prior_are_detected() {
        let config = config::Preset::NineByNine.config();
        let gumbel = Search { algorithm: Algorithm::Gumbel, visits: 16, ..config.search };
        assert!(looks_one_move_ahead(&gumbel, 1.02));
        assert!(!looks_one_move_ahead(&gumbel, 1.47));
        assert!(!looks_one_move_ahead(&Search { visits: 2, ..gumbel.clone() }, 1.0), "two visits cannot read");
        assert!(
            !looks_one_move_ahead(&Search { algorithm: Algorithm::Puct, ..gumbel }, 1.0),
            "one good move may be all"
        );
    }
}
