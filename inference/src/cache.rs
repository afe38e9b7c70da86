//! The networks in memory: loaded once for all that ask, and evicted when others need the memory.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use config::RunName;
use net::{Fault, check_output};
use remote::proto::v1::Status;
use remote::{Digest, ModelKey, Refusal};
use runtime::{format, metrics};
use tokio::sync::{Semaphore, watch};

use crate::limits::Limits;
use crate::network::{Lent, Network, Opened};
use crate::provider::{Found, ModelProvider, ProviderError};
use crate::queue::NetworkId;

/// Models that are read and made ready at the same time. A store that hangs holds up this many of them before it holds up
/// others.
const LOADS: usize = 8;
/// How long a failure is the response to all requests for the same model, before the store is read again.
const FAILED: Duration = Duration::from_secs(1);
const MIB: u64 = 1 << 20;

type Loaded = Result<Arc<Network>, Refusal>;

/// Why a model is not made ready.
enum Unready {
    /// Batches of the models in memory are under way, so that there is no space for another. It has to wait, which is no
    /// failure.
    InUse,
    Failed(Refusal),
}

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

    /// The network in memory that a name meant when it was checked last, unless the store has another model under it now.
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

    /// Forgets what a name meant if the store has another model under it. While the store cannot be read it means the same.
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
    /// The models that made space. They are served again if this one cannot be read, since they might not be readable either.
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

/// How long no other check of a name begins after one that was late.
const AWAY: Duration = Duration::from_secs(60);

/// When the store is read for what a name means, of a client that names no digest.
#[derive(Clone, Copy)]
struct Checks {
    /// A name means the same model for so long.
    every: Duration,
    /// A check that takes longer is late. The model in memory serves until it finds another one, and no other check
    /// begins for [`AWAY`].
    patience: Duration,
}

impl Checks {
    const DEFAULT: Checks = Checks { every: Duration::from_secs(1), patience: Duration::from_secs(1) };
}

/// What was found under the names of models.
struct Names {
    checks: Checks,
    found: HashMap<(RunName, u32), Named>,
}

/// What a name means.
struct Named {
    digest: Digest,
    /// When the store said so last, or [`AWAY`] after a check that was late.
    checked: Instant,
}

impl Names {
    fn new(checks: Checks) -> Names {
        Names { checks, found: HashMap::new() }
    }

    /// The digest that the client names, or that the model of this name had when that was checked, if that was lately.
    fn resolve(&self, key: &ModelKey, now: Instant) -> Option<Digest> {
        key.digest.or_else(|| {
            let named = self.found.get(&name(key))?;
            (now.saturating_duration_since(named.checked) < self.checks.every).then_some(named.digest)
        })
    }

    /// The digest that the model of this name had when that was checked last.
    fn last(&self, key: &ModelKey) -> Option<Digest> {
        self.found.get(&name(key)).map(|named| named.digest)
    }

    /// Notes what the store has under a name now.
    fn note(&mut self, key: &ModelKey, digest: Digest, now: Instant) {
        self.found.insert(name(key), Named { digest, checked: now });
    }

    /// Notes when a name was checked, and returns the digest that it means.
    fn note_check(&mut self, key: &ModelKey, checked: Instant) -> Option<Digest> {
        let named = self.found.get_mut(&name(key))?;
        named.checked = checked;
        Some(named.digest)
    }

    /// Forgets a name if the store has another model under it; whether it has.
    fn forget_replaced(&mut self, key: &ModelKey, stored: Digest) -> bool {
        let is_replaced = self.last(key).is_some_and(|digest| digest != stored);
        if is_replaced {
            self.found.remove(&name(key));
        }
        is_replaced
    }
}

fn name(key: &ModelKey) -> (RunName, u32) {
    (key.run.clone(), key.number)
}

/// How models that do not fit into memory together share it.
#[derive(Clone, Copy)]
struct Turns {
    /// A model in use is kept for so long at least.
    kept: Duration,
    /// Batches of a model that is to make space are refused for so long, so that those under way end. The model that
    /// needs the space is requested again after [`FAILED`].
    closing: Duration,
}

impl Turns {
    /// Much longer than a load, so that the device evaluates most of the time; much shorter than the patience of clients.
    const DEFAULT: Turns = Turns { kept: Duration::from_secs(30), closing: Duration::from_secs(2) };
}

/// The models in memory, and those that are being opened. Nothing here waits, and the time is an argument.
struct Memory {
    /// Bytes of all models.
    bound: u64,
    turns: Turns,
    ready: HashMap<Digest, Ready>,
    /// Models that are made ready, and the bytes that they will take.
    opening: HashMap<Digest, u64>,
    /// The bytes of models that were found and fit into memory.
    sizes: HashMap<Digest, u64>,
    uses: u64,
}

/// A model in memory.
struct Ready {
    network: Arc<Network>,
    used: u64,
    loaded: Instant,
    /// Until when it takes no batches, because it is to make space for another.
    closing: Option<Instant>,
}

impl Ready {
    fn is_closing(&self, now: Instant) -> bool {
        self.closing.is_some_and(|until| now < until)
    }
}

impl Memory {
    fn new(bound: u64, turns: Turns) -> Memory {
        let (ready, opening, sizes) = (HashMap::new(), HashMap::new(), HashMap::new());
        Memory { bound, turns, ready, opening, sizes, uses: 0 }
    }

