//! A visitor, as searches know one.

use std::sync::Arc;

use analysis::Event;
use tokio::sync::mpsc::UnboundedSender;

use super::engines::{EnginesError, OpenModel};
use super::fair_queue::VisitorId;
use super::message::{Content, Reply};
use super::state::Play;

/// A visitor's way to what all share, and back to the page.
pub(super) struct Visitor {
    pub(super) play: Arc<Play>,
    pub(super) id: VisitorId,
    pub(super) events: UnboundedSender<SessionEvent>,
    outbox: Vec<Reply>,
    /// Requests until now.
    requests: u64,
}

/// A request of a visitor. A page may use a number again, while work for the stopped request of that number still ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestId {
    /// Chosen by the page.
    pub(super) number: u32,
    serial: u64,
}

/// Something that happened elsewhere.
pub(super) enum SessionEvent {
    /// A model is open, or cannot be.
    Opened(RequestId, Result<Arc<OpenModel>, EnginesError>),
    /// A search of a turn has an event.
    Searched(RequestId, usize, Event),
    /// Work is over with this reply.
    Replied(RequestId, Box<Content>),
}

impl Visitor {
    pub(super) fn new(play: Arc<Play>, id: VisitorId, events: UnboundedSender<SessionEvent>) -> Visitor {
        Visitor { play, id, events, outbox: Vec::new(), requests: 0 }
    }

    /// The id of a new request with this number.
    pub(super) fn request(&mut self, number: u32) -> RequestId {
        self.requests += 1;
        RequestId { number, serial: self.requests }
    }

    /// Adds a reply to a request.
    pub(super) fn reply(&mut self, id: RequestId, content: Content) {
        self.outbox.push(content.to(id.number));
    }

    /// Takes the replies that there are.
    pub(super) fn take_replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.outbox)
    }
}
