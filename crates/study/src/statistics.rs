//! Confidence intervals.

use record::statistics::{margin, wilson};
use serde::Serialize;

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
        Estimate { mean, half: margin((variance / count).sqrt()) }
    }

    /// The same of any numbers; `None` of fewer than two.
    pub(crate) fn of_any(numbers: impl Iterator<Item = f64> + Clone) -> Option<Estimate> {
        numbers.clone().nth(1).is_some().then(|| Estimate::of(numbers))
    }
}

/// A share of some positions, with its 95 % interval by Wilson's formula. It is no [`Estimate`]: where all or none
/// count, the normal approximation has an interval of no width.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Share {
    pub(crate) positions: usize,
    pub(crate) share: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Share {
    /// Of `all` positions these count; of none, the share is unknown.
    pub(crate) fn new(positions: usize, all: usize) -> Share {
        let (low, high) = wilson(positions, all);
        Share { positions, share: positions as f64 / all.max(1) as f64, low, high }
    }

    /// In %, with its interval.
    pub(crate) fn percent(&self) -> String {
        let [share, low, high] = [self.share, self.low, self.high].map(|share| format!("{:.1}", 100.0 * share));
        format!("{share} ({low}–{high})")
    }
}

/// A mean with half of its interval, as tables have it; a dash for none.
pub(crate) fn three_places(of: Option<Estimate>) -> String {
    of.map_or("–".to_owned(), |Estimate { mean, half }| format!("{mean:.3} ± {half:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_has_the_error_of_its_spread() {
        // scipy.stats.norm.interval(0.95, 3, 0.5**0.5)
        let Estimate { mean, half } = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0].into_iter());
        assert!((mean - 3.0).abs() < 1e-12 && (half - 1.385_903_824_349_68).abs() < 1e-9);
    }

    #[test]
    fn one_number_has_no_error() {
        let of = |numbers: &[f64]| Estimate::of_any(numbers.iter().copied()).map(|of| of.mean);
        assert_eq!([of(&[]), of(&[1.0]), of(&[1.0, 2.0])], [None, None, Some(1.5)]);
        assert_eq!([None, Some(Estimate { mean: 1.0, half: 0.25 })].map(three_places), ["–", "1.000 ± 0.250"]);
    }

    /// statsmodels.stats.proportion.proportion_confint(hits, trials, method="wilson")
    #[test]
    fn share_of_all_positions_has_an_interval() {
        let percent = |positions, all| Share::new(positions, all).percent();
        assert_eq!([percent(300, 300), percent(0, 20)], ["100.0 (98.7–100.0)", "0.0 (0.0–16.1)"]);
    }
}
