//! What a visitor's page requested, and its state.
//!
//! A [`Session`] takes [`Request`]s and [`SessionEvent`]s one by one and adds replies to its outbox; it never waits.
//! Work that takes longer than a moment is done elsewhere, and comes back as an event: models are opened, files read
//! and dead stones estimated by threads of [`Offload`], and positions searched on the [`Desk`](super::desk::Desk).

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::Event;
use go::Size;
use tokio::sync::mpsc::UnboundedSender;

use super::engines::{EnginesError, OpenModel};
use super::fair_queue::VisitorId;
use super::message::{Action, Content, Genmove, PositionMessage, Reply, Request, RequestError, Search, Seen};
use super::offload::{Offload, OffloadTicket};
use super::position::Played;
use super::review::Review;
use super::searching::{self, Searching};
use super::state::{FULL, Play};
use super::visitor::{RequestId, SessionEvent, Visitor};
use super::{prediction, results, save, tree};

/// Requests of a visitor at a time.
const MOST_REQUESTS: usize = 16;

/// A visitor's requests that are not over.
pub(super) struct Session {
    visitor: Visitor,
    active: BTreeMap<RequestId, Active>,
    /// Places in queues that the page knows.
    told: BTreeMap<RequestId, usize>,
}

/// A request that is not over.
enum Active {
    /// It is done elsewhere and becomes one reply.
    Offloaded(OffloadTicket),
    /// Its model is being opened.
    Opening(Opening),
    /// A position is searched.
    Searching(Searching),
    /// A game is searched.
    Reviewing(Review),
}

/// A request whose model is not open yet.
struct Opening {
    pending: Pending,
    /// Nothing until it is tried again.
    ticket: Option<OffloadTicket>,
    /// Whether it could not be opened before another model is idle.
    is_postponed: bool,
}

/// Work with a model, which becomes one reply.
type ModelWork = Box<dyn FnOnce(&OpenModel) -> Result<Content, String> + Send>;

/// What begins once the model is open.
enum Pending {
    Analyze(Box<Played>, Search),
    Genmove(Box<Played>, Genmove),
    Review(Box<Played>, Search),
    Predict(Box<Played>, String),
    Work(String, Size, ModelWork),
}

impl Session {
    /// A visitor without requests.
    pub(super) fn new(play: Arc<Play>, visitor: VisitorId, events: UnboundedSender<SessionEvent>) -> Session {
        Session { visitor: Visitor::new(play, visitor, events), active: BTreeMap::new(), told: BTreeMap::new() }
    }

    /// Takes the replies that there are.
    pub(super) fn take_replies(&mut self) -> Vec<Reply> {
        self.visitor.take_replies()
    }

    fn reply(&mut self, id: RequestId, content: Content) {
        self.visitor.reply(id, content);
    }

    /// Takes a message.
    pub(super) fn message(&mut self, text: &str) {
        match Request::parse(text) {
            Ok(request) => self.request(request),
            Err(RequestError { id, reason }) => {
                let id = self.visitor.request(id);
                self.reply(id, Content::Error(reason));
            }
        }
    }

    fn request(&mut self, Request { id: number, action }: Request) {
        if let Action::Stop { id: stopped } = action {
            // What waits or is searched for it ends when its tickets are dropped.
            self.active.retain(|id, _| id.number != stopped);
            return;
        }
        let id = self.visitor.request(number);
        let refused = if self.active.keys().any(|id| id.number == number) {
            Err(format!("there is a request {number} already"))
        } else if self.active.len() >= MOST_REQUESTS {
            Err(format!("more than {MOST_REQUESTS} requests at a time"))
        } else {
            self.begin(id, action)
        };
        if let Err(reason) = refused {
            self.reply(id, Content::Error(reason));
        }
    }

