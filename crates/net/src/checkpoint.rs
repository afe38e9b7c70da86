//! A trainer at rest: everything it needs to go on as if it had never stopped.
//!
//! A safetensors file like that of [`Weights`]: the weights under their own names, the momentum of every learned tensor
//! under `momentum.` and its name, and in the metadata the shape, the step, the samples and the digest of the
//! configuration. The generator needs no room: see [`Trainer`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::file::{self, File};
use crate::sgd::Sgd;
use crate::shape::{ShapeFields, TensorSpec};
use crate::tower::{Format, numbers, place};
use crate::trainer::{Workshop, tower};
use crate::weights::{named, read_tensors};
use crate::{KEY, NetError, Recipe, Shape, Trainer, Weights};

const VERSION: &str = "tengen-checkpoint/1";
const MOMENTUM: &str = "momentum.";

#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    shape: ShapeFields,
    step: u64,
    samples: u64,
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
        let learned: Vec<TensorSpec> = learned(shape);
        let velocities = learned.iter().zip(self.sgd.velocities());
        let velocities = velocities.map(|(spec, velocity)| Ok((spec.name.clone(), numbers(velocity)?)));
        let velocities: BTreeMap<String, Vec<f32>> = velocities.collect::<Result<_, NetError>>()?;
        let specs = shape.tensors();
        let mut tensors = weights.named(&specs);
        tensors.extend(named(MOMENTUM, &learned, &velocities));
        let (step, samples, config_digest) = (self.step, self.samples, config_digest.to_owned());
        Ok(file::write(VERSION, &Header { shape: shape.into(), step, samples, config_digest }, tensors))
    }

    /// Goes on from a checkpoint. On a CPU the steps to come are those that would have come, bit for bit, with any number
    /// of threads.
    ///
    /// # Errors
    /// A file that is no whole checkpoint, one of another shape or configuration, or a device that cannot be used.
    pub fn restore(
        checkpoint: &[u8],
        shape: Shape,
        config_digest: &str,
        recipe: Recipe,
        workshop: Workshop,
    ) -> Result<Trainer, NetError> {
        let file = File::read(checkpoint)?;
        let header: Header = file.header(VERSION)?;
        let found = Shape::try_from(header.shape).map_err(|problem| NetError::Header { key: KEY, problem })?;
        // A network may have come from a file with planes of its own; no configuration speaks of them.
        let shape = Shape { turn_planes: found.turn_planes, ..shape };
        if found != shape {
            return Err(NetError::OtherShape { expected: shape, found });
        }
        if header.config_digest != config_digest {
            return Err(NetError::OtherConfig { expected: config_digest.to_owned(), found: header.config_digest });
        }
        let weights = Weights::assemble(shape, read_tensors(&file, "", shape.tensors())?)?;
        let tower = tower(&weights, workshop)?;
        let velocity = |spec: TensorSpec| place(&file.numbers(MOMENTUM, &spec)?, &spec, tower.device(), Format::Points);
        let velocities = learned(shape).into_iter().map(velocity).collect::<Result<_, NetError>>()?;
        let (sgd, threads) = (Sgd::restored(velocities), workshop.threads);
        Ok(Trainer { tower, sgd, recipe, threads, step: header.step, samples: header.samples })
    }
}

/// The tensors that have a momentum.
fn learned(shape: Shape) -> Vec<TensorSpec> {
    shape.tensors().into_iter().filter(|spec| spec.role.is_learned()).collect()
}
