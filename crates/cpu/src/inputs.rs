//! From the bytes of positions to the input of the stem.

use std::array;

use crate::board::{Board, LANES};
use crate::description::Input;
use crate::model::Model;

/// The bytes of some channels of some points, or of some points by their channels.
type Square = [[u8; LANES]; LANES];

/// Writes the input channels of a group of positions.
pub(crate) fn write_inputs(model: &Model, planes: &[u8], positions: usize, out: &mut [f32]) {
    let (board, channels) = (model.board, model.stem.inputs);
    for (position, planes) in planes.chunks_exact(model.position_len()).take(positions).enumerate() {
        for (group, inputs) in model.inputs.chunks(LANES).enumerate() {
            for first in (0..board.area()).step_by(LANES) {
                // The last square begins earlier where it would not be full.
                let first = first.min(board.area().saturating_sub(LANES));
                let points = transposed(&channels_of(board, inputs, planes, first));
                let (mut row, mut column) = (first / board.side, first % board.side);
                for bytes in &points[..LANES.min(board.area())] {
                    let index = board.index(position, row, column, channels) + group * LANES;
                    let numbers = &mut out[index..][..LANES];
                    numbers.iter_mut().zip(bytes).for_each(|(number, &byte)| *number = f32::from(byte));
                    column += 1;
                    if column == board.side {
                        (row, column) = (row + 1, 0);
                    }
                }
            }
        }
        for (channel, input) in model.inputs.iter().enumerate() {
            if let Input::Scaled { plane, offset, divisor } = *input {
                let plane = &planes[plane * board.area()..][..board.area()];
                for (row, bytes) in plane.chunks_exact(board.side).enumerate() {
                    let row = &mut out[board.index(position, row, 0, channels)..][..board.side * channels];
                    for (point, &byte) in row.chunks_exact_mut(channels).zip(bytes) {
                        point[channel] = (f32::from(byte) - offset) / divisor;
                    }
                }
            }
        }
    }
}

/// Some channels of some points, from one on, channel by channel; zeros where there are none, or no bytes.
fn channels_of(board: Board, inputs: &[Input], planes: &[u8], first: usize) -> Square {
    let mut square = [[0; LANES]; LANES];
    for (bytes, input) in square.iter_mut().zip(inputs) {
        let (Input::Plane(plane) | Input::Not(plane)) = *input else { continue };
        let points = &planes[plane * board.area()..][first..board.area()];
        match points.first_chunk() {
            Some(points) => *bytes = *points,
            None => bytes[..points.len()].copy_from_slice(points),
        }
        if let Input::Not(_) = input {
            *bytes = bytes.map(|byte| u8::from(byte == 0));
        }
    }
    square
}

/// Rows and columns exchanged, by interleaving both halves as often as a row is halved.
#[inline]
fn transposed(square: &Square) -> Square {
    interleaved(&interleaved(&interleaved(&interleaved(square))))
}

/// The rows of both halves in turn, number by number: a pair of rows in two instructions.
#[inline]
fn interleaved(rows: &Square) -> Square {
    let mut pairs = [[0; LANES]; LANES];
    for (row, pair) in pairs.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let (a, b) = (rows[row], rows[row + LANES / 2]);
        let of = |column: usize| if column.is_multiple_of(2) { a[column / 2] } else { b[column / 2] };
        *pair = [array::from_fn(of), array::from_fn(|column| of(LANES + column))];
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_exchanged() {
        let square: Square = array::from_fn(|row| array::from_fn(|column| (16 * row + column) as u8));
        let expected: Square = array::from_fn(|row| array::from_fn(|column| (16 * column + row) as u8));
        assert_eq!(transposed(&square), expected);
    }
}