    fn begin(&mut self, id: RequestId, action: Action) -> Result<(), String> {
        match action {
            Action::Start(start) => {
                let game = start.game()?;
                let played = game.replay()?;
                self.reply(id, Content::Game(game));
                self.send_position(id, &played);
            }
            Action::Position { game } => self.send_position(id, &game.replay()?),
            Action::Analyze(search) => {
                let played = self.replay_checked(&search)?;
                self.send_position(id, &played);
                self.open(id, Pending::Analyze(Box::new(played), search))?;
            }
            Action::Review(search) => {
                let played = self.replay_checked(&search)?;
                self.open(id, Pending::Review(Box::new(played), search))?;
            }
            Action::Genmove(genmove) => {
                let played = genmove.game.replay()?;
                self.check_visits(genmove.visits)?;
                self.send_position(id, &played);
                self.open(id, Pending::Genmove(Box::new(played), genmove))?;
            }
            Action::Score(score) => {
                let played = score.game.replay()?;
                if results::needs_model(&score, &played) {
                    let (model, size) = (score.model.clone(), played.game.size());
                    let work: ModelWork = Box::new(move |model| results::score(Some(model), &score, &played));
                    self.open(id, Pending::Work(model, size, work))?;
                } else {
                    self.offload(id, move |_| results::score(None, &score, &played))?;
                }
            }
            Action::Planes(Seen { game, model }) => {
                let played = game.replay()?;
                let size = played.game.size();
                let work: ModelWork = Box::new(move |model| Ok(results::planes(model, &played)));
                self.open(id, Pending::Work(model, size, work))?;
            }
            Action::Predict(Seen { game, model }) => {
                let played = game.replay()?;
                self.open(id, Pending::Predict(Box::new(played), model))?;
            }
            Action::Open { sgf } => self.offload(id, move |_| tree::read(&sgf).map(Content::Tree))?,
            Action::Save(save) => self.offload(id, move |play| save::save(play, &save))?,
            Action::Stop { .. } => {}
        }
        Ok(())
    }

    fn replay_checked(&self, search: &Search) -> Result<Played, String> {
        self.check_visits(search.visits)?;
        search.game.replay()
    }

    fn check_visits(&self, visits: u32) -> Result<(), String> {
        let most = self.visitor.play.most_visits;
        let fits = (1..=most).contains(&visits);
        if fits { Ok(()) } else { Err(format!("{visits} visits: a search here has 1 to {most}")) }
    }

    fn send_position(&mut self, id: RequestId, played: &Played) {
        self.reply(id, Content::Position(PositionMessage::of(&played.game)));
    }

    /// Opens a model elsewhere, unless it is open.
    fn open(&mut self, id: RequestId, pending: Pending) -> Result<(), String> {
        let (model, size) = (pending.model().to_owned(), pending.size());
        let needs_heads = matches!(pending, Pending::Predict(..));
        let open = self.visitor.play.engines.already_open(&model, size);
        if let Some(open) = open.filter(|open| !needs_heads || open.has_heads_read()) {
            self.begin_with(id, pending, open);
            return Ok(());
        }
        let (play, events) = (Arc::clone(&self.visitor.play), self.visitor.events.clone());
        let work = move || {
            let engines = &play.engines;
            let opened = if needs_heads { engines.open_with_heads(&model, size) } else { engines.open(&model, size) };
            // An error means that the page is gone.
            let _ = events.send(SessionEvent::Opened(id, opened));
        };
        let ticket = self.hand_over(&self.visitor.play.openers, id, work)?;
        self.active.insert(id, Active::Opening(Opening { pending, ticket: Some(ticket), is_postponed: false }));
        Ok(())
    }

    /// The same for a request that waited for others.
    fn reopen(&mut self, id: RequestId, pending: Pending) -> Result<(), String> {
        self.open(id, pending)?;
        if let Some(Active::Opening(opening)) = self.active.get_mut(&id) {
            opening.is_postponed = true;
        }
        Ok(())
    }

    /// Does work elsewhere that ends in one reply.
    fn offload(
        &mut self,
        id: RequestId,
        work: impl FnOnce(&Play) -> Result<Content, String> + Send + 'static,
    ) -> Result<(), String> {
        let (play, events) = (Arc::clone(&self.visitor.play), self.visitor.events.clone());
        let work = move || {
            let content = work(&play).unwrap_or_else(Content::Error);
            // The page is gone.
            let _ = events.send(SessionEvent::Replied(id, Box::new(content)));
        };
        let ticket = self.hand_over(&self.visitor.play.offload, id, work)?;
        self.active.insert(id, Active::Offloaded(ticket));
        Ok(())
    }

