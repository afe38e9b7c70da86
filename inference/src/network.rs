//! Networks in memory, ready for all devices' threads.

use std::sync::{Mutex, PoisonError};

use net::{Packing, PlaneEvaluator, Shape};
use remote::Digest;

use crate::queue::NetworkId;

/// Opens a session of a network for one thread.
pub type OpenSession = Box<dyn Fn() -> Box<dyn PlaneEvaluator> + Send + Sync>;

/// A network in memory.
pub(crate) struct Network {
    pub(crate) id: NetworkId,
    pub(crate) digest: Digest,
    pub(crate) shape: Shape,
    pub(crate) packing: Packing,
    /// Memory that it is counted with.
    pub(crate) bytes: u64,
    open: OpenSession,
    /// Sessions that no thread uses at the moment. A lock, because threads that evaluate batches of one network at the same time
    /// are few.
    sessions: Mutex<Vec<Box<dyn PlaneEvaluator>>>,
}

impl Network {
    pub(crate) fn new(id: NetworkId, digest: Digest, opened: Opened, bytes: u64) -> Network {
        let Opened { shape, open } = opened;
        let packing = shape.inputs.packing(shape.size);
        Network { id, digest, shape, packing, bytes, open, sessions: Mutex::default() }
    }

    /// Lends a session to some work.
    pub(crate) fn with_session<T>(&self, work: impl FnOnce(&mut dyn PlaneEvaluator) -> T) -> T {
        let free = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut session = free.unwrap_or_else(|| (self.open)());
        let done = work(&mut *session);
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        done
    }
}

/// What a provider of models hands out.
pub struct Opened {
    /// The shape of the network.
    pub shape: Shape,
    /// Opens a session.
    pub open: OpenSession,
}
