//! A few threads for work that may wait, such as reading weights; the async ones never do.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::fair_queue::{FairQueue, Full, VisitorId, WaitingId};

/// Work, and what follows if it gives way to that of others.
struct Work {
    run: Box<dyn FnOnce() + Send>,
    displaced: Box<dyn FnOnce() + Send>,
}

/// Threads that do what waits in a queue, fairly between visitors. They end when this is dropped.
pub(super) struct Offload(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    queue: FairQueue<Work>,
    over: bool,
}

/// Work that a page wants. Dropping it takes the work out of the queue, unless a thread has begun with it.
pub(super) struct OffloadTicket {
    shared: Arc<Shared>,
    visitor: VisitorId,
    id: WaitingId,
}

impl Offload {
    /// Starts so many threads, for which at most so much work waits.
    ///
    /// # Errors
    /// There can be no thread.
    pub(super) fn start(threads: usize, most: usize) -> io::Result<Offload> {
        let state = Mutex::new(State { queue: FairQueue::new(most), over: false });
        let offload = Offload(Arc::new(Shared { state, changed: Condvar::new() }));
        for number in 0..threads {
            let shared = Arc::clone(&offload.0);
            thread::Builder::new().name(format!("web-work-{number}")).spawn(move || {
                while let Some(work) = shared.next() {
                    (work.run)();
                }
            })?;
        }
        Ok(offload)
    }

    /// Hands work of a visitor to the threads. `displaced` is called instead if it gives way to that of others.
    ///
    /// # Errors
    /// Too much work waits.
    pub(super) fn run(
        &self,
        visitor: VisitorId,
        work: impl FnOnce() + Send + 'static,
        displaced: impl FnOnce() + Send + 'static,
    ) -> Result<OffloadTicket, Full> {
        let work = Work { run: Box::new(work), displaced: Box::new(displaced) };
        let (id, other) = self.0.lock().queue.push_back(visitor, work)?;
        if let Some(other) = other {
            (other.displaced)();
        }
        self.0.changed.notify_one();
        Ok(OffloadTicket { shared: Arc::clone(&self.0), visitor, id })
    }
}

impl Drop for Offload {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// The next work, as soon as there is some; nothing at the end.
    fn next(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if state.over {
                return None;
            }
            if let Some(work) = state.queue.pop() {
                return Some(work);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OffloadTicket {
    /// How much work begins before this; `None` once it has begun.
    pub(super) fn place(&self) -> Option<usize> {
        self.shared.lock().queue.place(self.visitor, self.id)
    }
}

impl Drop for OffloadTicket {
    fn drop(&mut self) {
        // The work is dropped without the lock: what it holds may be large.
        let removed = self.shared.lock().queue.remove(self.visitor, self.id);
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, mpsc};

    use super::*;

    const VISITOR: VisitorId = VisitorId::Page(1);

    #[test]
    fn work_is_done_by_all_threads() {
        let offload = Offload::start(2, 2).expect("threads");
        // Each waits for the other, so one thread alone would never finish.
        let both = Arc::new(Barrier::new(2));
        let (sender, done) = mpsc::channel();
        let mut tickets = Vec::new();
        for number in [1, 2] {
            let (both, sender) = (Arc::clone(&both), sender.clone());
            let work = move || {
                both.wait();
                sender.send(number).expect("the test waits");
            };
            tickets.push(offload.run(VISITOR, work, || ()).unwrap());
        }
        drop(sender);
        let mut numbers: Vec<i32> = done.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2]);
    }

    #[test]
    fn work_is_bounded_and_unwanted_work_leaves_the_queue() {
        let offload = Offload::start(1, 2).expect("a thread");
        let (begin, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let work = move || {
            begin.send(()).expect("the test waits");
            // An error means that the test is over.
            let _ = ended.recv();
        };
        let busy = offload.run(VISITOR, work, || ()).unwrap();
        begun.recv().expect("the thread begins");
        let (sender, done) = mpsc::channel();
        let add = |visitor, number: i32| {
            let [run, displaced] = [sender.clone(), sender.clone()];
            let run = move || run.send(number).expect("the test waits");
            offload.run(visitor, run, move || displaced.send(-number).expect("the test waits"))
        };
        let (first, second) = (add(VISITOR, 1).unwrap(), add(VISITOR, 2).unwrap());
        assert_eq!([&busy, &first, &second].map(OffloadTicket::place), [None, Some(0), Some(1)]);
        assert!(matches!(add(VISITOR, 3), Err(Full)));
        drop(first);
        let _fourth = add(VISITOR, 4).unwrap();
        let _fifth = add(VisitorId::Page(2), 5).unwrap();
        end.send(()).expect("the thread waits");
        let found: Vec<i32> = done.iter().take(3).collect();
        assert_eq!(found, [-4, 2, 5]);
    }
}
