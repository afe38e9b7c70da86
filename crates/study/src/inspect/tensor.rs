//! Statistics of one tensor.

use net::ListedTensor;
use serde::Serialize;

/// Bars of a histogram.
const BARS: usize = 32;

/// Numbers below this part of the root mean square of their tensor are counted as near zero: of normal numbers 0.8 %.
pub(super) const NEAR_ZERO: f64 = 0.01;

/// Statistics of a tensor. Means and the like are of the numbers that are finite; they are absent where none is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TensorFacts {
    pub(super) name: String,
    pub(super) dimensions: Vec<usize>,
    pub(super) count: usize,
    pub(super) nan: usize,
    pub(super) infinite: usize,
    pub(super) mean: Option<f64>,
    /// Standard deviation of the numbers themselves, not of a sample.
    pub(super) deviation: Option<f64>,
    pub(super) least: Option<f64>,
    pub(super) largest: Option<f64>,
    /// √ of the sum of squares.
    pub(super) norm: Option<f64>,
    /// Share of the numbers whose size is at most [`NEAR_ZERO`] of their root mean square.
    pub(super) near_zero: Option<f64>,
    pub(super) histogram: Option<Histogram>,
    pub(super) against: Option<Against>,
}

/// How often numbers fall into each of [`BARS`] parts of equal width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Histogram {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) counts: Vec<usize>,
}

/// Comparison with the same tensor of another network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Against {
    /// ‖a − b‖ / ‖b‖; absent where a number is not finite, or only b is 0.
    pub(super) difference: Option<f64>,
    /// Whether all numbers are the same bit for bit.
    pub(super) equal: bool,
    pub(super) norm: Option<f64>,
    /// Over the same range as that of the first.
    pub(super) histogram: Option<Histogram>,
}

impl TensorFacts {
    /// What there is to tell of a tensor, and of `other`, which has as many numbers.
    pub(super) fn new(tensor: &ListedTensor, other: Option<&ListedTensor>) -> TensorFacts {
        let own = finite(&tensor.numbers);
        let others = other.map(|other| finite(&other.numbers));
        let range = range(own.iter().chain(others.iter().flatten()));
        let (least, largest) = range_of(&own);
        let size = root_mean_square(&own);
        let near = own.iter().filter(|number| number.abs() <= NEAR_ZERO * size).count();
        let some = |number: f64| (!own.is_empty()).then(|| shown(number)).flatten();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        let variance = own.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / own.len() as f64;
        TensorFacts {
            name: tensor.name.clone(),
            dimensions: tensor.dimensions.clone(),
            count: tensor.numbers.len(),
            nan: tensor.numbers.iter().filter(|number| number.is_nan()).count(),
            infinite: tensor.numbers.iter().filter(|number| number.is_infinite()).count(),
            mean: some(mean),
            deviation: some(variance.sqrt()),
            least: some(least),
            largest: some(largest),
            norm: some(norm(&own)),
            near_zero: some(near as f64 / own.len() as f64),
            histogram: range.map(|range| Histogram::new(&own, range)),
            against: other.zip(others).map(|(other, numbers)| Against {
                difference: difference(&tensor.numbers, &other.numbers).and_then(shown),
                equal: tensor.numbers.iter().zip(&other.numbers).all(|(a, b)| a.to_bits() == b.to_bits()),
                norm: shown(norm(&numbers)),
                histogram: range.map(|range| Histogram::new(&numbers, range)),
            }),
        }
    }

    /// Numbers that are none.
    pub(super) fn broken(&self) -> usize {
        self.nan + self.infinite
    }
}

impl Histogram {
    fn new(numbers: &[f64], (from, to): (f64, f64)) -> Histogram {
        Histogram { from, to, counts: counts(numbers, (from, to), BARS) }
    }
}

/// How many numbers are in each part of the range; numbers beyond an end are counted there.
pub(super) fn counts(numbers: &[f64], (low, high): (f64, f64), bars: usize) -> Vec<usize> {
    let mut counts = vec![0; bars];
    for number in numbers {
        let place = (number - low) / (high - low) * bars as f64;
        counts[(place.max(0.0) as usize).min(bars - 1)] += 1;
    }
    counts
}

/// ‖a − b‖ / ‖b‖.
pub(super) fn difference(a: &[f32], b: &[f32]) -> Option<f64> {
    let apart = a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2)).sum::<f64>().sqrt();
    let length = b.iter().map(|&b| f64::from(b).powi(2)).sum::<f64>().sqrt();
    if apart == 0.0 { Some(0.0) } else { Some(apart / length).filter(|number| number.is_finite()) }
}

