//! Root exploration, in searches for training only.

use crate::Noise;
use crate::formula::noise_alpha;

/// Exploration at the root. For PUCT.
///
/// Gumbel search explores by its own sampling: it asks only whether there is an exploration at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exploration {
    /// Noise in the root's priors.
    pub noise: Option<Noise>,
}

impl Exploration {
    /// The exploration of self-play, on a board of `area` points.
    pub fn new(selfplay: &config::Selfplay, area: usize) -> Exploration {
        let noise = Noise { weight: selfplay.noise_weight, alpha: noise_alpha(selfplay.noise_alpha, area) };
        Exploration { noise: (noise.weight > 0.0).then_some(noise) }
    }
}
