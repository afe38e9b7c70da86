//! A connection to a server: one bidirectional stream of gRPC.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use exit_class::chain;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{self, Channel, Endpoint};
use tonic::{Request, Status};

use crate::pool::{Connection, Event, Reply};
use crate::proto::v1::evaluation_client::EvaluationClient;
use crate::proto::v1::{self, client_message, server_message};
use crate::security::TokenFile;
use crate::transport::{Incoming, Link, Transport};
use crate::{Answer, Batch, Output, PROTOCOL, Refusal, Token};

/// Flow-control windows: what a server may send before the client has read it. More than the responses to a usual
/// credit.
const WINDOW: u32 = 8 << 20;
/// Bytes of an HTTP/2 frame at most, of clients and servers. Servers write each frame by itself, and a response of 64
/// positions on 19x19 has 93 KB.
pub const FRAME: u32 = 256 << 10;
/// The largest message that is taken.
const MESSAGE: usize = 64 << 20;
/// A connection that was silent for this time is tested.
const TEST: Duration = Duration::from_millis(250);
/// Time after which a device that failed, and gave no hint, is tried again.
const FAILED: Duration = Duration::from_secs(1);

/// A connection that is being made.
pub(crate) type Connecting = Pin<Box<dyn Future<Output = Result<Channel, transport::Error>> + Send>>;

/// Connections over gRPC.
pub(crate) struct Grpc<C> {
    connect: C,
    hello: v1::Hello,
    token: Option<TokenFile>,
    announced: Arc<Announced>,
}

/// The numbers that the first server computes with that has said so.
#[derive(Debug, Default)]
pub(crate) struct Announced {
    first: Mutex<Option<Arc<str>>>,
    changed: Condvar,
}

impl Announced {
    fn note(&self, precision: &Arc<str>) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| Arc::clone(precision));
        self.changed.notify_all();
    }

    /// What the first server has said, if one does within a time.
    pub(crate) fn wait(&self, time: Duration) -> Option<Arc<str>> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(first, time, |first| first.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

impl<C: FnMut(usize) -> Connecting + Send + 'static> Grpc<C> {
    /// Connections that `connect` makes to the server of a number.
    pub(crate) fn new(connect: C, hello: v1::Hello, token: Option<TokenFile>, announced: Arc<Announced>) -> Grpc<C> {
        Grpc { connect, hello, token, announced }
    }
}

/// An endpoint whose connections are fast, and fail when a test of one has no response in this time.
pub(crate) fn tuned(endpoint: Endpoint, patience: Duration) -> Endpoint {
    endpoint
        .tcp_nodelay(true)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_frame_size(FRAME)
        .http2_keep_alive_interval(TEST)
        .keep_alive_timeout(patience)
        .keep_alive_while_idle(true)
}

impl<C: FnMut(usize) -> Connecting + Send + 'static> Transport for Grpc<C> {
    fn connect(&mut self, connection: Connection, incoming: UnboundedSender<Incoming>) -> Link {
        let connecting = (self.connect)(connection.server);
        // The token of the servers may have changed since the last connection.
        let token = self.token.as_mut().map(TokenFile::token);
        let request = Greeting { hello: self.hello.clone(), token };
        let (sender, batches) = unbounded_channel();
        let announced = Arc::clone(&self.announced);
        let task = tokio::spawn(async move {
            let ended = converse(connecting, request, batches, connection, &incoming, &announced).await;
            let problem = ended.err().unwrap_or_else(|| "the server has ended the stream".to_owned());
            // Without a dispatcher the process ends.
            let _ended = incoming.send(Incoming { connection, event: Event::Gone { problem }, output: None });
        });
        Link::new(sender, task.abort_handle())
    }
}

/// How a stream begins.
struct Greeting {
    hello: v1::Hello,
    token: Option<Token>,
}

impl Greeting {
    /// The call: the greeting, and then the batches.
    fn request(
        self,
        batches: UnboundedReceiver<Batch>,
    ) -> Request<impl tokio_stream::Stream<Item = v1::ClientMessage>> {
        let message = |message| v1::ClientMessage { message: Some(message) };
        let hello = message(client_message::Message::Hello(self.hello));
        let batches = UnboundedReceiverStream::new(batches)
            .map(move |batch| message(client_message::Message::Batch(batch.into())));
        let mut request = Request::new(tokio_stream::once(hello).chain(batches));
        if let Some(token) = &self.token {
            token.add_to(request.metadata_mut());
        }
        request
    }
}

