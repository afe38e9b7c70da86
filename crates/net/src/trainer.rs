//! Training on examples.

use std::ops::Range;

use go::Symmetry;
use record::Example;
use tch::Tensor;

use crate::ema::Ema;
use crate::flat::Format;
use crate::mean_losses::Losses;
use crate::micro_batch::{Towers, each, parts, parts_in_play};
use crate::optimizer::{Optimizer, clip, penalty};
use crate::prepared::{Uploads, symmetries};
use crate::schedule::{StepSize, rate};
use crate::shim::unpanicked_on;
use crate::step::{BatchTensors, batch_norm_statistics, measure, sum, train_step};
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::tower::{Tower, numbers};
use crate::unit::free_units;
use crate::{Calibration, Measured, NetError, Preparation, PreparedBatch, Shape, TrainConfig, TrainDevice, Weights};

/// A network in training.
///
/// A step is a function of the weights, what the optimiser keeps, the examples, the seed and the number of the step.
/// The optimiser keeps the momentum. The generator that draws the symmetries starts anew at each step from the seed and
/// the number. So nothing else is to be kept for going on, but for the mean of the weights. On one kind of CPU the result
/// has the same bits every time; on a GPU it is the same within the rounding of its numbers.
pub struct Trainer {
    pub(crate) tower: Towers,
    pub(crate) optimizer: Optimizer,
    /// The exponential moving average of the weights, where it is published.
    pub(crate) ema: Option<Ema>,
    /// The mean with statistics of its own, after [`Trainer::recalibrate_batch_norm`] and until the next step.
    pub(crate) averaged: Option<Tower>,
    /// How long the gradient of the last step was.
    pub(crate) gradient_norm: f32,
    pub(crate) train_config: TrainConfig,
    pub(crate) train_device: TrainDevice,
    pub(crate) uploads: Uploads,
    /// Optimiser steps taken since the run began.
    pub(crate) step: u64,
    /// Examples trained on since the start, counting repetitions.
    pub(crate) examples_seen: u64,
}

impl Drop for Trainer {
    fn drop(&mut self) {
        // A run plays between two models, and the next network may be larger.
        free_units();
    }
}

