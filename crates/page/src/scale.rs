//! Scales of axes: from values to shares of the axis, and round numbers between.

/// How an axis is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios. Only positive values are on it.
    Log,
}

impl Scale {
    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
        }
    }

    /// The number that grows evenly along the axis; `None` for a value that is not on it.
    pub(crate) fn place(self, value: f64) -> Option<f64> {
        match self {
            Scale::Linear => Some(value).filter(|value| value.is_finite()),
            Scale::Log => Some(value.log10()).filter(|place| place.is_finite() && value > 0.0),
        }
    }
}

/// A part of an axis, from a value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Range {
    /// The part that holds all of these values.
    pub(crate) fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Range {
        Range::with_space(scale, values, |_| 0.0)
    }

    /// The part that holds all of these values, with some space at both ends.
    pub(crate) fn padded(scale: Scale, values: impl Iterator<Item = f64>) -> Range {
        Range::with_space(scale, values, |width| width * 0.04)
    }

    /// The part that holds all of these values, with a space at both ends that depends on its width.
    fn with_space(scale: Scale, values: impl Iterator<Item = f64>, space: impl Fn(f64) -> f64) -> Range {
        let places = values.filter_map(|value| scale.place(value));
        let (low, high) =
            places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| (low.min(place), high.max(place)));
        if low > high {
            return Range { scale, low: 0.0, high: 1.0 };
        }
        let (width, size) = (high - low, high.abs().max(low.abs()));
        // Places of logarithms have no size that space could be a share of: that of 1 is 0.
        let unit = if scale == Scale::Log { size.max(1.0) } else { size };
        let space = match width <= 4.0 * f64::EPSILON * unit {
            true if scale == Scale::Log || size == 0.0 => 0.5,
            true => size * 0.1,
            false => space(width),
        };
        Range { scale, low: low - space, high: high + space }
    }

    /// The ends, on the even side of the scale.
    pub(crate) fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Where a value is, as a share of the axis.
    pub(crate) fn share(self, value: f64) -> Option<f64> {
        let place = self.scale.place(value)?;
        Some((place - self.low) / (self.high - self.low))
    }

    /// Round numbers, about so many.
    pub(crate) fn ticks(self, count: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => steps(self.low, self.high, count),
            Scale::Log => decades(self.low, self.high, count),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn steps(low: f64, high: f64, count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(1) as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // What is closest to zero would read as a tiny number.
    let number = |at: f64| if at == 0.0 { 0.0 } else { at * step };
    (0..=(last - first).max(-1.0) as i64).map(|at| number(first + at as f64)).filter(|_| last >= first).collect()
}

/// Powers of ten, with twos and fives where there are few.
fn decades(low: f64, high: f64, count: usize) -> Vec<f64> {
    let factors: &[f64] = match high - low {
        width if width > count as f64 => return steps(low, high, count).into_iter().map(|e| 10_f64.powf(e)).collect(),
        width if width > count as f64 / 3.0 => &[1.0],
        width if width > 0.7 => &[1.0, 2.0, 5.0],
        _ => return steps(10_f64.powf(low), 10_f64.powf(high), count),
    };
    let powers = low.floor() as i32..=high.ceil() as i32;
    let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
    all.filter(|value| (low - 1e-9..=high + 1e-9).contains(&value.log10())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = |scale, values: [f64; 2], count| Range::of(scale, values.into_iter()).ticks(count);
        assert_eq!(ticks(Scale::Linear, [0.0, 10.0], 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(Scale::Linear, [-730.0, 410.0], 4), [-500.0, 0.0]);
        assert_eq!(ticks(Scale::Log, [1.0, 1000.0], 5), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(Scale::Log, [1.0, 30.0], 5), [1.0, 2.0, 5.0, 10.0, 20.0]);
        assert!(ticks(Scale::Log, [1e-9, 1e9], 5).len() <= 6);
    }

    #[test]
    fn constant_value_has_space_in_proportion_to_it() {
        let ends = |scale, value: f64| Range::padded(scale, [value, value].into_iter()).ends();
        for value in [0.02, -0.02, 1e-9, 3.0, 4e6] {
            let (low, high) = ends(Scale::Linear, value);
            assert!(low < value && value < high && high - low <= 0.21 * value.abs(), "{value}: {low} to {high}");
        }
        assert_eq!(ends(Scale::Linear, 0.0), (-0.5, 0.5));
        assert_eq!(ends(Scale::Log, 1.0), (-0.5, 0.5));
        assert_eq!(ends(Scale::Log, 100.0), (1.5, 2.5));
    }

    #[test]
    fn every_range_has_a_width() {
        for values in [vec![], vec![3.0], vec![0.0, 0.0], vec![1e9, 1e9], vec![f64::NAN]] {
            for scale in [Scale::Linear, Scale::Log] {
                let range = Range::padded(scale, values.iter().copied());
                let (low, high) = range.ends();
                assert!(low < high, "{values:?} {scale:?}");
                assert!(range.ticks(5).iter().all(|tick| range.share(*tick).is_some_and(|share| share.is_finite())));
            }
        }
        assert_eq!(Range::of(Scale::Log, [0.0, -1.0, 10.0, 100.0].into_iter()).ends(), (1.0, 2.0));
    }
}
