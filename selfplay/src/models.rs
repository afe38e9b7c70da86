//! From the name of a model to something that scores positions.

use config::ModelId;
use mcts::Evaluator;
use net::{Device, Precision};
use play::{Cached, RandomModel, Uniform};
use store::{Run, StoreError};

use crate::SelfplayError;

/// A model that is ready for any number of threads.
pub enum Model {
    /// Flat prior, value 0.
    Uniform,
    /// Fresh random output for every position.
    Random,
    /// Weights on a device.
    Trained(Box<net::Model>),
}

impl Model {
    /// Opens a model; trained ones are read from their run, and evaluate `batch` positions at a time.
    ///
    /// # Errors
    /// There is no such model in the store, its weights are damaged, or the device cannot be used.
    pub fn open(run: &Run, id: &ModelId, device: Device, batch: usize) -> Result<Model, SelfplayError> {
        let number = match id {
            ModelId::Uniform => return Ok(Model::Uniform),
            ModelId::Random => return Ok(Model::Random),
            ModelId::Trained { number, .. } => *number,
        };
        let (_, weights) = run.models().get(number).map_err(|source| match source {
            StoreError::NotFound { .. } => SelfplayError::Missing { model: id.clone(), source },
            _ => source.into(),
        })?;
        let model = net::Model::open(&weights, device, Precision::Auto, batch);
        let model = model.map_err(|source| SelfplayError::Open { model: id.clone(), source: Box::new(source) })?;
        Ok(Model::Trained(Box::new(model)))
    }

    /// An evaluator for one thread, with so many bytes for what it is asked again.
    pub(crate) fn evaluator(&self, cache: usize) -> Box<dyn Evaluator> {
        match self {
            Model::Uniform => Box::new(Uniform::new()),
            Model::Random => Box::new(RandomModel::new()),
            Model::Trained(model) => Box::new(Cached::new(model.network(), model.shape().size, cache)),
        }
    }
}

/// Where the games of a model belong: the number of its folder, and the name of the series that a worker plays.
///
/// The built-in models share folder 0, so the series of `uniform` has a name of its own.
pub(crate) fn series(id: &ModelId, worker: &str) -> (u32, String) {
    match id {
        ModelId::Uniform => (0, format!("{worker}-uniform")),
        ModelId::Random => (0, worker.to_owned()),
        ModelId::Trained { number, .. } => (*number, worker.to_owned()),
    }
}
