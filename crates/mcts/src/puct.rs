//! Choosing an edge by PUCT, and what that choice says about visits afterwards.

use crate::formula::{exploration, first_play, forced_visits, pruned_visits};
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

    /// A followed edge that has fewer visits than it is to have whatever its score, waiting ones included.
    pub(crate) fn forced_slot(&self, k: f32) -> Option<usize> {
        let below = self.view.visits - 1;
        let mut edges = self.view.children.iter().zip(self.view.priors);
        let visits = |child: &Child| child.visits + u32::from(child.pending);
        edges.position(|(child, &prior)| (visits(child) as f32) < forced_visits(k, prior, below))
    }

    /// The visits of the followed edges, without those that the scores do not ask for.
    ///
    /// As in KataGo (Wu 2019, section 3.2) and Minigo: `best` keeps its visits. Every other edge is lowered to the
    /// fewest visits with which its score, at its present mean value, is below that of `best`; one that this leaves
    /// with a single visit is dropped. Unlike in the paper the cut may be larger than the forced visits, as in both
    /// programs: visits that noise in the priors demands are kept, and those that a bad value makes superfluous are not.
    pub(crate) fn pruned(&self, best: usize) -> Vec<u32> {
        let View { priors, children, .. } = self.view;
        let score = |slot: usize| self.mean(&children[slot]) + self.bonus(slot, children[slot].visits);
        let target = score(best);
        let lowered = |(slot, child): (usize, &Child)| {
            if slot == best {
                return child.visits;
            }
            let wanted = pruned_visits(self.explore * priors[slot], target - self.mean(child));
            match wanted {
                wanted if wanted >= child.visits => child.visits,
                0 | 1 => 0,
                wanted => wanted,
            }
        };
        children.iter().enumerate().map(lowered).collect()
    }

    fn bonus(&self, slot: usize, visits: u32) -> f32 {
        self.explore * self.view.priors[slot] / (1 + visits) as f32
    }

    /// Q of an edge for the mover, when nothing waits.
    fn mean(&self, child: &Child) -> f32 {
        let sum = self.view.sign * child.sum;
        match self.first_play {
            FirstPlay::VirtualVisit => (self.init + sum) / (1 + child.visits) as f32,
            FirstPlay::Urgency { .. } => sum / child.visits.max(1) as f32,
        }
    }
}
