//! One position while it is searched.

use std::time::Instant;

use go::Game;
use mcts::{Evaluator, Purpose, Settings};
use play::{BatchedGame, Budget, GameRng, SearchDriver, generator};

use crate::analysis_options::AnalysisOptions;
use crate::priorities::{Priorities, Priority};
use crate::queue::{Event, Job, TaskId};
use crate::{Analysis, Task};

/// Visits after which a search whose evaluations are all cached polls for events. Rounds end at its multiples, cached
/// or not, so that caches change no result.
const STEP: u32 = 128;

/// A position that a worker searches.
pub(crate) struct Running {
    job: Job,
    driver: SearchDriver,
    /// Bytes of the tree above which the search stops.
    largest: usize,
    rng: GameRng,
    /// When it began, later by the time in which it was paused.
    began: Instant,
    /// Since when more urgent tasks pause it.
    paused: Option<Instant>,
    next_report: Option<Instant>,
    priority: Priority,
}

impl Running {
    /// The search of a task, which is one of those with these priorities from now on.
    pub(crate) fn new(job: Job, options: AnalysisOptions, priorities: &Priorities) -> Running {
        let AnalysisOptions { settings, leaves, tree: largest, seed, .. } = options;
        let Task { game, turn, komi, avoid, progress, priority, .. } = &job.task;
        let budget = Budget { visits: 0, leaves };
        let settings = Settings { komi: *komi, ..settings };
        let driver = SearchDriver::new(position(game, *turn), settings, budget, Purpose::Win).seeing_images_alike();
        let mut driver = driver.avoiding(avoid.clone());
        driver.set_endless(true);
        let began = Instant::now();
        let next_report = progress.map(|[first, _]| began + first);
        let priority = priorities.add(*priority);
        Running { driver, largest, rng: generator(seed), began, paused: None, next_report, priority, job }
    }

    fn visits(&self) -> u32 {
        let search = self.driver.search();
        if search.is_expanded() { search.visits() } else { 0 }
    }

    fn is_over(&self) -> bool {
        let search = self.driver.search();
        self.job.is_stopped()
            || search.is_expanded()
                && (search.visits() >= self.job.task.visits || self.is_late() || search.is_full(self.largest))
    }

    /// Whether its time is over. Without a visit there is no best move, so it has one at least, as in GTP.
    fn is_late(&self) -> bool {
        let is_over = |time| self.began.elapsed() >= time;
        self.paused.is_none() && self.visits() > 0 && self.job.task.time.is_some_and(is_over)
    }

    fn report_when_due(&mut self) {
        let (Some(due), Some([_, every])) = (self.next_report, self.job.task.progress) else { return };
        // A search that is paused would say the same again and again.
        if self.paused.is_some() {
            return;
        }
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

    /// Sends the result, as far as it is known.
    fn end(&mut self) {
        let found = Analysis::of(self.driver.search());
        self.job.end(found.map_or(Event::Nothing, Event::Done));
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
    type Finished = TaskId;

    fn model(&self) -> Option<usize> {
        (!self.priority.waits() && !self.is_over()).then_some(0)
    }

    /// The scheduler calls it in every round, also for a search that is paused.
    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if self.priority.waits() {
            self.paused.get_or_insert_with(Instant::now);
            return;
        }
        if let Some(since) = self.paused.take() {
            self.began += since.elapsed();
        }
        if self.model().is_some() {
            let step = (self.visits() / STEP + 1).saturating_mul(STEP);
            self.driver.extend(step.min(self.job.task.visits));
            self.driver.submit(models[0], &mut self.rng);
        }
    }

    /// Ends a search that was stopped or is late: evaluations of which others wait, too, hold up no result. A full tree
    /// has to wait: leaves without evaluations count in it, and results may not depend on how long a server takes.
    fn poll(&mut self) -> bool {
        let is_unwanted = self.job.is_stopped() || self.is_late();
        if is_unwanted {
            self.end();
        }
        is_unwanted
    }

    fn take_back(&mut self) {
        self.driver.take_back();
    }

    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<TaskId> {
        self.driver.take(models[0]);
        if !self.is_over() {
            self.report_when_due();
            return None;
        }
        self.end();
        Some(self.job.id)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use config::Preset;
    use go::Size;
    use mcts::LARGEST_TREE;
    use play::Uniform;

    use super::*;
    use crate::queue::Queue;

    const HOUR: Duration = Duration::from_secs(3600);

    /// The search of an empty board, and how many reports it has sent.
    fn running(task: Task, priorities: &Priorities) -> (Running, Arc<AtomicUsize>) {
        let config = Preset::Minigo.config();
        let settings = Settings::new(&config.search, &config.game);
        let options = AnalysisOptions { settings, leaves: 2, threads: 1, positions: 1, tree: LARGEST_TREE, seed: 1 };
        let (mut queue, reports) = (Queue::default(), Arc::<AtomicUsize>::default());
        let counted = Arc::clone(&reports);
        let listener = move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        queue.add(task, Box::new(listener));
        (Running::new(queue.take(i64::MIN..=i64::MAX).unwrap(), options, priorities), reports)
    }

    /// A round of the scheduler; whether the search is over.
    fn round(running: &mut Running, model: &mut Uniform) -> bool {
        running.submit(&mut [&mut *model]);
        model.flush().unwrap();
        running.take(&[model]).is_some()
    }

    #[test]
    fn only_stopped_and_late_searches_give_their_leaves_up() {
        let game = Arc::new(Game::new(Size::new(5).unwrap()));
        let task = Task { time: Some(HOUR), ..Task::new(game, 0, 7.5, 1000) };
        let (priorities, mut model) = (Priorities::new(), Uniform::new());
        let (mut running, _) = running(task, &priorities);
        assert!(!round(&mut running, &mut model) && !round(&mut running, &mut model));
        running.submit(&mut [&mut model]);
        running.largest = 0;
        assert!(running.is_over() && !running.poll(), "its leaves are evaluated first");
        running.began -= HOUR;
        assert!(running.poll());
    }

    #[test]
    fn search_that_is_paused_neither_ends_nor_reports_until_it_goes_on() {
        let game = Arc::new(Game::new(Size::new(5).unwrap()));
        let task = Task { time: Some(HOUR), progress: Some([Duration::ZERO; 2]), ..Task::new(game, 0, 7.5, 1000) };
        let (priorities, mut model) = (Priorities::new(), Uniform::new());
        let (mut running, reports) = running(task, &priorities);
        // The root, and leaves below it.
        assert!(!round(&mut running, &mut model) && !round(&mut running, &mut model));
        let known = (running.visits(), reports.load(Ordering::Relaxed));
        assert!(known.0 > 0 && known.1 == 1, "{known:?}");

        let urgent = priorities.add(1);
        assert!(!round(&mut running, &mut model));
        // The pause takes two hours.
        running.began -= 2 * HOUR;
        running.paused = running.paused.map(|since| since - 2 * HOUR);
        assert!(!round(&mut running, &mut model), "a pause is no search");
        assert_eq!((running.visits(), reports.load(Ordering::Relaxed)), known);

        drop(urgent);
        assert!(!round(&mut running, &mut model), "most of its hour is still to come");
        assert!(running.visits() > known.0);
        running.began -= HOUR;
        assert!(round(&mut running, &mut model));
    }
}
