//! A network in memory, ready to score positions.

use std::sync::atomic::{AtomicUsize, Ordering};

use go::{Color, Size, Symmetry};
use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};

use crate::engine::{Engine, Session};
use crate::evaluator::{PlaneEvaluator, check_output};
use crate::{Device, Devices, NetError, Precision, Shape, Weights};

/// Weights on a device, or on several, from which any number of threads take a [`Network`] each.
pub struct Model {
    shape: Shape,
    batch: usize,
    /// One for each device.
    engines: Vec<Engine>,
    /// Sessions that were taken: they go to the devices in turn.
    taken: AtomicUsize,
}

/// A network that scores positions in batches of one size, the last perhaps smaller.
///
/// The output of a position does not depend on how many others are requested, on their contents, or on its place among
/// them. On a CPU it is the same bit for bit, and on every x86-64 one, unless it is in bf16. On a GPU it is the same
/// within the rounding of its numbers, because batches of another size are computed by other kernels.
///
/// What computes the output is a [`PlaneEvaluator`]: a [`Session`] on this machine, or a network elsewhere.
pub struct Network<E: PlaneEvaluator = Session> {
    shape: Shape,
    batch: usize,
    evaluator: E,
    /// Planes of the submitted positions, and of older ones after them; whole batches.
    planes: Vec<u8>,
    tickets: Tickets,
    pending: Vec<Row>,
    /// The board of a submitted game on which the network cannot play.
    other_board: Option<Size>,
    /// Network output for a batch: probabilities of moves, and values for the side to move.
    turned_policies: Vec<f32>,
    turned_values: Vec<f32>,
    /// The evaluations since the last flush, with policies turned back.
    policies: Vec<f32>,
    values: Vec<Value>,
}

/// A position in the batch.
#[derive(Clone, Copy)]
struct Row {
    symmetry: Symmetry,
    to_move: Color,
}

impl Model {
    /// Makes a file of weights ready for use in batches of `batch` positions. Batch norms are folded away here.
    ///
    /// # Errors
    /// A file that is no file of weights, or a device that cannot be used.
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn open(
        weights: &[u8],
        devices: impl Into<Devices>,
        precision: Precision,
        batch: usize,
    ) -> Result<Model, NetError> {
        Model::new(&Weights::from_bytes(weights)?, devices, precision, batch)
    }

    /// Makes weights ready for use.
    ///
    /// # Errors
    /// A device that cannot be used, or numbers that are not finite once batch norms are folded.
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn new(
        weights: &Weights,
        devices: impl Into<Devices>,
        precision: Precision,
        batch: usize,
    ) -> Result<Model, NetError> {
        assert!(batch > 0, "a batch holds at least one position");
        let devices = devices.into();
        let engines = devices.all().iter().map(|&device| Engine::open(weights, device, precision, batch));
        Ok(Model::of_engines(weights.shape(), batch, engines.collect::<Result<_, _>>()?))
    }

