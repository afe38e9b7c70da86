//! Network output as bytes.

use half::f16;
use half::slice::HalfFloatSliceExt;

use crate::proto::v1::Encoding;

/// Bytes of another length than the numbers take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} bytes for {numbers} numbers, expected {expected}")]
pub struct LengthError {
    numbers: usize,
    expected: usize,
    found: usize,
}

impl Encoding {
    /// The format of this name: f32 or f16.
    pub(crate) fn of_name(name: &str) -> Option<Encoding> {
        match name {
            "f32" => Some(Encoding::F32),
            "f16" => Some(Encoding::F16),
            _ => None,
        }
    }

    /// The name: f32 or f16.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::F32 => "f32",
            Encoding::F16 => "f16",
        }
    }

    /// Bytes of a number.
    pub const fn width(self) -> usize {
        match self {
            Encoding::F32 => 4,
            Encoding::F16 => 2,
        }
    }

    /// Writes numbers, little-endian.
    ///
    /// # Panics
    /// When `bytes` does not hold exactly these numbers.
    pub fn write(self, numbers: &[f32], bytes: &mut [u8]) {
        assert_eq!(bytes.len(), numbers.len() * self.width(), "space for {} numbers", numbers.len());
        match self {
            Encoding::F32 => {
                let (chunks, _) = bytes.as_chunks_mut::<4>();
                chunks.iter_mut().zip(numbers).for_each(|(bytes, number)| *bytes = number.to_le_bytes());
            }
            Encoding::F16 => {
                // Blocks, so that the conversion uses the instructions that processors have for it.
                let mut rounded = [f16::ZERO; 64];
                let blocks = numbers.chunks(rounded.len()).zip(bytes.chunks_mut(2 * rounded.len()));
                for (numbers, bytes) in blocks {
                    let rounded = &mut rounded[..numbers.len()];
                    rounded.convert_from_f32_slice(numbers);
                    let (chunks, _) = bytes.as_chunks_mut::<2>();
                    chunks.iter_mut().zip(&*rounded).for_each(|(bytes, number)| *bytes = number.to_le_bytes());
                }
            }
        }
    }

    /// Whether there are so many numbers.
    pub(crate) fn check(self, bytes: &[u8], numbers: usize) -> Result<(), LengthError> {
        let expected = numbers * self.width();
        let found = bytes.len();
        if found == expected { Ok(()) } else { Err(LengthError { numbers, expected, found }) }
    }

    /// Whether all numbers are finite.
    pub(crate) fn is_finite(self, bytes: &[u8]) -> bool {
        // Without a branch for each number, several are checked at once.
        match self {
            Encoding::F32 => {
                let (chunks, _) = bytes.as_chunks::<4>();
                chunks.iter().fold(true, |all, &bytes| all & f32::from_le_bytes(bytes).is_finite())
            }
            Encoding::F16 => {
                let (chunks, _) = bytes.as_chunks::<2>();
                chunks.iter().fold(true, |all, &bytes| all & f16::from_le_bytes(bytes).is_finite())
            }
        }
    }

    /// Reads numbers.
    ///
    /// # Errors
    /// `bytes` holds more or fewer numbers.
    pub fn read(self, bytes: &[u8], numbers: &mut [f32]) -> Result<(), LengthError> {
        self.check(bytes, numbers.len())?;
        match self {
            Encoding::F32 => {
                let (chunks, _) = bytes.as_chunks::<4>();
                numbers.iter_mut().zip(chunks).for_each(|(number, &bytes)| *number = f32::from_le_bytes(bytes));
            }
            Encoding::F16 => {
                let mut rounded = [f16::ZERO; 64];
                let blocks = numbers.chunks_mut(rounded.len()).zip(bytes.chunks(2 * rounded.len()));
                for (numbers, bytes) in blocks {
                    let rounded = &mut rounded[..numbers.len()];
                    let (chunks, _) = bytes.as_chunks::<2>();
                    rounded.iter_mut().zip(chunks).for_each(|(number, &bytes)| *number = f16::from_le_bytes(bytes));
                    rounded.convert_to_f32_slice(numbers);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn f32_survives_bit_for_bit_and_f16_rounds_once(numbers in prop::collection::vec(any::<u32>(), 0..200)) {
            let numbers: Vec<f32> = numbers.into_iter().map(f32::from_bits).collect();
            let mut read = vec![0.0; numbers.len()];
            let mut bytes = vec![0; numbers.len() * 4];
            Encoding::F32.write(&numbers, &mut bytes);
            Encoding::F32.read(&bytes, &mut read).unwrap();
            let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&read), bits(&numbers));
            bytes.truncate(numbers.len() * 2);
            Encoding::F16.write(&numbers, &mut bytes);
            Encoding::F16.read(&bytes, &mut read).unwrap();
            for (number, read) in numbers.iter().zip(&read) {
                let expected = f16::from_f32(*number).to_f32();
                prop_assert!(expected.to_bits() == read.to_bits() || expected.is_nan() && read.is_nan());
            }
        }

        #[test]
        fn bytes_of_another_length_are_refused(numbers in 0..50_usize, bytes in 0..300_usize) {
            for encoding in [Encoding::F32, Encoding::F16] {
                let read = encoding.read(&vec![0; bytes], &mut vec![0.0; numbers]);
                prop_assert_eq!(read.is_ok(), bytes == numbers * encoding.width());
            }
        }
    }
}
