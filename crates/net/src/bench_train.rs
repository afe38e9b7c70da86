//! Training steps alone, without reading examples: the reference of other benchmarks.

use record::Example;

use crate::batch::Batch;
use crate::bench_device::wait_for;
use crate::micro_batch::parts;
use crate::shim::unpanicked_on;
use crate::step::{BatchTensors, gradients, sum};
use crate::threads::single;
use crate::{NetError, Trainer};

/// A trainer that takes the same batch, which lies on the device, again and again: forward, backward and step, and
/// nothing else.
pub struct TrainBench {
    trainer: Trainer,
    /// The parts of the batch, and their shares of its weight.
    parts: Vec<(BatchTensors, f64)>,
}

impl TrainBench {
    /// Encodes a batch once, and puts it on the device.
    ///
    /// # Errors
    /// Examples that make no batch, or one that does not fit into the memory of the device.
    pub fn new(trainer: Trainer, examples: &[Example]) -> Result<TrainBench, NetError> {
        let symmetries = trainer.symmetries(examples.len());
        let total = Example::total_weight(examples);
        let part = |rows: std::ops::Range<usize>| {
            let (examples, symmetries) = (&examples[rows.clone()], &symmetries[rows]);
            let batch = Batch::encode(trainer.shape(), examples, &trainer.train_config.targets, symmetries)?;
            Ok((BatchTensors::new(trainer.tower.options(), &batch)?, Example::total_weight(examples) / total))
        };
        let parts = parts(examples.len(), trainer.train_config.train.norm_batch).into_iter().map(part);
        let parts = unpanicked_on(trainer.tower.device(), || parts.collect::<Result<_, NetError>>())?;
        Ok(TrainBench { trainer, parts })
    }

    /// Trains on the batch so many times, and waits for the device.
    ///
    /// # Errors
    /// The device fails.
    pub fn steps(&mut self, count: usize) -> Result<(), NetError> {
        let device = self.trainer.tower.device();
        unpanicked_on(device, || (0..count).try_for_each(|_| self.step()))?;
        wait_for(device);
        Ok(())
    }

    fn step(&mut self) -> Result<(), NetError> {
        single();
        let trainer = &mut self.trainer;
        let train_config = &trainer.train_config;
        let parts = self.parts.iter().map(|(batch, share)| (batch.share(), *share)).collect();
        let threads = trainer.train_device.threads;
        let work = |tower: &_, (batch, share): (BatchTensors, f64)| gradients(tower, train_config, &batch, share);
        let results = trainer.tower.each(threads, parts, work)?;
        let (gradients, statistics): (Vec<_>, Vec<_>) =
            results.into_iter().map(|result| (result.gradients, result.statistics)).unzip();
        trainer.tower.follow(&statistics)?;
        let size = trainer.step_size();
        trainer.optimizer.step(&trainer.tower, &sum(&trainer.tower, &gradients)?, size)
    }
}
