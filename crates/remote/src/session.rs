//! Evaluates planes with the pool: what a network of one thread computes with.

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use net::{NetError, Packing, PlaneEvaluator, Shape};

use crate::dispatcher::{Finished, Job};
use crate::{Batch, Client, ModelKey, RemoteError};

/// How often a thread that waits for a response checks whether its search or the process is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Opens what evaluates planes in this process, for the last tier.
pub type OpenLocal = Arc<dyn Fn() -> Result<Box<dyn PlaneEvaluator>, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// A model on inference servers, for one thread.
pub struct RemoteSession {
    client: Client,
    model: ModelKey,
    packing: Packing,
    moves: usize,
    open: OpenLocal,
    local: Option<Box<dyn PlaneEvaluator>>,
    /// Rows of planes for the local network, which may want more than there are.
    rows: Vec<u8>,
    others: Option<Others>,
}

/// Notes evaluations by other numbers than those of a precision.
struct Others {
    precision: Arc<str>,
    seen: Arc<AtomicBool>,
}

/// The end of a part of a batch.
type Ended = (usize, Finished);

impl RemoteSession {
    /// A model of this shape on the servers of a client. `open` opens the network of this process for the last tier.
    pub fn new(client: &Client, model: &ModelKey, shape: Shape, open: OpenLocal) -> RemoteSession {
        RemoteSession {
            client: client.clone(),
            model: model.clone(),
            packing: shape.inputs.packing(shape.size),
            moves: shape.size.moves(),
            open,
            local: None,
            rows: Vec::new(),
            others: None,
        }
    }

    /// The same, which sets `seen` when a position is evaluated in this process, or by a server of another precision.
    pub fn noting_others(self, precision: Arc<str>, seen: Arc<AtomicBool>) -> RemoteSession {
        RemoteSession { others: Some(Others { precision, seen }), ..self }
    }

    fn note(&self, precision: Option<&str>) {
        if let Some(others) = self.others.as_ref().filter(|others| precision != Some(&*others.precision)) {
            others.seen.store(true, Ordering::Relaxed);
        }
    }

    /// Sends a part of a batch, which is wanted until `gone` says otherwise.
    fn submit(&self, part: usize, planes: &[u8], gone: &Arc<AtomicBool>, ended: &Sender<Ended>) {
        let batch = Batch::pack(0, self.model.clone(), &self.packing, planes, self.client.encoding());
        let batch = Batch { priority: self.client.priority(), ..batch };
        let mut hasher = DefaultHasher::new();
        self.model.hash(&mut hasher);
        let ended = ended.clone();
        self.client.submit(Job {
            batch,
            model: hasher.finish(),
            moves: self.moves,
            gone: Arc::clone(gone),
            done: Box::new(move |finished| {
                // The thread has gone away after a stop, or the failure of another part.
                let _gone = ended.send((part, finished));
            }),
        });
    }

    /// The end of any part, unless `stop` says before that none is wanted any more.
    fn wait(&self, ended: &Receiver<Ended>, stop: &mut dyn FnMut() -> bool) -> Result<Ended, RemoteError> {
        let mut stopping = false;
        loop {
            match ended.recv_timeout(LOOK) {
                Ok(ended) => return Ok(ended),
                Err(RecvTimeoutError::Disconnected) => return Err(RemoteError::Ended),
                Err(RecvTimeoutError::Timeout) if stop() => return Err(RemoteError::Stopped),
                Err(RecvTimeoutError::Timeout) if !stopping => stopping = self.client.is_stopping(),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Evaluates a part with the network of this process.
    fn evaluate_here(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        let local = match &mut self.local {
            Some(local) => local,
            none => none.insert((self.open)().map_err(|error| failed(RemoteError::Local(error)))?),
        };
        let rows = local.rows(values.len());
        if rows == values.len() {
            return local.evaluate(planes, policies, values);
        }
        self.rows.clear();
        self.rows.extend_from_slice(planes);
        self.rows.resize(rows * self.packing.plane_bytes(), 0);
        local.evaluate(&self.rows, policies, values)
    }
}

impl PlaneEvaluator for RemoteSession {
    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        self.evaluate_until(planes, policies, values, &mut || false)
    }

    fn evaluate_until(
        &mut self,
        planes: &[u8],
        policies: &mut [f32],
        values: &mut [f32],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), NetError> {
        let gone = Arc::<AtomicBool>::default();
        let evaluated = self.evaluate_in_parts(self.client.largest(), &gone, planes, policies, values, stop);
        if evaluated.is_err() {
            // Other parts may be waiting for a server, and would go out before the batches of the next search.
            gone.store(true, Ordering::Relaxed);
            self.client.forget_gone();
        }
        evaluated
    }
}

impl RemoteSession {
    /// Evaluates positions, at most `largest` in a batch.
    fn evaluate_in_parts(
        &mut self,
        largest: usize,
        gone: &Arc<AtomicBool>,
        planes: &[u8],
        policies: &mut [f32],
        values: &mut [f32],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), NetError> {
        let positions = values.len();
        let largest = largest.min(positions.max(1));
        let parts = planes.chunks(largest * self.packing.plane_bytes());
        let count = parts.len();
        let (sender, ended) = mpsc::channel();
        parts.enumerate().for_each(|(part, planes)| self.submit(part, planes, gone, &sender));
        drop(sender);
        for _ in 0..count {
            let (part, finished) = self.wait(&ended, stop).map_err(failed)?;
            let rows = part * largest..positions.min((part + 1) * largest);
            let policies = &mut policies[rows.start * self.moves..rows.end * self.moves];
            let values = &mut values[rows.clone()];
            let planes = &planes[rows.start * self.packing.plane_bytes()..rows.end * self.packing.plane_bytes()];
            match finished {
                Finished::Answered(output) => {
                    self.note(output.precision.as_deref());
                    let encoding = self.client.encoding();
                    output.read(encoding, policies, values).map_err(|error| NetError::Evaluator(error.into()))?;
                }
                Finished::Local => {
                    self.note(None);
                    self.evaluate_here(planes, policies, values)?;
                }
                // The batch was sent before its server was known.
                Finished::Failed(RemoteError::TooLarge { most }) if (most as usize) < values.len() => {
                    self.evaluate_in_parts(most as usize, gone, planes, policies, values, stop)?;
                }
                Finished::Failed(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }
}

fn failed(error: RemoteError) -> NetError {
    NetError::Evaluator(error.into())
}
