//! The networks in memory: loaded once for all that ask, and evicted when others need the memory.

mod memory;
mod names;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use net::{Fault, check_output};
use remote::proto::v1::Status;
use remote::{Digest, ModelKey, Refusal};
use runtime::{format, metrics};
use tokio::sync::{Semaphore, watch};

use crate::limits::Limits;
use crate::network::{Lent, Network, Opened};
use crate::provider::{Found, ModelProvider, ProviderError};
use crate::queue::NetworkId;
use memory::{Memory, Ready, Turns, Unready};
use names::{AWAY, Checks, Names};

/// Models that are read and made ready at the same time. A store that hangs holds up this many of them before it holds
/// up others.
const LOADS: usize = 8;
/// How long a failure is the response to all requests for the same model, before the store is read again.
const FAILED: Duration = Duration::from_secs(1);
const MIB: u64 = 1 << 20;

type Loaded = Result<Arc<Network>, Refusal>;

/// The networks in memory.
pub(crate) struct Cache {
    provider: Arc<dyn ModelProvider>,
    /// Positions of the batch that warms a network up.
    batch: usize,
    /// A device that makes a model ready for longer hangs.
    stalled_after: Duration,
    state: Mutex<State>,
    ids: AtomicU64,
    lent: Arc<Lent>,
    /// A model is made ready, or is not.
    opened: Condvar,
    loading: Semaphore,
    /// Whether the last load that came to the device failed there, and no batch was evaluated since.
    is_failing: AtomicBool,
}

struct State {
    names: Names,
    memory: Memory,
    /// By name and digest, so that a client with a wrong name fails alone.
    loads: HashMap<ModelKey, watch::Receiver<Option<Loaded>>>,
    failed: HashMap<ModelKey, (Instant, Refusal)>,
    /// Of models that are made ready and whose weights are read: since when the device has been at it.
    on_device: HashMap<Digest, Instant>,
}

impl Cache {
    pub(crate) fn new(provider: Arc<dyn ModelProvider>, bound: u64, batch: usize) -> Cache {
        let (names, memory) = (Names::new(Checks::DEFAULT), Memory::new(bound, Turns::DEFAULT));
        let (loads, failed, on_device) = (HashMap::new(), HashMap::new(), HashMap::new());
        let state = Mutex::new(State { names, memory, loads, failed, on_device });
        let (ids, opened, loading) = (AtomicU64::default(), Condvar::new(), Semaphore::new(LOADS));
        let (stalled_after, is_failing) = (Limits::DEFAULT.stalled_after, AtomicBool::default());
        let lent = Arc::default();
        Cache { provider, batch, stalled_after, state, ids, lent, opened, loading, is_failing }
    }

    /// The same with another time after which the device hangs.
    pub(crate) fn with_stalled_after(self, stalled_after: Duration) -> Cache {
        Cache { stalled_after, ..self }
    }

    /// Networks in memory.
    pub(crate) fn len(&self) -> usize {
        self.lock().memory.len()
    }

    /// Whether the device failed at the last load. No batch says so where none comes as far as the device.
    pub(crate) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    /// Whether the device hangs: it has made a model ready for too long. A store that hangs is no reason to restart.
    pub(crate) fn is_stalled(&self) -> bool {
        self.lock().on_device.values().any(|since| since.elapsed() >= self.stalled_after)
    }

    /// The network, if it is in memory and takes batches. Without a digest, its name has to have been checked lately.
    pub(crate) fn in_memory(&self, key: &ModelKey) -> Option<Arc<Network>> {
        self.lock().known(key)?.ok()
    }

    /// The network, which is loaded if it is not in memory. All requests for it meanwhile wait for the same load.
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

    /// Lets go of a network that failed on the device. The next request opens it anew.
    pub(crate) fn forget(&self, network: &Network) {
        let mut state = self.lock();
        state.memory.forget(network);
        state.show();
    }

    /// What is known of a model, or its load.
    fn find_or_load(self: &Arc<Self>, key: &ModelKey) -> Result<Loaded, watch::Receiver<Option<Loaded>>> {
        let mut state = self.lock();
        if let Some(known) = state.known(key) {
            return Ok(known.map_err(Refusal::from));
        }
        state.failed.retain(|_, (failed, _)| failed.elapsed() < FAILED);
        if let Some((_, refusal)) = state.failed.get(key) {
            return Ok(Err(refusal.clone()));
        }
        if let Some(load) = state.loads.get(key) {
            return Err(load.clone());
        }
        let (done, load) = watch::channel(None);
        state.loads.insert(key.clone(), load.clone());
        drop(state);
        let (cache, key) = (Arc::clone(self), key.clone());
        tokio::spawn(async move {
            let loaded = cache.load(&key).await;
            let mut state = cache.lock();
            state.loads.remove(&key);
            if let Err(refusal) = &loaded {
                state.failed.insert(key, (Instant::now(), refusal.clone()));
            }
            drop(state);
            // The requests that waited may have gone away.
            done.send_replace(Some(loaded));
        });
        Err(load)
    }

