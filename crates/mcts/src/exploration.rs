//! Root exploration, in searches for training only.

use rand::Rng;

use crate::Noise;
use crate::formula::{decayed, noise_alpha};
use crate::math;

/// Exploration at the root, and the visits that are removed from the policy target again. For PUCT.
///
/// Gumbel search explores by its own sampling: it asks only whether there is an exploration at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exploration {
    /// Temperature of the root's priors, applied before the noise.
    pub temperature: RootTemperature,
    /// Noise in the root's priors.
    pub noise: Option<Noise>,
    /// k of sqrt(k·P·ΣN), the visits that each visited child of the root gets whatever its score; 0 for none.
    pub forced_visits: f32,
    /// Leave visits that the scores do not ask for out of the policy target.
    pub prune_target: bool,
}

/// The temperature of the root's priors over a game: P ← P^(1/T), scaled to sum 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootTemperature {
    /// T of the first move.
    pub early: f32,
    /// T that it approaches.
    pub late: f32,
    /// Moves in which half of the way is gone; 0: T stays `early`.
    pub halflife: f32,
}

impl Exploration {
    /// The exploration of self-play, on a board of `area` points.
    pub fn new(selfplay: &config::Selfplay, area: usize) -> Exploration {
        let noise = Noise {
            weight: selfplay.noise_weight,
            alpha: noise_alpha(selfplay.noise_alpha, area),
            shaped: selfplay.noise_shaped,
        };
        Exploration {
            temperature: RootTemperature {
                early: selfplay.root_temperature,
                late: selfplay.root_temperature_late,
                halflife: selfplay.root_temperature_halflife,
            },
            noise: (noise.weight > 0.0).then_some(noise),
            forced_visits: selfplay.forced_visits,
            prune_target: selfplay.prune_target,
        }
    }

    /// Turns the network's priors of the move that is `turn`-th, from 0, into those of the root.
    pub(crate) fn change(&self, turn: usize, priors: &mut [f32], rng: &mut impl Rng) {
        temper(priors, self.temperature.at(turn));
        if let Some(noise) = self.noise {
            noise.mix(priors, rng);
        }
    }
}

impl RootTemperature {
    /// Off: the priors stay as they are.
    pub const OFF: RootTemperature = RootTemperature { early: 1.0, late: 1.0, halflife: 0.0 };

    /// T of the move that is `turn`-th, from 0.
    pub fn at(&self, turn: usize) -> f32 {
        decayed(self.early, self.late, self.halflife, turn)
    }
}

fn temper(priors: &mut [f32], temperature: f32) {
    if temperature == 1.0 {
        return;
    }
    // Relative to the highest, so that they cannot all underflow.
    let highest = priors.iter().copied().fold(0.0, f32::max);
    priors.iter_mut().for_each(|prior| *prior = math::pow(*prior / highest, temperature.recip()));
    let sum: f32 = priors.iter().sum();
    priors.iter_mut().for_each(|prior| *prior /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperature_flattens_or_sharpens_and_one_is_the_identity() {
        let tempered = |temperature| {
            let mut priors = [0.64f32, 0.32, 0.04, 0.0];
            temper(&mut priors, temperature);
            priors
        };
        assert_eq!(tempered(1.0), [0.64, 0.32, 0.04, 0.0]);
        // Square roots 0.8, 0.5657, 0.2 and squares 0.4096, 0.1024, 0.0016, each scaled to sum 1.
        for (found, expected) in [(2.0, [0.5110, 0.3613, 0.1277, 0.0]), (0.5, [0.7975, 0.1994, 0.0031, 0.0])]
            .map(|(temperature, expected)| (tempered(temperature), expected))
        {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}");
        }
        assert_eq!(tempered(0.001), [1.0, 0.0, 0.0, 0.0], "the coldest is one-hot, not nothing");
    }
}
