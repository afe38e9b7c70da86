//! The resignation threshold: what calibration games say about it.
//!
//! The threshold is a quantile of the *winner's minimum root values*: in each calibration game, the worst root value
//! that the eventual winner saw on its own turns. A threshold at the 5 % quantile would have thrown away about 5 % of
//! these wins. That it does so among the games that it comes from is no finding: what it costs is counted in games that
//! were played under it ([`crate::GameSummary::would_resign_wrongly`]).
//!
//! A drawn game has no winner, so there is no win in it to throw away: draws have no winner's minimum root value, and
//! count neither for the quantile nor towards the number of games it needs.

use crate::statistics::wilson;
use crate::{GameRecord, Outcome, Turn};

/// The worst root value that the winner saw at a searched turn of its own, as the winner saw it; `None` without a
/// winner.
pub fn winner_min_value(outcome: Outcome, turns: &[Turn]) -> Option<f32> {
    let winner = outcome.winner()?;
    let own = turns.iter().enumerate().filter(|(turn, _)| GameRecord::to_move(*turn) == winner);
    own.filter(|(_, turn)| turn.is_searched()).map(|(_, turn)| winner.sign() * turn.root_value).min_by(f32::total_cmp)
}

/// Statistics of the last calibration games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResignCalibration {
    /// Root value for the mover below which it should resign: -1 to 0.
    pub threshold: f32,
    /// Calibration games with a winner that it comes from.
    pub games: usize,
    /// Those of them that the winner would have resigned at this threshold.
    pub lost: usize,
}

impl ResignCalibration {
    /// The threshold that `winner_min`, the winner's minimum root values of the last calibration games in any order,
    /// call for: their `quantile`, but never above 0, so that no player resigns a game it expects to win.
    ///
    /// `None` while there are fewer than `min_games`, or none, or the quantile is not from 0 to 1.
    pub fn of(winner_min: &[f32], quantile: f64, min_games: usize) -> Option<ResignCalibration> {
        if winner_min.len() < min_games {
            return None;
        }
        let threshold = self::quantile(winner_min, quantile)?.min(0.0);
        Some(ResignCalibration { threshold, games: winner_min.len(), lost: lost(winner_min, threshold) })
    }

    /// Share of the games that the winner would have resigned: the quantile, but for ties, rounding and the bound of 0.
    pub fn false_positive_rate(&self) -> f64 {
        self.lost as f64 / self.games as f64
    }

    /// The 95 % interval of that share.
    pub fn interval(&self) -> (f64, f64) {
        wilson(self.lost, self.games)
    }
}

/// How many of these games the winner would have resigned at `threshold`: the false positives.
pub fn lost(winner_min: &[f32], threshold: f32) -> usize {
    winner_min.iter().filter(|&&value| value < threshold).count()
}

/// The quantile of some values, interpolated linearly between neighbours: NumPy's default, and type 7 of Hyndman and
/// Fan, "Sample Quantiles in Statistical Packages" (1996). `None` without values, or for a share outside 0 to 1.
pub fn quantile(values: &[f32], share: f64) -> Option<f32> {
    if values.is_empty() || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let (low, high) = (f64::from(sorted[below]), f64::from(sorted[(below + 1).min(sorted.len() - 1)]));
    Some((low + (high - low) * (place - below as f64)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([-0.9, -0.5, 0.1, -0.7], q) for these q.
        let values = [-0.9, -0.5, 0.1, -0.7];
        for (share, expected) in [(0.0, -0.9), (0.05, -0.87), (0.5, -0.6), (0.9, -0.08), (1.0, 0.1)] {
            close(quantile(&values, share).unwrap().into(), expected);
        }
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[0.5], 0.05), Some(0.5));
        for share in [-0.1, 1.1, f64::NAN] {
            assert_eq!(quantile(&values, share), None);
        }
    }

    #[test]
    fn threshold_loses_about_its_share_of_the_wins() {
        let winner_min: Vec<f32> = (0..500).map(|i| -1.0 + i as f32 / 500.0).collect();
        let found = ResignCalibration::of(&winner_min, 0.05, 50).unwrap();
        assert_eq!((found.games, found.lost), (500, 25));
        close(found.false_positive_rate(), 0.05);
        let (low, high) = found.interval();
        assert!(low < 0.05 && 0.05 < high);
        close(found.threshold.into(), -0.9501);
    }

    #[test]
    fn threshold_never_resigns_an_expected_win() {
        let found = ResignCalibration::of(&[0.2; 60], 0.05, 50).unwrap();
        assert_eq!((found.threshold, found.lost), (0.0, 0));
    }

    /// A player resigns below the threshold, and not at it.
    #[test]
    fn win_at_the_threshold_is_not_lost() {
        let found = ResignCalibration::of(&[-0.5; 60], 0.05, 50).unwrap();
        assert_eq!((found.threshold, found.lost), (-0.5, 0));
    }

    #[test]
    fn too_few_games_give_no_threshold() {
        assert_eq!(ResignCalibration::of(&[-0.5; 49], 0.05, 50), None);
        assert_eq!(ResignCalibration::of(&[], 0.05, 0), None);
    }
}