pub(super) fn finite(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().filter(|number| number.is_finite()).map(|&number| f64::from(number)).collect()
}

pub(super) fn norm(numbers: &[f64]) -> f64 {
    numbers.iter().map(|number| number * number).sum::<f64>().sqrt()
}

fn root_mean_square(numbers: &[f64]) -> f64 {
    norm(numbers) / (numbers.len().max(1) as f64).sqrt()
}

fn range_of<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> (f64, f64) {
    numbers.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &n| (low.min(n), high.max(n)))
}

/// Where the numbers are, with a margin where they are all the same; `None` of none.
fn range<'a>(numbers: impl Iterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let (low, high) = range_of(numbers);
    let room = if low == high { 0.5 * low.abs().max(1e-6) } else { 0.0 };
    (low <= high).then_some((low - room, high + room))
}

/// A number with the digits that a page can show; `None` of one that is none.
pub(super) fn shown(number: f64) -> Option<f64> {
    if number.is_finite() { format!("{number:.4e}").parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(numbers: &[f32]) -> ListedTensor {
        ListedTensor { name: "x".to_owned(), dimensions: vec![numbers.len()], numbers: numbers.to_vec() }
    }

    #[test]
    fn facts_of_a_known_tensor_are_known() {
        let facts = TensorFacts::new(&tensor(&[3.0, -1.0, 0.001, 3.999]), None);
        assert_eq!((facts.count, facts.broken()), (4, 0));
        assert_eq!((facts.mean, facts.least, facts.largest), (Some(1.5), Some(-1.0), Some(3.999)));
        // Squares 9, 1, 0 and 15.992; differences from the mean 1.5, −2.5, −1.499 and 2.499.
        assert_eq!(facts.norm, Some(5.0982));
        assert_eq!(facts.deviation, Some(2.0611));
        assert_eq!(facts.near_zero, Some(0.25));
        let histogram = facts.histogram.unwrap();
        assert_eq!((histogram.from, histogram.counts.iter().sum::<usize>()), (-1.0, 4));
        assert_eq!((histogram.counts[0], histogram.counts[BARS - 1]), (1, 1));
    }

    #[test]
    fn nan_is_counted_and_excluded() {
        let facts = TensorFacts::new(&tensor(&[f32::NAN, 2.0, f32::INFINITY, f32::NEG_INFINITY]), None);
        assert_eq!((facts.nan, facts.infinite, facts.mean, facts.deviation), (1, 2, Some(2.0), Some(0.0)));
        let none = TensorFacts::new(&tensor(&[f32::NAN]), Some(&tensor(&[f32::NAN])));
        assert_eq!((none.mean, none.norm, none.near_zero, &none.histogram), (None, None, None, &None));
        let against = none.against.unwrap();
        assert_eq!((against.difference, against.equal, against.histogram), (None, true, None));
    }

    #[test]
    fn zeros_are_near_zero_and_have_a_histogram() {
        let facts = TensorFacts::new(&tensor(&[0.0; 5]), None);
        assert_eq!((facts.near_zero, facts.norm), (Some(1.0), Some(0.0)));
        assert_eq!(facts.histogram.unwrap().counts[BARS / 2], 5);
    }

    #[test]
    fn differences_are_relative_to_the_other() {
        let against = |a: &[f32], b: &[f32]| TensorFacts::new(&tensor(a), Some(&tensor(b))).against.unwrap();
        assert_eq!(against(&[3.0, 0.0], &[0.0, 4.0]).difference, Some(1.25));
        let same = against(&[3.0, 0.0], &[3.0, 0.0]);
        assert_eq!((same.difference, same.equal, same.norm), (Some(0.0), true, Some(3.0)));
        assert_eq!(against(&[0.0], &[0.0]).difference, Some(0.0));
        assert_eq!(against(&[1.0], &[0.0]).difference, None);
        assert_eq!(against(&[f32::MAX], &[f32::MIN]).difference, Some(2.0));
        // Both in one range: −1 to 3.
        let apart = TensorFacts::new(&tensor(&[3.0]), Some(&tensor(&[-1.0])));
        assert_eq!(apart.histogram.unwrap().counts[BARS - 1], 1);
        assert_eq!(apart.against.unwrap().histogram.unwrap().counts[0], 1);
    }
}
