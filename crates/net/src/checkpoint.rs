//! The state of a trainer, which resumes from it as if it had never stopped.
//!
//! A safetensors file like that of [`Weights`]: the weights under their own names; under `momentum.` and its name the
//! momentum of every trained tensor. `ema.` has the exponential moving average of the weights where there is one, and
//! `averaged.` the network with averaged weights, which is published. The metadata has the shape, the steps, the
//! samples and the digest of the configuration. The generator has no state in the file: see [`Trainer`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tch::Tensor;

use crate::ema::Ema;
use crate::file::{self, File};
use crate::flat::{Flat, Format};
use crate::layout::TensorSpec;
use crate::micro_batch::Towers;
use crate::optimizer::Optimizer;
use crate::prepared::Uploads;
use crate::tower::{Tower, numbers, tensor_of};
use crate::trainer::tower;
use crate::weights::{named, read_tensors};
use crate::{NetError, Shape, TrainConfig, TrainDevice, Trainer, Weights};

/// The version of the format that a [`Trainer`] writes and reads.
pub const VERSION: &str = "tengen-checkpoint/4";
const MOMENTUM: &str = "momentum.";
const EMA: &str = "ema.";
const AVERAGED: &str = "averaged.";

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    shape: cpu::Header,
    step: u64,
    samples: u64,
    averaged: bool,
    config_digest: String,
}

impl Trainer {
    /// Everything needed to go on, as a file. `config_digest` names the configuration in force.
    ///
    /// # Errors
    /// A weight that is no number.
    pub fn checkpoint(&self, config_digest: &str) -> Result<Vec<u8>, NetError> {
        let weights = self.weights()?;
        let shape = weights.shape();
        let (specs, trainable) = (shape.tensors(), trainable(shape));
        let ema: &[Tensor] = self.ema.as_ref().map_or(&[], |ema| &ema.tensors);
        let kept = [(MOMENTUM, &self.optimizer.momentum[..]), (EMA, ema)];
        let kept: Vec<(&str, BTreeMap<String, Vec<f32>>)> = kept
            .into_iter()
            .map(|(prefix, tensors)| Ok((prefix, read(&trainable, tensors)?)))
            .collect::<Result<_, NetError>>()?;
        let averaged = self.averaged.as_ref().map(Tower::weights).transpose()?;
        let mut tensors = weights.named(&specs);
        for (prefix, numbers) in kept.iter().filter(|(_, numbers)| !numbers.is_empty()) {
            tensors.extend(named(prefix, &trainable, numbers));
        }
        if let Some(averaged) = &averaged {
            tensors.extend(averaged.named(&specs).into_iter().map(|tensor| tensor.under(AVERAGED)));
        }
        let (step, samples, averaged) = (self.step, self.examples_seen, averaged.is_some());
        let config_digest = config_digest.to_owned();
        let header = Header { shape: shape.into(), step, samples, averaged, config_digest };
        Ok(file::write(VERSION, &header, tensors))
    }

    /// Resumes from a checkpoint. On a CPU the steps to come are those that would have come, bit for bit, with any
    /// number of threads.
    ///
    /// # Errors
    /// A file that is no whole checkpoint, one of another shape or configuration, or a device that cannot be used.
    pub fn restore(
        checkpoint: &[u8],
        shape: Shape,
        config_digest: &str,
        train_config: TrainConfig,
        train_device: TrainDevice,
    ) -> Result<Trainer, NetError> {
        let file = File::read(checkpoint)?;
        let header: Header = file.header(VERSION)?;
        let found = file::shape(header.shape)?;
        let shape = shape.with_planes_like(found);
        if found != shape {
            return Err(NetError::OtherShape { expected: Box::new(shape), found: Box::new(found) });
        }
        if header.config_digest != config_digest {
            return Err(NetError::OtherConfig { expected: config_digest.to_owned(), found: header.config_digest });
        }
        let weights = Weights::assemble(shape, read_tensors(&file, "", shape.tensors())?)?;
        let tower = tower(&weights, train_device)?;
        let kept = |prefix: &str| -> Result<Flat, NetError> {
            let tensor =
                |spec: TensorSpec| tensor_of(&file.numbers(prefix, &spec)?, &spec, tower.options(), Format::Points);
            let tensors = trainable(shape).into_iter().map(tensor).collect::<Result<Vec<Tensor>, NetError>>()?;
            tower.arrangement().flat(&tensors)
        };
        let averages = train_config.train.ema_decay > 0.0;
        let averaged =
            || self::tower(&Weights::assemble(shape, read_tensors(&file, AVERAGED, shape.tensors())?)?, train_device);
        Ok(Trainer {
            optimizer: Optimizer { momentum: kept(MOMENTUM)? },
            ema: if averages { Some(Ema { tensors: kept(EMA)? }) } else { None },
            averaged: header.averaged.then(averaged).transpose()?,
            gradient_norm: 0.0,
            uploads: Uploads::new(tower.options()),
            tower: Towers::new(tower),
            train_config,
            train_device,
            step: header.step,
            examples_seen: header.samples,
        })
    }
}

/// The numbers of trained tensors by their names; none of no tensors.
fn read(trainable: &[TensorSpec], tensors: &[Tensor]) -> Result<BTreeMap<String, Vec<f32>>, NetError> {
    trainable.iter().zip(tensors).map(|(spec, tensor)| Ok((spec.name.clone(), numbers(tensor)?))).collect()
}

/// The tensors that have a momentum.
fn trainable(shape: Shape) -> Vec<TensorSpec> {
    shape.tensors().into_iter().filter(|spec| spec.role.is_trainable()).collect()
}
