//! A model that inference servers evaluate.

use std::error::Error;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::ModelId;
use evalcache::{Key, KomiCoding, Set, Steps, Symmetries, View};
use exit_class::{Classified, ExitClass, classify};
use mcts::{EvaluateError, Evaluator};
use net::{Devices, NetError, Network, Precision, Shape};
use play::{Cached, EvaluationStore, Stored};
use remote::{Client, Digest, ModelKey, OpenLocal, RemoteError, RemoteSession};
use runtime::Stop;
use store::{ModelMetadata, Run, StoreError};

use crate::ModelError;
use crate::evaluation_set::{evaluations_digest, komi_coding};
use crate::shape::shape_of;

/// How long the evaluation cache waits for a server to say what it computes with.
const PATIENCE: Duration = Duration::from_secs(10);

/// A model that inference servers evaluate. Its weights stay in the store, unless this process has to evaluate it.
pub struct RemoteModel {
    client: Client,
    key: ModelKey,
    shape: Shape,
    batch: usize,
    open: OpenLocal,
}

impl RemoteModel {
    /// A model of a run, on the servers of a client, in batches of `batch` positions. The device is the one of this
    /// machine.
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
        let shape = shape_of(&metadata).map_err(|error| ModelError::unusable(&id.to_string(), error.into()))?;
        let digest = Digest::from_hex(&sha256).ok_or_else(|| ModelError::Digest { model: id.clone() })?;
        let key = ModelKey { run: run.name().clone(), number, digest: Some(digest) };
        let open = open_here(run.clone(), id.clone(), devices.clone(), batch);
        Ok((metadata, RemoteModel { client: client.clone(), key, shape, batch, open }))
    }

    /// An evaluator for one thread, with so many bytes for its cache, and behind it the evaluations that are kept in a
    /// store.
    pub(crate) fn evaluator_keeping(&self, cache: usize, kept: Option<Arc<dyn EvaluationStore>>) -> Box<dyn Evaluator> {
        let session = RemoteSession::new(&self.client, &self.key, self.shape, Arc::clone(&self.open));
        let network = |session| Network::new(self.shape, self.batch, session);
        match kept.zip(self.client.arithmetic(Duration::ZERO)) {
            Some((kept, (precision, _))) => {
                let others = Arc::new(AtomicBool::new(false));
                let network = network(session.noting_others(precision, Arc::clone(&others)));
                let kept: Arc<dyn EvaluationStore> = Arc::new(OfOnePrecision { kept, others });
                Box::new(Cached::new(Stored::new(network, kept), self.shape.size, cache))
            }
            None => Box::new(Cached::new(network(session), self.shape.size, cache)),
        }
    }

    /// The digest of its weights, as the store had it.
    pub(crate) fn weights_digest(&self) -> Option<Digest> {
        self.key.digest
    }

    /// What evaluations of it are of, when they are kept in this way: of the precision of the first server that
    /// responds. They are another set than those of a device of this machine. `None` when no server responds in time.
    pub(crate) fn set(&self, steps: Steps, symmetries: Symmetries) -> Option<Set> {
        let (precision, encoding) = self.client.arithmetic(PATIENCE)?;
        let weights = self.key.digest.map_or([0; 32], |digest| digest.bytes());
        let arithmetic = format!("inference server, {precision}, {}", encoding.name());
        let model = evaluations_digest(weights, &arithmetic);
        Some(Set { model, size: self.shape.size, komi: komi_coding(self.shape), symmetries, steps })
    }
}

/// Keeps the evaluations of servers of one precision. Those of a batch that another server or this process had a part
/// in are not kept, nor rounded.
struct OfOnePrecision {
    kept: Arc<dyn EvaluationStore>,
    /// Whether there were others since the last lookup.
    others: Arc<AtomicBool>,
}

impl EvaluationStore for OfOnePrecision {
    fn symmetries(&self) -> Symmetries {
        self.kept.symmetries()
    }

    fn komi(&self) -> KomiCoding {
        self.kept.komi()
    }

    /// Positions are looked up before their batch is evaluated, and put after that.
    fn get(&self, key: Key, view: &View, policy: &mut [f32], buffer: &mut Vec<u8>) -> Option<f32> {
        self.others.store(false, Ordering::Relaxed);
        self.kept.get(key, view, policy, buffer)
    }

    fn put(&self, key: Key, view: &View, policy: &mut [f32], value: f32, buffer: &mut Vec<u8>) -> f32 {
        if self.others.load(Ordering::Relaxed) { value } else { self.kept.put(key, view, policy, value, buffer) }
    }
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
        Ok(model.session())
    })
}

