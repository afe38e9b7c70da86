//! The queue of a device: positions of many threads, evaluated together.

use std::collections::VecDeque;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Accelerator, Outputs, PackedPlanes};
use crate::{NetError, Packing, PlaneEvaluator};

/// Batches on the device at most: one that it computes, and the next.
const IN_FLIGHT: usize = 2;
/// How often the thread of the queue looks whether a batch is done. A GPU has the next batch meanwhile.
const POLL: Duration = Duration::from_micros(100);

/// Hands positions to a device. Its thread ends with it, and it with the last client.
pub(crate) struct Queue {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A thread's access to the device.
pub(crate) struct Client {
    queue: Arc<Queue>,
    packing: Packing,
    moves: usize,
    /// Memory that is used again.
    planes: PackedPlanes,
    outputs: Outputs,
}

/// What a queue has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Batches.
    pub batches: u64,
    /// Positions of these.
    pub positions: u64,
    /// Rows that the device computed for them.
    pub rows: u64,
    /// Bytes of planes that travelled to the device.
    pub bytes_up: u64,
    /// Bytes of outputs that travelled back.
    pub bytes_down: u64,
    /// Time in which the device had a batch.
    pub busy: Duration,
    /// Elapsed time of the threads that search, for making planes bits.
    pub packing: Duration,
    /// Elapsed time of the queue's thread for starting batches.
    pub launching: Duration,
    /// … and for copying outputs to the threads that search, waiting for the device included.
    pub reading: Duration,
}

struct Shared {
    /// Positions of a batch at most.
    most: usize,
    state: Mutex<State>,
    /// There is more to do, or the queue is closed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Positions of these jobs.
    positions: usize,
    /// Threads that have access, and those of them that wait.
    clients: usize,
    waiting: usize,
    closed: bool,
    counts: QueueCounts,
}

/// Positions of a thread that waits for them.
struct Job {
    planes: PackedPlanes,
    outputs: Outputs,
    reply: Sender<Reply>,
}

struct Reply {
    planes: PackedPlanes,
    outputs: Outputs,
    evaluated: Result<(), NetError>,
}

impl Queue {
    /// A queue for batches of up to `most` positions. `open` opens the device on the queue's own thread.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub(crate) fn open<A: Accelerator>(
        most: impl Fn(&A) -> usize + Send + 'static,
        open: impl FnOnce() -> Result<A, NetError> + Send + 'static,
    ) -> Result<Queue, NetError> {
        let (sender, opened) = channel();
        let thread = thread::Builder::new().name("device".to_owned()).spawn(move || {
            let device = match open() {
                Ok(device) => device,
                Err(error) => return drop(sender.send(Err(error))),
            };
            let shared = Arc::new(Shared { most: most(&device), state: Mutex::default(), changed: Condvar::new() });
            let closing = Closing(Arc::clone(&shared));
            if sender.send(Ok(shared)).is_ok() {
                work(&closing.0, device);
            }
        });
        let thread = thread.map_err(|error| NetError::of_libtorch(&format!("no thread for the device: {error}")))?;
        let shared = opened.recv().unwrap_or_else(|_| Err(ended()))?;
        Ok(Queue { shared, thread: Some(thread) })
    }

    /// Access for one thread, to a network whose planes are packed this way and that has so many moves.
    pub(crate) fn client(self: &Arc<Self>, packing: Packing, moves: usize) -> Client {
        self.shared.lock().clients += 1;
        let queue = Arc::clone(self);
        Client { queue, packing, moves, planes: PackedPlanes::default(), outputs: Outputs::default() }
    }

    /// What was done so far.
    pub(crate) fn counts(&self) -> QueueCounts {
        self.shared.lock().counts
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        // A panic of the thread was reported when it happened.
        self.thread.take().map(JoinHandle::join);
    }
}

/// Lets go of all who wait when the thread of the queue ends, by a panic too.
struct Closing(Arc<Shared>);

impl Drop for Closing {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        state.jobs.clear();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut QueueCounts)) {
        change(&mut self.lock().counts);
    }
}

impl State {
    /// Whether a batch is to be started, when there are so many on the device.
    ///
    /// An idle device begins with whatever there is. Behind a batch, the next is to be full, unless all who could
    /// add to it wait already. Threads that have access and work on something else count among those who could.
    fn is_due(&self, in_flight: usize, most: usize) -> bool {
        match in_flight {
            _ if self.positions == 0 => false,
            0 => true,
            IN_FLIGHT.. => false,
            _ => self.positions >= most || self.waiting >= self.clients,
        }
    }

    /// The jobs of the next batch, at least one.
    fn take(&mut self, most: usize) -> Vec<Job> {
        let (mut jobs, mut positions) = (Vec::new(), 0);
        while let Some(job) = self.jobs.front()
            && (jobs.is_empty() || positions + job.planes.positions <= most)
        {
            positions += job.planes.positions;
            jobs.extend(self.jobs.pop_front());
        }
        self.positions -= positions;
        jobs
    }
}