    async fn load(self: &Arc<Self>, key: &ModelKey) -> Loaded {
        if let Some(network) = self.unchanged(key).await {
            return Ok(network);
        }
        let _turn = self.loading.acquire().await;
        let (cache, wanted) = (Arc::clone(self), key.clone());
        let began = Instant::now();
        let loaded = tokio::task::spawn_blocking(move || cache.load_blocking(&wanted)).await;
        let loaded = loaded.unwrap_or_else(|_| Err(Unready::Failed(lost())));
        match &loaded {
            Ok(network) => {
                metrics::INFERENCE_LOADS.add(1);
                let (digest, took) = (network.digest, format::duration(began.elapsed()));
                tracing::info!(model = %key, %digest, network = %network.shape, took, "model ready");
            }
            Err(Unready::InUse) => tracing::debug!(model = %key, "model waits for space"),
            Err(Unready::Failed(refusal)) => {
                metrics::INFERENCE_LOAD_FAILURES.add(1);
                tracing::warn!(model = %key, reason = %refusal, "model cannot be loaded");
            }
        }
        loaded.map_err(Refusal::from)
    }

    /// The network in memory that a name meant when it was checked last, unless the store has another model under it
    /// now.
    async fn unchanged(self: &Arc<Self>, key: &ModelKey) -> Option<Arc<Network>> {
        let serves = |state: &State| state.names.last(key).is_some_and(|digest| state.memory.has(digest));
        if key.digest.is_some() || !serves(&self.lock()) {
            return None;
        }
        let patience = self.lock().names.checks.patience;
        let (cache, wanted) = (Arc::clone(self), key.clone());
        let checked = tokio::task::spawn_blocking(move || cache.check(&wanted));
        // What a late one finds counts at the next use of the name.
        let is_late = tokio::time::timeout(patience, checked).await.is_err();
        let mut state = self.lock();
        let now = Instant::now();
        let digest = state.names.note_check(key, if is_late { now + AWAY } else { now })?;
        state.memory.for_batch(digest, now)?.ok()
    }

    /// Forgets what a name meant if the store has another model under it. While the store cannot be read it means the
    /// same.
    fn check(&self, key: &ModelKey) {
        let Ok(_turn) = self.loading.try_acquire() else { return };
        let Ok(Some(stored)) = self.provider.digest(&key.run, key.number) else { return };
        if self.lock().names.forget_replaced(key, stored) {
            tracing::info!(model = %key, digest = %stored, "model replaced in the store");
        }
    }

    fn load_blocking(&self, key: &ModelKey) -> Result<Arc<Network>, Unready> {
        // Without space the weights are not read, which take a download of many MiB for each attempt.
        let reserved = self.known_size(key).map(|(digest, bytes)| self.reserve(digest, bytes)).transpose()?;
        let early = match reserved {
            Some(Reserved::Ready(network)) => return Ok(network),
            Some(Reserved::Opening(opening)) => Some(opening),
            None => None,
        };
        let Found { digest, bytes, open } = self.find_in_store(key)?;
        let mut opening = match early.filter(|opening| opening.digest == digest) {
            Some(opening) => opening,
            None => match self.reserve(digest, bytes)? {
                Reserved::Ready(network) => return Ok(network),
                Reserved::Opening(opening) => opening,
            },
        };
        opening.evict();
        self.lock().on_device.insert(digest, Instant::now());
        let opened = open().and_then(|opened| self.warm_up(digest, bytes, opened));
        self.note(&opened);
        let network = Arc::new(opened.map_err(refusal)?);
        let mut state = self.lock();
        state.memory.add(Arc::clone(&network), Instant::now());
        state.show();
        drop(state);
        drop(opening);
        Ok(network)
    }

    /// Evaluates a whole batch, for which a GPU chooses kernels and a CPU allocates.
    fn warm_up(&self, digest: Digest, bytes: u64, opened: Opened) -> Result<Network, ProviderError> {
        let id = NetworkId(self.ids.fetch_add(1, Ordering::Relaxed));
        let network = Network::new(id, digest, opened, bytes, Arc::clone(&self.lent));
        let moves = network.shape.size.moves();
        network.with_session(|session| {
            let planes = vec![0; session.rows(self.batch) * network.packing.plane_bytes()];
            let (mut policies, mut values) = (vec![0.0; self.batch * moves], vec![0.0; self.batch]);
            session.evaluate(&planes, &mut policies, &mut values)?;
            check_output(&policies, &values)
        })?;
        Ok(network)
    }

    /// Notes whether the device works. Memory may suffice for the next model.
    fn note(&self, opened: &Result<Network, ProviderError>) {
        match opened {
            Ok(_) => self.works(),
            Err(ProviderError::Net(error)) => match error.fault() {
                Fault::Device | Fault::Place => self.is_failing.store(true, Ordering::Relaxed),
                Fault::Memory | Fault::Weights | Fault::Input => {}
            },
            Err(ProviderError::Missing(_) | ProviderError::Store(_)) => {}
        }
    }

