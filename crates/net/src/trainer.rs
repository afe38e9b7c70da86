//! Learning from examples.

use go::Symmetry;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Example;
use tch::Tensor;

use crate::batch::Batch;
use crate::layers::Place;
use crate::loss::{Losses, loss};
use crate::sgd::{Sgd, StepSize, penalty, rate};
use crate::threads::use_threads;
use crate::tower::{Format, Mode, Tower};
use crate::{Device, NetError, Precision, Shape, Targets, Weights};

/// How a network learns: what belongs to the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Optimiser and losses.
    pub train: config::Train,
    /// What is learned.
    pub targets: Targets,
    /// Where the randomness of training starts.
    pub seed: u64,
}

/// Where a network learns: what belongs to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workshop {
    /// Where the network is.
    pub device: Device,
    /// What activations and their gradients are rounded to; weights, momentum and statistics are f32 always.
    pub precision: Precision,
    /// Threads that one operation on the CPU is spread over.
    pub threads: usize,
}

/// A network that learns.
///
/// A step is a function of the weights, the momentum, the examples, the seed and the number of the step: the generator
/// that draws the symmetries starts anew at each step from the last two. So nothing else is to be kept for going on.
pub struct Trainer {
    pub(crate) tower: Tower,
    pub(crate) sgd: Sgd,
    pub(crate) recipe: Recipe,
    pub(crate) threads: usize,
    /// Optimiser steps taken since the run began.
    pub(crate) step: u64,
    /// Examples learned from since the start, counting repetitions.
    pub(crate) samples: u64,
}

impl Trainer {
    /// Starts from weights that have taken `step` steps, with the momentum at rest.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn new(weights: &Weights, step: u64, recipe: Recipe, workshop: Workshop) -> Result<Trainer, NetError> {
        let tower = tower(weights, workshop)?;
        let sgd = Sgd::new(&tower)?;
        Ok(Trainer { tower, sgd, recipe, threads: workshop.threads, step, samples: 0 })
    }

    /// Learns from a batch, and says what it cost before.
    ///
    /// # Errors
    /// Examples that make no batch, or a loss that is no number: then the weights are useless from this step on.
    pub fn step(&mut self, examples: &[Example]) -> Result<Losses, NetError> {
        use_threads(self.threads);
        let train = &self.recipe.train;
        let batch = self.encode(examples)?;
        let answers = self.tower.forward(&batch.planes, Mode::Training)?;
        let loss = loss(&answers, &batch, train.value_weight)?;
        let losses = loss.read(train.value_weight, penalty(&self.tower, train.l2)?)?;
        if !losses.total.is_finite() {
            return Err(NetError::Diverged { step: self.step, loss: losses.total });
        }
        let learned: Vec<&Tensor> = self.tower.learned().map(|(_, tensor)| tensor).collect();
        let gradients = Tensor::f_run_backward(&[&loss.tensor], &learned, false, false)?;
        let size = StepSize { rate: self.rate(), momentum: train.momentum, l2: train.l2 };
        self.sgd.step(&self.tower, &gradients, size)?;
        self.step += 1;
        self.samples += batch.rows() as u64;
        Ok(losses)
    }

    /// What examples cost, without learning from them: as they are, batch norms as in play.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn measure(&self, examples: &[Example]) -> Result<Losses, NetError> {
        use_threads(self.threads);
        let _no_gradients = tch::no_grad_guard();
        let train = &self.recipe.train;
        let l2 = penalty(&self.tower, train.l2)?;
        let mut parts = Vec::new();
        for examples in examples.chunks(train.batch) {
            let size = self.tower.shape().size;
            let batch = Batch::encode(size, examples, &self.recipe.targets, || Symmetry::Identity)?;
            let answers = self.tower.forward(&batch.planes, Mode::Playing)?;
            parts.push((batch.rows(), loss(&answers, &batch, train.value_weight)?.read(train.value_weight, l2)?));
        }
        Losses::mean(&parts).ok_or(NetError::NoExamples)
    }

    /// The weights as they are now.
    ///
    /// # Errors
    /// A weight that is no number.
    pub fn weights(&self) -> Result<Weights, NetError> {
        self.tower.weights()
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.tower.shape()
    }

    /// Optimiser steps taken since the run began.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Examples learned from since [`Trainer::new`], by restored trainers too; repetitions count.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f32 {
        rate(&self.recipe.train.learning_rate, self.step)
    }

    fn encode(&self, examples: &[Example]) -> Result<Batch, NetError> {
        let mut rng = generator(self.recipe.seed, self.step);
        let rotate = self.recipe.train.rotate;
        // The upper bits of the generator are the better ones.
        let mut symmetry = || if rotate { Symmetry::ALL[(rng.next_u64() >> 61) as usize] } else { Symmetry::Identity };
        Batch::encode(self.tower.shape().size, examples, &self.recipe.targets, &mut symmetry)
    }
}

pub(crate) fn tower(weights: &Weights, workshop: Workshop) -> Result<Tower, NetError> {
    let device = workshop.device.open()?;
    let place = Place { device, kind: workshop.precision.kind(device) };
    Tower::new(weights, place, Format::Points)
}

/// The generator of one step.
fn generator(seed: u64, step: u64) -> Xoshiro256PlusPlus {
    // Weyl's sequence with the golden ratio: steps of one seed are far from each other and from those of the next.
    Xoshiro256PlusPlus::seed_from_u64(seed ^ step.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
