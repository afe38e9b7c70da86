//! The service of Tengen's own clients: whole batches over one stream of each, responses in any order.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures::Stream;
use remote::proto::v1::client_message::Message as FromClient;
use remote::proto::v1::evaluation_server::Evaluation;
use remote::proto::v1::server_message::Message as FromServer;
use remote::proto::v1::{self, ClientMessage, Credit, Hello, ServerMessage, Welcome};
use remote::{Answer, Batch, LIVENESS, PROTOCOL, Refusal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval};
use tonic::{Request, Response, Status, Streaming, async_trait};

use crate::arrival::Arrival;
use crate::job::{Caller, Outcome};
use crate::peer::Peer;
use crate::queue::Origin;
use crate::scheduler::refuse_excess;
use crate::shared::{Active, Shared, peer};

/// A client says hello within this time.
const HELLO: Duration = Duration::from_secs(5);

/// The service.
pub(crate) struct EvaluationService(pub(crate) Arc<Shared>);

/// Something for the client.
enum Item {
    /// A message with the positions that it makes outstanding no more.
    Message(Result<ServerMessage, Status>, usize),
    /// The credit, as it is when the client reads it.
    Credit,
}

/// What is on the way to a client.
#[derive(Default)]
struct Flow {
    outstanding: AtomicUsize,
    /// Whether that is its credit. One is enough for a client that reads nothing.
    credit: AtomicBool,
}

#[async_trait]
impl Evaluation for EvaluationService {
    type EvaluateStream = Outgoing;

    async fn evaluate(&self, request: Request<Streaming<ClientMessage>>) -> Result<Response<Outgoing>, Status> {
        let (stream, outgoing) = open(&self.0, &peer(&request)?);
        tokio::spawn(stream.converse(request.into_inner()));
        Ok(Response::new(outgoing))
    }
}

/// Both sides of a stream.
fn open(shared: &Arc<Shared>, peer: &Peer) -> (ClientStream, Outgoing) {
    // Bounded by the credit: beyond twice of it the stream ends.
    let (sender, receiver) = unbounded_channel();
    let (origin, flow, active) = (shared.origin(peer), Arc::new(Flow::default()), Arc::new(shared.enter()));
    let outgoing = Outgoing {
        receiver,
        flow: Arc::clone(&flow),
        origin,
        shared: Arc::clone(shared),
        _active: Arc::clone(&active),
    };
    (ClientStream { shared: Arc::clone(shared), origin, sender, flow, _active: active }, outgoing)
}

/// A client's side of a stream: what it sends.
struct ClientStream {
    shared: Arc<Shared>,
    origin: Origin,
    sender: UnboundedSender<Item>,
    flow: Arc<Flow>,
    /// Counts the stream for as long as either side of it lives.
    _active: Arc<Active>,
}

impl ClientStream {
    /// Reads messages until the client has no more, or is gone, or breaks the protocol, or the server shuts down.
    /// Responses that are still to come are sent nevertheless.
    async fn converse(self, mut messages: Streaming<ClientMessage>) {
        if let Err(status) = self.converse_until_end(&mut messages).await {
            self.send(Err(status), 0);
        }
    }

    async fn converse_until_end(&self, messages: &mut Streaming<ClientMessage>) -> Result<(), Status> {
        let mut draining = self.shared.draining.subscribe();
        let mut credit = self.shared.credit.subscribe();
        let hello = tokio::time::timeout(HELLO, messages.message()).await;
        let Some(hello) = hello.map_err(|_| Status::deadline_exceeded("no hello within 5 seconds"))?? else {
            return Ok(());
        };
        self.welcome(hello, *credit.borrow_and_update())?;
        let mut liveness = interval(LIVENESS);
        liveness.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_waiting = self.flow.outstanding.load(Ordering::Relaxed) > 0;
            tokio::select! {
                biased;
                // What a client sent before it went is still to be read, and of no use.
                () = self.sender.closed() => return Ok(()),
                drained = draining.wait_for(|draining| *draining) => {
                    drop(drained);
                    return Ok(());
                }
                changed = credit.changed() => {
                    credit.mark_unchanged();
                    if changed.is_ok() {
                        self.send_credit();
                    }
                }
                _ = liveness.tick(), if is_waiting => self.send_credit(),
                message = messages.message() => match message? {
                    Some(message) => self.receive(message)?,
                    None => return Ok(()),
                },
            }
        }
    }

    fn welcome(&self, message: ClientMessage, credit: usize) -> Result<(), Status> {
        let Some(FromClient::Hello(Hello { protocol, client })) = message.message else {
            return Err(Status::failed_precondition("the first message of a stream is Hello"));
        };
        if protocol != PROTOCOL {
            let other = format!("the client has version {protocol} of the protocol, this server has {PROTOCOL}");
            return Err(Status::failed_precondition(other));
        }
        let name: String = client.chars().filter(|c| !c.is_control()).take(80).collect();
        tracing::debug!(client = name, "client connected");
        let welcome = Welcome {
            protocol: PROTOCOL,
            server: concat!("tengen ", env!("CARGO_PKG_VERSION")).to_owned(),
            credit: bounded(credit),
            max_positions: bounded(self.shared.limits.largest()),
            precision: self.shared.precision.clone(),
        };
        self.send(Ok(FromServer::Welcome(welcome)), 0);
        Ok(())
    }

    fn receive(&self, message: ClientMessage) -> Result<(), Status> {
        let Some(FromClient::Batch(batch)) = message.message else {
            return Err(Status::invalid_argument("a stream has one Hello, and then batches"));
        };
        let id = batch.id;
        let most = self.shared.limits.credit;
        match Batch::read(batch, self.shared.limits.largest()) {
            Err(error) => self.refuse(id, Refusal::new(v1::Status::Invalid, error.to_string())),
            Ok(Batch { positions, .. }) if self.flow.outstanding.load(Ordering::Relaxed) + positions > most => {
                let reason = format!("more than {most} positions outstanding");
                self.refuse(id, refuse_excess(positions, reason, Duration::from_millis(5)))
            }
            Ok(batch) => {
                let positions = batch.positions;
                self.flow.outstanding.fetch_add(positions, Ordering::Relaxed);
                let caller = OfStream { sender: self.sender.clone(), id, positions };
                let arrival = Arrival::new(Instant::now(), batch.deadline);
                // What waits is counted by its positions, and its message may be larger.
                self.shared.evaluate(self.origin, batch.detached(), arrival, caller);
                Ok(())
            }
        }
    }

    /// Refuses a batch. A client that continues without reading the responses loses its stream.
    fn refuse(&self, id: u64, refusal: Refusal) -> Result<(), Status> {
        let outstanding = self.flow.outstanding.fetch_add(1, Ordering::Relaxed);
        if outstanding > 2 * self.shared.limits.credit {
            return Err(Status::resource_exhausted("twice the credit is outstanding"));
        }
        self.send(Ok(FromServer::Answer(Answer::refused(id, refusal).into())), 1);
        Ok(())
    }

    fn send_credit(&self) {
        if !self.flow.credit.swap(true, Ordering::SeqCst) {
            drop(self.sender.send(Item::Credit));
        }
    }

    fn send(&self, message: Result<FromServer, Status>, positions: usize) {
        send(&self.sender, message, positions);
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        // A batch that was read while the other side was dropped came too late to be forgotten there.
        if self.sender.is_closed() {
            self.shared.scheduler.forget(self.origin);
        }
    }
}

