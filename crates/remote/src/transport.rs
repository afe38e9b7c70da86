//! Between the pool and its connections.

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;

use crate::pool::{Connection, Event};
use crate::{Batch, Output};

/// Makes connections to the servers of a list.
pub(crate) trait Transport: Send + 'static {
    /// Begins to connect. Everything that happens on the connection goes to `incoming`, its end at last.
    fn connect(&mut self, connection: Connection, incoming: UnboundedSender<Incoming>) -> Link;
}

/// A connection, or the attempt to make one. It is closed when this is dropped.
pub(crate) struct Link {
    batches: UnboundedSender<Batch>,
    task: AbortHandle,
}

/// Something that came over a connection.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) connection: Connection,
    pub(crate) event: Event,
    /// The output of a response that has one.
    pub(crate) output: Option<Output>,
}

impl Link {
    pub(crate) fn new(batches: UnboundedSender<Batch>, task: AbortHandle) -> Link {
        Link { batches, task }
    }

    /// Sends a batch. Where the connection has ended already, its end is on its way to the pool.
    pub(crate) fn send(&self, batch: Batch) {
        let _ended = self.batches.send(batch);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}
