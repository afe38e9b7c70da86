//! The queue between streams and devices.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use remote::Refusal;
use remote::proto::v1::{Priority, Status};
use runtime::metrics;

use crate::job::Job;
use crate::queue::{ClientId, Entry, Next, Queue};

/// A retry hint at least, and where nothing is known of the speed yet.
const LEAST_RETRY: Duration = Duration::from_millis(5);
/// A retry hint at most.
const MOST_RETRY: Duration = Duration::from_secs(5);

/// Rows of jobs that are evaluated together.
pub(crate) type Rows = Vec<(Arc<Job>, Range<usize>)>;

/// Hands the batches of clients to the threads of a device.
pub(crate) struct Scheduler {
    batch: usize,
    wait: Duration,
    most: usize,
    state: Mutex<State>,
    /// There is more to do, or nothing any more.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: Queue<Arc<Job>>,
    closed: bool,
    /// Batches on the device.
    in_flight: usize,
    /// Positions a second, smoothed.
    rate: f64,
}

/// How busy the device is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    /// Positions that wait.
    pub(crate) positions: usize,
    /// How long the oldest of them has waited.
    pub(crate) age: Duration,
    /// Batches on the device.
    pub(crate) in_flight: usize,
    /// Time in which the device evaluates a batch, of one thread.
    pub(crate) batch_time: Duration,
}

impl Scheduler {
    pub(crate) fn new(batch: usize, wait: Duration, most: usize) -> Scheduler {
        Scheduler { batch, wait, most, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Queues a job, or refuses it at once.
    pub(crate) fn submit(&self, client: ClientId, priority: Priority, job: Job) {
        let positions = job.batch.positions;
        let mut state = self.lock();
        if state.closed {
            drop(state);
            return job.refuse(Refusal::new(Status::Unavailable, "the server shuts down; ask another"));
        }
        if state.queue.positions() + positions > self.most {
            let retry = state.retry_after();
            drop(state);
            metrics::INFERENCE_REJECTED.add(positions as u64);
            let full = format!("{} positions wait already; ask another server, or later", self.most);
            return job.refuse(Refusal::new(Status::ResourceExhausted, full).retry_after(retry));
        }
        let (arrived, network) = (job.arrived, job.network.id);
        let deadline = job.batch.deadline.and_then(|deadline| arrived.checked_add(deadline));
        let value = Arc::new(job);
        state.queue.push(Entry { client, priority, network, positions, arrived, deadline, value });
        drop(state);
        self.changed.notify_one();
    }

    /// The next rows to evaluate, all of one network; blocks until there are some. `None` when the server has shut down and
    /// nothing waits any more.
    pub(crate) fn next(&self) -> Option<Rows> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            expire(state.queue.expire(now));
            let wait = if state.closed { Duration::ZERO } else { self.wait };
            match state.queue.next(now, self.batch, wait) {
                Next::Batch(rows) => {
                    state.in_flight += 1;
                    if state.queue.positions() > 0 {
                        self.changed.notify_one();
                    }
                    return Some(rows);
                }
                Next::Wait(None) if state.closed => return None,
                Next::Wait(None) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Next::Wait(Some(until)) => {
                    let time = until.saturating_duration_since(now);
                    (state, _) = self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// A batch of [`Scheduler::next`] is done.
    pub(crate) fn done(&self, positions: usize, time: Duration) {
        const WEIGHT: f64 = 0.1;
        let rate = positions as f64 / time.as_secs_f64().max(1e-6);
        let mut state = self.lock();
        state.in_flight -= 1;
        state.rate = if state.rate == 0.0 { rate } else { state.rate + WEIGHT * (rate - state.rate) };
        if state.closed {
            self.changed.notify_all();
        }
    }

    /// Drops what a client waits for, when it is gone.
    pub(crate) fn forget(&self, client: ClientId) {
        self.lock().queue.forget(client);
    }

    /// Takes no more jobs. What waits is evaluated.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn load(&self) -> Load {
        let now = Instant::now();
        let mut state = self.lock();
        // Where the device is stuck, its threads do not look for them.
        expire(state.queue.expire(now));
        let age = state.queue.oldest().map_or(Duration::ZERO, |oldest| now.saturating_duration_since(oldest));
        let batch_time = if state.rate > 0.0 { self.batch as f64 / state.rate } else { 0.0 };
        Load {
            positions: state.queue.positions(),
            age,
            in_flight: state.in_flight,
            batch_time: Duration::try_from_secs_f64(batch_time).unwrap_or_default(),
        }
    }

    /// A queue has no broken states between calls, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// When half of what waits now will be evaluated.
    fn retry_after(&self) -> Duration {
        let seconds = self.queue.positions() as f64 / 2.0 / self.rate;
        Duration::try_from_secs_f64(seconds).unwrap_or(LEAST_RETRY).clamp(LEAST_RETRY, MOST_RETRY)
    }
}

fn expire(expired: Vec<Entry<Arc<Job>>>) {
    for Entry { positions, value: job, .. } in expired {
        metrics::INFERENCE_EXPIRED.add(positions as u64);
        let time = job.batch.deadline.unwrap_or_default();
        let late = format!("the batch waited longer than its deadline of {} ms", time.as_millis());
        job.refuse(Refusal::new(Status::DeadlineExceeded, late));
    }
}
