//! Products of numbers in registers, for measurements.

use crate::kernels::{Kernels, OPERANDS, PRODUCTS, Repeated};
use crate::{CpuError, InstructionSet};

/// Products of numbers in registers that were made. No layer makes more in the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Products of vectors. Each is one instruction, but two for int16 without VNNI.
    pub vectors: u64,
    /// Multiply-adds of numbers.
    pub multiply_adds: u64,
}

impl Peak {
    /// Multiplies f32 in so many rounds of some dozen instructions.
    ///
    /// # Errors
    /// An instruction set that this processor lacks.
    pub fn exact(set: InstructionSet, rounds: usize) -> Result<Peak, CpuError> {
        let (weights, inputs) = ([1.0_f32; OPERANDS], std::array::from_fn::<_, OPERANDS, _>(|index| index as f32));
        let width = Kernels::new(set)?.peak(Repeated { weights: &weights, inputs: &inputs, rounds });
        Ok(Peak::new(width, rounds))
    }

    /// The same with int16.
    ///
    /// # Errors
    /// As for [`Peak::exact`].
    pub fn rounded(set: InstructionSet, rounds: usize) -> Result<Peak, CpuError> {
        // The products of a pair add up to 0, so that no sum overflows.
        let input = |index: usize| if index.is_multiple_of(2) { 4001 } else { -4001 };
        let (weights, inputs) = ([3001_i16; OPERANDS], std::array::from_fn::<i16, OPERANDS, _>(input));
        let width = Kernels::new(set)?.peak(Repeated { weights: &weights, inputs: &inputs, rounds });
        Ok(Peak::new(width, rounds))
    }

    fn new(width: usize, rounds: usize) -> Peak {
        let vectors = (PRODUCTS * rounds) as u64;
        Peak { vectors, multiply_adds: vectors * width as u64 }
    }
}
