//! One position while it is searched.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use go::Game;
use mcts::{Evaluator, Settings};
use play::{BatchedGame, Budget, SearchDriver, Seed, generator};

use crate::analysis_options::AnalysisOptions;
use crate::queue::{Event, Job, TaskId};
use crate::{Analysis, Task};

/// Visits after which a search whose evaluations are all cached polls for events. Rounds end at its multiples, cached or
/// not, so that caches change no result.
const STEP: u32 = 128;

/// A position that a worker searches.
pub(crate) struct Running {
    job: Job,
    driver: SearchDriver,
    /// Bytes of the tree above which the search stops.
    largest: usize,
    rng: Seed,
    began: Instant,
    next_report: Option<Instant>,
    /// The highest priority among the searches of the worker: all others wait.
    urgent: Rc<Cell<i64>>,
}

impl Running {
    pub(crate) fn new(job: Job, options: AnalysisOptions, urgent: Rc<Cell<i64>>) -> Running {
        let AnalysisOptions { settings, leaves, tree: largest, seed, .. } = options;
        let Task { game, turn, komi, avoid, progress, .. } = &job.task;
        let budget = Budget { visits: 0, leaves };
        let settings = Settings { komi: *komi, ..settings };
        let driver = SearchDriver::new(position(game, *turn), settings, budget, None).seeing_images_alike();
        let mut driver = driver.avoiding(avoid.clone());
        driver.set_endless(true);
        let began = Instant::now();
        let next_report = progress.map(|[first, _]| began + first);
        Running { driver, largest, rng: generator(seed), began, next_report, urgent, job }
    }

    pub(crate) fn priority(&self) -> i64 {
        self.job.task.priority
    }

    /// Waits for more urgent tasks, whose highest priority is in this cell.
    pub(crate) fn heed(&mut self, urgent: Rc<Cell<i64>>) {
        self.urgent = urgent;
    }

    fn visits(&self) -> u32 {
        let search = self.driver.search();
        if search.is_expanded() { search.visits() } else { 0 }
    }

    fn is_over(&self) -> bool {
        let (search, task) = (self.driver.search(), &self.job.task);
        self.job.is_stopped()
            || search.is_expanded()
                && (search.visits() >= task.visits
                    || task.time.is_some_and(|time| self.began.elapsed() >= time)
                    || search.is_full(self.largest))
    }

    fn report_when_due(&mut self) {
        let (Some(due), Some([_, every])) = (self.next_report, self.job.task.progress) else { return };
        let now = Instant::now();
        if now >= due
            && self.visits() > 0
            && let Some(analysis) = Analysis::of(self.driver.search())
        {
            // A report that was late is not made up for.
            self.next_report = Some(now + every);
            self.job.progress(analysis);
        }
    }

    /// Finishes the task without a result.
    pub(crate) fn fail(mut self, event: Event) -> TaskId {
        self.job.end(event);
        self.job.id
    }
}

/// The position of a game after so many of its moves, with its past.
pub(crate) fn position(game: &Game, turn: usize) -> Game {
    let mut position = game.clone();
    while position.turn() > turn {
        position.undo();
    }
    position
}

impl BatchedGame for Running {
    type Finished = (TaskId, i64);

    fn model(&self) -> Option<usize> {
        (self.priority() >= self.urgent.get() && !self.is_over()).then_some(0)
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if self.model().is_some() {
            let step = (self.visits() / STEP + 1).saturating_mul(STEP);
            self.driver.extend(step.min(self.job.task.visits));
            self.driver.submit(models[0], &mut self.rng);
        }
    }

    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<(TaskId, i64)> {
        self.driver.take(models[0]);
        if !self.is_over() {
            self.report_when_due();
            return None;
        }
        let found = Analysis::of(self.driver.search());
        self.job.end(found.map_or(Event::Nothing, Event::Done));
        Some((self.job.id, self.priority()))
    }
}
