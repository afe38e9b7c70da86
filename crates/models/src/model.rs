//! A model, ready for any number of threads.

use config::ModelId;
use mcts::Evaluator;
use net::{Device, Precision};
use play::{Cached, RandomModel, Uniform};
use store::Run;

use crate::ModelError;

/// A model that is open.
pub enum Model {
    /// Flat prior, value 0.
    Uniform,
    /// Fresh random output for every position.
    Random,
    /// A network on a device.
    Trained(Box<net::Model>),
}

impl Model {
    /// Opens a model. A trained one is read from `run`, and evaluates `batch` positions at a time.
    ///
    /// # Errors
    /// There is no such model in the run, its weights are damaged, or the device cannot be used.
    pub fn open(run: &Run, id: &ModelId, device: Device, batch: usize) -> Result<Model, ModelError> {
        match id {
            ModelId::Uniform => Ok(Model::Uniform),
            ModelId::Random => Ok(Model::Random),
            ModelId::Trained { number, .. } => {
                let (_, weights) = run.models().get(*number).map_err(|error| ModelError::of_model(run, id, error))?;
                Model::of_weights(&id.to_string(), &weights, device, Precision::Auto, batch)
            }
        }
    }

    /// A network from published weights.
    pub(crate) fn of_weights(
        name: &str,
        weights: &[u8],
        device: Device,
        precision: Precision,
        batch: usize,
    ) -> Result<Model, ModelError> {
        let opened = net::Model::open(weights, device, precision, batch);
        opened.map(|model| Model::Trained(Box::new(model))).map_err(|source| ModelError::unusable(name, source))
    }

    /// An evaluator for one thread, with so many bytes for its cache.
    pub fn evaluator(&self, cache: usize) -> Box<dyn Evaluator> {
        match self {
            Model::Uniform => Box::new(Uniform::new()),
            Model::Random => Box::new(RandomModel::new()),
            Model::Trained(model) => Box::new(Cached::new(model.network(), model.shape().size, cache)),
        }
    }
}
