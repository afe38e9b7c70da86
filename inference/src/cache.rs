//! The networks in memory: loaded once for all that ask, and evicted when others need the memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use config::RunName;
use remote::proto::v1::Status;
use remote::{Digest, ModelKey, Refusal};
use runtime::{format, metrics};
use tokio::sync::{Semaphore, watch};

use crate::network::Network;
use crate::queue::NetworkId;
use crate::source::{Found, Source, SourceError};

/// How long a failure is the answer to all requests for the same model, before the store is asked again.
const FAILED: Duration = Duration::from_secs(1);

type Loaded = Result<Arc<Network>, Refusal>;

/// The networks in memory.
pub(crate) struct Cache {
    source: Arc<dyn Source>,
    /// Bytes of all networks.
    bound: u64,
    /// Positions of the batch that warms a network up.
    batch: usize,
    state: Mutex<State>,
    ids: AtomicU64,
    /// Models are read and made ready one at a time; most of it is work for all cores or one GPU.
    loading: Semaphore,
}

#[derive(Default)]
struct State {
    ready: HashMap<Digest, Ready>,
    loads: HashMap<Wanted, watch::Receiver<Option<Loaded>>>,
    failed: HashMap<Wanted, (Instant, Refusal)>,
    /// The digests of models that were loaded by their names.
    names: HashMap<(RunName, u32), Digest>,
    uses: u64,
}

struct Ready {
    network: Arc<Network>,
    used: u64,
}

/// What identifies a load: the weights, or the name where the client does not know them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    Digest(Digest),
    Name(RunName, u32),
}

impl Cache {
    pub(crate) fn new(source: Arc<dyn Source>, bound: u64, batch: usize) -> Cache {
        let ids = AtomicU64::default();
        Cache { source, bound, batch, state: Mutex::default(), ids, loading: Semaphore::new(1) }
    }

    /// Networks in memory.
    pub(crate) fn len(&self) -> usize {
        self.lock().ready.len()
    }

    /// The network, if it is in memory.
    pub(crate) fn ready(&self, key: &ModelKey) -> Option<Arc<Network>> {
        self.lock().ready(key)
    }

    /// The network, which is loaded if it is not in memory. All that ask for it meanwhile wait for the same load.
    pub(crate) async fn get(self: &Arc<Self>, key: &ModelKey) -> Loaded {
        let mut load = match self.find_or_load(key) {
            Ok(known) => return known,
            Err(load) => load,
        };
        match load.wait_for(Option::is_some).await {
            Ok(loaded) => loaded.clone().unwrap_or_else(|| Err(lost())),
            Err(_) => Err(lost()),
        }
    }

    /// What is known of a model, or its load.
    fn find_or_load(self: &Arc<Self>, key: &ModelKey) -> Result<Loaded, watch::Receiver<Option<Loaded>>> {
        let mut state = self.lock();
        if let Some(network) = state.ready(key) {
            return Ok(Ok(network));
        }
        let wanted = Wanted::new(key);
        state.failed.retain(|_, (failed, _)| failed.elapsed() < FAILED);
        if let Some((_, refusal)) = state.failed.get(&wanted) {
            return Ok(Err(refusal.clone()));
        }
        if let Some(load) = state.loads.get(&wanted) {
            return Err(load.clone());
        }
        let (done, load) = watch::channel(None);
        state.loads.insert(wanted.clone(), load.clone());
        drop(state);
        let (cache, key) = (Arc::clone(self), key.clone());
        tokio::spawn(async move {
            let loaded = cache.load(&key).await;
            let mut state = cache.lock();
            state.loads.remove(&wanted);
            if let Err(refusal) = &loaded {
                state.failed.insert(wanted, (Instant::now(), refusal.clone()));
            }
            drop(state);
            // The requests that waited may have gone away.
            done.send_replace(Some(loaded));
        });
        Err(load)
    }

    async fn load(self: &Arc<Self>, key: &ModelKey) -> Loaded {
        let _turn = self.loading.acquire().await;
        let (cache, wanted) = (Arc::clone(self), key.clone());
        let began = Instant::now();
        let loaded = tokio::task::spawn_blocking(move || cache.load_blocking(&wanted)).await;
        let loaded = loaded.unwrap_or_else(|_| Err(lost()));
        match &loaded {
            Ok(network) => {
                metrics::INFERENCE_LOADS.add(1);
                let (digest, took) = (network.digest, format::duration(began.elapsed()));
                tracing::info!(model = %key, %digest, network = %network.shape, took, "model ready");
            }
            Err(refusal) => {
                metrics::INFERENCE_LOAD_FAILURES.add(1);
                tracing::warn!(model = %key, reason = %refusal, "model cannot be loaded");
            }
        }
        loaded
    }

