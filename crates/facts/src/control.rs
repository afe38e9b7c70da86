//! Limits of control charts.

/// Three standard errors around a share among so many games: Shewhart's limits of a p chart ("Economic Control of
/// Quality of Manufactured Product", 1931). The threshold has this share of `calibrating` other games below it, and so
/// varies, too.
pub(crate) fn limits(share: f64, games: usize, calibrating: usize) -> (f64, f64) {
    let one_over = |games: usize| 1.0 / games.max(1) as f64;
    let half = 3.0 * (share * (1.0 - share) * (one_over(games) + one_over(calibrating))).sqrt();
    ((share - half).max(0.0), (share + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_close_in_with_the_games() {
        for games in [[3800, 3800], [2850, 5700]] {
            let (low, high) = limits(0.05, games[0], games[1]);
            assert!((low - 0.035).abs() < 1e-9 && (high - 0.065).abs() < 1e-9, "{low} {high}");
        }
        assert_eq!(limits(0.05, 10, 1000).0, 0.0);
        assert_eq!(limits(0.5, 0, 1000), (0.0, 1.0));
    }
}
