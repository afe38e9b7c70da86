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
    pub(super) events: UnboundedSender<Happening>,
    outbox: Vec<Reply>,
}

/// Something that happened elsewhere.
pub(super) enum Happening {
    /// A model is open, or cannot be.
    Opened(u32, Result<Arc<OpenModel>, EnginesError>),
    /// A search of a turn has an event.
    Searched(u32, usize, Event),
    /// Work is over with this reply.
    Replied(Reply),
}

impl Visitor {
    pub(super) fn new(play: Arc<Play>, id: VisitorId, events: UnboundedSender<Happening>) -> Visitor {
        Visitor { play, id, events, outbox: Vec::new() }
    }

    /// Adds a reply to a request.
    pub(super) fn reply(&mut self, id: u32, content: Content) {
        self.outbox.push(content.to(id));
    }

    /// Takes the replies that there are.
    pub(super) fn take_replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.outbox)
    }
}