/// A batch of a stream.
struct OfStream {
    sender: UnboundedSender<Item>,
    id: u64,
    positions: usize,
}

impl Caller for OfStream {
    async fn gone(&mut self) {
        self.sender.closed().await;
    }

    fn reply(self, outcome: Outcome) {
        let answer = match outcome {
            Ok([policies, values]) => Answer::output(self.id, policies, values),
            Err(refusal) => Answer::refused(self.id, refusal),
        };
        send(&self.sender, Ok(FromServer::Answer(answer.into())), self.positions);
    }
}

/// The server's side of a stream: its responses. When it is dropped before its end, the client is gone.
pub(crate) struct Outgoing {
    receiver: UnboundedReceiver<Item>,
    flow: Arc<Flow>,
    origin: Origin,
    shared: Arc<Shared>,
    /// Counts the stream for as long as either side of it lives.
    _active: Arc<Active>,
}

impl Stream for Outgoing {
    type Item = Result<ServerMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.receiver.poll_recv(cx));
        Poll::Ready(next.map(|item| match item {
            Item::Message(message, positions) => {
                self.flow.outstanding.fetch_sub(positions, Ordering::Relaxed);
                message
            }
            Item::Credit => {
                // In this order, so that a credit that changes now is sent as well.
                self.flow.credit.store(false, Ordering::SeqCst);
                let credit = bounded(*self.shared.credit.borrow());
                Ok(ServerMessage { message: Some(FromServer::Credit(Credit { credit })) })
            }
        }))
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // First: the other side forgets what it submits from now on.
        self.receiver.close();
        self.shared.scheduler.forget(self.origin);
    }
}

/// Sends to a client, if it is still there.
fn send(sender: &UnboundedSender<Item>, message: Result<FromServer, Status>, positions: usize) {
    let message = message.map(|message| ServerMessage { message: Some(message) });
    drop(sender.send(Item::Message(message, positions)));
}

fn bounded(positions: usize) -> u32 {
    u32::try_from(positions).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use config::RunName;
    use futures::{FutureExt, StreamExt};

    use super::*;
    use crate::cache::Cache;
    use crate::limits::Limits;
    use crate::provider::{Found, ModelProvider, ProviderError};
    use crate::queue::ClientId;
    use crate::scheduler::Scheduler;

    struct NoModels;

    impl ModelProvider for NoModels {
        fn find(&self, _: &RunName, _: u32) -> Result<Found, ProviderError> {
            Err(ProviderError::Missing("there are none".to_owned()))
        }
    }

    #[test]
    fn credit_waits_once_for_a_client_that_does_not_read_and_is_the_newest() {
        let cache = Arc::new(Cache::new(Arc::new(NoModels), 0, 1));
        let scheduler = Arc::new(Scheduler::new(1, Duration::ZERO, 1, 1));
        let shared = Arc::new(Shared::new(Limits::default(), String::new(), cache, scheduler));
        let (stream, mut outgoing) = open(&shared, &Peer::new(ClientId(1)));
        for credit in 1..100 {
            shared.credit.send_replace(credit);
            stream.send_credit();
        }
        let mut read = || outgoing.next().now_or_never().flatten().map(|message| message.unwrap().message.unwrap());
        assert_eq!(read(), Some(FromServer::Credit(Credit { credit: 99 })));
        assert_eq!(read(), None);
        stream.send_credit();
        assert!(read().is_some());
    }
}
