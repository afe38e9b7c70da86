//! Dirichlet noise for the root.

use rand::Rng;

use crate::{math, sample};

/// How much noise the root gets, and of what shape: P ← (1 − weight)·P + weight·η, η ~ Dirichlet(alpha·shape).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Share of noise, 0 to 1.
    pub weight: f32,
    /// Concentration per legal move; see [`crate::formula::noise_alpha`].
    pub alpha: f32,
    /// Share of the concentration that goes to the moves with a good prior, 0 to 1; the rest goes to all alike.
    pub shaped: f32,
}

impl Noise {
    /// Mixes noise into `priors`, which sum to 1 and do so afterwards.
    pub(crate) fn mix(&self, priors: &mut [f32], rng: &mut impl Rng) {
        let eta = dirichlet(&self.concentrations(priors), rng);
        for (prior, eta) in priors.iter_mut().zip(eta) {
            *prior = (1.0 - self.weight) * *prior + self.weight * eta;
        }
    }

    /// The concentration of each move; together `alpha` for each.
    fn concentrations(&self, priors: &[f32]) -> Vec<f32> {
        let scale = self.shaped * priors.len() as f32;
        shape(priors).into_iter().map(|share| self.alpha * (1.0 - self.shaped + scale * share)).collect()
    }
}

/// KataGo's shape of noise, which sums to 1: what the logarithm of a prior, capped at 1 %, is above the mean of all.
/// Flat where no prior stands out.
fn shape(priors: &[f32]) -> Vec<f32> {
    // The small number keeps the logarithm of a prior of 0 finite.
    let logs: Vec<f32> = priors.iter().map(|prior| math::ln(prior.min(0.01) + 1e-20)).collect();
    let mean = logs.iter().sum::<f32>() / logs.len() as f32;
    let excess = |log: &f32| (log - mean).max(0.0);
    let sum: f32 = logs.iter().map(excess).sum();
    let share = |log| if sum > 0.0 { excess(log) / sum } else { 1.0 / priors.len() as f32 };
    logs.iter().map(share).collect()
}

/// One draw from a Dirichlet distribution.
fn dirichlet(concentrations: &[f32], rng: &mut impl Rng) -> Vec<f32> {
    let len = concentrations.len();
    let draws: Vec<f64> = concentrations.iter().map(|&alpha| sample::gamma(alpha.into(), rng)).collect();
    let sum: f64 = draws.iter().sum();
    // With a tiny alpha every draw can underflow to zero; a flat draw is then the harmless one.
    let normalise = |draw: f64| if sum > 0.0 { draw / sum } else { 1.0 / len as f64 };
    draws.into_iter().map(|draw| normalise(draw) as f32).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Mean and variance of one component are 1/n and (n − 1)/(n²(nα + 1)).
    #[test]
    fn draws_are_dirichlet() {
        let (alpha, len, rounds) = (0.1337f32, 82, 4000);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws: Vec<Vec<f32>> = (0..rounds).map(|_| dirichlet(&[alpha; 82], &mut rng)).collect();
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
        Noise { weight: 0.25, alpha: 0.13, shaped: 0.0 }.mix(&mut priors, &mut Xoshiro256PlusPlus::seed_from_u64(7));
        assert!((priors.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(priors[0] >= 0.375 && priors[1] >= 0.225 && priors[2] >= 0.15 && priors[3] >= 0.0);
    }

    #[test]
    fn vanishing_alpha_gives_flat_noise() {
        let eta = dirichlet(&[1e-30; 4], &mut Xoshiro256PlusPlus::seed_from_u64(1));
        assert!((eta.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{eta:?}");
    }

    /// Logarithms of 0.01, 0.01 and twice 0.0001: the mean is that of 0.001, the first two are ln 10 above it.
    #[test]
    fn shape_is_what_a_capped_logarithm_is_above_the_mean() {
        let shape = shape(&[0.9, 0.0998, 0.0001, 0.0001]);
        assert!(shape.iter().zip([0.5, 0.5, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{shape:?}");
        assert_eq!(super::shape(&[0.25; 4]), [0.25; 4], "no prior stands out");
    }

    #[test]
    fn shaping_moves_concentration_and_keeps_its_sum() {
        let priors = [0.9, 0.0998, 0.0001, 0.0001];
        let of = |shaped| Noise { weight: 0.25, alpha: 0.1, shaped }.concentrations(&priors);
        assert_eq!(of(0.0), [0.1; 4]);
        for (shaped, expected) in [(0.5, [0.15, 0.15, 0.05, 0.05]), (1.0, [0.2, 0.2, 0.0, 0.0])] {
            assert!(of(shaped).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{:?}", of(shaped));
        }
    }

    /// The mean of a component is its concentration over the sum of all.
    #[test]
    fn shaped_draws_have_the_shape_for_their_mean() {
        let (alphas, rounds) = ([0.15, 0.15, 0.05, 0.05, 0.0], 20_000);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut sums = [0.0; 5];
        for _ in 0..rounds {
            sums.iter_mut().zip(dirichlet(&alphas, &mut rng)).for_each(|(sum, eta)| *sum += f64::from(eta));
        }
        for (sum, alpha) in sums.iter().zip(alphas) {
            // Three standard errors: the deviation of one draw is at most 0.5.
            assert!((sum / f64::from(rounds) - f64::from(alpha) / 0.4).abs() < 0.011, "{sums:?}");
        }
        assert_eq!(sums[4], 0.0);
    }
}
