//! A server for tests, whose output is a simple function of the planes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::unbounded_channel;
use tokio_stream::Stream;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use crate::proto::v1::evaluation_server::Evaluation;
use crate::proto::v1::{self, client_message, server_message};
use crate::{Answer, Batch, Encoding, PROTOCOL, Priority, Token};

/// Moves of a policy: the board is 2x2.
pub(crate) const MOVES: usize = 5;
pub(crate) const CREDIT: u32 = 64;

/// What a test wants of a server, and what the server has done.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub(crate) token: Option<Token>,
    /// Time that a batch takes.
    pub(crate) delay: Duration,
    /// Whether responses have a number too few.
    pub(crate) is_short: AtomicBool,
    /// Whether the values of responses are no numbers.
    pub(crate) is_nan: AtomicBool,
    pub(crate) evaluated: AtomicU64,
    /// Those of people and matches.
    pub(crate) interactive: AtomicU64,
    pub(crate) precision: &'static str,
}

/// The service.
pub(crate) struct TestEvaluation(pub(crate) Arc<Control>);

/// Policies and values of positions, given by the bits of all of them.
pub(crate) fn output(bits: &[u8], positions: usize) -> [Vec<f32>; 2] {
    let of_one = bits.len() / positions;
    let policy = |bits: &[u8]| -> Vec<f32> { (0..MOVES).map(|mv| f32::from(bits[0]) + mv as f32).collect() };
    let value = |bits: &[u8]| f32::from(bits[of_one - 1]) / 256.0;
    [bits.chunks(of_one).flat_map(policy).collect(), bits.chunks(of_one).map(value).collect()]
}

fn bytes(numbers: &[f32], encoding: Encoding) -> Vec<u8> {
    let mut bytes = vec![0; encoding.width() * numbers.len()];
    encoding.write(numbers, &mut bytes);
    bytes
}

impl Control {
    fn answer(&self, batch: Batch) -> v1::Answer {
        let [policies, mut values] = output(&batch.bits, batch.positions);
        if self.is_short.load(Ordering::Relaxed) {
            values.pop();
        }
        if self.is_nan.load(Ordering::Relaxed) {
            values.fill(f32::NAN);
        }
        self.evaluated.fetch_add(1, Ordering::Relaxed);
        self.interactive.fetch_add(u64::from(batch.priority == Priority::Interactive), Ordering::Relaxed);
        let [policies, values] = [policies, values].map(|numbers| bytes(&numbers, batch.answers));
        Answer::output(batch.id, policies, values).into()
    }
}

#[tonic::async_trait]
impl Evaluation for TestEvaluation {
    type EvaluateStream = Pin<Box<dyn Stream<Item = Result<v1::ServerMessage, Status>> + Send>>;

    async fn evaluate(
        &self,
        request: Request<Streaming<v1::ClientMessage>>,
    ) -> Result<Response<Self::EvaluateStream>, Status> {
        let control = Arc::clone(&self.0);
        if control.token.as_ref().is_some_and(|token| !token.is_in(request.metadata())) {
            return Err(Status::unauthenticated("the token is wrong"));
        }
        let (sender, answers) = unbounded_channel();
        let mut messages = request.into_inner();
        tokio::spawn(async move {
            while let Ok(Some(message)) = messages.message().await {
                let answer = match message.message.expect("clients under test send known messages") {
                    client_message::Message::Hello(_) => server_message::Message::Welcome(v1::Welcome {
                        protocol: PROTOCOL,
                        server: "test".to_owned(),
                        credit: CREDIT,
                        max_positions: CREDIT,
                        precision: control.precision.to_owned(),
                    }),
                    client_message::Message::Batch(batch) => {
                        tokio::time::sleep(control.delay).await;
                        let batch = Batch::read(batch, CREDIT as usize).expect("clients under test keep the limits");
                        server_message::Message::Answer(control.answer(batch))
                    }
                };
                if sender.send(Ok(v1::ServerMessage { message: Some(answer) })).is_err() {
                    break;
                }
            }
        });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(answers))))
    }
}
