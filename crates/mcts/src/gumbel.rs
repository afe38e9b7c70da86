//! Policy improvement by planning with Gumbel (Danihelka et al., ICLR 2022): the arithmetic of one node.
//!
//! Every move gets a value for the mover: its mean if it was visited, otherwise one that mixes what the network says of
//! the node with the means of its visited moves ("completed" values; appendix D). The improved policy
//! adds them, stretched by σ, to the logarithm of the prior, and beats the prior wherever the values are right.
//!
//! Moves that were never followed share one completed value, so of them only the one with the highest prior can be
//! chosen below the root. That is the one the tree keeps in front; see [`crate::tree`].

use crate::math;
use crate::settings::Gumbel;
use crate::tree::{Child, View};

/// σ(q) of every move of one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sigma {
    sign: f32,
    /// σ of a move without a visit.
    pub(crate) unvisited: f32,
    /// (c_visit + max N)·c_scale/2: values are from −1 to 1 here, and σ is meant for 0 to 1. The constant half that is
    /// missing after that changes no comparison and no softmax.
    scale: f32,
}

impl Sigma {
    pub(crate) fn new(view: &View<'_>, gumbel: &Gumbel) -> Sigma {
        let most = view.children.iter().map(|child| child.visits).max().unwrap_or(0);
        let scale = (gumbel.c_visit + most as f32) * gumbel.c_scale / 2.0;
        Sigma { sign: view.sign, unvisited: scale * mixed_value(view), scale }
    }

    pub(crate) fn of(&self, child: &Child) -> f32 {
        if child.visits > 0 { self.scale * self.sign * child.sum / child.visits as f32 } else { self.unvisited }
    }
}

/// v_mix of the mover (appendix D): the network's value and the visits' mean, weighted by 1 and the visits. The mean
/// is taken under the prior, so that it does not depend on how the visits were dealt out.
fn mixed_value(view: &View<'_>) -> f32 {
    let (mut visits, mut prior, mut weighted) = (0.0, 0.0, 0.0);
    for (child, p) in view.children.iter().zip(view.priors).filter(|(child, _)| child.visits > 0) {
        visits += child.visits as f32;
        prior += p;
        weighted += p * view.sign * child.sum / child.visits as f32;
    }
    let network = view.sign * view.node.value;
    if prior > 0.0 { (network + visits * weighted / prior) / (1.0 + visits) } else { network }
}

/// The improved policy π' ∝ P·exp(σ(q)) of a node: one number for each followed edge goes into `followed`, and every
/// other edge has the returned number times its prior.
fn improve(view: &View<'_>, gumbel: &Gumbel, followed: &mut Vec<f32>) -> f32 {
    let sigma = Sigma::new(view, gumbel);
    let edges = || view.children.iter().zip(view.priors);
    let unfollowed = view.priors.get(view.children.len()).copied().unwrap_or(0.0);
    // Relative to the largest σ that has a prior, so that nothing overflows and not everything underflows.
    let first = if unfollowed > 0.0 { sigma.unvisited } else { f32::NEG_INFINITY };
    let top = edges().filter(|(_, prior)| **prior > 0.0).map(|(child, _)| sigma.of(child)).fold(first, f32::max);
    followed.clear();
    followed.extend(edges().map(|(child, prior)| prior * math::exp((sigma.of(child) - top).min(0.0))));
    let rest = math::exp((sigma.unvisited - top).min(0.0));
    let prior_left =
        if unfollowed > 0.0 { (1.0 - edges().map(|(_, prior)| prior).sum::<f32>()).max(unfollowed) } else { 0.0 };
    let total = followed.iter().sum::<f32>() + rest * prior_left;
    followed.iter_mut().for_each(|weight| *weight /= total);
    rest / total
}

/// The edge with the highest π'(a) − N(a)/(1 + ΣN), of equals the one with the lowest move (section 5):
/// visits come to be shared out as π' is. A visit that waits counts as one that was made.
///
/// `scratch` is overwritten.
pub(crate) fn best_slot(view: &View<'_>, gumbel: &Gumbel, scratch: &mut Vec<f32>) -> usize {
    let rest = improve(view, gumbel, scratch);
    let visits = |child: &Child| (child.visits + u32::from(child.pending)) as f32;
    let total: f32 = 1.0 + view.children.iter().map(visits).sum::<f32>();
    let mut best = view.children.len();
    let mut highest = view.priors.get(best).map_or(f32::NEG_INFINITY, |prior| rest * prior);
    for (slot, child) in view.children.iter().enumerate() {
        let score = scratch[slot] - visits(child) / total;
        if score > highest || (score == highest && view.moves[slot] < view.moves[best]) {
            (best, highest) = (slot, score);
        }
    }
    best
}

/// The value of a node for the mover under its improved policy: Σ π'(a)·q(a), with completed values. Sequential halving
/// visits moves equally to compare them, so a mean over visits is the value of no player
/// (experiments/0080-value-of-a-gumbel-search).
pub(crate) fn improved_value(view: &View<'_>, gumbel: &Gumbel) -> f32 {
    let mut weights = Vec::with_capacity(view.children.len());
    improve(view, gumbel, &mut weights);
    let followed: f32 = weights.iter().sum();
    let mixed = mixed_value(view);
    let value = |child: &Child| if child.visits > 0 { view.sign * child.sum / child.visits as f32 } else { mixed };
    let visited: f32 = view.children.iter().zip(&weights).map(|(child, weight)| weight * value(child)).sum();
    visited + (1.0 - followed).max(0.0) * mixed
}

/// The improved policy of all edges, in the order of the node; it sums to 1.
pub(crate) fn improved_policy(view: &View<'_>, gumbel: &Gumbel) -> Vec<f32> {
    let mut policy = Vec::with_capacity(view.priors.len());
    let rest = improve(view, gumbel, &mut policy);
    policy.extend(view.priors[view.children.len()..].iter().map(|prior| rest * prior));
    let sum: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|p| *p /= sum);
    policy
}