    /// A batch shows that the device works.
    pub(crate) fn works(&self) {
        self.is_failing.store(false, Ordering::Relaxed);
    }

    /// Finds a model that fits into memory, and remembers what it is.
    fn find_in_store(&self, key: &ModelKey) -> Result<Found, Refusal> {
        let found = self.provider.find(&key.run, key.number).map_err(refusal)?;
        let Found { digest, bytes, .. } = found;
        if let Some(wanted) = key.digest.filter(|wanted| *wanted != digest) {
            let other = format!("{key} has the digest {digest} in this server's store, and the client wants {wanted}");
            return Err(Refusal::new(Status::NotFound, other));
        }
        let mut state = self.lock();
        let bound = state.memory.bound();
        if bytes > bound {
            let [takes, most] = [bytes.div_ceil(MIB), bound / MIB];
            let large = format!("{key} takes {takes} MiB, and --model-mib of this server is {most}");
            return Err(Refusal::new(Status::NotFound, large));
        }
        state.names.note(key, digest, Instant::now());
        state.memory.note_size(digest, bytes);
        drop(state);
        Ok(found)
    }

    /// The digest of a model and its bytes, if it was found before.
    fn known_size(&self, key: &ModelKey) -> Option<(Digest, u64)> {
        let state = self.lock();
        let digest = state.names.resolve(key, Instant::now())?;
        Some((digest, state.memory.size(digest)?))
    }

    /// Reserves memory for a model, unless it is there. One that is being opened under another name is waited for.
    fn reserve(&self, digest: Digest, bytes: u64) -> Result<Reserved<'_>, Unready> {
        let mut state = self.lock();
        while state.memory.is_opening(digest) {
            state = self.opened.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let now = Instant::now();
        if let Some(known) = state.memory.for_batch(digest, now) {
            return known.map(Reserved::Ready);
        }
        let evicted = state.memory.reserve(digest, bytes, now)?;
        state.show();
        Ok(Reserved::Opening(Opening { cache: self, digest, evicted }))
    }

    /// A map has no broken states between calls, so a panic elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model in memory, or what a load has to do.
enum Reserved<'a> {
    Ready(Arc<Network>),
    Opening(Opening<'a>),
}

/// A model that is made ready. Its memory is taken into account until it is, or cannot be.
struct Opening<'a> {
    cache: &'a Cache,
    digest: Digest,
    /// The models that made space. They are served again if this one cannot be read, since they might not be readable
    /// either.
    evicted: Vec<(Digest, Ready)>,
}

impl Opening<'_> {
    /// Frees the memory of the models that made space.
    fn evict(&mut self) {
        for (digest, _) in self.evicted.drain(..) {
            metrics::INFERENCE_EVICTIONS.add(1);
            tracing::info!(%digest, "model evicted");
        }
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.lock();
        state.memory.give_up(self.digest, mem::take(&mut self.evicted));
        state.on_device.remove(&self.digest);
        state.show();
        drop(state);
        self.cache.opened.notify_all();
    }
}

impl State {
    /// The network of a model in memory, or that it is to make space for another.
    fn known(&mut self, key: &ModelKey) -> Option<Result<Arc<Network>, Unready>> {
        let now = Instant::now();
        self.memory.for_batch(self.names.resolve(key, now)?, now)
    }

    fn show(&self) {
        metrics::INFERENCE_MODELS.set(self.memory.len() as f64);
        metrics::INFERENCE_MODEL_BYTES.set(self.memory.bytes() as f64);
    }
}

fn refusal(error: ProviderError) -> Refusal {
    match error {
        ProviderError::Missing(message) => Refusal::new(Status::NotFound, message),
        ProviderError::Net(error) => match error.fault() {
            Fault::Device | Fault::Place | Fault::Memory => Refusal::new(Status::Internal, error.to_string()),
            Fault::Weights | Fault::Input => {
                Refusal::new(Status::NotFound, format!("the weights cannot be used: {error}"))
            }
        },
        ProviderError::Store(message) => Refusal::new(Status::Unavailable, message).retry_after(FAILED),
    }
}

impl From<Refusal> for Unready {
    fn from(refusal: Refusal) -> Unready {
        Unready::Failed(refusal)
    }
}

impl From<Unready> for Refusal {
    fn from(unready: Unready) -> Refusal {
        match unready {
            Unready::InUse => {
                let busy = "the models in memory are in use; raise --model-mib, ask another server, or try later";
                Refusal::new(Status::Unavailable, busy).retry_after(FAILED)
            }
            Unready::Failed(refusal) => refusal,
        }
    }
}

fn lost() -> Refusal {
    Refusal::new(Status::Internal, "loading the model ended without a result")
}
