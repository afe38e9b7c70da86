//! A model, ready for any number of threads.

use std::sync::Arc;

use config::ModelId;
use evalcache::{Set, Steps, Symmetries};
use mcts::Evaluator;
use net::{Backend, Devices, NetError, Precision};
use play::{Cached, EvaluationStore, RandomModel, Stored, Uniform};
use remote::Digest;
use store::{ModelMetadata, Run};

use crate::evaluation_set::{evaluations_digest, komi_coding};
use crate::first::is_first;
use crate::{EvaluationCache, EvaluationCacheOptions, ModelError, Place, RemoteModel};

/// A model that is open.
pub enum Model {
    /// Flat prior, value 0.
    Uniform,
    /// Fresh random output for every position.
    Random,
    /// A network on a device.
    Trained(Box<Trained>),
    /// A network on inference servers.
    Remote(Box<RemoteModel>),
}

/// A network on a device.
pub struct Trained {
    model: net::Model,
    weights: Digest,
    /// Of the weights, and of the arithmetic that evaluates them.
    digest: [u8; 32],
}

impl Trained {
    /// A network whose weights come from these bytes.
    pub(crate) fn new(
        model: net::Model,
        weights: &[u8],
        devices: &Devices,
        precision: Precision,
    ) -> Result<Trained, NetError> {
        let arithmetic = Backend::open_all(devices, precision)?.arithmetic();
        let weights = Digest::of(weights);
        let digest = evaluations_digest(weights.bytes(), &arithmetic);
        Ok(Trained { model, weights, digest })
    }

    /// What evaluations of it are of, when they are kept in this way.
    pub fn set(&self, steps: Steps, symmetries: Symmetries) -> Set {
        let shape = self.model.shape();
        Set { model: self.digest, size: shape.size, komi: komi_coding(shape), symmetries, steps }
    }
}

impl Model {
    /// Opens a model. A trained one is read from `run`, and evaluates `batch` positions at a time. Built-in models are
    /// evaluated by this process wherever networks run.
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

    /// A network of a run, with its metadata. Where servers evaluate it, its weights are not read, and the precision is
    /// theirs.
    pub(crate) fn trained(
        run: &Run,
        id: &ModelId,
        place: &Place,
        precision: Precision,
        batch: usize,
    ) -> Result<(ModelMetadata, Model), ModelError> {
        if let Some(servers) = place.servers() {
            let (metadata, model) = RemoteModel::open(run, id, servers, place.devices(), batch)?;
            return Ok((metadata, Model::Remote(Box::new(model))));
        }
        let (metadata, weights) =
            run.models().get(id.number()).map_err(|error| ModelError::of_model(run, id, error))?;
        let opened = net::Model::open(&weights, place.devices().clone(), precision, batch);
        let trained = opened.and_then(|model| Trained::new(model, &weights, place.devices(), precision));
        let trained = trained.map_err(|source| ModelError::unusable(&id.to_string(), source))?;
        Ok((metadata, Model::Trained(Box::new(trained))))
    }

    /// The digest of its weights, as they were opened; `None` for built-in models, which have none.
    pub(crate) fn weights_digest(&self) -> Option<Digest> {
        match self {
            Model::Uniform | Model::Random => None,
            Model::Trained(trained) => Some(trained.weights),
            Model::Remote(remote) => remote.weights_digest(),
        }
    }

    /// What evaluations of it are of, when they are kept in this way; `None` for built-in models, and while no
    /// inference server responds.
    pub(crate) fn set(&self, steps: Steps, symmetries: Symmetries) -> Option<Set> {
        match self {
            Model::Uniform | Model::Random => None,
            Model::Trained(trained) => Some(trained.set(steps, symmetries)),
            Model::Remote(remote) => remote.set(steps, symmetries),
        }
    }

    /// Its evaluations that outlive the process; `None` for built-in models, which have none. Where inference servers
    /// evaluate, one of them has to respond.
    ///
    /// # Errors
    /// The store of the evaluations cannot be used.
    pub fn kept(
        &self,
        name: &str,
        options: &EvaluationCacheOptions,
    ) -> Result<Option<Arc<EvaluationCache>>, ModelError> {
        let Some(set) = self.set(options.steps, options.symmetries) else {
            let reason = match self {
                Model::Remote(_) => "no inference server has responded",
                _ => "built-in models have no evaluations to keep",
            };
            // Matches open their players often.
            if is_first(reason) {
                tracing::warn!(model = name, reason, "--evalcache is ignored");
            }
            return Ok(None);
        };
        let kept = EvaluationCache::open(options, set)?;
        tracing::info!(
            model = name,
            evaluations = kept.evaluations(),
            segments = kept.segments(),
            steps = %options.steps,
            symmetries = %options.symmetries,
            "evaluation cache"
        );
        Ok(Some(Arc::new(kept)))
    }

    /// An evaluator for one thread, with so many bytes for its cache, and behind it the evaluations that are kept in a
    /// store. Built-in models have none of these.
    pub fn evaluator_keeping(&self, cache: usize, kept: Option<Arc<EvaluationCache>>) -> Box<dyn Evaluator> {
        let kept = kept.map(|kept| kept as Arc<dyn EvaluationStore>);
        match self {
            Model::Uniform => Box::new(Uniform::new()),
            Model::Random => Box::new(RandomModel::new()),
            Model::Trained(trained) => {
                let (network, size) = (trained.model.network(), trained.model.shape().size);
                match kept {
                    Some(kept) => Box::new(Cached::new(Stored::new(network, kept), size, cache)),
                    None => Box::new(Cached::new(network, size, cache)),
                }
            }
            Model::Remote(model) => model.evaluator_keeping(cache, kept),
        }
    }
}
