//! Intervals of 95 %, and the Elo scale.

/// The 97.5 % quantile of the normal distribution: half of a 95 % interval, in standard errors.
const Z: f64 = 1.959_963_984_540_054;

/// The difference in Elo at which the odds are 10 to 1.
pub const TEN_TO_ONE: f64 = 400.0;

/// Half of the 95 % interval of a normally distributed number with this standard error, in the unit of the error.
pub fn margin(error: f64) -> f64 {
    Z * error
}

/// The 95 % interval of a share of which `hits` of `trials` were seen: Wilson, "Probable Inference, the Law of
/// Succession, and Statistical Inference" (1927). Without trials it is everything, 0 to 1.
pub fn wilson(hits: usize, trials: usize) -> (f64, f64) {
    wilson_score(hits as f64, trials)
}

/// The same interval of a score, from 0 to 1, of so many points in `games`, a draw being half a point. Points vary less
/// with draws than without, so that it then holds the true score more often than stated.
pub fn wilson_score(points: f64, games: usize) -> (f64, f64) {
    if games == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (games as f64, points / games as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

/// The share of the points, from 0 to 1, that a player makes who is `lead` Elo stronger: the logistic curve of Elo.
pub fn expected_score(lead: f64) -> f64 {
    1.0 / (1.0 + 10.0_f64.powf(-lead / TEN_TO_ONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn margin_is_half_of_an_interval_of_the_normal_distribution() {
        // scipy.stats.norm.interval(0.95, scale=100)
        close(margin(100.0), 195.996_398_454_005_4);
        assert_eq!(margin(0.0), 0.0);
    }

    #[test]
    fn intervals_are_wilsons() {
        // statsmodels.stats.proportion.proportion_confint(hits, trials, method="wilson")
        for (hits, trials, low, high) in
            [(5, 100, 0.021_543_68, 0.111_750_47), (0, 20, 0.0, 0.161_125_15), (20, 20, 0.838_874_85, 1.0)]
        {
            let (a, b) = wilson(hits, trials);
            close(a, low);
            close(b, high);
        }
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        // Newcombe, Statistics in Medicine 17 (1998), table I.
        let (low, high) = wilson(81, 263);
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4, "{low} {high}");
    }

    /// Wilson's bounds are where (share − p)² = Z²·p·(1 − p)/n; these solve it as a quadratic equation in p.
    #[test]
    fn interval_of_a_score_counts_half_points() {
        for (points, games, low, high) in [
            (0.5, 1, 0.054_620_755_529, 0.945_379_244_471),
            (2.5, 10, 0.080_947_824_210, 0.557_818_575_722),
            (97.5, 100, 0.922_636_011_699, 0.992_220_165_004),
        ] {
            let (a, b) = wilson_score(points, games);
            close(a, low);
            close(b, high);
        }
        assert_eq!((wilson_score(3.0, 10), wilson_score(0.0, 0)), (wilson(3, 10), (0.0, 1.0)));
    }

    #[test]
    fn odds_are_ten_to_one_at_400_elo() {
        for (lead, score) in [(0.0, 0.5), (400.0, 10.0 / 11.0), (-400.0, 1.0 / 11.0), (800.0, 100.0 / 101.0)] {
            close(expected_score(lead), score);
        }
    }
}
