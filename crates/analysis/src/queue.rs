//! Positions that wait for their search, the most urgent first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use go::Game;
use mcts::{Avoid, EvaluateError};

use crate::Analysis;

/// A position to search.
#[derive(Clone, Debug)]
pub struct Task {
    /// A game.
    pub game: Arc<Game>,
    /// The moves of it before the position.
    pub turn: usize,
    /// Points added to White's area.
    pub komi: f32,
    /// Visits below the root.
    pub visits: u32,
    /// Excluded moves.
    pub avoid: Vec<Avoid>,
    /// The higher, the sooner; of equals the first. A search of a higher priority interrupts those of lower ones.
    pub priority: i64,
    /// How often [`Event::Progress`] is said, and when first, if at all.
    pub progress: Option<[Duration; 2]>,
    /// How long the search may take, if it may not take as long as its visits do.
    pub time: Option<Duration>,
}

impl Task {
    /// The search of a position of a game, with priority 0 and no excluded moves.
    pub fn new(game: Arc<Game>, turn: usize, komi: f32, visits: u32) -> Task {
        Task { game, turn, komi, visits, avoid: Vec::new(), priority: 0, progress: None, time: None }
    }
}

/// An event of a task. All but [`Event::Progress`] end the task.
#[derive(Debug)]
pub enum Event {
    /// The present result.
    Progress(Analysis),
    /// The search is over, or was stopped.
    Done(Analysis),
    /// The task was stopped before anything was known.
    Nothing,
    /// The position could not be evaluated.
    Failed(Arc<EvaluateError>),
}

/// Receives the events of a task, in the thread that works on it. It must not wait for other tasks.
pub type Listener = Box<dyn FnMut(Event) + Send>;

/// Names a task of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId {
    priority: Reverse<i64>,
    number: u64,
}

/// A task and its listener.
pub(crate) struct Job {
    pub(crate) id: TaskId,
    pub(crate) task: Task,
    pub(crate) stop: Arc<AtomicBool>,
    listener: Option<Listener>,
}

impl Job {
    pub(crate) fn progress(&mut self, analysis: Analysis) {
        if let Some(listener) = &mut self.listener {
            listener(Event::Progress(analysis));
        }
    }

    /// Sends the last event; later ones are dropped.
    pub(crate) fn end(&mut self, event: Event) {
        if let Some(mut listener) = self.listener.take() {
            listener(event);
        }
    }

    /// Whether its result is not wanted any more, or was sent.
    pub(crate) fn is_stopped(&self) -> bool {
        self.listener.is_none() || self.stop.load(Ordering::Relaxed)
    }
}

impl Drop for Job {
    /// Of a thread that panics: its tasks end, too.
    fn drop(&mut self) {
        self.end(Event::Failed(Arc::new("the thread that searched the position ended".into())));
    }
}

/// The tasks of an engine that are not over.
#[derive(Default)]
pub(crate) struct Queue {
    next: u64,
    waiting: BTreeMap<TaskId, Job>,
    running: BTreeMap<TaskId, Arc<AtomicBool>>,
}

impl Queue {
    pub(crate) fn add(&mut self, task: Task, listener: Listener) -> TaskId {
        let id = TaskId { priority: Reverse(task.priority), number: self.next };
        self.next += 1;
        self.waiting.insert(id, Job { id, task, stop: Arc::default(), listener: Some(listener) });
        id
    }

    /// The most urgent task, if its priority is one of these.
    pub(crate) fn take(&mut self, priorities: RangeInclusive<i64>) -> Option<Job> {
        let first = self.waiting.first_entry()?;
        if !priorities.contains(&first.key().priority.0) {
            return None;
        }
        let job = first.remove();
        self.running.insert(job.id, Arc::clone(&job.stop));
        Some(job)
    }

    /// A task that was taken is over.
    pub(crate) fn finish(&mut self, id: TaskId) {
        self.running.remove(&id);
    }

    /// Stops a task: one that waits is returned, one that is searched will end soon.
    pub(crate) fn stop(&mut self, id: TaskId) -> Option<Job> {
        if let Some(stop) = self.running.get(&id) {
            stop.store(true, Ordering::Relaxed);
        }
        self.waiting.remove(&id)
    }

    /// Stops all tasks and returns those that waited.
    pub(crate) fn stop_all(&mut self) -> Vec<Job> {
        self.running.values().for_each(|stop| stop.store(true, Ordering::Relaxed));
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Tasks that are not over.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.running.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
