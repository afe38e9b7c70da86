//! Searches of all visitors: few run at a time, others wait, and each ends once no page wants it.
//!
//! A [`Desk`] has so many slots. A visitor puts a search on it and gets a [`Ticket`]; dropping the ticket takes the
//! search out of the queue, or stops it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use analysis::{Event, Listener, Task, TaskId};

use super::engines::OpenModel;
use super::fair_queue::{FairQueue, Full, VisitorId, WaitingId};

/// The priority of searches that people wait for, or that a clock limits: they interrupt others.
pub(super) const AWAITED: i64 = 1;

/// The place where searches wait and run.
#[derive(Clone)]
pub(super) struct Desk(Arc<Mutex<State>>);

struct State {
    /// Slots that are free.
    free: usize,
    queue: FairQueue<Arc<Job>>,
}

/// A search, from its request to its end.
struct Job {
    model: Arc<OpenModel>,
    state: Mutex<JobState>,
}

enum JobState {
    Waiting(Box<(Task, Listener)>),
    Running(TaskId),
    Over,
}

/// A search that a page wants.
pub(super) struct Ticket {
    desk: Desk,
    visitor: VisitorId,
    id: WaitingId,
    job: Arc<Job>,
}

impl Desk {
    /// A desk on which `searches` run at a time and `most` wait.
    pub(super) fn new(searches: usize, most: usize) -> Desk {
        Desk(Arc::new(Mutex::new(State { free: searches, queue: FairQueue::new(most) })))
    }

    /// Puts a search on the desk. One that is [`AWAITED`] comes before others of its visitor. One that gives way to
    /// those of other visitors ends with [`Event::Nothing`].
    ///
    /// # Errors
    /// Too many searches wait.
    pub(super) fn put(
        &self,
        visitor: VisitorId,
        model: &Arc<OpenModel>,
        task: Task,
        listener: impl FnMut(Event) + Send + 'static,
    ) -> Result<Ticket, Full> {
        let urgent = task.priority >= AWAITED;
        let state = Mutex::new(JobState::Waiting(Box::new((task, Box::new(listener)))));
        let job = Arc::new(Job { model: Arc::clone(model), state });
        let (id, displaced) = match urgent {
            true => self.lock().queue.push_front(visitor, Arc::clone(&job))?,
            false => self.lock().queue.push_back(visitor, Arc::clone(&job))?,
        };
        if let Some(displaced) = displaced {
            displaced.give_way();
        }
        self.start();
        Ok(Ticket { desk: self.clone(), visitor, id, job })
    }

    /// Starts searches while there are slots.
    fn start(&self) {
        loop {
            let mut state = self.lock();
            if state.free == 0 {
                return;
            }
            let Some(job) = state.queue.pop() else { return };
            state.free -= 1;
            drop(state);
            if !job.start(self) {
                self.lock().free += 1;
            }
        }
    }

    fn release(&self) {
        self.lock().free += 1;
        self.start();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Searches that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().queue.len()
    }
}

impl Job {
    /// Hands the search to its engine; whether it was still wanted.
    fn start(&self, desk: &Desk) -> bool {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, JobState::Over) {
            JobState::Waiting(search) => {
                let (task, mut listener) = *search;
                let desk = desk.clone();
                let listener: Listener = Box::new(move |event| {
                    let over = !matches!(event, Event::Progress(_));
                    listener(event);
                    if over {
                        desk.release();
                    }
                });
                *state = JobState::Running(self.model.engine().submit(task, listener));
                true
            }
            other => {
                *state = other;
                false
            }
        }
    }

    /// Ends the search, which waits, for others.
    fn give_way(&self) {
        if let JobState::Waiting(search) = std::mem::replace(&mut *self.lock(), JobState::Over) {
            let (_, mut listener) = *search;
            listener(Event::Nothing);
        }
    }

    /// Stops the search if it runs; its last event has its present result.
    fn stop(&self) {
        let running = match std::mem::replace(&mut *self.lock(), JobState::Over) {
            JobState::Running(id) => Some(id),
            JobState::Waiting(_) | JobState::Over => None,
        };
        // Without the lock, since the engine may say at once that it is over.
        if let Some(id) = running {
            self.model.engine().stop(id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// How many searches begin before this one; `None` once it has begun.
    pub(super) fn place(&self) -> Option<usize> {
        self.desk.lock().queue.place(self.visitor, self.id)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.desk.lock().queue.remove(self.visitor, self.id);
        self.job.stop();
    }
}