/// How a process ends when an evaluation failed. Where it was to evaluate itself, the store or the device says how.
pub fn evaluate_class(error: &EvaluateError) -> ExitClass {
    match error.downcast_ref() {
        Some(NetError::Evaluator(inner)) => match inner.downcast_ref() {
            Some(RemoteError::Local(source)) => {
                let source: &(dyn Error + 'static) = &**source;
                exit_class::exit_class(iter::once(source), &[classify::<StoreError>, classify::<NetError>])
            }
            Some(error) => error.class(),
            None => ExitClass::Failure,
        },
        Some(error) => error.class(),
        None => ExitClass::Failure,
    }
}

/// Whether an error only says that no inference server, or no store, can be reached by a process that is to stop. It
/// waits for neither.
pub fn lost_at_stop(error: &EvaluateError, stop: &Stop) -> bool {
    stop.requested() && evaluate_class(error) == ExitClass::StoreUnreachable
}

#[cfg(test)]
mod tests {
    use go::{Game, Size};

    use super::*;

    /// Counts what it is to keep.
    #[derive(Default)]
    struct Counting(Mutex<u32>);

    impl EvaluationStore for Counting {
        fn symmetries(&self) -> Symmetries {
            Symmetries::Canonical
        }

        fn komi(&self) -> KomiCoding {
            KomiCoding::Unseen
        }

        fn get(&self, _: Key, _: &View, _: &mut [f32], _: &mut Vec<u8>) -> Option<f32> {
            None
        }

        fn put(&self, _: Key, _: &View, _: &mut [f32], value: f32, _: &mut Vec<u8>) -> f32 {
            *self.0.lock().unwrap() += 1;
            value
        }
    }

    #[test]
    fn evaluations_of_batches_with_others_are_not_kept() {
        let (counting, others) = (Arc::new(Counting::default()), Arc::new(AtomicBool::new(false)));
        let kept: Arc<dyn EvaluationStore> = Arc::clone(&counting) as Arc<dyn EvaluationStore>;
        let store = OfOnePrecision { kept, others: Arc::clone(&others) };
        let game = Game::new(Size::new(5).unwrap());
        let (symmetry, key) = Key::canonical(&game, None);
        let view = View::new(&game, symmetry);
        // A batch of two: looked up, evaluated, put.
        let batch = |with_others| {
            let (mut policy, mut buffer) = ([0.0; 26], Vec::new());
            (0..2).for_each(|_| assert!(store.get(key, &view, &mut policy, &mut buffer).is_none()));
            others.fetch_or(with_others, Ordering::Relaxed);
            (0..2).for_each(|_| assert_eq!(store.put(key, &view, &mut policy, 0.5, &mut buffer), 0.5));
            *counting.0.lock().unwrap()
        };
        assert_eq!([batch(false), batch(true), batch(false)], [2, 2, 4]);
    }

    #[test]
    fn evaluation_is_lost_only_at_stop_and_without_a_server() {
        let no_server = RemoteError::NoServer { waited: Duration::ZERO, problems: String::new() };
        let no_server: EvaluateError = NetError::Evaluator(no_server.into()).into();
        let stop = Stop::never();
        assert!(!lost_at_stop(&no_server, &stop));
        stop.request();
        assert!(lost_at_stop(&no_server, &stop));
        assert!(!lost_at_stop(&NetError::BadAnswer { row: 1 }.into(), &stop));
    }

    #[test]
    fn failures_of_servers_have_the_class_of_their_kind() {
        let class = |error: RemoteError| evaluate_class(&NetError::Evaluator(error.into()).into());
        let no_server = RemoteError::NoServer { waited: Duration::from_secs(300), problems: String::new() };
        assert_eq!(class(no_server), ExitClass::StoreUnreachable);
        assert_eq!(class(RemoteError::Ended), ExitClass::Failure);
        let (path, reason) = ("s3://tengen/v1".to_owned(), "timeout".to_owned());
        let no_store = StoreError::Unreachable { doing: "read", path, reason };
        assert_eq!(class(RemoteError::Local(no_store.into())), ExitClass::StoreUnreachable);
        assert_eq!(class(RemoteError::Local(NetError::NoTorch.into())), ExitClass::Configuration);
        assert_eq!(class(RemoteError::Local("something else".into())), ExitClass::Failure);
        assert_eq!(evaluate_class(&NetError::BadAnswer { row: 1 }.into()), ExitClass::Failure);
        assert_eq!(evaluate_class(&NetError::NoTorch.into()), ExitClass::Configuration);
    }
}