impl Trainer {
    /// Starts from weights that have taken `step` steps, with the momentum at rest.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn new(
        weights: &Weights,
        step: u64,
        train_config: TrainConfig,
        train_device: TrainDevice,
    ) -> Result<Trainer, NetError> {
        let tower = tower(weights, train_device)?;
        let optimizer = Optimizer::new(&tower)?;
        let averages = train_config.train.ema_decay > 0.0;
        let ema = averages.then(|| unpanicked_on(tower.device(), || Ema::new(&tower))).transpose()?;
        Ok(Trainer {
            uploads: Uploads::new(tower.options()),
            tower: Towers::new(tower),
            optimizer,
            ema,
            averaged: None,
            gradient_norm: 0.0,
            train_config,
            train_device,
            step,
            examples_seen: 0,
        })
    }

    /// What prepares batches for this trainer, on other threads.
    pub fn preparation(&self) -> Preparation {
        let threads = self.tower.device().is_cuda().then_some(self.train_device.threads);
        let (train_config, uploads) = (self.train_config.clone(), self.uploads.clone());
        Preparation { shape: self.shape(), train_config, threads, uploads }
    }

    /// Trains on a batch, and returns its losses before the step.
    ///
    /// # Errors
    /// Examples that make no batch, or a loss that is no number: then the weights are useless from this step on.
    pub fn step(&mut self, examples: &[Example]) -> Result<Losses, NetError> {
        let encoded = self.preparation().prepared_parts(self.step, examples)?;
        self.step_encoded(examples, encoded.as_deref().unwrap_or_default())
    }

    /// The same with a batch that was prepared for this step. One for another step is encoded anew.
    ///
    /// # Errors
    /// As [`Trainer::step`].
    pub fn step_prepared(&mut self, batch: &PreparedBatch) -> Result<Losses, NetError> {
        match &batch.encoded {
            Some(encoded) if batch.step == self.step => self.step_encoded(&batch.examples, encoded),
            _ => self.step(&batch.examples),
        }
    }

    /// The same with the parts of the batch, or with none, which are encoded by the threads that train then.
    fn step_encoded(&mut self, examples: &[Example], encoded: &[BatchTensors]) -> Result<Losses, NetError> {
        unpanicked_on(self.tower.device(), || self.take_step(examples, encoded))
    }

    fn take_step(&mut self, examples: &[Example], encoded: &[BatchTensors]) -> Result<Losses, NetError> {
        single();
        if examples.is_empty() {
            return Err(NetError::NoExamples);
        }
        let train = &self.train_config.train;
        let symmetries = self.symmetries(examples.len());
        let train_config = &self.train_config;
        let total = Example::total_weight(examples);
        let mut encoded = encoded.iter().map(BatchTensors::share);
        let work = |tower: &Tower, (rows, encoded): (Range<usize>, Option<BatchTensors>)| {
            let share = Example::total_weight(&examples[rows.clone()]) / total;
            train_step(tower, train_config, &examples[rows.clone()], &symmetries[rows], encoded, share)
        };
        let parts = parts(examples.len(), train.norm_batch).into_iter().map(|rows| (rows, encoded.next())).collect();
        let results = self.tower.each(self.train_device.threads, parts, work)?;
        let weights: Vec<f64> = results.iter().map(|result| result.weight).collect();
        let mut to_read: Vec<Tensor> = results.iter().map(|result| result.losses.shallow_clone()).collect();
        let penalty = penalty(&self.tower, train.l2)?;
        let size = self.step_size();
        let (gradients, statistics): (Vec<_>, Vec<_>) =
            results.into_iter().map(|result| (result.gradients, result.statistics)).unzip();
        self.tower.follow(&statistics)?;
        let mut gradients = sum(&self.tower, &gradients)?;
        let length = clip(&mut gradients, train.clip_norm)?;
        self.optimizer.step(&self.tower, &gradients, size)?;
        if let Some(ema) = &mut self.ema {
            ema.follow(&self.tower, train_config, self.step)?;
        }
        // A GPU is waited for once, when it has all of the step to do.
        for number in [penalty, length] {
            to_read.push(number.f_to_kind(to_read[0].kind())?.f_view([1])?);
        }
        let read = numbers(&Tensor::f_cat(&to_read, 0)?)?;
        let (facts, rest) = read.as_chunks::<{ Losses::FACTS }>();
        let losses: Vec<(f64, Losses)> =
            weights.into_iter().zip(facts.iter().map(|&facts| Losses::of_facts(facts))).collect();
        let losses = Losses::mean(train, &losses).ok_or(NetError::NoExamples)?.with_l2(rest[0]);
        self.gradient_norm = rest[1];
        if !losses.total.is_finite() {
            return Err(NetError::Diverged { step: self.step, loss: losses.total });
        }
        self.averaged = None;
        self.step += 1;
        self.examples_seen += examples.len() as u64;
        Ok(losses)
    }

    /// Makes the network ready to be published and measured. Where that is the mean of the weights, its batch norms are
    /// measured on `examples`, each under a symmetry as in training; else there is nothing to do.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn recalibrate_batch_norm(&mut self, examples: &[Example]) -> Result<(), NetError> {
        let Some(ema) = &self.ema else { return Ok(()) };
        let averaged = unpanicked_on(self.tower.device(), || self.averaged_tower(ema, examples))?;
        self.averaged = Some(averaged);
        Ok(())
    }

    /// The mean of the weights, with batch norms measured on `examples`.
    fn averaged_tower(&self, ema: &Ema, examples: &[Example]) -> Result<Tower, NetError> {
        single();
        let averaged = tower(&self.tower.weights()?, self.train_device)?;
        ema.put(&averaged)?;
        let symmetries = self.symmetries(examples.len());
        let train_config = &self.train_config;
        let parts = parts(examples.len(), train_config.train.norm_batch);
        let encoding = self.encoding_threads(parts.len());
        let work = |tower: &Tower, rows: Range<usize>| {
            batch_norm_statistics(tower, train_config, encoding, &examples[rows.clone()], &symmetries[rows])
        };
        let seen = each(&averaged, self.train_device.threads, parts, work)?;
        averaged.become_those(&seen)?;
        Ok(averaged)
    }

    /// Losses of examples without augmentation and training, with batch norms as in play. Uses the network with
    /// re-estimated batch norms if [`Trainer::recalibrate_batch_norm`] came after the last step.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn measure(&self, examples: &[Example]) -> Result<Losses, NetError> {
        Ok(self.examine(examples)?.losses)
    }

    /// What examples cost, as [`Trainer::measure`] has it, and how the values compare with their outcomes.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn examine(&self, examples: &[Example]) -> Result<Measured, NetError> {
        self.measure_by(examples, &self.train_config)
    }

    /// What examples cost, as [`Trainer::examine`] has it, when the value target is the root value of their search.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn measure_against_searches(&self, examples: &[Example]) -> Result<Measured, NetError> {
        let mut train_config = self.train_config.clone();
        train_config.train.outcome_fraction = 0.0;
        self.measure_by(examples, &train_config)
    }

    fn measure_by(&self, examples: &[Example], train_config: &TrainConfig) -> Result<Measured, NetError> {
        unpanicked_on(self.tower.device(), || self.measure_in_parts(examples, train_config))
    }

    fn measure_in_parts(&self, examples: &[Example], train_config: &TrainConfig) -> Result<Measured, NetError> {
        single();
        let train = &train_config.train;
        let network = self.averaged.as_ref().unwrap_or(&self.tower);
        let device = network.device();
        let batches =
            (0..examples.len()).step_by(train.batch).map(|start| start..examples.len().min(start + train.batch));
        let parts = batches.flat_map(|batch| {
            let within = parts_in_play(batch.len(), device).into_iter();
            within.map(move |rows| batch.start + rows.start..batch.start + rows.end)
        });
        let parts: Vec<Range<usize>> = parts.collect();
        let encoding = self.encoding_threads(parts.len());
        let work = |tower: &Tower, rows: Range<usize>| measure(tower, train_config, encoding, &examples[rows]);
        let evaluated = each(network, self.train_device.threads, parts, work)?;
        let losses: Vec<(f64, Losses)> = evaluated.iter().map(|part| (part.weight, part.losses)).collect();
        let losses = Losses::mean(train, &losses).ok_or(NetError::NoExamples)?;
        let losses = losses.with_l2(penalty(network, train.l2)?.f_double_value(&[])? as f32);
        let values: Vec<f32> = evaluated.into_iter().flat_map(|part| part.values).collect();
        Ok(Measured { losses, calibration: Calibration::new(examples, &values), values })
    }

    /// Threads that encode each of so many parts: more than one where there are fewer parts than threads.
    pub(crate) fn encoding_threads(&self, parts: usize) -> usize {
        (self.train_device.threads / parts.max(1)).max(1)
    }

    /// The weights as they are now.
    ///
    /// # Errors
    /// A weight that is no number.
    pub fn weights(&self) -> Result<Weights, NetError> {
        self.tower.weights()
    }

    /// The weights to publish: the present ones, or their EMA where that is configured.
    ///
    /// # Errors
    /// A weight that is no number.
    pub fn published(&self) -> Result<Weights, NetError> {
        self.averaged.as_ref().unwrap_or(&self.tower).weights()
    }

    /// The same with scales as by [`Weights::calibrated`], on the threads that train: a process may have fewer than its
    /// machine has cores.
    ///
    /// # Errors
    /// As [`Trainer::published`] and [`Weights::calibrated`].
    pub fn published_with_scales(&self, examples: &[Example]) -> Result<Weights, NetError> {
        self.published()?.calibrated(examples, self.train_device.threads)
    }

    /// How long the gradient of the last step was, before it was shortened; 0 before any.
    pub fn gradient_norm(&self) -> f32 {
        self.gradient_norm
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.tower.shape()
    }

    /// Optimiser steps taken since the run began.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Examples trained on since [`Trainer::new`], by restored trainers too; repetitions count.
    pub fn examples_seen(&self) -> u64 {
        self.examples_seen
    }

    /// The learning rate of the next step.
    pub fn rate(&self) -> f32 {
        rate(&self.train_config.train, self.step)
    }

    /// The constants of the next step.
    pub(crate) fn step_size(&self) -> StepSize {
        StepSize::new(&self.train_config.train, self.rate())
    }

    /// The symmetries through which the next batch is seen.
    pub(crate) fn symmetries(&self, rows: usize) -> Vec<Symmetry> {
        symmetries(&self.train_config, self.step, rows)
    }
}

/// The tower of a trainer.
pub(crate) fn tower(weights: &Weights, train_device: TrainDevice) -> Result<Tower, NetError> {
    let options = TensorOptions::open(train_device.device, train_device.precision)?;
    unpanicked_on(options.device, || Tower::new(weights, options, Format::Points))
}

#[cfg(test)]
mod tests;
