//! A model that inference servers evaluate.

use std::sync::{Arc, Mutex, PoisonError};

use config::ModelId;
use evalcache::{KomiCoding, Set, Steps, Symmetries};
use exit_class::{Classified, ExitClass};
use mcts::{EvaluateError, Evaluator};
use net::{Devices, NetError, Network, PlaneEvaluator, Precision, Shape};
use play::{Cached, EvaluationStore, Stored};
use remote::{Client, Digest, ModelKey, OpenLocal, RemoteError, RemoteSession};
use sha2::{Digest as _, Sha256};
use store::{ModelMetadata, Run};

use crate::ModelError;

/// A model that inference servers evaluate. Its weights stay in the store, unless this process has to evaluate it.
pub struct RemoteModel {
    client: Client,
    key: ModelKey,
    shape: Shape,
    batch: usize,
    open: OpenLocal,
}

impl RemoteModel {
    /// A model of a run, on the servers of a client, in batches of `batch` positions. The device is the one of this machine.
    pub(crate) fn open(
        run: &Run,
        id: &ModelId,
        client: &Client,
        devices: &Devices,
        batch: usize,
    ) -> Result<(ModelMetadata, RemoteModel), ModelError> {
        let number = id.number();
        let (metadata, sha256) =
            run.models().described(number).map_err(|error| ModelError::of_model(run, id, error))?;
        let game = config::Game { size: metadata.size, ..config::Preset::Base.config().game };
        let shape = Shape::new(&game, &metadata.network)
            .map_err(|error| ModelError::unusable(&id.to_string(), error.into()))?;
        let digest = Digest::from_hex(&sha256).ok_or_else(|| ModelError::Digest { model: id.clone() })?;
        let key = ModelKey { run: run.name().clone(), number, digest: Some(digest) };
        let open = open_here(run.clone(), id.clone(), devices.clone(), batch);
        Ok((metadata, RemoteModel { client: client.clone(), key, shape, batch, open }))
    }

    /// An evaluator for one thread, with so many bytes for its cache, and behind it the evaluations that are kept in a store.
    pub(crate) fn evaluator_keeping(&self, cache: usize, kept: Option<Arc<dyn EvaluationStore>>) -> Box<dyn Evaluator> {
        let session = RemoteSession::new(&self.client, &self.key, self.shape, Arc::clone(&self.open));
        let network = Network::new(self.shape, self.batch, session);
        match kept {
            Some(kept) => Box::new(Cached::new(Stored::new(network, kept), self.shape.size, cache)),
            None => Box::new(Cached::new(network, self.shape.size, cache)),
        }
    }

    /// What evaluations of it are of, when they are kept in this way. The servers choose the arithmetic, so these are another set
    /// than those of a device of this machine.
    pub(crate) fn set(&self, steps: Steps, symmetries: Symmetries) -> Set {
        let weights = self.key.digest.map_or([0; 32], |digest| digest.bytes());
        let model = Sha256::new_with_prefix(weights).chain_update("inference server").finalize().into();
        Set { model, size: self.shape.size, komi: komi_coding(self.shape), symmetries, steps }
    }
}

/// Whether a network of this shape sees komi.
pub(crate) fn komi_coding(shape: Shape) -> KomiCoding {
    if shape.inputs.tell_komi() { KomiCoding::Seen } else { KomiCoding::Unseen }
}

/// Opens the model in this process when the first thread needs it there.
fn open_here(run: Run, id: ModelId, devices: Devices, batch: usize) -> OpenLocal {
    let opened: Mutex<Option<net::Model>> = Mutex::new(None);
    Arc::new(move || {
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        let model = match &mut *opened {
            Some(model) => model,
            none => {
                tracing::warn!(model = %id, "opening the model in this process: no inference server is up");
                let (_, weights) = run.models().get(id.number())?;
                none.insert(net::Model::open(&weights, devices.clone(), Precision::Auto, batch)?)
            }
        };
        Ok(Box::new(model.session()) as Box<dyn PlaneEvaluator>)
    })
}

/// How a process ends when an evaluation failed.
pub fn evaluate_class(error: &EvaluateError) -> ExitClass {
    match error.downcast_ref() {
        Some(NetError::Evaluator(inner)) => {
            inner.downcast_ref::<RemoteError>().map_or(ExitClass::Failure, Classified::class)
        }
        Some(error) => error.class(),
        None => ExitClass::Failure,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn failures_of_servers_have_the_class_of_their_kind() {
        let class = |error: RemoteError| evaluate_class(&NetError::Evaluator(error.into()).into());
        let no_server = RemoteError::NoServer { waited: Duration::from_secs(300), problems: String::new() };
        assert_eq!(class(no_server), ExitClass::StoreUnreachable);
        assert_eq!(class(RemoteError::Ended), ExitClass::Failure);
        assert_eq!(evaluate_class(&NetError::BadAnswer { row: 1 }.into()), ExitClass::Failure);
        let no_gpu = NetError::NoGpu { wanted: 3, found: 0, reason: None };
        assert_eq!(evaluate_class(&no_gpu.into()), ExitClass::Configuration);
    }
}
