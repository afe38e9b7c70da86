//! Confidence intervals.

use serde::Serialize;

/// The normal quantile of two-sided 95 % intervals.
const Z: f64 = 1.959_964;

/// The mean of some numbers, and half of its 95 % interval by the normal approximation.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) half: f64,
}

impl Estimate {
    /// Of two numbers at least.
    pub(crate) fn of(numbers: impl Iterator<Item = f64> + Clone) -> Estimate {
        let count = numbers.clone().count() as f64;
        let mean = numbers.clone().sum::<f64>() / count;
        let variance = numbers.map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
        Estimate { mean, half: Z * (variance / count).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_has_the_error_of_its_spread() {
        // Variance 2.5, five numbers.
        let Estimate { mean, half } = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0].into_iter());
        assert!((mean - 3.0).abs() < 1e-12 && (half - 1.959_964 * 0.5f64.sqrt()).abs() < 1e-9);
    }
}
