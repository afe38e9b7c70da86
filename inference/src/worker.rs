//! A thread of the device: evaluates one batch after the other.

use std::time::Instant;

use net::NetError;
use remote::proto::v1::Status;
use remote::{Priority, Refusal};
use runtime::{Health, metrics};

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
pub(crate) fn work(scheduler: &Scheduler, batch: usize, health: &Health) {
    let mut buffers = Buffers::default();
    while let Some(rows) = scheduler.next() {
        let began = Instant::now();
        let positions = rows.iter().map(|(_, rows)| rows.len()).sum();
        let evaluated = buffers.evaluate(&rows, positions);
        scheduler.done(positions, began.elapsed());
        let micros = |duration: std::time::Duration| duration.as_micros() as u64;
        let waited = rows.iter().map(|(job, _)| micros(began.saturating_duration_since(job.arrived))).sum();
        metrics::INFERENCE_BATCHES.add(1);
        metrics::INFERENCE_SLOTS.add(batch.max(positions) as u64);
        metrics::INFERENCE_BATCH_REQUESTS.add(rows.len() as u64);
        metrics::INFERENCE_WAIT.add(waited);
        metrics::INFERENCE_BUSY.add(micros(began.elapsed()));
        match evaluated {
            Ok(()) => {
                metrics::INFERENCE_POSITIONS.add(positions as u64);
                metrics::INFERENCE_INTERACTIVE.add(interactive(&rows));
                health.heartbeat();
            }
            Err(error) => {
                metrics::INFERENCE_ERRORS.add(1);
                tracing::error!(%error, positions, "batch failed on the device");
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
    fn evaluate(&mut self, rows: &Rows, positions: usize) -> Result<(), NetError> {
        let Some((first, _)) = rows.first() else { return Ok(()) };
        let network = &first.network;
        let moves = network.shape.size.moves();
        network.with_session(|session| {
            let (len, all) = (network.packing.planes(), session.rows(positions));
            grow(&mut self.planes, all * len);
            grow(&mut self.policies, positions * moves);
            grow(&mut self.values, positions);
            self.unpack(network, rows);
            let (policies, values) = (&mut self.policies[..positions * moves], &mut self.values[..positions]);
            session.evaluate(&self.planes[..all * len], policies, values)
        })?;
        let mut done = 0;
        for (job, rows) in rows {
            let policies = &self.policies[done * moves..][..rows.len() * moves];
            job.add(rows.start, policies, &self.values[done..][..rows.len()]);
            done += rows.len();
        }
        Ok(())
    }

    fn unpack(&mut self, network: &Network, rows: &Rows) {
        let packing = &network.packing;
        let mut rest = self.planes.as_mut_slice();
        for (job, rows) in rows {
            let (planes, after) = rest.split_at_mut(rows.len() * packing.planes());
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
