//! The queue with a device that the tests play.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use go::Size;

use super::*;
use crate::Inputs;

const MOVES: usize = 26;

/// A device whose batches end when the test says so. An output is the number of scalars set in a position's planes.
struct Played {
    /// Gets the positions of each batch that begins.
    begun: Sender<usize>,
    /// One message ends one batch; an error fails it.
    ends: Receiver<Result<(), NetError>>,
    /// The batches in flight, oldest first, by whether they have ended.
    ended: std::cell::RefCell<VecDeque<Result<(), NetError>>>,
    /// How often the queue asked for the end of a batch.
    asked: Arc<AtomicUsize>,
}

struct Batch(Vec<Outputs>);

impl Accelerator for Played {
    type Flight = Batch;

    fn launch(&mut self, clients: &[&PackedPlanes]) -> Result<Batch, NetError> {
        let _ = self.begun.send(clients.iter().map(|client| client.positions).sum());
        let outputs = |client: &&PackedPlanes| {
            let values: Vec<f32> = client.scalars.chunks(2).map(|of_one| f32::from(of_one[1])).collect();
            Outputs { policies: values.iter().flat_map(|&value| [value; MOVES]).collect(), values }
        };
        Ok(Batch(clients.iter().map(outputs).collect()))
    }

    fn is_done(&self, _: &Batch) -> Result<bool, NetError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.ended.borrow_mut().extend(self.ends.try_iter());
        Ok(!self.ended.borrow().is_empty())
    }

    fn read(&mut self, flight: Batch, outputs: &mut [&mut Outputs]) -> Result<(), NetError> {
        self.ended.borrow_mut().pop_front().expect("only a batch that is done is read")?;
        outputs.iter_mut().zip(flight.0).for_each(|(outputs, of_client)| **outputs = of_client);
        Ok(())
    }

    fn rows(&self, positions: usize) -> usize {
        positions.next_multiple_of(4)
    }

    fn bytes(&self, positions: usize) -> [usize; 2] {
        [positions, 2 * positions]
    }
}

/// A queue of batches of up to 8 positions, and the two ends of its device.
fn queue() -> (Arc<Queue>, Receiver<usize>, Sender<Result<(), NetError>>) {
    queue_that_asks(Arc::default())
}

/// The same, with a count of how often the queue asks for the end of a batch.
fn queue_that_asks(asked: Arc<AtomicUsize>) -> (Arc<Queue>, Receiver<usize>, Sender<Result<(), NetError>>) {
    let (begun, batches) = channel();
    let (end, ends) = channel();
    let open = move || Ok(Played { begun, ends, ended: Default::default(), asked });
    (Arc::new(Queue::open(|_| 8, open).unwrap()), batches, end)
}

fn packing() -> Packing {
    Inputs::Features.packing(Size::new(5).unwrap())
}

/// Evaluates positions whose outputs are the bytes of `komi`.
fn evaluate(client: &mut Client, komi: &[u8]) -> Result<Vec<f32>, NetError> {
    let (packing, area) = (packing(), 25);
    let mut planes = vec![0; komi.len() * packing.plane_bytes()];
    for (planes, &komi) in planes.chunks_exact_mut(packing.plane_bytes()).zip(komi) {
        planes[crate::features::KOMI * area..][..area].fill(komi);
    }
    let (mut policies, mut values) = (vec![0.0; komi.len() * MOVES], vec![0.0; komi.len()]);
    client.evaluate(&planes, &mut policies, &mut values)?;
    assert!(policies.chunks(MOVES).zip(&values).all(|(policy, value)| policy.iter().all(|p| p == value)));
    Ok(values)
}

/// Waits until so many positions wait in the queue.
fn until_waiting(queue: &Queue, positions: usize) {
    testing::wait_until("positions to wait", || queue.shared.lock().positions == positions);
}

/// Waits until the queue has decided about the next batch with all that has happened so far. It asks for the end of the
/// batch on the device, decides, and asks again, so the decision after the next question is such a one.
fn until_decided(asked: &AtomicUsize) {
    let before = asked.load(Ordering::SeqCst);
    testing::wait_until("a decision", || asked.load(Ordering::SeqCst) >= before + 2);
}

