//! The resign threshold in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The resign threshold in force, shared by all threads: a game takes the one that is there when it begins.
#[derive(Clone, Debug)]
pub struct Threshold(Arc<AtomicU32>);

impl Threshold {
    /// A root value for the mover, -1 to 1; without one there is no resignation.
    pub fn new(threshold: Option<f32>) -> Threshold {
        Threshold(Arc::new(AtomicU32::new(bits(threshold))))
    }

    /// The threshold for a game that begins now.
    pub fn get(&self) -> Option<f32> {
        let threshold = f32::from_bits(self.0.load(Ordering::Relaxed));
        (!threshold.is_nan()).then_some(threshold)
    }

    /// Changes it for games that begin from now on.
    pub fn set(&self, threshold: Option<f32>) {
        self.0.store(bits(threshold), Ordering::Relaxed);
    }
}

/// None is kept as no number.
fn bits(threshold: Option<f32>) -> u32 {
    threshold.unwrap_or(f32::NAN).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_copies_see_a_change() {
        let threshold = Threshold::new(None);
        let copy = threshold.clone();
        assert_eq!(copy.get(), None);
        for value in [Some(-0.9), Some(0.0), None] {
            threshold.set(value);
            assert_eq!(copy.get(), value);
        }
    }
}
