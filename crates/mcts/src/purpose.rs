//! What a search is for, which decides how its root is explored.

use crate::Noise;
use crate::formula::noise_alpha;

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purpose {
    /// To find the best move.
    Win,
    /// To make training examples in self-play. PUCT mixes the noise, if there is any, into the root's priors; Gumbel
    /// search explores by its own sampling instead.
    Explore(Option<Noise>),
}

impl Purpose {
    /// The purpose of self-play, on a board of `area` points.
    pub fn selfplay(selfplay: &config::Selfplay, area: usize) -> Purpose {
        let noise = Noise { weight: selfplay.noise_weight, alpha: noise_alpha(selfplay.noise_alpha, area) };
        Purpose::Explore((noise.weight > 0.0).then_some(noise))
    }
}
