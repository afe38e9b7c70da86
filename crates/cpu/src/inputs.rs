//! From the bytes of positions to the input of the stem.

use crate::description::Input;
use crate::model::Model;

/// Writes the input channels of a group of positions.
pub(crate) fn write_inputs(model: &Model, planes: &[u8], positions: usize, out: &mut [f32]) {
    let (board, channels) = (model.board, model.stem.inputs);
    let len = model.position_len();
    for (position, planes) in planes.chunks_exact(len).take(positions).enumerate() {
        for (channel, input) in model.inputs.iter().enumerate() {
            let (plane, value): (usize, &dyn Fn(u8) -> f32) = match *input {
                Input::Plane(plane) => (plane, &f32::from),
                Input::Scaled { plane, offset, divisor } => (plane, &move |byte| (f32::from(byte) - offset) / divisor),
                Input::Not(plane) => (plane, &|byte| if byte == 0 { 1.0 } else { 0.0 }),
            };
            let rows = planes[plane * board.area()..][..board.area()].chunks_exact(board.side);
            for (row, bytes) in rows.enumerate() {
                let start = board.index(position, row, 0, channels) + channel;
                let places = out[start..].iter_mut().step_by(channels);
                places.zip(bytes).for_each(|(place, &byte)| *place = value(byte));
            }
        }
    }
}
