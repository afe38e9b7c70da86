//! Limits of control charts.

/// Three standard errors around a share among so many games: Shewhart's limits of a p chart ("Economic Control of Quality
/// of Manufactured Product", 1931).
pub(crate) fn limits(share: f64, games: usize) -> (f64, f64) {
    let half = 3.0 * (share * (1.0 - share) / games.max(1) as f64).sqrt();
    ((share - half).max(0.0), (share + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_close_in_with_the_games() {
        let (low, high) = limits(0.05, 1900);
        assert!((low - 0.035).abs() < 1e-9 && (high - 0.065).abs() < 1e-9, "{low} {high}");
        assert_eq!(limits(0.05, 10).0, 0.0);
        assert_eq!(limits(0.5, 0), (0.0, 1.0));
    }
}
