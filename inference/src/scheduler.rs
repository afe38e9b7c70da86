//! The queue between streams and devices.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::NetError;
use remote::Refusal;
use remote::proto::v1::Status;
use runtime::metrics;

use crate::job::Job;
use crate::queue::{Entry, Next, Origin, Queue};

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
    /// Threads of the device.
    threads: usize,
    state: Mutex<State>,
    /// There is more to do, or nothing any more.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: Queue<Arc<Job>>,
    /// Positions that wait for their network.
    loading: usize,
    closed: bool,
    /// Batches on the device.
    in_flight: usize,
    /// Whether the last batch failed on the device.
    is_failing: bool,
    /// Positions a second of one thread, smoothed.
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
    /// Whether the last batch failed on the device.
    pub(crate) is_failing: bool,
}

impl Load {
    /// Whether the device is well as far as anything is known: it has nothing to do, and evaluated the last batch. A
    /// GPU that has failed refuses each batch at once, and has nothing to do then.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.positions == 0 && self.in_flight == 0 && !self.is_failing
    }
}

impl Scheduler {
    /// For batches of so many positions that wait at most so long for others, on so many threads; `most` positions may
    /// wait.
    pub(crate) fn new(batch: usize, wait: Duration, most: usize, threads: usize) -> Scheduler {
        Scheduler { batch, wait, most, threads, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Queues a job, or refuses it at once.
    pub(crate) fn submit(&self, origin: Origin, job: Job) {
        let positions = job.batch.positions;
        let mut state = self.lock();
        if state.closed {
            drop(state);
            return job.refuse(Refusal::new(Status::Unavailable, "the server shuts down; ask another"));
        }
        if let Err(refusal) = state.admit(positions, self.most, self.threads) {
            drop(state);
            return job.refuse(refusal);
        }
        let (arrival, network, priority) = (job.arrival, job.network.id, job.batch.priority);
        state.queue.push(Entry { origin, priority, network, positions, arrival, value: Arc::new(job) });
        drop(state);
        self.changed.notify_one();
    }

    /// The next rows to evaluate, all of one network; blocks until there are some. `None` when the server has shut down
    /// and nothing waits any more.
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
    pub(crate) fn done(&self, positions: usize, time: Duration, evaluated: &Result<(), NetError>) {
        const WEIGHT: f64 = 0.1;
        let rate = positions as f64 / time.as_secs_f64().max(1e-6);
        let mut state = self.lock();
        state.in_flight -= 1;
        if state.in_flight == 0 && state.queue.positions() == 0 {
            state.queue.begin_anew();
        }
        state.is_failing = evaluated.is_err();
        // How fast a device fails is not how fast it evaluates.
        if evaluated.is_ok() {
            state.rate = if state.rate == 0.0 { rate } else { state.rate + WEIGHT * (rate - state.rate) };
        }
        if state.closed {
            self.changed.notify_all();
        }
    }

    /// Takes positions into account whose network is not in memory, for as long as what is returned lives.
    pub(crate) fn wait_for_network(self: &Arc<Scheduler>, positions: usize) -> Result<Loading, Refusal> {
        let mut state = self.lock();
        state.admit(positions, self.most, self.threads)?;
        state.loading += positions;
        Ok(Loading { scheduler: Arc::clone(self), positions })
    }

    /// Drops what a stream or a call waits for, when it is gone. A client goes when its time is up, too.
    pub(crate) fn forget(&self, origin: Origin) {
        let forgotten = self.lock().queue.forget(origin);
        expire(forgotten.into_iter().filter(|entry| entry.arrival.is_over()));
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
            is_failing: state.is_failing,
        }
    }

    /// A queue has no broken states between calls, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Positions that wait for their network.
pub(crate) struct Loading {
    scheduler: Arc<Scheduler>,
    positions: usize,
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.scheduler.lock().loading -= self.positions;
    }
}

impl State {
    /// Refuses positions beyond the bound of those that wait.
    fn admit(&self, positions: usize, most: usize, threads: usize) -> Result<(), Refusal> {
        if self.queue.positions() + self.loading + positions <= most {
            return Ok(());
        }
        let full = format!("{most} positions wait already; ask another server, or later");
        Err(refuse_excess(positions, full, self.retry_after(threads)))
    }

    /// When so many threads will have evaluated half of what waits now.
    fn retry_after(&self, threads: usize) -> Duration {
        let waiting = self.queue.positions() + self.loading;
        let seconds = waiting as f64 / 2.0 / (self.rate * threads as f64);
        Duration::try_from_secs_f64(seconds).unwrap_or(LEAST_RETRY).clamp(LEAST_RETRY, MOST_RETRY)
    }
}

fn expire(late: impl IntoIterator<Item = Entry<Arc<Job>>>) {
    for Entry { value: job, .. } in late {
        job.refuse(refuse_expired(job.batch.positions));
    }
}

/// Counts positions that waited longer than their client does, for a client that waits for no refusal any more.
pub(crate) fn count_expired(positions: usize) {
    metrics::INFERENCE_EXPIRED.add(positions as u64);
}

/// Counts positions that waited longer than their client does, and says so.
pub(crate) fn refuse_expired(positions: usize) -> Refusal {
    count_expired(positions);
    Refusal::new(Status::DeadlineExceeded, "the batch waited longer than its deadline")
}

/// Counts positions beyond the capacity, and says so.
pub(crate) fn refuse_excess(positions: usize, reason: String, retry_after: Duration) -> Refusal {
    metrics::INFERENCE_REJECTED.add(positions as u64);
    Refusal::new(Status::ResourceExhausted, reason).retry_after(retry_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_hint_is_the_time_of_all_threads_for_half_of_what_waits() {
        let scheduler = Arc::new(Scheduler::new(8, Duration::ZERO, 800, 4));
        let refused = |positions| scheduler.wait_for_network(positions).err().and_then(|refusal| refusal.retry_after);
        let _loading = scheduler.wait_for_network(800);
        assert_eq!(refused(1), Some(LEAST_RETRY), "nothing is known of the speed");
        scheduler.lock().in_flight = 1;
        scheduler.done(100, Duration::from_secs(1), &Ok(()));
        assert_eq!(refused(1), Some(Duration::from_secs(1)), "400 positions at 4 times 100 a second");
    }
}