    fn hand_over(
        &self,
        threads: &Offload,
        id: RequestId,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<OffloadTicket, String> {
        let events = self.visitor.events.clone();
        let displaced = move || {
            // An error means that the page is gone.
            let _ = events.send(SessionEvent::Replied(id, Box::new(Content::Error(FULL.to_owned()))));
        };
        threads.run(self.visitor.id, work, displaced).map_err(|_| FULL.to_owned())
    }

    /// Takes something that happened.
    pub(super) fn handle_event(&mut self, event: SessionEvent) {
        match event {
            SessionEvent::Replied(id, content) => {
                if self.active.remove(&id).is_some() {
                    self.reply(id, *content);
                }
            }
            SessionEvent::Opened(id, opened) => self.on_opened(id, opened),
            SessionEvent::Searched(id, turn, event) => self.on_searched(id, turn, event),
        }
    }

    fn on_opened(&mut self, id: RequestId, opened: Result<Arc<OpenModel>, EnginesError>) {
        // It may have been stopped in the meantime.
        let Some(Active::Opening(Opening { pending, .. })) = self.active.remove(&id) else { return };
        match opened {
            Ok(model) => self.begin_with(id, pending, model),
            Err(EnginesError::Busy { .. } | EnginesError::Opening { .. }) => {
                self.active.insert(id, Active::Opening(Opening { pending, ticket: None, is_postponed: true }));
            }
            Err(error) => self.reply(id, Content::Error(error.to_string())),
        }
    }

    /// Begins what waited for a model.
    fn begin_with(&mut self, id: RequestId, pending: Pending, model: Arc<OpenModel>) {
        let visitor = &mut self.visitor;
        let begun = match pending {
            Pending::Analyze(played, search) => searching::analyze(visitor, id, &model, *played, search.visits)
                .map(|search| search.map(Active::Searching)),
            Pending::Genmove(played, genmove) => {
                searching::genmove(visitor, id, &model, *played, genmove).map(|search| search.map(Active::Searching))
            }
            Pending::Review(played, search) => Review::begin(visitor, id, model, *played, search.game, search.visits)
                .map(|review| review.map(Active::Reviewing)),
            Pending::Predict(played, _) => {
                self.offload(id, move |_| Ok(prediction::predict(&model, &played))).map(|()| None)
            }
            Pending::Work(_, _, work) => self.offload(id, move |_| work(&model)).map(|()| None),
        };
        match begun {
            Ok(Some(active)) => _ = self.active.insert(id, active),
            Ok(None) => {}
            Err(reason) => self.reply(id, Content::Error(reason)),
        }
    }

    fn on_searched(&mut self, id: RequestId, turn: usize, event: Event) {
        let Some(active) = self.active.remove(&id) else { return };
        let left = match active {
            Active::Searching(searching) => searching.event(&mut self.visitor, id, event).map(Active::Searching),
            Active::Reviewing(review) => review.event(&mut self.visitor, id, turn, event).map(Active::Reviewing),
            other => Some(other),
        };
        if let Some(left) = left {
            self.active.insert(id, left);
        }
    }

    /// Replies to requests that wait for others, where their place has changed, and tries those again that wait for a
    /// model; whether any waits.
    pub(super) fn tell_places(&mut self) -> bool {
        let untried = |active: &Active| matches!(active, Active::Opening(Opening { ticket: None, .. }));
        let again: Vec<RequestId> =
            self.active.iter().filter(|(_, active)| untried(active)).map(|(id, _)| *id).collect();
        for id in again {
            let Some(Active::Opening(Opening { pending, .. })) = self.active.remove(&id) else { continue };
            if let Err(reason) = self.reopen(id, pending) {
                self.reply(id, Content::Error(reason));
            }
        }
        let places = self.active.iter().filter_map(|(id, active)| Some((*id, active.place()?)));
        let places: BTreeMap<RequestId, usize> = places.collect();
        for (&id, &place) in &places {
            if self.told.get(&id) != Some(&place) {
                self.visitor.reply(id, Content::Queued(place));
            }
        }
        self.told = places;
        !self.told.is_empty()
    }
}

impl Active {
    /// How much begins before the request; `None` once it has begun.
    fn place(&self) -> Option<usize> {
        match self {
            Active::Offloaded(ticket) => ticket.place(),
            // It is next as soon as a model is idle.
            Active::Opening(Opening { is_postponed: true, .. }) => Some(0),
            Active::Opening(Opening { ticket, .. }) => ticket.as_ref()?.place(),
            Active::Searching(searching) => searching.place(),
            Active::Reviewing(review) => review.place(),
        }
    }
}

impl Pending {
    fn model(&self) -> &str {
        match self {
            Pending::Analyze(_, search) | Pending::Review(_, search) => &search.model,
            Pending::Genmove(_, genmove) => &genmove.model,
            Pending::Predict(_, model) | Pending::Work(model, ..) => model,
        }
    }

    fn size(&self) -> Size {
        match self {
            Pending::Analyze(played, _)
            | Pending::Genmove(played, _)
            | Pending::Review(played, _)
            | Pending::Predict(played, _) => played.game.size(),
            Pending::Work(_, size, _) => *size,
        }
    }
}

#[cfg(test)]
mod tests;
