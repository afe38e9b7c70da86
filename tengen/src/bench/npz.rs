//! What the same examples would take as KataGo keeps its rows: a compressed npz with dense arrays.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use go::Symmetry;
use net::planes;
use record::{Example, ExampleError};

/// Bytes of zip's and npy's headers for each array: 30 and 46 and twice the name in the zip file, 128 in the array.
const HEADERS: usize = 250;

/// Bytes of an npz file with these examples, compressed as numpy does: planes packed to bits, visits of all moves as 16 bits,
/// and what else is known as numbers of 32 bits (KataGo, `trainingwrite.h`; without its targets that are not
/// known here).
pub(super) fn bytes(examples: &[Example]) -> Result<usize, ExampleError> {
    let (mut inputs, mut policies, mut globals) = (Array::new(), Array::new(), Array::new());
    for example in examples {
        inputs.put(&packed(example)?);
        policies.put(&visits(example));
        globals.put(&numbers(example));
    }
    Ok([inputs, policies, globals].into_iter().map(|array| array.bytes() + HEADERS).sum())
}

/// An array as it is written.
struct Array(DeflateEncoder<Vec<u8>>);

impl Array {
    fn new() -> Array {
        Array(DeflateEncoder::new(Vec::new(), Compression::default()))
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("writing to memory does not fail");
    }

    fn bytes(self) -> usize {
        self.0.finish().expect("writing to memory does not fail").len()
    }
}

/// All planes, a bit a point, each from a new byte on.
fn packed(example: &Example) -> Result<Vec<u8>, ExampleError> {
    let mut numbers = vec![0; planes::len(example.size)];
    planes::of_example(example, Symmetry::Identity, &mut numbers)?;
    let byte = |bits: &[u8]| bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | bit << (7 - i));
    Ok(numbers.chunks(example.size.area()).flat_map(|plane| plane.chunks(8).map(byte).collect::<Vec<u8>>()).collect())
}

fn visits(example: &Example) -> Vec<u8> {
    let mut dense = vec![0_i16; example.size.moves()];
    for &(mv, count) in &example.visits {
        dense[usize::from(mv)] = i16::try_from(count).unwrap_or(i16::MAX);
    }
    dense.into_iter().flat_map(i16::to_le_bytes).collect()
}

fn numbers(example: &Example) -> Vec<u8> {
    let id = example.game.to_string();
    // The name of the game in pieces of 24 bits, which a float holds exactly.
    let pieces = (0..5).map(|i| u32::from_str_radix(&id[6 * i..6 * i + 6], 16).unwrap_or_default() as f32);
    let outcome = f32::from(example.outcome.as_i8());
    let own = [
        example.komi,
        f32::from(example.turn),
        example.to_move.sign(),
        (1.0 + outcome) / 2.0,
        (1.0 - outcome) / 2.0,
        example.score.unwrap_or_default(),
        f32::from(u8::from(example.score.is_some())),
        example.root_value,
        example.network_value,
        example.weight,
        f32::from(u8::from(example.calibration)),
    ];
    own.into_iter().chain(pieces).flat_map(f32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;

    use super::*;

    #[test]
    fn bits_are_packed_as_numpy_packs_them() {
        let game = synthetic::game("random", "w", 1, Size::new(3).unwrap(), 20);
        let example = game.examples().unwrap().remove(1);
        let mut planes = vec![0; planes::len(example.size)];
        planes::of_example(&example, Symmetry::Identity, &mut planes).unwrap();
        let packed = packed(&example).unwrap();
        assert_eq!(packed.len(), 17 * 2);
        for (i, plane) in planes.chunks(9).enumerate() {
            let bits: Vec<u8> = (0..9).map(|p| packed[2 * i + p / 8] >> (7 - p % 8) & 1).collect();
            assert_eq!(bits, plane);
        }
        assert_eq!((visits(&example).len(), numbers(&example).len()), (20, 64));
    }
}