    fn load_blocking(&self, key: &ModelKey) -> Loaded {
        let found = self.source.find(&key.run, key.number).map_err(refusal)?;
        let Found { digest, bytes, open } = found;
        if let Some(wanted) = key.digest.filter(|wanted| *wanted != digest) {
            let other = format!("{key} has the digest {digest} in this server's store, and the client wants {wanted}");
            return Err(Refusal::new(Status::NotFound, other));
        }
        if bytes > self.bound {
            let large = format!("{key} takes {bytes} bytes, and this server has {} for models", self.bound);
            return Err(Refusal::new(Status::NotFound, large));
        }
        let mut state = self.lock();
        state.names.insert((key.run.clone(), key.number), digest);
        if let Some(network) = state.ready(key) {
            return Ok(network);
        }
        state.make_room(self.bound - bytes)?;
        drop(state);
        let network =
            Network::new(NetworkId(self.ids.fetch_add(1, Ordering::Relaxed)), digest, open().map_err(refusal)?, bytes);
        warm_up(&network, self.batch)?;
        let network = Arc::new(network);
        let mut state = self.lock();
        state.uses += 1;
        let used = state.uses;
        state.ready.insert(digest, Ready { network: Arc::clone(&network), used });
        state.show();
        Ok(network)
    }

    /// A map has no broken states between calls, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn ready(&mut self, key: &ModelKey) -> Option<Arc<Network>> {
        let digest = match key.digest {
            Some(digest) => digest,
            None => *self.names.get(&(key.run.clone(), key.number))?,
        };
        let ready = self.ready.get_mut(&digest)?;
        self.uses += 1;
        ready.used = self.uses;
        Some(Arc::clone(&ready.network))
    }

    /// Evicts the networks that were used least recently and of which no batch is under way, until the rest takes at most so
    /// many bytes.
    fn make_room(&mut self, bytes: u64) -> Result<(), Refusal> {
        while self.ready.values().map(|ready| ready.network.bytes).sum::<u64>() > bytes {
            let idle = self.ready.iter().filter(|(_, ready)| Arc::strong_count(&ready.network) == 1);
            let Some((&digest, _)) = idle.min_by_key(|(_, ready)| ready.used) else {
                let busy = "the models in memory are in use; ask another server, or later";
                return Err(Refusal::new(Status::ResourceExhausted, busy).retry_after(FAILED));
            };
            self.ready.remove(&digest);
            metrics::INFERENCE_EVICTIONS.add(1);
            tracing::info!(%digest, "model evicted");
        }
        self.show();
        Ok(())
    }

    fn show(&self) {
        metrics::INFERENCE_MODELS.set(self.ready.len() as f64);
        metrics::INFERENCE_MODEL_BYTES.set(self.ready.values().map(|ready| ready.network.bytes).sum::<u64>() as f64);
    }
}

impl Wanted {
    fn new(key: &ModelKey) -> Wanted {
        key.digest.map_or_else(|| Wanted::Name(key.run.clone(), key.number), Wanted::Digest)
    }
}

/// Evaluates a whole batch, for which a GPU chooses kernels and a CPU allocates.
fn warm_up(network: &Network, batch: usize) -> Result<(), Refusal> {
    let moves = network.shape.size.moves();
    let warm = network.with_session(|session| {
        let planes = vec![0; session.rows(batch) * network.packing.planes()];
        session.evaluate(&planes, &mut vec![0.0; batch * moves], &mut vec![0.0; batch])
    });
    warm.map_err(|error| refusal(error.into()))
}

fn refusal(error: SourceError) -> Refusal {
    match error {
        SourceError::Missing(message) => Refusal::new(Status::NotFound, message),
        SourceError::Net(error) if error.is_of_the_device() => Refusal::new(Status::Internal, error.to_string()),
        SourceError::Net(error) => Refusal::new(Status::NotFound, format!("the weights cannot be used: {error}")),
        SourceError::Store(message) => Refusal::new(Status::Unavailable, message).retry_after(FAILED),
    }
}