/// Connects, greets, sends batches and passes on what comes back, until the stream ends.
async fn converse(
    connecting: Connecting,
    greeting: Greeting,
    batches: UnboundedReceiver<Batch>,
    connection: Connection,
    incoming: &UnboundedSender<Incoming>,
    announced: &Announced,
) -> Result<(), String> {
    let channel = connecting.await.map_err(|error| chain(&error))?;
    let mut client =
        EvaluationClient::new(channel).max_decoding_message_size(MESSAGE).max_encoding_message_size(MESSAGE);
    let answers = client.evaluate(greeting.request(batches)).await;
    let mut answers = answers.map_err(|status| said(&status))?.into_inner();
    let mut precision = None;
    while let Some(message) = answers.message().await.map_err(|status| said(&status))? {
        if let Some(server_message::Message::Welcome(welcome)) = &message.message
            && !welcome.precision.is_empty()
        {
            announced.note(precision.insert(Arc::from(welcome.precision.as_str())));
        }
        let (event, output) = read(message)?;
        let output = output.map(|output| output.of_precision(precision.clone()));
        if incoming.send(Incoming { connection, event, output }).is_err() {
            break;
        }
    }
    Ok(())
}

/// A message of the server.
fn read(message: v1::ServerMessage) -> Result<(Event, Option<Output>), String> {
    Ok(match message.message.ok_or("it sent a message of an unknown kind")? {
        server_message::Message::Welcome(v1::Welcome { protocol, server, credit, max_positions, .. }) => {
            if protocol != PROTOCOL {
                return Err(format!("it speaks version {protocol} of the protocol, expected {PROTOCOL}"));
            }
            (Event::Welcome { credit, most: max_positions, server }, None)
        }
        server_message::Message::Credit(v1::Credit { credit }) => (Event::Credit { credit }, None),
        server_message::Message::Answer(answer) => {
            let Answer { id: attempt, result } = Answer::read(answer).map_err(|error| error.to_string())?;
            match result {
                Ok(output) => (Event::Answer { attempt, reply: Reply::Evaluated }, Some(output)),
                Err(refusal) => (Event::Answer { attempt, reply: reply(refusal) }, None),
            }
        }
    })
}

/// Reads a message of the server, as a connection does.
///
/// # Errors
/// Why the connection would end.
#[cfg(any(test, feature = "testing"))]
pub fn check_reply(message: v1::ServerMessage) -> Result<(), String> {
    read(message).map(drop)
}

fn reply(Refusal { status, retry_after, message: reason }: Refusal) -> Reply {
    match status {
        v1::Status::ResourceExhausted => Reply::Exhausted { retry_after, reason },
        v1::Status::DeadlineExceeded => Reply::Expired,
        v1::Status::Unavailable => {
            retry_after.map_or(Reply::Draining, |retry_after| Reply::Later { retry_after, reason })
        }
        // A server that is restarted, because its device fails, is unreachable for a while, too.
        v1::Status::Internal => Reply::Later { retry_after: retry_after.unwrap_or(FAILED), reason },
        v1::Status::Invalid => Reply::Invalid { reason },
        v1::Status::NotFound | v1::Status::Ok => Reply::Refused { reason },
    }
}

/// What a status says.
fn said(status: &Status) -> String {
    format!("{:?}: {}", status.code(), status.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_another_version_or_kind_ends_the_connection() {
        let check = |message| check_reply(v1::ServerMessage { message });
        let welcome =
            |protocol| Some(server_message::Message::Welcome(v1::Welcome { protocol, ..v1::Welcome::default() }));
        assert_eq!(check(welcome(PROTOCOL)), Ok(()));
        assert!(check(welcome(PROTOCOL + 1)).is_err_and(|error| error.contains("version 2 of the protocol")));
        assert!(check(None).is_err_and(|error| error.contains("unknown kind")));
    }

    #[test]
    fn device_that_fails_is_tried_again_and_a_missing_model_is_refused() {
        let reply = |status| reply(Refusal::new(status, "no"));
        let reason = "no".to_owned();
        assert_eq!(reply(v1::Status::Internal), Reply::Later { retry_after: FAILED, reason: reason.clone() });
        assert_eq!(reply(v1::Status::NotFound), Reply::Refused { reason });
    }
}
