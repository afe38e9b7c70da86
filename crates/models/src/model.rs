//! A model, ready for any number of threads.

use config::ModelId;
use mcts::Evaluator;
use net::{Device, Precision};
use play::{Cached, RandomModel, Uniform};
use store::{ModelMetadata, Run};

use crate::{ModelError, Place, RemoteModel};

/// A model that is open.
pub enum Model {
    /// Flat prior, value 0.
    Uniform,
    /// Fresh random output for every position.
    Random,
    /// A network on a device.
    Trained(Box<net::Model>),
    /// A network on inference servers.
    Remote(Box<RemoteModel>),
}

impl Model {
    /// Opens a model. A trained one is read from `run`, and evaluates `batch` positions at a time. Built-in models are evaluated
    /// by this process wherever networks run.
    ///
    /// # Errors
    /// There is no such model in the run, its weights are damaged, or the device cannot be used.
    pub fn open(run: &Run, id: &ModelId, place: &Place, batch: usize) -> Result<Model, ModelError> {
        match id {
            ModelId::Uniform => Ok(Model::Uniform),
            ModelId::Random => Ok(Model::Random),
            ModelId::Trained { .. } => Ok(Model::trained(run, id, place, Precision::Auto, batch)?.1),
        }
    }

    /// A network of a run, and what is known of it. Where servers evaluate it, its weights are not read, and the precision is
    /// theirs.
    pub(crate) fn trained(
        run: &Run,
        id: &ModelId,
        place: &Place,
        precision: Precision,
        batch: usize,
    ) -> Result<(ModelMetadata, Model), ModelError> {
        if let Some(servers) = place.servers() {
            let (metadata, model) = RemoteModel::open(run, id, servers, place.device(), batch)?;
            return Ok((metadata, Model::Remote(Box::new(model))));
        }
        let (metadata, weights) =
            run.models().get(id.number()).map_err(|error| ModelError::of_model(run, id, error))?;
        Ok((metadata, Model::of_weights(&id.to_string(), &weights, place.device(), precision, batch)?))
    }

    /// A network from published weights.
    fn of_weights(
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
            Model::Remote(model) => model.evaluator(cache),
        }
    }
}
