//! What all streams and calls share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use remote::proto::v1::{Priority, Status};
use remote::{Batch, Refusal};
use tokio::sync::watch;

use crate::cache::Cache;
use crate::job::{Job, Reply};
use crate::limits::Limits;
use crate::queue::ClientId;
use crate::scheduler::Scheduler;

/// Half of the time that clients of self-play wait by default before they ask another server.
const LATE: Duration = Duration::from_millis(125);
/// The credit is never less than a full message.
const LEAST_SHARE: usize = 16;

/// What all streams and calls share.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
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
    pub(crate) fn new(limits: Limits, cache: Arc<Cache>, scheduler: Arc<Scheduler>) -> Shared {
        let (credit, _) = watch::channel(limits.credit);
        let (draining, _) = watch::channel(false);
        Shared { limits, cache, scheduler, credit, draining, active: AtomicUsize::default(), ids: AtomicU64::default() }
    }

    pub(crate) fn client(&self) -> ClientId {
        ClientId(self.ids.fetch_add(1, Ordering::Relaxed))
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
        let least = (max_positions / LEAST_SHARE).clamp(1, most);
        // Batches that are long by themselves are no sign of a long queue.
        let is_late = load.age > LATE.max(4 * load.batch_time);
        self.credit.send_if_modified(|credit| {
            let wanted = if is_late { *credit / 2 } else { credit.saturating_mul(2) };
            let wanted = wanted.min(share).max(least);
            std::mem::replace(credit, wanted) != wanted
        });
    }

    /// Evaluates a batch and tells the outcome. A network that is not in memory is loaded first.
    pub(crate) fn evaluate(self: &Arc<Self>, client: ClientId, priority: Priority, batch: Batch, reply: Reply) {
        let arrived = Instant::now();
        match self.cache.ready(&batch.model) {
            Some(network) => self.submit(client, priority, Job::new(network, batch, arrived, reply)),
            None => {
                let shared = Arc::clone(self);
                tokio::spawn(async move {
                    match shared.cache.get(&batch.model).await {
                        Ok(network) => shared.submit(client, priority, Job::new(network, batch, arrived, reply)),
                        Err(refusal) => reply(Err(refusal)),
                    }
                });
            }
        }
    }

    fn submit(&self, client: ClientId, priority: Priority, job: Job) {
        match job.batch.check(&job.network.packing) {
            Ok(()) => self.scheduler.submit(client, priority, job),
            Err(error) => {
                let message = format!("{} is a network of {}: {error}", job.batch.model, job.network.shape);
                job.refuse(Refusal::new(Status::Invalid, message));
            }
        }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}
