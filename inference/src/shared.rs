//! What all streams and calls share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use remote::proto::v1::Status;
use remote::{Batch, Refusal};
use tokio::sync::watch;
use tonic::Request;

use crate::arrival::Arrival;
use crate::cache::Cache;
use crate::job::{Caller, Job};
use crate::limits::Limits;
use crate::network::Network;
use crate::peer::Peer;
use crate::queue::{CallId, Origin};
use crate::scheduler::{Loading, Scheduler, count_expired, refuse_expired};

/// Half of the time that clients of self-play wait by default before they ask another server.
const LATE: Duration = Duration::from_millis(runtime::INFERENCE_DEADLINE_MS / 2);
/// The credit is never less than this part of a full message.
const LEAST_PART: usize = 16;

/// What all streams and calls share.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    /// Numbers that networks are computed with.
    pub(crate) precision: String,
    pub(crate) cache: Arc<Cache>,
    pub(crate) scheduler: Arc<Scheduler>,
    /// Outstanding positions that a stream may have now.
    pub(crate) credit: watch::Sender<usize>,
    pub(crate) draining: watch::Sender<bool>,
    /// Streams and calls under way.
    pub(crate) active: AtomicUsize,
    ids: AtomicU64,
}

/// A stream or a call under way.
pub(crate) struct Active(Arc<Shared>);

impl Shared {
    pub(crate) fn new(limits: Limits, precision: String, cache: Arc<Cache>, scheduler: Arc<Scheduler>) -> Shared {
        let (credit, _) = watch::channel(limits.credit);
        let (draining, _) = watch::channel(false);
        let (active, ids) = (AtomicUsize::default(), AtomicU64::default());
        Shared { limits, precision, cache, scheduler, credit, draining, active, ids }
    }

    /// A new stream or call of a peer.
    pub(crate) fn origin(&self, peer: &Peer) -> Origin {
        Origin { client: peer.client(), call: CallId(self.ids.fetch_add(1, Ordering::Relaxed)) }
    }

    pub(crate) fn enter(self: &Arc<Self>) -> Active {
        self.active.fetch_add(1, Ordering::Relaxed);
        Active(Arc::clone(self))
    }

    /// Adapts the credit to how long positions wait and how many streams there are.
    pub(crate) fn adapt_credit(&self) {
        let load = self.scheduler.load();
        let Limits { credit: most, max_positions, queue, .. } = self.limits;
        let share = (queue / self.active.load(Ordering::Relaxed).max(1)).min(most);
        let least = (max_positions / LEAST_PART).clamp(1, most);
        // Batches that are long by themselves are no sign of a long queue.
        let is_late = load.age > LATE.max(4 * load.batch_time);
        self.credit.send_if_modified(|credit| {
            let wanted = if is_late { *credit / 2 } else { credit.saturating_mul(2) };
            let wanted = wanted.min(share).max(least);
            std::mem::replace(credit, wanted) != wanted
        });
    }

    /// Evaluates a batch and sends the outcome. A network that is not in memory is loaded first.
    pub(crate) fn evaluate(self: &Arc<Self>, origin: Origin, batch: Batch, arrival: Arrival, caller: impl Caller) {
        match self.cache.in_memory(&batch.model) {
            Some(network) => self.submit(origin, network, batch, arrival, caller),
            None => match self.scheduler.wait_for_network(batch.positions) {
                Ok(loading) => drop(tokio::spawn(Arc::clone(self).load(origin, batch, arrival, caller, loading))),
                Err(refusal) => caller.reply(Err(refusal)),
            },
        }
    }

    /// Loads the network of a batch first, unless the batch is of no use before.
    async fn load(
        self: Arc<Self>,
        origin: Origin,
        batch: Batch,
        arrival: Arrival,
        mut caller: impl Caller,
        loading: Loading,
    ) {
        let key = batch.model.clone();
        tokio::select! {
            biased;
            () = caller.gone() => {
                if arrival.is_over() {
                    count_expired(batch.positions);
                }
            }
            loaded = self.cache.get(&key) => {
                drop(loading);
                match loaded {
                    Ok(network) => self.submit(origin, network, batch, arrival, caller),
                    Err(refusal) => caller.reply(Err(refusal)),
                }
            }
            () = arrival.over() => caller.reply(Err(refuse_expired(batch.positions))),
        }
    }

    fn submit(&self, origin: Origin, network: Arc<Network>, batch: Batch, arrival: Arrival, caller: impl Caller) {
        let fits = batch.check(&network.packing);
        let job = Job::new(network, batch, arrival, Box::new(|outcome| caller.reply(outcome)));
        match fits {
            Ok(()) => self.scheduler.submit(origin, job),
            Err(error) => {
                let message = format!("{} is a network of {}: {error}", job.batch.model, job.network.shape);
                job.refuse(Refusal::new(Status::Invalid, message));
            }
        }
    }
}

/// The other end of the connection of a request.
pub(crate) fn peer<T>(request: &Request<T>) -> Result<Peer, tonic::Status> {
    request.extensions().get().cloned().ok_or_else(|| tonic::Status::internal("the connection of the call is unknown"))
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}
