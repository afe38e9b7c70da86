//! From visits to a move, and to the policy target.

use rand::{Rng, RngExt};

use crate::math;

/// visits^exponent, scaled to sum 1. All zeros give all zeros.
pub fn weights(visits: &[u32], exponent: f32) -> Vec<f32> {
    // Relative to the most visited, so that no exponent is too large.
    let most = f64::from(visits.iter().copied().max().unwrap_or(0).max(1));
    let power = |n: u32| match f64::from(n) / most {
        // The usual exponent needs no power, which takes longer than all the rest.
        share if exponent == 1.0 || n == 0 => share,
        share => math::double::pow(share, exponent.into()),
    };
    let powers: Vec<f64> = visits.iter().map(|&n| power(n)).collect();
    let sum: f64 = powers.iter().sum();
    let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    powers.iter().map(|power| (power * scale) as f32).collect()
}

/// Draws a position in `visits` with the probabilities of [`weights`]; `None` when nothing was visited.
pub fn draw(visits: &[u32], exponent: f32, rng: &mut impl Rng) -> Option<usize> {
    draw_from(&weights(visits, exponent), rng)
}

/// Draws a position in `weights`, which are not negative, with probabilities in proportion to them; `None` when all
/// are 0.
pub fn draw_from(weights: &[f32], rng: &mut impl Rng) -> Option<usize> {
    let total: f32 = weights.iter().sum();
    let mut rest = rng.random::<f32>() * total;
    let mut last = None;
    for (index, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = Some(index);
        rest -= weight;
        if rest < 0.0 {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn weights_are_squashed_visits() {
        let weights = weights(&[10, 5, 1, 0], 0.98);
        for (weight, expected) in weights.iter().zip([0.62047, 0.31456, 0.06497, 0.0]) {
            assert!((weight - expected).abs() < 1e-5, "{weights:?}");
        }
    }

    #[test]
    fn large_exponent_is_one_hot_and_no_exponent_is_too_large() {
        assert_eq!(weights(&[3, 800, 799], 1e9), [0.0, 1.0, 0.0]);
        assert_eq!(weights(&[3, 800, 800], f32::INFINITY), [0.0, 0.5, 0.5]);
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0u32; 4];
        for _ in 0..20_000 {
            counts[draw(&[10, 0, 5, 1], 0.98, &mut rng).unwrap()] += 1;
        }
        assert_eq!(counts[1], 0);
        // Three standard deviations of a binomial of 20,000 draws are at most 0.011.
        for (count, expected) in counts.iter().zip([0.62047, 0.0, 0.31456, 0.06497]) {
            assert!((f64::from(*count) / 20_000.0 - expected).abs() < 0.011, "{counts:?}");
        }
    }

    #[test]
    fn draws_follow_weights_of_any_sum() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut counts = [0u32; 3];
        for _ in 0..20_000 {
            counts[draw_from(&[0.3, 0.0, 0.1], &mut rng).unwrap()] += 1;
        }
        // Three standard deviations of a binomial of 20,000 draws are 0.0092.
        assert!(counts[1] == 0 && (f64::from(counts[0]) / 20_000.0 - 0.75).abs() < 0.0092, "{counts:?}");
        assert_eq!(draw_from(&[0.0, 0.0], &mut rng), None);
    }

    #[test]
    fn choice_without_visits_draws_no_move() {
        assert_eq!(draw(&[0, 0], 1.0, &mut Xoshiro256PlusPlus::seed_from_u64(1)), None);
    }
}