/// The thread of the queue: starts batches and hands out outputs until the queue is closed.
fn work<A: Accelerator>(shared: &Shared, mut device: A) {
    let mut flights: VecDeque<(A::Flight, Vec<Job>)> = VecDeque::new();
    let mut busy_since = Instant::now();
    loop {
        while let Some((flight, _)) = flights.front()
            && device.is_done(flight).unwrap_or(true)
            && let Some((flight, jobs)) = flights.pop_front()
        {
            if flights.is_empty() {
                shared.count(|counts| counts.busy += busy_since.elapsed());
            }
            finish(shared, &mut device, flight, jobs);
        }
        let mut state = shared.lock();
        if state.is_due(flights.len(), shared.most) {
            let jobs = state.take(shared.most);
            drop(state);
            if flights.is_empty() {
                busy_since = Instant::now();
            }
            flights.extend(launch(shared, &mut device, jobs));
        } else if !flights.is_empty() {
            drop(shared.changed.wait_timeout(state, POLL));
        } else if state.closed {
            return;
        } else {
            drop(shared.changed.wait(state));
        }
    }
}

/// Starts a batch; jobs that cannot be started are given back.
fn launch<A: Accelerator>(shared: &Shared, device: &mut A, jobs: Vec<Job>) -> Option<(A::Flight, Vec<Job>)> {
    let began = Instant::now();
    let planes: Vec<&PackedPlanes> = jobs.iter().map(|job| &job.planes).collect();
    let positions = planes.iter().map(|planes| planes.positions).sum::<usize>();
    let launched = device.launch(&planes);
    shared.count(|counts| counts.launching += began.elapsed());
    match launched {
        Ok(flight) => {
            let ([up, down], rows) = (device.bytes(positions), device.rows(positions));
            shared.count(|counts| {
                counts.batches += 1;
                counts.positions += positions as u64;
                counts.rows += rows as u64;
                counts.bytes_up += up as u64;
                counts.bytes_down += down as u64;
            });
            Some((flight, jobs))
        }
        Err(error) => {
            reply(shared, jobs, Err(error));
            None
        }
    }
}

fn finish<A: Accelerator>(shared: &Shared, device: &mut A, flight: A::Flight, mut jobs: Vec<Job>) {
    let began = Instant::now();
    let mut outputs: Vec<&mut Outputs> = jobs.iter_mut().map(|job| &mut job.outputs).collect();
    let read = device.read(flight, &mut outputs);
    shared.count(|counts| counts.reading += began.elapsed());
    reply(shared, jobs, read);
}

fn reply(shared: &Shared, jobs: Vec<Job>, evaluated: Result<(), NetError>) {
    shared.lock().waiting -= jobs.len();
    for Job { planes, outputs, reply } in jobs {
        let evaluated = match &evaluated {
            Ok(()) => Ok(()),
            // What fails at a batch is libtorch: other errors are those of opening a device, which are handed out as
            // they are.
            Err(NetError::Torch(text)) => Err(NetError::Torch(text.clone())),
            Err(error) => Err(NetError::Torch(error.to_string())),
        };
        // A thread that has gone reads nothing.
        drop(reply.send(Reply { planes, outputs, evaluated }));
    }
}

fn ended() -> NetError {
    NetError::Torch("the thread of the device has ended; its error is further up".to_owned())
}

impl Client {
    /// Evaluates the positions, which were packed in so much time, and leaves the outputs with the client.
    fn evaluate_packed(&mut self, packing: Duration) -> Result<(), NetError> {
        let shared = &self.queue.shared;
        let (sender, reply) = channel();
        let mut state = shared.lock();
        if state.closed {
            return Err(ended());
        }
        let (planes, outputs) = (std::mem::take(&mut self.planes), std::mem::take(&mut self.outputs));
        state.counts.packing += packing;
        state.waiting += 1;
        state.positions += planes.positions;
        state.jobs.push_back(Job { planes, outputs, reply: sender });
        drop(state);
        shared.changed.notify_one();
        let reply = reply.recv().map_err(|_| ended())?;
        (self.planes, self.outputs) = (reply.planes, reply.outputs);
        reply.evaluated
    }
}

impl PlaneEvaluator for Client {
    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        let (len, moves, most) = (self.packing.plane_bytes(), self.moves, self.queue.shared.most);
        let rows = planes.chunks(most * len).zip(policies.chunks_mut(most * moves)).zip(values.chunks_mut(most));
        for ((planes, policies), values) in rows {
            let began = Instant::now();
            self.planes.positions = values.len();
            self.planes.bits.clear();
            self.planes.scalars.clear();
            self.packing.pack(&planes[..values.len() * len], &mut self.planes.bits, &mut self.planes.scalars);
            self.evaluate_packed(began.elapsed())?;
            policies.copy_from_slice(&self.outputs.policies);
            values.copy_from_slice(&self.outputs.values);
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.queue.shared.lock().clients -= 1;
        // Perhaps all the others wait, and a batch was held back for this one.
        self.queue.shared.changed.notify_one();
    }
}

#[cfg(test)]
pub(crate) mod tests;
