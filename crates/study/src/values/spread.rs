//! Values of a network by symmetry: those of the eight images of a position differ where the network is unsure.

use std::fmt;

use mcts::{Draw, Evaluator, Request, Value};
use record::DeepPosition;
use runtime::Stop;
use serde::Serialize;

use super::outputs;
use crate::statistics::{Estimate, three_places};

/// Symmetries of a position. The draws of these first numbers have one each.
const SYMMETRIES: u64 = 8;

/// The network's values of one position.
#[derive(Clone, Copy)]
struct Seen {
    /// Their standard deviation.
    spread: f64,
    /// The mean of their squared errors.
    squared_error: f64,
    /// The squared error of their mean.
    squared_error_of_mean: f64,
}

/// Means over positions, with half of their 95 % intervals; none of fewer than two positions.
#[derive(Serialize)]
struct Band {
    positions: usize,
    spread: Option<Estimate>,
    /// Of the value in one symmetry, as searches see it.
    squared_error: Option<Estimate>,
    /// Of the mean over the symmetries.
    squared_error_of_mean: Option<Estimate>,
}

/// Squared errors of values by their standard deviation over the symmetries.
#[derive(Serialize)]
pub(super) struct Spread {
    /// The standard deviation that half of the positions do not exceed.
    median: f64,
    all: Band,
    up_to_median: Band,
    above_median: Band,
}

impl Spread {
    /// Evaluates each position, one at least, in all symmetries; none when the program is to stop.
    ///
    /// # Errors
    /// The model fails.
    pub(super) fn measure(
        komi: f32,
        references: &[DeepPosition],
        model: &mut dyn Evaluator,
        stop: &Stop,
    ) -> anyhow::Result<Option<Spread>> {
        let mut seen = Vec::with_capacity(references.len());
        for reference in references {
            if stop.requested() {
                return Ok(None);
            }
            let game = &reference.game;
            let requests: Vec<Request<'_>> =
                (0..SYMMETRIES).map(|bits| Request { game, komi, draw: Draw::new(bits) }).collect();
            seen.push(measure(reference.value.into(), &outputs::values(model, &requests)?));
        }
        Ok(Some(Spread::of(&seen)))
    }

    fn of(seen: &[Seen]) -> Spread {
        let mut spreads: Vec<f64> = seen.iter().map(|seen| seen.spread).collect();
        spreads.sort_by(f64::total_cmp);
        let median = spreads[(spreads.len() - 1) / 2];
        let band = |within: &dyn Fn(f64) -> bool| {
            let those: Vec<Seen> = seen.iter().filter(|seen| within(seen.spread)).copied().collect();
            let estimate = |of: fn(&Seen) -> f64| Estimate::of_any(those.iter().map(of));
            Band {
                positions: those.len(),
                spread: estimate(|seen| seen.spread),
                squared_error: estimate(|seen| seen.squared_error),
                squared_error_of_mean: estimate(|seen| seen.squared_error_of_mean),
            }
        };
        Spread {
            median,
            all: band(&|_| true),
            up_to_median: band(&|spread| spread <= median),
            above_median: band(&|spread| spread > median),
        }
    }
}

fn measure(deep: f64, values: &[Value]) -> Seen {
    let mean = |of: &dyn Fn(f64) -> f64| {
        values.iter().map(|value| of(value.black().into())).sum::<f64>() / values.len() as f64
    };
    let centre = mean(&|value| value);
    Seen {
        spread: mean(&|value| (value - centre).powi(2)).sqrt(),
        squared_error: mean(&|value| (value - deep).powi(2)),
        squared_error_of_mean: (centre - deep).powi(2),
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values in 8 symmetries  positions          spread     value error   error of mean")?;
        let [up_to, above] = ["up to", "above"].map(|side| format!("{side} median {:.3}", self.median));
        let bands = [("all", &self.all), (up_to.as_str(), &self.up_to_median), (above.as_str(), &self.above_median)];
        bands.iter().try_for_each(|(name, band)| write!(f, "\n{name:<23} {band}"))
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9}", self.positions)?;
        let means = [self.spread, self.squared_error, self.squared_error_of_mean];
        means.iter().try_for_each(|&mean| write!(f, " {:>15}", three_places(mean)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::made_up::{made_up, references};

    #[test]
    fn errors_are_split_at_the_median_spread() {
        let references = references(
            r#"{"moves": [], "value": 0.0, "visits": [["e5", 1]]}
            {"moves": ["e5"], "value": -0.5, "visits": [["c3", 1]]}
            {"moves": ["e5", "c3"], "value": 0.5, "visits": [["g7", 1]]}
            {"moves": ["e5", "c3", "g7"], "value": 0.1, "visits": [["c7", 1]]}"#,
        );
        // 0, but 0.2 in every second symmetry after an odd number of moves.
        let mut model = made_up(|request| {
            let both = request.game.turn() % 2 == 1 && request.draw.symmetry().index() % 2 == 1;
            Value::for_black(if both { 0.2 } else { 0.0 })
        });
        let spread = Spread::measure(7.0, &references, &mut model, &Stop::never());
        let spread = spread.expect("it cannot fail").expect("no stop is requested");
        let mean = |of: Option<Estimate>| of.map(|of| (of.mean * 1e6).round() / 1e6);
        let means = |band: &Band| [band.spread, band.squared_error, band.squared_error_of_mean].map(mean);
        assert_eq!((spread.all.positions, means(&spread.all)), (4, [0.05, 0.1575, 0.1525].map(Some)));
        assert_eq!((spread.up_to_median.positions, means(&spread.up_to_median)), (2, [0.0, 0.125, 0.125].map(Some)));
        assert_eq!((spread.above_median.positions, means(&spread.above_median)), (2, [0.1, 0.19, 0.18].map(Some)));
    }

    #[test]
    fn band_without_positions_has_no_numbers() {
        let same = Seen { spread: 0.0, squared_error: 0.25, squared_error_of_mean: 0.25 };
        let spread = Spread::of(&[same, same]);
        assert_eq!((spread.up_to_median.positions, spread.above_median.positions), (2, 0));
        let text = spread.to_string();
        assert!(!text.contains("NaN") && text.contains("0.250 ± 0.000") && text.ends_with('–'), "{text}");
    }
}
