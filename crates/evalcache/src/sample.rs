//! Evaluations with their positions, to fit and to measure models.

use crate::view::View;

/// An evaluation of a position in the orientation of its view.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position.
    pub view: View,
    /// A probability for each move, the pass last.
    pub policy: Vec<f32>,
    /// The value for the player to move.
    pub value: f32,
}

impl Sample {
    /// Appends the sample to a file of samples.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.view.write(out);
        out.extend(self.policy.iter().chain([&self.value]).flat_map(|number| number.to_le_bytes()));
    }

    /// All samples of a file; `None` when it is none.
    pub fn read_all(mut bytes: &[u8]) -> Option<Vec<Sample>> {
        let mut samples = Vec::new();
        while !bytes.is_empty() {
            let view = View::read(&mut bytes)?;
            let (numbers, rest) = bytes.split_at_checked(4 * (view.size().moves() + 1))?;
            let mut numbers: Vec<f32> =
                numbers.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
            bytes = rest;
            let value = numbers.pop()?;
            samples.push(Sample { view, policy: numbers, value });
        }
        Some(samples)
    }
}
