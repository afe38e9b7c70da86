//! From the bytes of positions to the input of the stem.

use crate::board::Board;
use crate::description::Input;
use crate::model::Model;

/// Writes the input channels of a group of positions.
pub(crate) fn write_inputs(model: &Model, planes: &[u8], positions: usize, out: &mut [f32]) {
    let (board, channels) = (model.board, model.stem.inputs);
    for (position, planes) in planes.chunks_exact(model.position_len()).take(positions).enumerate() {
        for (channel, input) in model.inputs.iter().enumerate() {
            let plane = |plane: usize| &planes[plane * board.area()..][..board.area()];
            let out = &mut out[board.index(position, 0, 0, channels) + channel..];
            match *input {
                Input::Plane(index) => write(board, channels, plane(index), out, f32::from),
                Input::Not(index) => write(board, channels, plane(index), out, |byte| f32::from(u8::from(byte == 0))),
                Input::Scaled { plane: index, offset, divisor } => {
                    write(board, channels, plane(index), out, |byte| (f32::from(byte) - offset) / divisor);
                }
            }
        }
    }
}

/// Writes one channel, from its first point on.
fn write(board: Board, channels: usize, plane: &[u8], out: &mut [f32], value: impl Fn(u8) -> f32) {
    for (row, bytes) in plane.chunks_exact(board.side).enumerate() {
        let out = &mut out[row * board.padded() * channels..][..(board.side - 1) * channels + 1];
        for (column, &byte) in bytes.iter().enumerate() {
            out[column * channels] = value(byte);
        }
    }
}
