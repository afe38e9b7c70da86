//! Batches that are encoded before the trainer wants them.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use go::Symmetry;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Example;

use crate::batch::Batch;
use crate::micro_batch::parts;
use crate::shim::{Stream, unpanicked};
use crate::step::BatchTensors;
use crate::tensor_options::TensorOptions;
use crate::{NetError, Shape, TrainConfig};

/// Prepares batches for a [`Trainer`](crate::Trainer), on any thread.
///
/// A GPU computes while the next batch is encoded and copied to it. On a CPU that would be work for the same cores, and
/// encoding is left to the threads that train.
#[derive(Clone, Debug)]
pub struct Preparation {
    pub(crate) shape: Shape,
    pub(crate) train_config: TrainConfig,
    /// Threads that encode; `None`: nothing is encoded ahead.
    pub(crate) threads: Option<usize>,
    pub(crate) uploads: Uploads,
}

/// Copies batches to the device of a trainer.
#[derive(Clone)]
pub(crate) struct Uploads {
    options: TensorOptions,
    /// That of copies to a GPU, which do not wait there for the steps of training then.
    stream: Arc<Mutex<Option<Stream>>>,
}

impl fmt::Debug for Uploads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uploads").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Uploads {
    pub(crate) fn new(options: TensorOptions) -> Uploads {
        Uploads { options, stream: Arc::default() }
    }

    /// Batches on the device, all there when this returns.
    ///
    /// The memory of such a batch is used again by later ones when it is dropped: nothing on another stream reads it
    /// then, since a step reads its losses at the end. One that failed may still read it, but what it computes is not
    /// used.
    fn upload(&self, batches: &[Batch]) -> Result<Vec<BatchTensors>, NetError> {
        let upload = || batches.iter().map(|batch| BatchTensors::new(self.options, batch)).collect();
        let tch::Device::Cuda(gpu) = self.options.device else { return upload() };
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = match &mut *stream {
            Some(stream) => stream,
            none => none.insert(Stream::draw(gpu)?),
        };
        // Another thread may record a graph on a shared stream, which allows no copies.
        if stream.is_own() { stream.on(upload) } else { unpanicked(upload) }
    }
}

/// A batch for one step.
#[derive(Debug)]
pub struct PreparedBatch {
    /// The examples.
    pub examples: Vec<Example>,
    pub(crate) step: u64,
    /// The parts of the batch on the device, if they were encoded.
    pub(crate) encoded: Option<Vec<BatchTensors>>,
}

impl Preparation {
    /// Prepares examples for the step of this number.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn prepare(&self, step: u64, examples: Vec<Example>) -> Result<PreparedBatch, NetError> {
        Ok(PreparedBatch { step, encoded: self.prepared_parts(step, &examples)?, examples })
    }

    /// The parts of a batch on the device, where they are encoded ahead.
    pub(crate) fn prepared_parts(
        &self,
        step: u64,
        examples: &[Example],
    ) -> Result<Option<Vec<BatchTensors>>, NetError> {
        let Some(threads) = self.threads.filter(|_| !examples.is_empty()) else { return Ok(None) };
        let symmetries = symmetries(&self.train_config, step, examples.len());
        let encode = |rows: Range<usize>| {
            let (examples, symmetries) = (&examples[rows.clone()], &symmetries[rows]);
            Batch::encode_on(threads, self.shape, examples, &self.train_config.targets, symmetries)
        };
        let batches = parts(examples.len(), self.train_config.train.norm_batch).into_iter().map(encode);
        Ok(Some(self.uploads.upload(&batches.collect::<Result<Vec<_>, NetError>>()?)?))
    }
}

/// The symmetries through which a step sees its examples. The generator that draws them starts anew at each step.
pub(crate) fn symmetries(train_config: &TrainConfig, step: u64, rows: usize) -> Vec<Symmetry> {
    let mut rng = generator(train_config.seed, step);
    let rotate = train_config.train.augment_symmetries;
    // The upper bits of the generator are the better ones.
    let mut draw = || if rotate { Symmetry::ALL[(rng.next_u64() >> 61) as usize] } else { Symmetry::Identity };
    (0..rows).map(|_| draw()).collect()
}

/// The generator of one step.
fn generator(seed: u64, step: u64) -> Xoshiro256PlusPlus {
    // Weyl's sequence with the golden ratio: steps of one seed are far from each other and from those of the next.
    Xoshiro256PlusPlus::seed_from_u64(seed ^ step.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;
    use record::synthetic;

    use super::*;
    use crate::{Device, Precision, TrainDevice, Trainer, Weights};

    /// Batches are encoded ahead for a GPU; here for a CPU, which tells their bits.
    #[test]
    fn batch_that_was_encoded_ahead_trains_as_one_that_was_not() {
        let shape = Shape { blocks: 1, filters: 4, value_hidden: 4, ..Shape::plain(Size::new(5).unwrap()) };
        let mut train_config = TrainConfig::new(&Preset::NineByNine.config());
        (train_config.train.norm_batch, train_config.train.augment_symmetries) = (8, true);
        let train_device = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 2 };
        let trainer = || Trainer::new(&Weights::synthetic(shape, 1), 0, train_config.clone(), train_device).unwrap();
        let games = (0..4).map(|index| synthetic::game("random", "w", index, shape.size, 30));
        let examples: Vec<Example> = games.flat_map(|game| game.examples().unwrap()).collect();
        let (mut expected, mut found) = (trainer(), trainer());
        let preparation = Preparation { threads: Some(2), ..found.preparation() };
        let bytes = |part: &BatchTensors| Vec::<u8>::try_from(&part.planes.flatten(0, -1)).unwrap();
        // The second batch is for another step, which sees it under other symmetries, and is encoded anew.
        for (step, prepared_for) in [(0, 0), (1, 5)] {
            let batch = preparation.prepare(prepared_for, examples.clone()).unwrap();
            let parts = preparation.prepared_parts(step, &examples).unwrap().unwrap();
            let planes = batch.encoded.as_ref().unwrap().iter().map(bytes);
            assert!(parts.len() > 1);
            assert_eq!(planes.eq(parts.iter().map(bytes)), step == prepared_for);
            assert_eq!(found.step_prepared(&batch).unwrap(), expected.step(&examples).unwrap());
        }
        assert_eq!(found.weights().unwrap(), expected.weights().unwrap());
    }

    #[test]
    fn each_example_has_a_symmetry_of_its_own_and_all_eight_are_equally_frequent() {
        let mut train_config = TrainConfig::new(&Preset::NineByNine.config());
        train_config.train.augment_symmetries = true;
        let drawn = symmetries(&train_config, 5, 8000);
        for symmetry in Symmetry::ALL {
            let times = drawn.iter().filter(|&&one| one == symmetry).count();
            // 1,000 ± 4 standard deviations: √(8,000 · ⅛ · ⅞) = 29.6.
            assert!((882..=1118).contains(&times), "{symmetry:?}: {times} of 8000");
        }
        assert_eq!(symmetries(&train_config, 5, 100), drawn[..100], "the number of rows changes nothing");
        assert_ne!(symmetries(&train_config, 6, 8000), drawn);
        train_config.train.augment_symmetries = false;
        assert_eq!(symmetries(&train_config, 5, 100), [Symmetry::Identity; 100]);
    }
}