    fn of_engines(shape: Shape, batch: usize, engines: Vec<Engine>) -> Model {
        Model { shape, batch, engines, taken: AtomicUsize::new(0) }
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Positions in a batch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// What the queues of the GPUs have done for this model, one after the other; none on a CPU.
    #[cfg(feature = "torch")]
    pub fn queue_counts(&self) -> Vec<crate::QueueCounts> {
        self.engines.iter().filter_map(Engine::queue_counts).collect()
    }

    /// A session of one thread. The weights are shared with all others of this model.
    pub fn session(&self) -> Session {
        let turn = self.taken.fetch_add(1, Ordering::Relaxed);
        self.session_on(turn % self.engines.len())
    }

    /// A session on the device of this number, from 0.
    ///
    /// # Panics
    /// When there is no such device.
    pub fn session_on(&self, device: usize) -> Session {
        self.engines[device].session()
    }

    /// How many devices share its batches.
    pub fn devices(&self) -> usize {
        self.engines.len()
    }

    /// A network for one thread. The weights are shared with all others of this model.
    pub fn network(&self) -> Network {
        Network::new(self.shape, self.batch, self.session())
    }
}

impl Network {
    /// Opens a file of weights for a single user: [`Model::open`] and [`Model::network`].
    ///
    /// # Errors
    /// As [`Model::open`].
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn open(weights: &[u8], device: Device, precision: Precision, batch: usize) -> Result<Network, NetError> {
        Ok(Model::open(weights, device, precision, batch)?.network())
    }
}

impl<E: PlaneEvaluator> Network<E> {
    /// A network of this shape that submits `batch` positions at a time to an evaluator.
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn new(shape: Shape, batch: usize, evaluator: E) -> Network<E> {
        assert!(batch > 0, "a batch holds at least one position");
        Network {
            shape,
            batch,
            evaluator,
            planes: Vec::new(),
            tickets: Tickets::default(),
            pending: Vec::new(),
            other_board: None,
            turned_policies: Vec::new(),
            turned_values: Vec::new(),
            policies: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Positions in a batch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    pub(crate) fn into_evaluator(self) -> E {
        self.evaluator
    }

    /// [`Evaluator::flush_until`] with the error of this crate.
    pub(crate) fn evaluate_pending(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), NetError> {
        let evaluated = self.evaluate(stop);
        self.pending.clear();
        self.tickets.flush();
        evaluated
    }

    fn evaluate(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), NetError> {
        let Shape { size, inputs, .. } = self.shape;
        if let Some(found) = self.other_board.take() {
            return Err(NetError::OtherBoard { expected: size, found });
        }
        let (moves, numbers) = (size.moves(), inputs.len(size));
        self.policies.resize(self.pending.len() * moves, 0.0);
        self.values.clear();
        let batches = self.planes.chunks_exact(self.batch * numbers).zip(self.pending.chunks(self.batch));
        for (planes, pending) in batches {
            let positions = pending.len();
            self.turned_policies.resize(positions * moves, 0.0);
            self.turned_values.resize(positions, 0.0);
            let planes = &planes[..self.evaluator.rows(positions) * numbers];
            self.evaluator.evaluate_until(planes, &mut self.turned_policies, &mut self.turned_values, stop)?;
            let policies = &mut self.policies[self.values.len() * moves..];
            turn_back(size, [&self.turned_policies, &self.turned_values], pending, policies, &mut self.values)?;
        }
        Ok(())
    }
}

impl<E: PlaneEvaluator> Evaluator for Network<E> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let Request { game, komi, draw } = request;
        let Shape { size, inputs, .. } = self.shape;
        if game.size() != size {
            self.other_board = Some(game.size());
            return self.tickets.issue();
        }
        let row = Row { symmetry: draw.symmetry(), to_move: game.to_move() };
        let (place, numbers) = (self.pending.len(), inputs.len(size));
        if (place + 1) * numbers > self.planes.len() {
            self.planes.resize(self.planes.len() + self.batch * numbers, 0);
        }
        inputs.of_game(game, komi, row.symmetry, &mut self.planes[place * numbers..][..numbers]);
        self.pending.push(row);
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.flush_until(&mut || false)
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        Ok(self.evaluate_pending(stop)?)
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        let index = self.tickets.index(ticket);
        let moves = self.shape.size.moves();
        Evaluation { policy: &self.policies[index * moves..][..moves], value: self.values[index] }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        self.batch
    }
}

/// Copies the outputs of a batch: policies turned back, values for Black.
fn turn_back(
    size: Size,
    [turned_policies, turned_values]: [&[f32]; 2],
    pending: &[Row],
    policies: &mut [f32],
    values: &mut Vec<Value>,
) -> Result<(), NetError> {
    check_output(turned_policies, turned_values)?;
    let moves = size.moves();
    let answers = turned_policies.chunks_exact(moves).zip(turned_values);
    let rows = answers.zip(pending).zip(policies.chunks_exact_mut(moves));
    for (((turned, &value), position), policy) in rows {
        position.symmetry.inverse().apply_values(size, turned, policy);
        values.push(Value::for_mover(position.to_move, value));
    }
    Ok(())
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::accelerator::{Failing, Queue};
    use crate::tensor_options::TensorOptions;

    fn weights() -> Weights {
        let size = Size::new(5).unwrap();
        Weights::synthetic(Shape { filters: 8, value_hidden: 8, ..Shape::plain(size) }, 1)
    }

    /// A queue as that of a GPU, which computes on the CPU.
    fn engine() -> Engine {
        let options = TensorOptions { device: tch::Device::Cpu, kind: tch::Kind::Float };
        Engine::queued(&weights(), options, 4).unwrap()
    }

    /// The policy of the empty board.
    fn evaluate(network: &mut Network) -> Result<Vec<f32>, EvaluateError> {
        let game = go::Game::new(network.shape().size);
        let ticket = network.submit(Request { game: &game, komi: 7.0, draw: mcts::Draw::PLAIN });
        network.flush()?;
        Ok(network.get(ticket).policy.to_vec())
    }

    /// Two queues, as two GPUs have.
    #[test]
    fn sessions_take_devices_in_turn() {
        let model = Model::of_engines(weights().shape(), 4, vec![engine(), engine()]);
        let outputs: Vec<Vec<f32>> = (0..3).map(|_| evaluate(&mut model.network()).unwrap()).collect();
        assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
        let positions: Vec<u64> = model.queue_counts().iter().map(|counts| counts.positions).collect();
        assert_eq!(positions, [2, 1]);
    }

    #[test]
    fn device_that_fails_leaves_the_other_working() {
        let shape = weights().shape();
        let queue = Arc::new(Queue::open(|_| 4, || Ok(Failing("launch"))).unwrap());
        let failed = Engine::Queued(queue, shape.inputs.packing(shape.size), shape.size.moves());
        let model = Model::of_engines(shape, 4, vec![failed, engine()]);
        let (mut failing, mut working) = (model.network(), model.network());
        for _ in 0..2 {
            assert!(evaluate(&mut failing).unwrap_err().to_string().contains("CUDA error"));
            assert_eq!(evaluate(&mut working).unwrap().len(), shape.size.moves());
        }
        let positions: Vec<u64> = model.queue_counts().iter().map(|counts| counts.positions).collect();
        assert_eq!(positions, [0, 2]);
    }
}
