//! The other end of a connection: what its streams and calls share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::queue::ClientId;

/// The other end of a connection. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Peer(Arc<State>);

#[derive(Debug)]
struct State {
    client: ClientId,
    has_called: AtomicBool,
    /// Positions of calls under way.
    outstanding: AtomicUsize,
}

/// Positions of a call under way.
#[derive(Debug)]
pub(crate) struct Outstanding {
    peer: Peer,
    positions: usize,
}

impl Peer {
    pub(crate) fn new(client: ClientId) -> Peer {
        Peer(Arc::new(State { client, has_called: AtomicBool::default(), outstanding: AtomicUsize::default() }))
    }

    /// Whose share of the device its batches use.
    pub(crate) fn client(&self) -> ClientId {
        self.0.client
    }

    /// It has made a call that it may make.
    pub(crate) fn called(&self) {
        self.0.has_called.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_called(&self) -> bool {
        self.0.has_called.load(Ordering::Relaxed)
    }

    /// Notes positions of a call, unless more than `most` are outstanding with them.
    pub(crate) fn admit(&self, positions: usize, most: usize) -> Option<Outstanding> {
        let outstanding = Outstanding { peer: self.clone(), positions };
        let before = self.0.outstanding.fetch_add(positions, Ordering::Relaxed);
        // What was added goes with `outstanding`.
        (before + positions <= most).then_some(outstanding)
    }
}

impl Drop for Outstanding {
    fn drop(&mut self) {
        self.peer.0.outstanding.fetch_sub(self.positions, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_calls_are_bounded_together() {
        let peer = Peer::new(ClientId(1));
        let first = peer.admit(6, 10);
        assert!(first.is_some() && peer.admit(5, 10).is_none());
        let second = peer.admit(4, 10);
        assert!(second.is_some() && peer.admit(1, 10).is_none());
        drop(first);
        assert!(peer.admit(6, 10).is_some());
    }
}