    /// Bytes of all models, at most.
    fn bound(&self) -> u64 {
        self.bound
    }

    /// Models that are ready.
    fn len(&self) -> usize {
        self.ready.len()
    }

    /// The bytes of the models that are ready.
    fn bytes(&self) -> u64 {
        self.ready.values().map(|ready| ready.network.bytes).sum()
    }

    fn has(&self, digest: Digest) -> bool {
        self.ready.contains_key(&digest)
    }

    fn is_opening(&self, digest: Digest) -> bool {
        self.opening.contains_key(&digest)
    }

    /// The bytes of a model, if it was found before.
    fn size(&self, digest: Digest) -> Option<u64> {
        self.sizes.get(&digest).copied()
    }

    /// Notes the bytes of a model that was found and fits.
    fn note_size(&mut self, digest: Digest, bytes: u64) {
        self.sizes.insert(digest, bytes);
    }

    /// The network for a batch, if it is in memory. It takes none while it is to make space for another.
    fn for_batch(&mut self, digest: Digest, now: Instant) -> Option<Result<Arc<Network>, Unready>> {
        let ready = self.ready.get_mut(&digest)?;
        if ready.is_closing(now) {
            return Some(Err(Unready::InUse));
        }
        self.uses += 1;
        ready.used = self.uses;
        Some(Ok(Arc::clone(&ready.network)))
    }

    /// Takes space into account for a model that fits and is opened now, and takes out those that make the space.
    fn reserve(&mut self, digest: Digest, bytes: u64, now: Instant) -> Result<Vec<(Digest, Ready)>, Unready> {
        let evicted = self.make_room(self.bound - bytes, now)?;
        self.opening.insert(digest, bytes);
        Ok(evicted)
    }

    /// Adds a model, which was opened.
    fn add(&mut self, network: Arc<Network>, now: Instant) {
        self.uses += 1;
        self.opening.remove(&network.digest);
        self.ready.insert(network.digest, Ready { network, used: self.uses, loaded: now, closing: None });
    }

    /// Frees the space of a model that was not opened, and takes back those that made it, where they fit.
    fn give_up(&mut self, digest: Digest, evicted: Vec<(Digest, Ready)>) {
        self.opening.remove(&digest);
        for (digest, ready) in evicted {
            // Others may have taken the space meanwhile.
            if self.taken() + ready.network.bytes <= self.bound {
                self.ready.entry(digest).or_insert(ready);
            }
        }
    }

    /// Lets go of a network, unless its model was opened anew.
    fn forget(&mut self, network: &Network) {
        if self.ready.get(&network.digest).is_some_and(|ready| ready.network.id == network.id) {
            self.ready.remove(&network.digest);
        }
    }

    /// The bytes of the models in memory and of those that are made ready.
    fn taken(&self) -> u64 {
        self.opening.values().sum::<u64>() + self.bytes()
    }

    /// Takes out the networks that were used least recently and of which no batch is under way, until the rest and
    /// those that are being opened take at most so many bytes. Where that cannot be, takes out none, and has others
    /// make space.
    fn make_room(&mut self, bytes: u64, now: Instant) -> Result<Vec<(Digest, Ready)>, Unready> {
        let mut taken = self.taken();
        let idle = self.ready.iter().filter(|(_, ready)| Arc::strong_count(&ready.network) == 1);
        let mut idle: Vec<_> = idle.map(|(&digest, ready)| (ready.used, digest, ready.network.bytes)).collect();
        let needed = taken - idle.iter().map(|(_, _, bytes)| bytes).sum::<u64>();
        if needed > bytes {
            self.close(needed - bytes, now);
            return Err(Unready::InUse);
        }
        idle.sort_unstable_by_key(|&(used, ..)| used);
        let mut evicted = Vec::new();
        for (_, digest, freed) in idle {
            if taken <= bytes {
                break;
            }
            evicted.extend(self.ready.remove(&digest).map(|ready| (digest, ready)));
            taken -= freed;
        }
        Ok(evicted)
    }

    /// Lets models in use take no batches until they have made space for so many bytes, those first that were loaded
    /// first. Without this a model of which there are always batches would keep all others out for ever.
    fn close(&mut self, mut bytes: u64, now: Instant) {
        let Turns { kept, closing } = self.turns;
        let had_turn = |ready: &Ready| {
            Arc::strong_count(&ready.network) > 1 && now.saturating_duration_since(ready.loaded) >= kept
        };
        let in_use = self.ready.values().filter(|ready| had_turn(ready));
        if in_use.map(|ready| ready.network.bytes).sum::<u64>() < bytes {
            return;
        }
        let until = now + closing;
        // The batches of one may end before those of another, and a large model needs the space of both.
        for ready in self.ready.values_mut().filter(|ready| ready.is_closing(now)) {
            ready.closing = Some(until);
        }
        let mut in_use: Vec<&mut Ready> = self.ready.values_mut().filter(|ready| had_turn(ready)).collect();
        in_use.sort_unstable_by_key(|ready| ready.network.id);
        for ready in in_use {
            if bytes == 0 {
                break;
            }
            bytes = bytes.saturating_sub(ready.network.bytes);
            ready.closing = Some(until);
            tracing::info!(digest = %ready.network.digest, "model in use makes space for another");
        }
    }
}
