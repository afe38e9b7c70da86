//! The service of Tengen's own clients: whole batches over one stream of each, answers in any order.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::Stream;
use remote::proto::v1::client_message::Message as FromClient;
use remote::proto::v1::evaluation_server::Evaluation;
use remote::proto::v1::server_message::Message as FromServer;
use remote::proto::v1::{self, ClientMessage, Credit, Hello, Priority, ServerMessage, Welcome};
use remote::{Answer, Batch, PROTOCOL, Refusal};
use runtime::metrics;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tonic::{Request, Response, Status, Streaming, async_trait};

use crate::queue::ClientId;
use crate::shared::{Active, Shared};

/// A client says hello within this time.
const HELLO: Duration = Duration::from_secs(5);

/// The service.
pub(crate) struct EvaluationService(pub(crate) Arc<Shared>);

/// A message with the positions that it makes outstanding no more.
type Item = (Result<ServerMessage, Status>, usize);

#[async_trait]
impl Evaluation for EvaluationService {
    type EvaluateStream = Outgoing;

    async fn evaluate(&self, request: Request<Streaming<ClientMessage>>) -> Result<Response<Outgoing>, Status> {
        let shared = Arc::clone(&self.0);
        // Bounded by the credit: beyond twice of it the stream ends.
        let (sender, receiver) = unbounded_channel();
        let outstanding = Arc::new(AtomicUsize::default());
        let client = shared.client();
        let outgoing = Outgoing {
            receiver,
            outstanding: Arc::clone(&outstanding),
            client,
            _active: shared.enter(),
            shared: Arc::clone(&shared),
        };
        let stream = ClientStream { shared, client, priority: Priority::Selfplay, sender, outstanding };
        tokio::spawn(stream.converse(request.into_inner()));
        Ok(Response::new(outgoing))
    }
}

/// A client's side of a stream: what it sends.
struct ClientStream {
    shared: Arc<Shared>,
    client: ClientId,
    priority: Priority,
    sender: UnboundedSender<Item>,
    outstanding: Arc<AtomicUsize>,
}

impl ClientStream {
    /// Reads messages until the client has no more, or breaks the protocol, or the server shuts down. Answers that are still
    /// to come are sent nevertheless.
    async fn converse(mut self, mut messages: Streaming<ClientMessage>) {
        if let Err(status) = self.converse_until_end(&mut messages).await {
            self.send(Err(status), 0);
        }
    }

    async fn converse_until_end(&mut self, messages: &mut Streaming<ClientMessage>) -> Result<(), Status> {
        let mut draining = self.shared.draining.subscribe();
        let mut credit = self.shared.credit.subscribe();
        let hello = tokio::time::timeout(HELLO, messages.message()).await;
        let Some(hello) = hello.map_err(|_| Status::deadline_exceeded("no hello within 5 seconds"))?? else {
            return Ok(());
        };
        self.welcome(hello, *credit.borrow_and_update())?;
        loop {
            tokio::select! {
                biased;
                drained = draining.wait_for(|draining| *draining) => {
                    drop(drained);
                    return Ok(());
                }
                changed = credit.changed() => {
                    let now = *credit.borrow_and_update();
                    if changed.is_ok() {
                        self.send(Ok(FromServer::Credit(Credit { credit: bounded(now) })), 0);
                    }
                }
                message = messages.message() => match message? {
                    Some(message) => self.receive(message)?,
                    None => return Ok(()),
                },
            }
        }
    }

    fn welcome(&mut self, message: ClientMessage, credit: usize) -> Result<(), Status> {
        let Some(FromClient::Hello(Hello { protocol, client, priority })) = message.message else {
            return Err(Status::failed_precondition("the first message of a stream is Hello"));
        };
        if protocol != PROTOCOL {
            let other = format!("the client has version {protocol} of the protocol, this server has {PROTOCOL}");
            return Err(Status::failed_precondition(other));
        }
        self.priority = Priority::try_from(priority).unwrap_or(Priority::Selfplay);
        let name: String = client.chars().filter(|c| !c.is_control()).take(80).collect();
        tracing::debug!(client = name, priority = self.priority.as_str_name(), "client connected");
        let welcome = Welcome {
            protocol: PROTOCOL,
            server: concat!("tengen ", env!("CARGO_PKG_VERSION")).to_owned(),
            credit: bounded(credit),
            max_positions: bounded(self.shared.limits.largest()),
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
            Ok(Batch { positions, .. }) if self.outstanding.load(Ordering::Relaxed) + positions > most => {
                metrics::INFERENCE_REJECTED.add(positions as u64);
                let refusal =
                    Refusal::new(v1::Status::ResourceExhausted, format!("more than {most} positions outstanding"));
                self.refuse(id, refusal.retry_after(Duration::from_millis(5)))
            }
            Ok(batch) => {
                let positions = batch.positions;
                self.outstanding.fetch_add(positions, Ordering::Relaxed);
                let sender = self.sender.clone();
                let reply = move |outcome: crate::job::Outcome| {
                    let answer = match outcome {
                        Ok([policies, values]) => Answer::output(id, policies, values),
                        Err(refusal) => Answer::refused(id, refusal),
                    };
                    send(&sender, Ok(FromServer::Answer(answer.into())), positions);
                };
                self.shared.evaluate(self.client, self.priority, batch, Box::new(reply));
                Ok(())
            }
        }
    }

    /// Refuses a batch. A client that goes on like this without reading the answers loses its stream.
    fn refuse(&self, id: u64, refusal: Refusal) -> Result<(), Status> {
        let outstanding = self.outstanding.fetch_add(1, Ordering::Relaxed);
        if outstanding > 2 * self.shared.limits.credit {
            return Err(Status::resource_exhausted("twice the credit is outstanding"));
        }
        self.send(Ok(FromServer::Answer(Answer::refused(id, refusal).into())), 1);
        Ok(())
    }

    fn send(&self, message: Result<FromServer, Status>, positions: usize) {
        send(&self.sender, message, positions);
    }
}

/// The server's side of a stream: what it answers. When it is dropped before its end, the client is gone.
pub(crate) struct Outgoing {
    receiver: UnboundedReceiver<Item>,
    outstanding: Arc<AtomicUsize>,
    client: ClientId,
    /// Counts the stream for as long as it lives.
    _active: Active,
    shared: Arc<Shared>,
}

impl Stream for Outgoing {
    type Item = Result<ServerMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.receiver.poll_recv(cx));
        Poll::Ready(next.map(|(message, positions)| {
            self.outstanding.fetch_sub(positions, Ordering::Relaxed);
            message
        }))
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.shared.scheduler.forget(self.client);
    }
}

/// Sends to a client, if it is still there.
fn send(sender: &UnboundedSender<Item>, message: Result<FromServer, Status>, positions: usize) {
    let message = message.map(|message| ServerMessage { message: Some(message) });
    drop(sender.send((message, positions)));
}

fn bounded(positions: usize) -> u32 {
    u32::try_from(positions).unwrap_or(u32::MAX)
}
