//! Threads that search positions.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcts::Evaluator;

use crate::analysis_options::AnalysisOptions;
use crate::priorities::Priorities;
use crate::queue::{Event, Listener, Queue, Task, TaskId};
use crate::running::Running;

/// More searches than these for urgent tasks.
const SPARE: usize = 8;

/// Searches positions in threads of its own.
///
/// An analysis is a function of its task, the settings and the model; concurrent searches do not change it, unless time
/// is limited. With a network on a GPU this holds within the rounding of its evaluations only, which can change a
/// search.
pub struct Engine {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// There are new tasks, or the engine is to end, or its evaluators are.
    changed: Condvar,
    /// A task is over.
    finished: Condvar,
    /// Changes when evaluators are to be opened anew.
    generation: AtomicU64,
}

#[derive(Default)]
struct State {
    queue: Queue,
    closed: bool,
    /// Workers that have nothing to search and are ready to.
    idle: usize,
}

/// Opens an evaluator for one thread.
type EvaluatorFactory = dyn Fn() -> Box<dyn Evaluator> + Send + Sync;

impl Engine {
    /// Starts the threads. `open` makes an evaluator for each.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn start(
        options: AnalysisOptions,
        open: impl Fn() -> Box<dyn Evaluator> + Send + Sync + 'static,
    ) -> io::Result<Engine> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            finished: Condvar::new(),
            generation: AtomicU64::new(0),
        });
        let open: Arc<EvaluatorFactory> = Arc::new(open);
        let mut engine = Engine { shared, workers: Vec::new() };
        for number in 0..options.threads {
            let (shared, open) = (Arc::clone(&engine.shared), Arc::clone(&open));
            let worker = thread::Builder::new().name(format!("analysis-{number}"));
            engine.workers.push(worker.spawn(move || Worker { shared, options, idle: Cell::new(false) }.work(&*open))?);
        }
        Ok(engine)
    }

    /// Adds a task. `listener` receives its events.
    pub fn submit(&self, task: Task, listener: Listener) -> TaskId {
        let id = self.shared.lock().queue.add(task, listener);
        self.shared.changed.notify_one();
        id
    }

    /// Stops a task if it is not over; its last event has the present result.
    pub fn stop(&self, id: TaskId) {
        let stopped = self.shared.lock().queue.stop(id);
        if let Some(mut job) = stopped {
            job.end(Event::Nothing);
            self.shared.finished.notify_all();
        }
    }

    /// Stops all tasks.
    pub fn stop_all(&self) {
        let stopped = self.shared.lock().queue.stop_all();
        stopped.into_iter().for_each(|mut job| job.end(Event::Nothing));
        self.shared.finished.notify_all();
    }

    /// Forgets the evaluations that are in memory.
    pub(crate) fn clear_caches(&self) {
        let _state = self.shared.lock();
        self.shared.generation.fetch_add(1, Ordering::Relaxed);
        self.shared.changed.notify_all();
    }

    /// Waits until all tasks are over, and no longer than this time; returns whether they are.
    pub fn wait_for(&self, time: Duration) -> bool {
        let state = self.shared.lock();
        let waited = self.shared.finished.wait_timeout_while(state, time, |state| !state.queue.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.queue.is_empty()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.stop_all();
        self.shared.changed.notify_all();
        for worker in self.workers.drain(..) {
            // A thread that panicked has said so.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }
}

struct Worker {
    shared: Arc<Shared>,
    options: AnalysisOptions,
    /// Whether it is one of the idle workers of the state.
    idle: Cell<bool>,
}

impl Worker {
    fn work(&self, open: &EvaluatorFactory) {
        let (mut games, priorities) = (Vec::new(), Priorities::new());
        loop {
            let generation = self.shared.generation();
            self.set_idle(&mut self.shared.lock(), false);
            let mut evaluator = open();
            while self.shared.generation() == generation {
                if games.is_empty() && !self.wait(generation) {
                    return;
                }
                if !self.search(&mut *evaluator, &mut games, &priorities, generation) {
                    break;
                }
            }
        }
    }

    /// Waits for a task, or for another generation; returns whether the engine still runs.
    fn wait(&self, generation: u64) -> bool {
        let idle =
            |state: &mut State| !state.closed && !state.queue.has_waiting() && self.shared.generation() == generation;
        let mut state = self.shared.lock();
        self.set_idle(&mut state, true);
        let state = self.shared.changed.wait_while(state, idle);
        !state.unwrap_or_else(PoisonError::into_inner).closed
    }

    fn set_idle(&self, state: &mut State, idle: bool) {
        match (self.idle.replace(idle), idle) {
            (false, true) => state.idle += 1,
            (true, false) => state.idle -= 1,
            _ => {}
        }
    }

    /// Searches until there is nothing to search, or a new generation begins; whether the evaluator can be used again.
    fn search(
        &self,
        evaluator: &mut dyn Evaluator,
        games: &mut Vec<Running>,
        priorities: &Priorities,
        generation: u64,
    ) -> bool {
        let AnalysisOptions { positions, .. } = self.options;
        let mut start = || {
            let mut state = self.shared.lock();
            // Threads share few positions rather than that the first takes all.
            let share = state.queue.len().div_ceil(self.options.threads).min(positions);
            let (searched, present) = (priorities.count(), priorities.highest());
            // An idle thread takes a more urgent task, and no search is paused for it.
            let most = if searched > 0 && state.idle > 0 { present } else { i64::MAX };
            // A less urgent task would be paused here, though another thread may be free for it.
            let least = if searched < share { Some(present) } else { present.checked_add(1) };
            let job = least.and_then(|least| state.queue.take(least..=most));
            // At once, or a task that comes before this thread waits could pause a search of another.
            self.set_idle(&mut state, job.is_none() && searched == 0);
            drop(state);
            Some(Running::new(job?, self.options, priorities))
        };
        let mut finish = |id| self.over(id);
        let mut watch = |_: &[Running]| match self.shared.generation() == generation {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let done = play::run(&mut [evaluator], games, positions + SPARE, &mut start, &mut finish, &mut watch);
        let Err(error) = done else { return true };
        tracing::error!(%error, "positions cannot be evaluated");
        let error = Arc::new(error);
        for game in games.drain(..) {
            self.over(game.fail(Event::Failed(Arc::clone(&error))));
        }
        false
    }

    fn over(&self, id: TaskId) {
        self.shared.lock().queue.finish(id);
        self.shared.finished.notify_all();
    }
}

#[cfg(test)]
mod tests;
