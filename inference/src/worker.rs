//! A thread of the device: evaluates one batch after the other.

use std::time::Instant;

use net::{Fault, NetError, check_output};
use remote::proto::v1::Status;
use remote::{Priority, Refusal};
use runtime::{Health, metrics};

use crate::cache::Cache;
use crate::job::Response;
use crate::network::Network;
use crate::scheduler::{Rows, Scheduler};

/// Memory of a thread, which grows to what the largest network needs.
#[derive(Default)]
struct Buffers {
    planes: Vec<u8>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

/// Evaluates until the scheduler has shut down.
pub(crate) fn work(scheduler: &Scheduler, cache: &Cache, batch: usize, health: &Health) {
    let mut buffers = Buffers::default();
    let mut responses = Vec::new();
    while let Some(rows) = scheduler.next() {
        let began = Instant::now();
        let positions = rows.iter().map(|(_, rows)| rows.len()).sum();
        let evaluated = buffers.evaluate(&rows, positions, &mut responses);
        scheduler.done(positions, began.elapsed(), &evaluated);
        let micros = |duration: std::time::Duration| duration.as_micros() as u64;
        let waited = rows.iter().map(|(job, _)| micros(began.saturating_duration_since(job.arrival.at))).sum();
        metrics::INFERENCE_BATCHES.add(1);
        metrics::INFERENCE_SLOTS.add(batch.max(positions) as u64);
        metrics::INFERENCE_BATCH_REQUESTS.add(rows.len() as u64);
        metrics::INFERENCE_WAIT.add(waited);
        metrics::INFERENCE_BUSY.add(micros(began.elapsed()));
        match evaluated {
            Ok(()) => {
                // Before the positions, of which they are a part.
                metrics::INFERENCE_INTERACTIVE.add(interactive(&rows));
                metrics::INFERENCE_POSITIONS.add(positions as u64);
                // Of several GPUs, another may hang.
                if !cache.is_stalled() {
                    health.heartbeat();
                }
                cache.works();
                // Last: with its response, a client may need the memory of the network, and look at what is counted.
                drop(rows);
                responses.drain(..).for_each(Response::send);
            }
            Err(error) => {
                metrics::INFERENCE_ERRORS.add(1);
                tracing::error!(%error, positions, "batch failed on the device");
                // The thread of its device may have ended, or the weights in its memory may have changed.
                if let (Fault::Device, Some((job, _))) = (error.fault(), rows.first()) {
                    cache.forget(&job.network);
                }
                let message = format!("the device failed: {error}");
                rows.iter().for_each(|(job, _)| job.refuse(Refusal::new(Status::Internal, message.clone())));
            }
        }
    }
}

/// Positions of people and matches.
fn interactive(rows: &Rows) -> u64 {
    let of_people = rows.iter().filter(|(job, _)| job.batch.priority == Priority::Interactive);
    of_people.map(|(_, rows)| rows.len() as u64).sum()
}

impl Buffers {
    /// Evaluates rows, and adds the responses of the batches that are done with them.
    fn evaluate(&mut self, rows: &Rows, positions: usize, responses: &mut Vec<Response>) -> Result<(), NetError> {
        let Some((first, _)) = rows.first() else { return Ok(()) };
        let network = &first.network;
        let moves = network.shape.size.moves();
        network.with_session(|session| {
            let (len, all) = (network.packing.plane_bytes(), session.rows(positions));
            grow(&mut self.planes, all * len);
            grow(&mut self.policies, positions * moves);
            grow(&mut self.values, positions);
            self.unpack(network, rows);
            let (policies, values) = (&mut self.policies[..positions * moves], &mut self.values[..positions]);
            session.evaluate(&self.planes[..all * len], policies, values)?;
            check_output(policies, values)
        })?;
        let mut done = 0;
        for (job, rows) in rows {
            let policies = &self.policies[done * moves..][..rows.len() * moves];
            responses.extend(job.add(rows.start, policies, &self.values[done..][..rows.len()]));
            done += rows.len();
        }
        Ok(())
    }

    fn unpack(&mut self, network: &Network, rows: &Rows) {
        let packing = &network.packing;
        let mut rest = self.planes.as_mut_slice();
        for (job, rows) in rows {
            let (planes, after) = rest.split_at_mut(rows.len() * packing.plane_bytes());
            // The form of the planes is that of the batch.
            let of_one = job.batch.bits.len() / job.batch.positions;
            let bits = &job.batch.bits[rows.start * of_one..rows.end * of_one];
            let scalars = &job.batch.scalars[rows.start * packing.scalars()..rows.end * packing.scalars()];
            packing.unpack(bits, scalars, planes);
            rest = after;
        }
    }
}

fn grow<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use config::RunName;
    use net::{PlaneEvaluator, Shape};
    use remote::{Batch, Digest, Encoding, ModelKey};
    use testing::PATIENCE;

    use super::*;
    use crate::arrival::Arrival;
    use crate::job::{Job, Outcome};
    use crate::network::Opened;
    use crate::provider::{Found, ModelProvider, ProviderError};
    use crate::queue::{CallId, ClientId, Origin};

    /// A device that fails when it is to, or whose numbers are none, and the number of models that were opened.
    #[derive(Clone, Default)]
    struct Flaky {
        fails: Arc<AtomicBool>,
        is_nan: Arc<AtomicBool>,
        opened: Arc<AtomicUsize>,
    }

