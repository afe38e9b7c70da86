//! One side's search, from the first leaf of a move to the last.

use go::{Game, Illegal, Move};
use mcts::{Draw, Evaluate, Exploration, Leaf, Search, Selected, Settings};
use rand::RngExt;

use crate::Seed;

/// How much is searched for each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Visits below the root, counting those inherited.
    pub visits: u32,
    /// Leaves that may wait for the same batch.
    pub leaves: usize,
}

/// A search that is fed by somebody else's batches.
#[derive(Debug)]
pub struct Thinker {
    search: Search,
    budget: Budget,
    exploration: Option<Exploration>,
    /// Entropy of the root's priors before noise, once the present root has been prepared.
    prior_entropy: Option<f32>,
    waiting: Vec<(Leaf, usize)>,
}

impl Thinker {
    /// A thinker for the position that `game` is in. With an `exploration` it searches to learn, without one to win.
    pub fn new(game: Game, settings: Settings, budget: Budget, exploration: Option<Exploration>) -> Thinker {
        let search = Search::new(game, settings);
        Thinker { search, budget, exploration, prior_entropy: None, waiting: Vec::with_capacity(budget.leaves) }
    }

    /// The search, to read its results from.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Entropy of the network's prior at the root over legal moves, in nats, before noise; 0 before it is known.
    pub fn prior_entropy(&self) -> f32 {
        self.prior_entropy.unwrap_or(0.0)
    }

    /// Whether the budget for the present move is spent.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.search.is_expanded() && self.search.visits() >= self.budget.visits
    }

    /// Pushes the leaves of one round to `model`, whose batch holds `pushed` positions so far, and counts them.
    pub fn push(&mut self, model: &mut dyn Evaluate, pushed: &mut usize, rng: &mut Seed) {
        self.prepare_root(rng);
        // A root that is not evaluated is the only leaf of its round; it is no visit below the root.
        let room = if self.search.is_expanded() { self.budget.leaves } else { 1 };
        while self.waiting.len() < room && !self.would_overspend() {
            let draw = Draw::new(rng.random());
            match self.search.select(&mut |game| model.push(game, draw)) {
                Selected::Leaf(leaf) => {
                    self.waiting.push((leaf, *pushed));
                    *pushed += 1;
                }
                Selected::Ended => {}
                Selected::Taken | Selected::Wait => break,
            }
        }
    }

    fn would_overspend(&self) -> bool {
        self.search.is_expanded() && self.search.visits() + self.waiting.len() as u32 >= self.budget.visits
    }

    /// Begins the search of this move as soon as the root has priors.
    fn prepare_root(&mut self, rng: &mut Seed) {
        if self.prior_entropy.is_none() && self.search.is_expanded() {
            self.prior_entropy = Some(self.search.prior_entropy());
            self.search.begin_move(self.budget.visits, self.exploration, rng);
        }
    }

    /// Takes the answers to what was pushed in this round.
    pub fn take(&mut self, model: &dyn Evaluate) {
        for (leaf, index) in self.waiting.drain(..) {
            self.search.expand(leaf, model.answer(index));
        }
    }

    /// Plays a move, of either side.
    ///
    /// # Errors
    /// The move is illegal.
    pub fn advance(&mut self, mv: Move) -> Result<(), Illegal> {
        self.prior_entropy = None;
        self.search.advance(mv)
    }
}
