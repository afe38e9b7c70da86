//! Choosing an edge by PUCT.

use crate::formula::{exploration, first_play};
use crate::settings::{FirstPlay, Settings};
use crate::tree::{Child, View};

/// The edges of one node with their scores s·Q + U.
pub(crate) struct Puct<'a> {
    view: View<'a>,
    /// U_i·(1 + N_i)/P_i, the same for all edges.
    explore: f32,
    /// Initial value of the edges, for the mover.
    init: f32,
    first_play: FirstPlay,
}

impl<'a> Puct<'a> {
    pub(crate) fn new(view: View<'a>, settings: &Settings) -> Puct<'a> {
        Puct {
            view,
            explore: exploration(view.visits, settings.c_puct_base, settings.c_puct_init),
            init: view.sign * view.node.init,
            first_play: settings.first_play,
        }
    }

    /// The edge with the highest score; of equals the one with the lowest move.
    pub(crate) fn best_slot(&self) -> usize {
        let &Puct { view, explore, init, .. } = self;
        // A virtual loss is a value of −1 for the side that moves here, added to the sum but not to the visits.
        match self.first_play {
            FirstPlay::VirtualVisit => self.highest(init, |child, prior| {
                let sum = init + view.sign * child.sum - f32::from(child.pending);
                (sum + explore * prior) / (1 + child.visits) as f32
            }),
            FirstPlay::Urgency { reduction } => {
                let followed: f32 = view.priors[..view.children.len()].iter().sum();
                let urgency = first_play(init, reduction, followed);
                let sum = |child: &Child| view.sign * child.sum - f32::from(child.pending);
                // An edge whose first visit still waits has no mean yet: its urgency is unchanged, less its losses.
                let mean = |child: &Child| match child.visits {
                    0 => urgency + sum(child),
                    visits => sum(child) / visits as f32,
                };
                self.highest(urgency, |child, prior| mean(child) + explore * prior / (1 + child.visits) as f32)
            }
        }
    }

    /// `first` is the value of an edge that was never followed, `score` the score of one that was.
    #[inline]
    fn highest(&self, first: f32, score: impl Fn(&Child, f32) -> f32) -> usize {
        let View { priors, moves, children, .. } = self.view;
        let mut best = children.len();
        let mut highest = priors.get(best).map_or(f32::NEG_INFINITY, |prior| first + self.explore * prior);
        for (slot, child) in children.iter().enumerate() {
            let score = score(child, priors[slot]);
            if score > highest || (score == highest && moves[slot] < moves[best]) {
                (best, highest) = (slot, score);
            }
        }
        best
    }
}
