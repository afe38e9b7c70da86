//! Confidence intervals.

use serde::Serialize;

/// The normal quantile of two-sided 95 % intervals.
const Z: f64 = 1.959_964;

/// Wilson's 95 % interval of a share, of which `right` of `all` were seen (Wilson 1927).
pub(crate) fn wilson(right: usize, all: usize) -> (f64, f64) {
    if all == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (all as f64, right as f64 / all as f64);
    let middle = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

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

    /// 81 of 263: Newcombe, Statistics in Medicine 17 (1998), table I, has 0.2553 to 0.3662; 0 of 20: 0 to 0.1611.
    #[test]
    fn wilsons_interval_is_that_of_the_books() {
        for (right, all, expected) in [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611))]
        {
            let (low, high) = wilson(right, all);
            assert!((low - expected.0).abs() < 1e-4 && (high - expected.1).abs() < 1e-4, "{right}/{all}: {low} {high}");
        }
    }

    #[test]
    fn mean_has_the_error_of_its_spread() {
        // Variance 2.5, five numbers.
        let Estimate { mean, half } = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0].into_iter());
        assert!((mean - 3.0).abs() < 1e-12 && (half - 1.959_964 * 0.5f64.sqrt()).abs() < 1e-9);
    }
}
