//! Calibration: how large transformed inputs get.

use serde::{Deserialize, Serialize};

use crate::CpuError;
use crate::board::FREQUENCIES;
use crate::kernels::LARGEST_INPUT;

/// What an input may exceed the largest of the calibration by before it is saturated
/// (docs/adr/0017-integer-winograd-on-cpus.md).
const HEADROOM: f32 = 1.25;
/// Smaller magnitudes are those of a frequency that the calibration did not meet.
const NOTHING: f32 = 1e-20;

/// The largest magnitude of each frequency, for each layer that transforms its inputs: the stem, then the first and
/// second convolution of each block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scales(pub Vec<[f32; FREQUENCIES]>);

impl Scales {
    pub(crate) fn none(layers: usize) -> Scales {
        Scales(vec![[0.0; FREQUENCIES]; layers])
    }

    /// Checks that these are scales of so many layers, and magnitudes that allow for the headroom.
    ///
    /// # Errors
    /// Scales of another network, or the first layer whose activations are too large for f32.
    pub fn check(&self, layers: usize) -> Result<(), CpuError> {
        if self.0.len() != layers {
            return Err(CpuError::Scales { expected: layers, found: self.0.len() });
        }
        let allowed = 0.0..=f32::MAX / HEADROOM;
        let bad = |numbers: &[f32; FREQUENCIES]| numbers.iter().any(|number| !allowed.contains(number));
        self.0.iter().position(bad).map_or(Ok(()), |layer| Err(CpuError::BadScales { layer }))
    }
}

/// Takes transformed inputs into account, which are by column, frequency and channel. A number that is none stays, so
/// that it is noticed.
pub(crate) fn observe(largest: &mut [f32; FREQUENCIES], transformed: &[f32], channels: usize) {
    for (index, numbers) in transformed.chunks_exact(channels).enumerate() {
        let largest = &mut largest[index % FREQUENCIES];
        let larger = |largest: f32, number: &f32| if number.is_nan() { f32::NAN } else { largest.max(number.abs()) };
        let found =
            numbers.iter().fold(0.0, |found: f32, number| if found.is_nan() { found } else { larger(found, number) });
        *largest = if found.is_nan() || largest.is_nan() { f32::NAN } else { largest.max(found) };
    }
}

/// Factors of the transformed inputs of a layer.
pub(crate) fn factors(largest: &[f32; FREQUENCIES]) -> [f32; FREQUENCIES] {
    let most = largest.iter().copied().fold(0.0, f32::max);
    let fallback = if most > NOTHING { most } else { 1.0 };
    largest.map(|largest| LARGEST_INPUT as f32 / (HEADROOM * if largest > NOTHING { largest } else { fallback }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_leave_headroom_and_know_frequencies_without_inputs() {
        let mut largest = [0.0; FREQUENCIES];
        (largest[3], largest[4]) = (2.0, 8.0);
        let factors = factors(&largest);
        assert_eq!([factors[3], factors[4], factors[0]], [8191.0 / 2.5, 819.1, 819.1]);
        assert!(super::factors(&[0.0; FREQUENCIES]).iter().all(|&factor| factor == 8191.0 / 1.25));
    }

    #[test]
    fn observed_magnitudes_are_the_largest_of_each_frequency() {
        let mut largest = [0.5; FREQUENCIES];
        // Two columns of two channels.
        let numbers: Vec<f32> = (0..4 * FREQUENCIES).map(|index| index as f32 * 0.1 - 1.0).collect();
        observe(&mut largest, &numbers, 2);
        assert_eq!([largest[0], largest[4], largest[24]], [51.0 * 0.1 - 1.0, 59.0 * 0.1 - 1.0, 99.0 * 0.1 - 1.0]);
        let mut largest = [0.5; FREQUENCIES];
        observe(&mut largest, &numbers[..2 * FREQUENCIES], 2);
        assert_eq!([largest[0], largest[4], largest[24]], [1.0, 0.5, 49.0 * 0.1 - 1.0]);
    }

    #[test]
    fn scales_that_are_no_magnitudes_are_refused() {
        let mut largest = [0.5; FREQUENCIES];
        observe(&mut largest, &[[1.0; FREQUENCIES - 1].as_slice(), &[f32::NAN]].concat(), 1);
        observe(&mut largest, &[1.0; FREQUENCIES], 1);
        assert!(largest[FREQUENCIES - 1].is_nan());
        for bad in [f32::NAN, f32::INFINITY, f32::MAX, -1.0] {
            let layers = [[1.0; FREQUENCIES], [bad; FREQUENCIES]];
            assert!(matches!(Scales(layers.to_vec()).check(2), Err(CpuError::BadScales { layer: 1 })), "{bad}");
        }
        assert!(Scales(vec![[1.0; FREQUENCIES]]).check(1).is_ok());
    }
}