    impl PlaneEvaluator for Flaky {
        fn evaluate(&mut self, _: &[u8], _: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
            values.fill(if self.is_nan.load(Ordering::Relaxed) { f32::NAN } else { 0.0 });
            let error = || NetError::Torch("CUDA error: an illegal memory access was encountered".to_owned());
            if self.fails.load(Ordering::Relaxed) { Err(error()) } else { Ok(()) }
        }
    }

    impl ModelProvider for Flaky {
        fn find(&self, _: &RunName, _: u32) -> Result<Found, ProviderError> {
            let flaky = self.clone();
            let open = move || {
                flaky.opened.fetch_add(1, Ordering::Relaxed);
                let shape = Shape::plain(go::Size::new(5).unwrap());
                Ok(Opened { shape, devices: 1, open: Box::new(move |_| Box::new(flaky.clone())) })
            };
            Ok(Found { digest: Digest::of(b"weights"), bytes: 1, open: Box::new(open) })
        }
    }

    /// Has two positions evaluated by whatever works for the scheduler.
    async fn evaluate(scheduler: &Scheduler, cache: &Arc<Cache>) -> Outcome {
        let model = ModelKey { run: "v1".parse().unwrap(), number: 1, digest: None };
        let network = cache.get(&model).await.unwrap();
        let batch = Batch {
            id: 1,
            model,
            positions: 2,
            deadline: None,
            bits: vec![0; 2 * network.packing.bit_bytes()].into(),
            scalars: vec![0; 2 * network.packing.scalars()].into(),
            answers: Encoding::F32,
            priority: Priority::Selfplay,
        };
        let (sender, outcome) = channel();
        let weak = Arc::downgrade(&network);
        let reply = move |outcome: Outcome| {
            // The cache has it still, unless it has failed.
            assert!(outcome.is_err() || weak.strong_count() == 1, "the network is in use");
            sender.send(outcome).expect("the test waits");
        };
        let job = Job::new(network, batch, Arrival::new(Instant::now(), None), Box::new(reply));
        scheduler.submit(Origin { client: ClientId(1), call: CallId(1) }, job);
        outcome.recv_timeout(PATIENCE).expect("an outcome")
    }

    #[tokio::test]
    async fn device_that_fails_is_not_at_rest_and_its_model_is_opened_anew() {
        let flaky = Flaky::default();
        let cache = Arc::new(Cache::new(Arc::new(flaky.clone()), 100, 4));
        let scheduler = Arc::new(Scheduler::new(4, Duration::ZERO, 100, 1));
        let worker = thread::spawn({
            let (scheduler, cache) = (Arc::clone(&scheduler), Arc::clone(&cache));
            move || work(&scheduler, &cache, 4, &Health::default())
        });
        assert!(scheduler.load().is_at_rest());
        evaluate(&scheduler, &cache).await.unwrap();
        flaky.fails.store(true, Ordering::Relaxed);
        let refusal = evaluate(&scheduler, &cache).await.unwrap_err();
        assert!(refusal.status == Status::Internal && refusal.message.contains("illegal memory access"), "{refusal}");
        let load = scheduler.load();
        assert_eq!((load.positions, load.in_flight, load.is_at_rest()), (0, 0, false));
        assert_eq!((flaky.opened.load(Ordering::Relaxed), cache.len()), (1, 0));
        flaky.fails.store(false, Ordering::Relaxed);
        evaluate(&scheduler, &cache).await.unwrap();
        assert_eq!((flaky.opened.load(Ordering::Relaxed), cache.len()), (2, 1));
        flaky.is_nan.store(true, Ordering::Relaxed);
        let refusal = evaluate(&scheduler, &cache).await.unwrap_err();
        assert!(refusal.status == Status::Internal && refusal.message.contains("is not a number"), "{refusal}");
        assert!(!scheduler.load().is_at_rest() && cache.len() == 0);
        flaky.is_nan.store(false, Ordering::Relaxed);
        evaluate(&scheduler, &cache).await.unwrap();
        scheduler.close();
        worker.join().unwrap();
        assert!(scheduler.load().is_at_rest());
    }

    #[tokio::test]
    async fn device_that_fails_in_a_load_is_failing_until_a_load_succeeds() {
        let flaky = Flaky::default();
        let cache = Arc::new(Cache::new(Arc::new(flaky.clone()), 100, 4));
        let named = ModelKey { run: "v1".parse().unwrap(), number: 1, digest: None };
        // Another key, because the failure of the first is remembered for a second.
        let with_digest = ModelKey { digest: Some(Digest::of(b"weights")), ..named.clone() };
        flaky.fails.store(true, Ordering::Relaxed);
        assert_eq!(cache.get(&named).await.err().unwrap().status, Status::Internal);
        assert!(cache.is_failing());
        flaky.fails.store(false, Ordering::Relaxed);
        cache.get(&with_digest).await.unwrap();
        assert!(!cache.is_failing());
    }

    #[tokio::test]
    async fn device_whose_numbers_are_none_in_a_load_is_failing() {
        let flaky = Flaky::default();
        let cache = Arc::new(Cache::new(Arc::new(flaky.clone()), 100, 4));
        flaky.is_nan.store(true, Ordering::Relaxed);
        let model = ModelKey { run: "v1".parse().unwrap(), number: 1, digest: None };
        assert_eq!(cache.get(&model).await.err().unwrap().status, Status::Internal);
        assert!(cache.is_failing());
    }
}