fn lost() -> Refusal {
    Refusal::new(Status::Internal, "loading the model ended without a result")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use net::{NetError, PlaneEvaluator, Shape};

    use super::*;
    use crate::network::Opened;

    /// Answers nothing, and counts how often it was opened.
    struct Made {
        opened: Arc<AtomicUsize>,
    }

    struct Nothing;

    impl PlaneEvaluator for Nothing {
        fn evaluate(&mut self, _: &[u8], _: &mut [f32], _: &mut [f32]) -> Result<(), NetError> {
            Ok(())
        }
    }

    impl Source for Made {
        fn find(&self, run: &RunName, number: u32) -> Result<Found, SourceError> {
            if number > 10 {
                return Err(SourceError::Missing(format!("there is no model {number}")));
            }
            let opened = Arc::clone(&self.opened);
            let open = move || {
                opened.fetch_add(1, Ordering::Relaxed);
                let shape = Shape::plain(go::Size::new(5).unwrap());
                Ok(Opened { shape, open: Box::new(|| Box::new(Nothing)) })
            };
            Ok(Found { digest: Digest::of(format!("{run}-{number}").as_bytes()), bytes: 40, open: Box::new(open) })
        }
    }

    fn key(number: u32) -> ModelKey {
        ModelKey { run: "v1".parse().unwrap(), number, digest: None }
    }

    fn with_digest(number: u32) -> ModelKey {
        ModelKey { digest: Some(Digest::of(format!("v1-{number}").as_bytes())), ..key(number) }
    }

    fn cache(bound: u64) -> (Arc<Cache>, Arc<AtomicUsize>) {
        let opened = Arc::new(AtomicUsize::default());
        (Arc::new(Cache::new(Arc::new(Made { opened: Arc::clone(&opened) }), bound, 4)), opened)
    }

    #[tokio::test]
    async fn cache_loads_a_model_once_for_all_that_ask() {
        let (cache, opened) = cache(100);
        let (key, same) = (key(1), with_digest(1));
        let asked =
            futures::future::join_all((0..8).map(|nth| cache.get(if nth % 2 == 0 { &key } else { &same }))).await;
        let ids: Vec<_> = asked.into_iter().map(|loaded| loaded.unwrap().id).collect();
        assert!(ids.iter().all(|id| *id == ids[0]) && opened.load(Ordering::Relaxed) == 1, "{ids:?}");
        assert!(cache.ready(&key).is_some() && cache.ready(&same).is_some());
    }

    #[tokio::test]
    async fn cache_evicts_the_model_that_was_used_least_recently() {
        let (cache, opened) = cache(100);
        for number in [1, 2, 1, 3] {
            cache.get(&key(number)).await.unwrap();
        }
        assert!(cache.ready(&key(1)).is_some() && cache.ready(&key(2)).is_none() && cache.ready(&key(3)).is_some());
        cache.get(&key(2)).await.unwrap();
        assert_eq!(opened.load(Ordering::Relaxed), 4);
    }

    #[tokio::test]
    async fn cache_keeps_models_of_which_batches_are_under_way() {
        let (cache, _) = cache(100);
        let [one, two] = [cache.get(&key(1)).await.unwrap(), cache.get(&key(2)).await.unwrap()];
        let refusal = cache.get(&key(3)).await.err().unwrap();
        assert_eq!((refusal.status, refusal.retry_after), (Status::ResourceExhausted, Some(FAILED)));
        drop(one);
        cache.get(&key(4)).await.unwrap();
        assert!(cache.ready(&key(1)).is_none() && cache.ready(&key(2)).is_some());
        drop(two);
    }

    #[tokio::test]
    async fn cache_reports_missing_models() {
        let (cache, _) = cache(30);
        let refused = |key| {
            let cache = Arc::clone(&cache);
            async move { cache.get(&key).await.err().unwrap() }
        };
        assert_eq!(refused(key(11)).await.status, Status::NotFound);
        let large = refused(key(1)).await;
        assert!(large.status == Status::NotFound && large.message.contains("takes 40 bytes"), "{large}");
        let other = ModelKey { digest: Some(Digest::of(b"other")), ..key(2) };
        assert!(refused(other).await.message.contains("the client wants"));
    }
}
