//! What a layer multiplies and moves, for measurements.

use super::Layer;
use crate::board::{FREQUENCIES, PANEL};
use crate::pack::Weights;

/// What a layer multiplies for a position, and the bytes that it moves for a group of positions.
///
/// Bytes are those that loops read and write, from whatever cache. What a loop reads again while it is in the
/// first-level cache counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Positions that go through the layer together.
    pub group: usize,
    /// Multiply-adds of a position, those of the zeros that boards and channels are padded by included.
    pub multiply_adds: u64,
    /// Bytes of packed weights and their scales.
    pub packed: usize,
    /// The same, read for each block of tiles.
    pub weights: usize,
    /// Inputs read, with the zeros around the board, and outputs written.
    pub planes: usize,
    /// Transformed inputs, written once and read for each panel of outputs.
    pub tiles: usize,
    /// Products, written and transformed back.
    pub products: usize,
}

impl Layer {
    /// What the layer multiplies and moves.
    pub fn work(&self) -> Work {
        let Layer { board, conv, workspace, group, .. } = self;
        let (packed, number) = match &conv.weights {
            Weights::Exact(weights) => (size_of_val(&weights[..]), size_of::<f32>()),
            Weights::Rounded { weights, scales } => {
                (size_of_val(&weights[..]) + size_of_val(&scales[..]), size_of::<i16>())
            }
        };
        let transformed = FREQUENCIES * group * board.columns();
        let points = board.len(conv.inputs) + board.area() * conv.outputs;
        Work {
            group: *group,
            multiply_adds: conv.multiply_adds(*board),
            packed,
            weights: packed * workspace.passes(*group, conv),
            planes: group * points * size_of::<f32>(),
            tiles: transformed * conv.inputs * number * (1 + conv.outputs.div_ceil(PANEL)),
            products: 2 * transformed * conv.outputs * size_of::<f32>(),
        }
    }
}
