//! Dirichlet noise for the root.

use rand::{Rng, RngExt};

use crate::sample;

/// How much noise the root gets: P ← (1 − weight)·P + weight·η, η ~ Dirichlet(alpha).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Share of noise, 0 to 1.
    pub weight: f32,
    /// Concentration per legal move.
    pub alpha: f32,
}

impl Noise {
    /// Mixes noise into `priors`, which sum to 1 and do so afterwards.
    pub(crate) fn mix(&self, priors: &mut [f32], rng: &mut impl Rng) {
        let eta = dirichlet(self.alpha, priors.len(), rng);
        for (prior, eta) in priors.iter_mut().zip(eta) {
            *prior = (1.0 - self.weight) * *prior + self.weight * eta;
        }
    }
}

/// One draw from a symmetric Dirichlet distribution.
fn dirichlet(alpha: f32, len: usize, rng: &mut impl Rng) -> Vec<f32> {
    let draws: Vec<f64> = (0..len).map(|_| sample::gamma(alpha.into(), rng)).collect();
    let sum: f64 = draws.iter().sum();
    if sum > 0.0 {
        return draws.into_iter().map(|draw| (draw / sum) as f32).collect();
    }
    // With a tiny alpha every draw can underflow to zero. One of them is then far larger than the others.
    let largest = rng.random_range(0..len.max(1));
    (0..len).map(|index| if index == largest { 1.0 } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::formula::noise_alpha;

    /// Mean and variance of one component are 1/n and (n − 1)/(n²(nα + 1)).
    #[test]
    fn draws_are_dirichlet() {
        let (alpha, len, rounds) = (0.1337f32, 82, 4000);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws: Vec<Vec<f32>> = (0..rounds).map(|_| dirichlet(alpha, 82, &mut rng)).collect();
        let first: Vec<f64> = draws.iter().flat_map(|draw| draw.iter().map(|&x| f64::from(x))).collect();
        let n = len as f64;
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        let variance = first.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / first.len() as f64;
        let expected = (n - 1.0) / (n * n * (n * f64::from(alpha) + 1.0));
        assert!((mean - 1.0 / n).abs() < 1e-6, "mean {mean}");
        assert!((variance / expected - 1.0).abs() < 0.03, "variance {variance}, expected {expected}");
    }

    #[test]
    fn mixture_sums_to_one_and_keeps_its_share() {
        let mut priors = vec![0.5, 0.3, 0.2, 0.0];
        Noise { weight: 0.25, alpha: 0.13 }.mix(&mut priors, &mut Xoshiro256PlusPlus::seed_from_u64(7));
        assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(priors[0] >= 0.375 && priors[1] >= 0.225 && priors[2] >= 0.15 && priors[3] >= 0.0);
    }

    /// The limit of the distribution.
    #[test]
    fn vanishing_alpha_puts_all_noise_on_a_random_move() {
        let (mut rng, mut chosen) = (Xoshiro256PlusPlus::seed_from_u64(1), [0; 4]);
        for _ in 0..100 {
            let eta = dirichlet(1e-30, 4, &mut rng);
            let slot = eta.iter().position(|&share| share == 1.0).expect("a move has all of it");
            assert_eq!(eta.iter().sum::<f32>(), 1.0, "{eta:?}");
            chosen[slot] += 1;
        }
        // 25 each are expected; four standard deviations are 17.3.
        assert!(chosen.iter().all(|&draws| draws > 7), "{chosen:?}");
    }

    #[test]
    fn mixture_is_finite_with_the_largest_alpha_of_the_smallest_board() {
        let (mut priors, mut rng) = ([0.2; 5], Xoshiro256PlusPlus::seed_from_u64(7));
        Noise { weight: 0.25, alpha: noise_alpha(1000.0, 4) }.mix(&mut priors, &mut rng);
        // So much alpha is flat noise.
        assert!(priors.iter().all(|prior| (prior - 0.2).abs() < 0.01), "{priors:?}");
    }
}
