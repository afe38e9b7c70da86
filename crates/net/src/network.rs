//! A network in memory, ready to score positions.

use std::sync::{Mutex, PoisonError};

use go::{Color, Game, Size, Symmetry};
use mcts::{Draw, Evaluate, EvaluateError, Evaluation, Pushed, Value};

use crate::cache::Cache;
use crate::frame::Frame;
use crate::layers::{Layers, Output, Place};
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
    /// Where the board of each answer is on the network's.
    frames: Vec<Frame>,
    /// Planes of the pushed positions, and of older ones after them; whole batches.
    planes: Vec<u8>,
    pushed: Vec<Row>,
    /// The board of a pushed game on which the network cannot play.
    other_board: Option<Size>,
    /// The answers, turned back.
    policies: Vec<f32>,
    values: Vec<Value>,
    cache: Option<Cache>,
    /// The last answer that was known, turned back: one probability a move of its board.
    known: (Vec<f32>, Value),
    /// A policy of a smaller board, before it is turned back.
    inner: Vec<f32>,
    recalled: u64,
}

/// A position in the batch.
#[derive(Clone, Copy)]
struct Row {
    symmetry: Symmetry,
    frame: Frame,
    to_move: Color,
    /// Where its answer goes in the cache, if there is one.
    key: u128,
}

impl Row {
    /// An answer of the network as one to the position: one probability a move of its board in `policy`.
    fn turn_back(self, turned: &[f32], inner: &mut Vec<f32>, policy: &mut [f32]) {
        let board = self.frame.inner();
        let turned = if board.moves() == turned.len() {
            turned
        } else {
            inner.resize(board.moves(), 0.0);
            self.frame.policy(turned, inner);
            inner
        };
        self.symmetry.inverse().apply_values(board, turned, policy);
    }
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

    /// A network for one thread. The weights are shared with all others of this model; up to `cache` bytes are taken
    /// for answers that it gave before, which change nothing but the time it takes.
    pub fn network(&self, cache: usize) -> Network {
        Network {
            cache: Cache::new(self.shape.size, cache),
            known: (vec![0.0; self.shape.size.moves()], Value::ZERO),
            inner: Vec::new(),
            frames: Vec::new(),
            recalled: 0,
            shape: self.shape,
            layers: self.layers(),
            planes: Vec::new(),
            pushed: Vec::new(),
            other_board: None,
            policies: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl Network {
    /// Opens a file of weights for a single user: [`Model::open`] and [`Model::network`], without a cache.
    ///
    /// # Errors
    /// As [`Model::open`].
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn open(weights: &[u8], device: Device, precision: Precision, batch: usize) -> Result<Network, NetError> {
        Ok(Model::open(weights, device, precision, batch)?.network(0))
    }

    /// The shape of the network.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Positions in a batch.
    pub fn batch(&self) -> usize {
        self.layers.batch()
    }

    fn evaluate_pushed(&mut self) -> Result<(), NetError> {
        if let Some(found) = self.other_board.take() {
            self.pushed.clear();
            return Err(NetError::OtherBoard { expected: self.shape.size, found });
        }
        single();
        self.policies.resize(self.pushed.len() * self.shape.size.moves(), 0.0);
        self.values.clear();
        self.frames.clear();
        self.frames.extend(self.pushed.iter().map(|row| row.frame));
        let rows = self.layers.batch();
        let numbers = rows * self.shape.inputs.len(self.shape.size);
        for (planes, pushed) in self.planes.chunks_exact(numbers).zip(self.pushed.chunks(rows)) {
            let asked = self.layers.rows(pushed.len()) * self.shape.inputs.len(self.shape.size);
            let output = self.layers.forward(&planes[..asked])?;
            let policies = &mut self.policies[self.values.len() * self.shape.size.moves()..];
            turn_back(
                self.shape.size,
                &output,
                pushed,
                (policies, &mut self.inner),
                &mut self.values,
                self.cache.as_mut(),
            )?;
        }
        self.pushed.clear();
        Ok(())
    }
}

impl Evaluate for Network {
    fn push(&mut self, game: &Game, komi: f32, draw: Draw) -> Pushed {
        let row = self.pushed.len();
        let Shape { size, inputs, .. } = self.shape;
        let Some(frame) = Frame::new(game.size(), size, inputs) else {
            self.other_board = Some(game.size());
            return Pushed::Waits;
        };
        let mut pushed = Row { symmetry: draw.symmetry(), frame, to_move: game.to_move(), key: 0 };
        let numbers = inputs.len(size);
        if (row + 1) * numbers > self.planes.len() {
            self.planes.resize(self.planes.len() + self.batch() * numbers, 0);
        }
        let planes = &mut self.planes[row * numbers..][..numbers];
        frame.write_planes(inputs, planes, |planes| inputs.of_game(game, komi, pushed.symmetry, planes));
        if let Some(cache) = &self.cache {
            pushed.key = Cache::key(planes);
            if let Some((policy, value)) = cache.get(pushed.key) {
                self.known.0.resize(game.size().moves(), 0.0);
                pushed.turn_back(policy, &mut self.inner, &mut self.known.0);
                self.known.1 = Value::for_mover(pushed.to_move, value);
                self.recalled += 1;
                return Pushed::Known;
            }
        }
        self.pushed.push(pushed);
        Pushed::Waits
    }

    fn known(&self) -> Evaluation<'_> {
        Evaluation { policy: &self.known.0, value: self.known.1 }
    }

    fn batch(&self) -> usize {
        self.layers.batch()
    }

    fn recalled(&self) -> u64 {
        self.recalled
    }

    fn evaluate(&mut self) -> Result<(), EvaluateError> {
        Ok(self.evaluate_pushed()?)
    }

    fn answer(&self, index: usize) -> Evaluation<'_> {
        let moves = self.shape.size.moves();
        let known = self.frames[index].inner().moves();
        Evaluation { policy: &self.policies[index * moves..][..known], value: self.values[index] }
    }
}

/// Copies the answers of a batch out, policies turned back and values said for Black, and remembers them as they are.
fn turn_back(
    size: Size,
    output: &Output,
    pushed: &[Row],
    (policies, inner): (&mut [f32], &mut Vec<f32>),
    values: &mut Vec<Value>,
    mut cache: Option<&mut Cache>,
) -> Result<(), NetError> {
    let moves = size.moves();
    let mut turned = vec![0.0; output.policies.numel()];
    output.policies.f_copy_data(&mut turned, output.policies.numel())?;
    let mut for_mover = vec![0.0f32; output.values.numel()];
    output.values.f_copy_data(&mut for_mover, output.values.numel())?;
    let rows = turned.chunks_exact(moves).zip(for_mover).zip(pushed).zip(policies.chunks_exact_mut(moves));
    for (row, (((turned, value), pushed), policy)) in rows.enumerate() {
        // A policy with a number that is none sums to one that is none.
        if !(value + turned.iter().sum::<f32>()).is_finite() {
            return Err(NetError::BadAnswer { row });
        }
        if let Some(cache) = &mut cache {
            cache.put(pushed.key, turned, value);
        }
        pushed.turn_back(turned, inner, &mut policy[..pushed.frame.inner().moves()]);
        values.push(Value::for_mover(pushed.to_move, value));
    }
    Ok(())
}
