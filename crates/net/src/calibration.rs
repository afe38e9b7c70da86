//! Whether values mean what they say.

use record::Example;
use serde::Serialize;

use crate::Losses;

/// Bins of predictions.
const BINS: usize = 10;

/// What examples cost a network, and how its values compare with what came of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What they cost, by their weights.
    pub losses: Losses,
    /// How often the side to move won, by how sure the network was of that.
    pub calibration: Calibration,
    /// Their values, for the side to move.
    pub values: Vec<f32>,
}

/// Predicted and actual results of the side to move, every position counting the same. A value v predicts a share of
/// (v + 1) / 2 of a win; a win is 1, a draw ½.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Predictions from 0 to 0.1, from 0.1 to 0.2, and so on; those at a boundary are in the upper one.
    pub bins: [Bin; BINS],
    /// Mean of (v − z)², z being the outcome from −1 to 1: 1 for constant 0 where no game is drawn.
    pub outcome_error: f64,
}

/// Positions whose predictions are near each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// How many.
    pub count: usize,
    /// Mean prediction, 0 to 1; `None` of no position.
    pub prediction: Option<f64>,
    /// Mean result, 0 to 1; `None` of no position.
    pub outcome: Option<f64>,
}

impl Calibration {
    /// Compares values for the side to move, −1 to 1, with the outcomes of the examples that they are of.
    ///
    /// # Panics
    /// When there is not a value for each example.
    pub fn new(examples: &[Example], values: &[f32]) -> Calibration {
        assert_eq!(examples.len(), values.len(), "one value an example");
        let outcome = |example: &Example| f64::from(example.to_move.sign()) * f64::from(example.outcome.as_i8());
        Calibration::of(values.iter().zip(examples).map(|(&value, example)| (f64::from(value), outcome(example))))
    }

    /// Of values and outcomes, both from −1 to 1.
    fn of(pairs: impl Iterator<Item = (f64, f64)>) -> Calibration {
        let (mut sums, mut squares) = ([(0, 0.0, 0.0); BINS], 0.0);
        for (value, outcome) in pairs {
            let prediction = (value + 1.0) / 2.0;
            let bin = &mut sums[((prediction * BINS as f64) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + prediction, bin.2 + (outcome + 1.0) / 2.0);
            squares += (value - outcome).powi(2);
        }
        let bins = sums.map(|(count, predictions, outcomes)| {
            let mean = |sum: f64| (count > 0).then(|| sum / count as f64);
            Bin { count, prediction: mean(predictions), outcome: mean(outcomes) }
        });
        let positions: usize = bins.iter().map(|bin| bin.count).sum();
        Calibration { bins, outcome_error: squares / positions.max(1) as f64 }
    }

    /// The expected calibration error: how far the mean prediction of a bin is from its mean result, on average over
    /// the positions (Guo et al. 2017, equation 3). 0 is best; of no position it is 0.
    pub fn error(&self) -> f64 {
        let positions: usize = self.bins.iter().map(|bin| bin.count).sum();
        let apart = |bin: &Bin| Some(bin.count as f64 * (bin.prediction? - bin.outcome?).abs());
        self.bins.iter().filter_map(apart).sum::<f64>() / positions.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    #[test]
    fn calibration_of_known_pairs_has_known_bins() {
        // Predictions 0.75, 0.75, 0.75 and 0.125 with results 1, 0, ½ and 0.
        let pairs = [(0.5, 1.0), (0.5, -1.0), (0.5, 0.0), (-0.75, -1.0)];
        let calibration = Calibration::of(pairs.into_iter());
        assert_eq!(calibration.bins[7], Bin { count: 3, prediction: Some(0.75), outcome: Some(0.5) });
        assert_eq!((calibration.bins[1].count, calibration.bins[1].outcome), (1, Some(0.0)));
        assert_eq!(calibration.bins[0], Bin::default());
        assert!((calibration.error() - (3.0 * 0.25 + 0.125) / 4.0).abs() < 1e-12, "{calibration:?}");
        let squares = 0.25 + 2.25 + 0.25 + 0.0625;
        assert!((calibration.outcome_error - squares / 4.0).abs() < 1e-12, "{calibration:?}");
    }

    #[test]
    fn every_value_has_a_bin() {
        let ends = Calibration::of([(-1.0, -1.0), (1.0, 1.0), (0.0, 1.0)].into_iter());
        assert_eq!(ends.bins.map(|bin| bin.count), [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert!((ends.error() - 0.5 / 3.0).abs() < 1e-12);
        let none = Calibration::of(std::iter::empty());
        assert_eq!((none.error(), none.outcome_error), (0.0, 0.0));
    }

    #[test]
    fn results_are_those_of_the_side_to_move() {
        let game = (0..).map(|index| synthetic::game("a-1", "w", index, go::Size::MIN, 4));
        let game = game.into_iter().find(|game| game.outcome.as_i8() != 0).unwrap();
        let examples = game.examples().unwrap();
        let right: Vec<f32> =
            examples.iter().map(|example| example.to_move.sign() * f32::from(example.outcome.as_i8())).collect();
        let calibration = Calibration::new(&examples, &right);
        assert_eq!((calibration.error(), calibration.outcome_error), (0.0, 0.0));
        assert!(calibration.bins[0].count > 0 && calibration.bins[BINS - 1].count > 0, "both sides were to move");
    }
}
