//! A network in memory, ready to score positions.

use std::sync::{Mutex, PoisonError};

use go::{Color, Size, Symmetry};
use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};

use crate::device::Place;
use crate::layers::{Layers, Output};
use crate::threads::single;
use crate::{Device, NetError, Precision, Shape, Weights};

/// Weights on a device, from which any number of threads take a [`Network`] each.
pub struct Model {
    shape: Shape,
    /// libtorch reads tensors from many threads at once, but a tensor handle must not be shared; the lock is held only
    /// while handles are copied.
    layers: Mutex<Layers>,
}

/// A network that scores positions in batches of one size, the last perhaps smaller.
///
/// The answer to a position does not depend on how many others are asked for, on their contents, or on its place among
/// them: on a CPU it is the same bit for bit. So a CPU evaluates a few rows more than it is asked for at most; a GPU, which
/// would compute with other kernels in a batch of another size, always the whole batch. Rows that are not asked for are
/// filled with whatever was there before.
pub struct Network {
    shape: Shape,
    layers: Layers,
    /// Planes of the submitted positions, and of older ones after them; whole batches.
    planes: Vec<u8>,
    tickets: Tickets,
    pending: Vec<Row>,
    /// The board of a submitted game on which the network cannot play.
    other_board: Option<Size>,
    /// The evaluations of the last batch, with policies turned back.
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
    pub fn open(weights: &[u8], device: Device, precision: Precision, batch: usize) -> Result<Model, NetError> {
        Model::new(&Weights::from_bytes(weights)?, device, precision, batch)
    }

    /// Makes weights ready for use.
    ///
    /// # Errors
    /// A device that cannot be used.
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn new(weights: &Weights, device: Device, precision: Precision, batch: usize) -> Result<Model, NetError> {
        assert!(batch > 0, "a batch holds at least one position");
        let place = Place::open(device, precision)?;
        Ok(Model { shape: weights.shape(), layers: Mutex::new(Layers::new(weights, place, batch)?) })
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The layers, for one thread.
    pub(crate) fn layers(&self) -> Layers {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner).share()
    }

    /// A network for one thread. The weights are shared with all others of this model.
    pub fn network(&self) -> Network {
        Network {
            shape: self.shape,
            layers: self.layers(),
            planes: Vec::new(),
            tickets: Tickets::default(),
            pending: Vec::new(),
            other_board: None,
            policies: Vec::new(),
            values: Vec::new(),
        }
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

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Positions in a batch.
    pub fn batch(&self) -> usize {
        self.layers.batch()
    }

    fn evaluate(&mut self) -> Result<(), NetError> {
        if let Some(found) = self.other_board.take() {
            return Err(NetError::OtherBoard { expected: self.shape.size, found });
        }
        single();
        self.policies.resize(self.pending.len() * self.shape.size.moves(), 0.0);
        self.values.clear();
        let rows = self.layers.batch();
        let numbers = rows * self.shape.inputs.len(self.shape.size);
        for (planes, pending) in self.planes.chunks_exact(numbers).zip(self.pending.chunks(rows)) {
            let asked = self.layers.rows(pending.len()) * self.shape.inputs.len(self.shape.size);
            let output = self.layers.forward(&planes[..asked])?;
            let policies = &mut self.policies[self.values.len() * self.shape.size.moves()..];
            turn_back(self.shape.size, &output, pending, policies, &mut self.values)?;
        }
        Ok(())
    }
}

impl Evaluator for Network {
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
            self.planes.resize(self.planes.len() + self.layers.batch() * numbers, 0);
        }
        inputs.of_game(game, komi, row.symmetry, &mut self.planes[place * numbers..][..numbers]);
        self.pending.push(row);
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        let evaluated = self.evaluate();
        self.pending.clear();
        self.tickets.flush();
        Ok(evaluated?)
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
        self.layers.batch()
    }
}

/// Copies the outputs of a batch: policies turned back, values for Black.
fn turn_back(
    size: Size,
    output: &Output,
    pending: &[Row],
    policies: &mut [f32],
    values: &mut Vec<Value>,
) -> Result<(), NetError> {
    let moves = size.moves();
    let mut turned = vec![0.0; output.policies.numel()];
    output.policies.f_copy_data(&mut turned, output.policies.numel())?;
    let mut for_mover = vec![0.0f32; output.values.numel()];
    output.values.f_copy_data(&mut for_mover, output.values.numel())?;
    let rows = turned.chunks_exact(moves).zip(for_mover).zip(pending).zip(policies.chunks_exact_mut(moves));
    for (row, (((turned, value), position), policy)) in rows.enumerate() {
        // A policy with a number that is none sums to one that is none.
        if !(value + turned.iter().sum::<f32>()).is_finite() {
            return Err(NetError::BadAnswer { row });
        }
        position.symmetry.inverse().apply_values(size, turned, policy);
        values.push(Value::for_mover(position.to_move, value));
    }
    Ok(())
}
