//! Results of a search.

use go::Move;

use crate::gumbel::{improved_policy, improved_value};
use crate::search::Search;
use crate::settings::Algorithm;
use crate::target::shares;
use crate::tree::{Child, NodeId, View};
use crate::{Depth, Value, math};

/// Bytes of a tree, by [`Search::is_full`], above which GTP and analyses stop a search, and studies and benchmarks
/// fail.
pub const LARGEST_TREE: usize = 1 << 30;

/// Visits at which GTP and analyses stop a search, and the most that studies and benchmarks take: the tree of a decided
/// position does not grow. Sums of up to 2^24 values are rounded to single precision without a drift.
pub const MOST_VISITS: u32 = config::MOST_VISITS;

/// A followed edge of the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// Its visits.
    pub visits: u32,
    /// Its prior, with noise if there was any.
    pub prior: f32,
    /// Mean of the values backed up through it.
    pub value: Value,
}

impl Search {
    /// What the whole numbers of an improved policy sum to: as fine as the 800 visits whose shares AlphaZero trained
    /// on.
    pub const SHARES: u32 = 1024;

    /// Mean of all values backed up to the root; the network's value when there were none yet.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn root_value(&self) -> Value {
        let stats = self.tree.stats(self.expanded_root());
        Value::for_black(stats.sum / stats.visits as f32)
    }

    /// The value of the root for a player of the policy that the search found: the improved policy of Gumbel, with the
    /// values of its moves; [`Search::root_value`] for PUCT, whose visits follow its policy.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn policy_value(&self) -> Value {
        match &self.settings.algorithm {
            Algorithm::Gumbel(gumbel) => {
                let view = self.root_view();
                Value::for_black(view.sign * improved_value(&view, gumbel))
            }
            Algorithm::Puct => self.root_value(),
        }
    }

    /// The network's output at the root.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn network_value(&self) -> Value {
        Value::for_black(self.tree.node(self.expanded_root()).value)
    }

    /// Entropy of the root's priors over the moves that are considered, in nats.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn prior_entropy(&self) -> f32 {
        let priors = self.tree.priors(self.expanded_root()).iter();
        -priors.filter(|prior| **prior > 0.0).map(|prior| prior * math::ln(*prior)).sum::<f32>()
    }

    /// The moves of the root that are considered, with their priors, which sum to 1 and have noise if there is any.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn priors(&self) -> Vec<(Move, f32)> {
        let view = self.root_view();
        view.moves.iter().zip(view.priors).map(|(&mv, &prior)| (self.move_of(mv), prior)).collect()
    }

    /// The visited edges of the root, in the order of their first visit.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn root_moves(&self) -> Vec<RootMove> {
        let view = self.root_view();
        let visited = view.children.iter().enumerate().filter(|(_, child)| child.visits > 0);
        visited.map(|(slot, child)| self.root_move(&view, slot, child)).collect()
    }

    /// The visited edges of the root, the best first: the [move to play](Search::best_move), then by visits and value.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn ranked_moves(&self) -> Vec<RootMove> {
        let (best, mover) = (self.best_move().map(|best| best.mv), self.game.to_move());
        let by_value = |a: &RootMove, b: &RootMove| b.value.mover(mover).total_cmp(&a.value.mover(mover));
        let is_best = |root: &RootMove| Some(root.mv) == best;
        let mut moves = self.root_moves();
        moves.sort_by(|a, b| is_best(b).cmp(&is_best(a)).then(b.visits.cmp(&a.visits)).then(by_value(a, b)));
        moves
    }

    fn root_move(&self, view: &View<'_>, slot: usize, child: &Child) -> RootMove {
        RootMove {
            mv: self.move_of(view.moves[slot]),
            visits: child.visits,
            prior: view.priors[slot],
            value: Value::for_black(child.sum / child.visits as f32),
        }
    }

    fn move_of(&self, index: u16) -> Move {
        Move::from_index(self.game.size(), index.into()).expect("edges hold moves of this board")
    }

    /// The move to play for strength.
    ///
    /// PUCT: the most visited; of equals the one with the better value for the mover, then the lower index. Gumbel: the
    /// move that sequential halving left, or, after [`Search::begin_endless`], the best of those that are visited about
    /// as often as any; when neither was begun, or without a budget, as PUCT.
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn best_move(&self) -> Option<RootMove> {
        let view = self.root_view();
        if let Algorithm::Gumbel(gumbel) = &self.settings.algorithm
            && let Some(slot) = self.halving.survivor(&view, gumbel)
        {
            return Some(self.root_move(&view, slot, &view.children[slot]));
        }
        let (mover, size) = (self.game.to_move(), self.game.size());
        self.root_moves().into_iter().max_by(|a, b| {
            let by_value = || a.value.mover(mover).total_cmp(&b.value.mover(mover));
            let by_index = || b.mv.index(size).cmp(&a.mv.index(size));
            a.visits.cmp(&b.visits).then_with(by_value).then_with(by_index)
        })
    }

    /// The policy target, as whole numbers in proportion to it, in the order of the edges; none of them is 0.
    ///
    /// PUCT: the visits. Gumbel: there the visits say which moves were sampled and not how good they are, and the
    /// policy target needs the values of all moves; so this is the improved policy itself, in shares of
    /// [`Search::SHARES`].
    ///
    /// # Panics
    /// When the root is not expanded.
    pub fn policy_target(&self) -> Vec<(Move, u32)> {
        let view = self.root_view();
        let counts = match &self.settings.algorithm {
            Algorithm::Gumbel(gumbel) => shares(&improved_policy(&view, gumbel), Search::SHARES),
            Algorithm::Puct => view.children.iter().map(|child| child.visits).collect(),
        };
        let counts = view.moves.iter().zip(counts).filter(|(_, count)| *count > 0);
        counts.map(|(&mv, count)| (self.move_of(mv), count)).collect()
    }

    /// The most visited path from the root, with the visits of each move.
    pub fn principal_variation(&self) -> Vec<(Move, u32)> {
        self.tree.root().map_or_else(Vec::new, |root| self.most_visited_below(root))
    }

    /// The most visited path from the root that begins with this move, with the visits of each move; empty when the
    /// move was not visited.
    pub fn variation(&self, first: Move) -> Vec<(Move, u32)> {
        let index = first.index(self.game.size());
        let follow = |root| {
            let slot = self.tree.moves(root).iter().position(|&mv| usize::from(mv) == index)?;
            self.tree.children(root).get(slot).filter(|child| child.visits > 0)
        };
        let Some(child) = self.tree.root().and_then(follow) else { return Vec::new() };
        let below = child.node.map_or_else(Vec::new, |node| self.most_visited_below(node));
        std::iter::once((first, child.visits)).chain(below).collect()
    }

    fn most_visited_below(&self, top: NodeId) -> Vec<(Move, u32)> {
        let mut path = Vec::new();
        let mut at = Some(top);
        while let Some(id) = at {
            let moves = self.tree.moves(id).iter();
            let best = moves.zip(self.tree.children(id)).max_by_key(|(mv, child)| (child.visits, u16::MAX - **mv));
            let best = best.filter(|(_, child)| child.visits > 0);
            path.extend(best.map(|(&mv, child)| (self.move_of(mv), child.visits)));
            at = best.and_then(|(_, child)| child.node);
        }
        path
    }

    /// How deep the walks to the leaves of the present search were, since the last [`Search::advance`].
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Whether the nodes of the tree, their edges and their statistics take so many bytes, or the search has
    /// [`MOST_VISITS`].
    pub fn is_full(&self, bytes: usize) -> bool {
        self.tree.bytes() >= bytes || self.visits() >= MOST_VISITS
    }
}
