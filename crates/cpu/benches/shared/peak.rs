//! How fast this core multiplies numbers in registers.

use std::time::{Duration, Instant};

use cpu::{CpuError, InstructionSet, Peak};

const ROUND: Duration = Duration::from_micros(500);
/// Rounds of products between two readings of the time, which take a thousandth of them.
const REPEATS: usize = 2000;

/// [`Peak::rounded`] or [`Peak::exact`].
pub(crate) type Multiply = fn(InstructionSet, usize) -> Result<Peak, CpuError>;

/// Multiply-adds a second.
pub(crate) fn rate(multiply: Multiply, set: InstructionSet) -> Result<f64, CpuError> {
    let (start, mut made) = (Instant::now(), 0);
    while start.elapsed() < ROUND {
        made += multiply(set, REPEATS)?.multiply_adds;
    }
    Ok(made as f64 / start.elapsed().as_secs_f64())
}
