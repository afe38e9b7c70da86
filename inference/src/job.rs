//! A batch of a client on its way through the device, and its response.

use std::sync::{Arc, Mutex, PoisonError};

use remote::{Batch, Encoding, Refusal};

use crate::arrival::Arrival;
use crate::network::Network;

/// Policies and values as bytes, or why there are none.
pub(crate) type Outcome = Result<[Vec<u8>; 2], Refusal>;

/// Receives the outcome, once.
pub(crate) type Reply = Box<dyn FnOnce(Outcome) + Send>;

/// The output of a batch that is evaluated, on its way to who waits for it.
pub(crate) struct Response {
    reply: Reply,
    output: [Vec<u8>; 2],
}

impl Response {
    pub(crate) fn send(self) {
        (self.reply)(Ok(self.output));
    }
}

/// Who waits for a batch.
pub(crate) trait Caller: Send + 'static {
    /// Returns when the outcome is of no use any more.
    fn gone(&mut self) -> impl Future<Output = ()> + Send;

    /// Takes the outcome.
    fn reply(self, outcome: Outcome);
}

/// A batch with its network.
pub(crate) struct Job {
    pub(crate) network: Arc<Network>,
    pub(crate) batch: Batch,
    pub(crate) arrival: Arrival,
    /// A lock, because a large batch is evaluated by several threads in parts.
    state: Mutex<State>,
}

struct State {
    output: [Vec<u8>; 2],
    missing: usize,
    /// Gone when the outcome is sent, or about to be.
    reply: Option<Reply>,
}

impl Job {
    pub(crate) fn new(network: Arc<Network>, batch: Batch, arrival: Arrival, reply: Reply) -> Job {
        let state = State { output: [Vec::new(), Vec::new()], missing: batch.positions, reply: Some(reply) };
        Job { network, batch, arrival, state: Mutex::new(state) }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.batch.answers
    }

    /// Adds the output for the positions from `first` on. With the last of them returns what is to be sent.
    pub(crate) fn add(&self, first: usize, policies: &[f32], values: &[f32]) -> Option<Response> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let (width, moves) = (self.encoding().width(), self.network.shape.size.moves());
        for (output, (numbers, of_one)) in state.output.iter_mut().zip([(policies, moves), (values, 1)]) {
            output.resize(self.batch.positions * of_one * width, 0);
            let bytes = &mut output[first * of_one * width..][..numbers.len() * width];
            self.encoding().write(numbers, bytes);
        }
        state.missing -= values.len();
        if state.missing > 0 {
            return None;
        }
        let reply = state.reply.take()?;
        Some(Response { reply, output: std::mem::take(&mut state.output) })
    }

    /// Reports that the batch was not evaluated, unless it has an outcome.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        let reply = self.state.lock().unwrap_or_else(PoisonError::into_inner).reply.take();
        if let Some(reply) = reply {
            reply(Err(refusal));
        }
    }
}