#[test]
fn positions_of_threads_share_batches_and_two_batches_are_on_the_device() {
    let asked = Arc::default();
    let (queue, batches, end) = queue_that_asks(Arc::clone(&asked));
    let clients: Vec<Client> = (0..5).map(|_| queue.client(packing(), MOVES)).collect();
    thread::scope(|scope| {
        let mut clients = clients.into_iter();
        let mut begin = |komi: [u8; 4]| {
            let mut client = clients.next().unwrap();
            scope.spawn(move || {
                assert_eq!(evaluate(&mut client, &komi).unwrap(), komi.map(f32::from));
                client
            })
        };
        let first = begin([1, 2, 3, 4]);
        // An idle device begins at once.
        assert_eq!(batches.recv(), Ok(4));
        let second = begin([5, 6, 7, 8]);
        until_waiting(&queue, 4);
        until_decided(&asked);
        assert!(batches.try_recv().is_err(), "behind a batch, the next waits until it is full");
        let third = begin([9, 10, 11, 12]);
        // Two batches are on the device.
        assert_eq!(batches.recv(), Ok(8));
        let fourth = begin([13, 14, 15, 16]);
        until_waiting(&queue, 4);
        end.send(Ok(())).unwrap();
        // The client of the first batch lives and computes, so that one that is not full waits…
        let first = first.join().unwrap();
        until_decided(&asked);
        assert!(batches.try_recv().is_err());
        // … for it, or for the client that has done nothing yet.
        drop(first);
        until_decided(&asked);
        assert!(batches.try_recv().is_err());
        drop(clients.next());
        assert_eq!(batches.recv(), Ok(4), "all who could add to a batch wait");
        for batch in [vec![second, third], vec![fourth]] {
            end.send(Ok(())).unwrap();
            batch.into_iter().for_each(|client| drop(client.join().unwrap()));
        }
    });
    let counts = queue.counts();
    assert_eq!((counts.batches, counts.positions, counts.rows), (3, 16, 16));
    assert_eq!((counts.bytes_up, counts.bytes_down), (16, 32));
    assert!(counts.busy > Duration::ZERO && counts.packing > Duration::ZERO, "{counts:?}");
}

#[test]
fn more_positions_than_a_batch_holds_are_evaluated_one_batch_after_the_other() {
    let (queue, batches, end) = queue();
    let mut client = queue.client(packing(), MOVES);
    (0..3).for_each(|_| end.send(Ok(())).unwrap());
    let komi: Vec<u8> = (0..19).collect();
    assert_eq!(evaluate(&mut client, &komi).unwrap(), komi.iter().copied().map(f32::from).collect::<Vec<_>>());
    assert_eq!(batches.try_iter().collect::<Vec<_>>(), [8, 8, 3]);
}

#[test]
fn clients_of_a_failed_batch_have_its_error_and_the_next_one_works() {
    let (queue, _batches, end) = queue();
    let mut client = queue.client(packing(), MOVES);
    end.send(Err(NetError::of_libtorch("CUDA error"))).unwrap();
    assert_eq!(evaluate(&mut client, &[1]).unwrap_err().to_string(), "libtorch: CUDA error");
    end.send(Ok(())).unwrap();
    assert_eq!(evaluate(&mut client, &[2]).unwrap(), [2.0]);
}

/// A device that fails at every batch, in a place: `launch`, `is_done` or `read`. With `panic` its thread ends.
pub(crate) struct Failing(pub(crate) &'static str);

impl Failing {
    fn at(&self, place: &str) -> Result<(), NetError> {
        if self.0 == place { Err(NetError::of_libtorch("CUDA error")) } else { Ok(()) }
    }
}

impl Accelerator for Failing {
    type Flight = ();

    fn launch(&mut self, _: &[&PackedPlanes]) -> Result<(), NetError> {
        assert!(self.0 != "panic", "as a test wants it");
        self.at("launch")
    }

    fn is_done(&self, (): &()) -> Result<bool, NetError> {
        self.at("is_done").map(|()| true)
    }

    fn read(&mut self, (): (), _: &mut [&mut Outputs]) -> Result<(), NetError> {
        Err(NetError::of_libtorch("CUDA error"))
    }

    fn rows(&self, positions: usize) -> usize {
        positions
    }

    fn bytes(&self, _: usize) -> [usize; 2] {
        [1, 1]
    }
}

#[test]
fn device_that_fails_anywhere_gives_clients_the_error_every_time() {
    for (place, batches) in [("launch", 0), ("is_done", 2), ("read", 2)] {
        let queue = Arc::new(Queue::open(|_| 8, move || Ok(Failing(place))).unwrap());
        let mut client = queue.client(packing(), MOVES);
        for _ in 0..2 {
            assert!(evaluate(&mut client, &[1]).unwrap_err().to_string().contains("CUDA error"), "{place}");
        }
        assert_eq!(queue.counts().batches, batches, "{place}: batches that did not begin do not count");
    }
}

#[test]
fn device_that_cannot_be_opened_is_an_error() {
    let open = || -> Result<Played, NetError> { Err(NetError::of_libtorch("no")) };
    assert!(Queue::open(|_| 8, open).is_err());
}

#[test]
fn clients_of_a_thread_that_panicked_have_an_error() {
    let (queue, _batches, end) = queue();
    let mut client = queue.client(packing(), MOVES);
    let broken = Arc::new(Queue::open(|_| 8, || Ok(Failing("panic"))).unwrap());
    let mut of_broken = broken.client(packing(), MOVES);
    (0..2).for_each(|_| assert!(evaluate(&mut of_broken, &[1]).unwrap_err().to_string().contains("has ended")));
    end.send(Ok(())).unwrap();
    assert_eq!(evaluate(&mut client, &[2]).unwrap(), [2.0], "others go on");
}
