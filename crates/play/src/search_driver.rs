//! One side's search, from the first leaf of a move to the last.

use go::{Game, Illegal, Move, Position, Symmetry};
use half::bf16;
use mcts::{Avoid, Draw, Evaluator, Leaf, Purpose, Request, Search, Selected, Settings, Ticket, math};
use rand::RngExt;

use crate::GameRng;

/// Selections between two calls of the `stop` of [`SearchDriver::submit_until`]: some milliseconds on 19x19.
const STEP: u32 = 128;

/// How much is searched for each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Visits below the root, counting those inherited.
    pub visits: u32,
    /// Leaves that may wait for the same batch.
    pub leaves: usize,
}

/// A search that is driven by the batches of its caller.
#[derive(Debug)]
pub struct SearchDriver {
    search: Search,
    budget: Budget,
    purpose: Purpose,
    /// Whether the network sees the images of a position under the symmetries alike, or each in a symmetry drawn anew.
    sees_images_alike: bool,
    /// Whether the budget says only the extent of the search before it is extended.
    endless: bool,
    /// Entropy of the root's priors before noise, once the present root has been prepared.
    prior_entropy: Option<f32>,
    /// These priors by the index of the move.
    priors: Vec<f32>,
    /// Leaves that wait for their evaluation.
    waiting: Vec<(Leaf, Ticket)>,
}

impl SearchDriver {
    /// A driver for the position that `game` is in.
    pub fn new(game: Game, settings: Settings, budget: Budget, purpose: Purpose) -> SearchDriver {
        let search = Search::new(game, settings);
        SearchDriver {
            search,
            budget,
            purpose,
            sees_images_alike: false,
            endless: false,
            prior_entropy: None,
            priors: Vec::new(),
            waiting: Vec::with_capacity(budget.leaves),
        }
    }

    /// The same, but that the network sees a position and its seven images in one and the same orientation, which
    /// follows from the stones: a cache then has all of them, in every game. Where searches differ in nothing but the
    /// symmetries that are drawn, as those of matches do after the opening, this would make games repeat each other.
    pub fn seeing_images_alike(self) -> SearchDriver {
        SearchDriver { sees_images_alike: true, ..self }
    }

    /// The same without some moves near the root.
    pub fn avoiding(self, avoid: Vec<Avoid>) -> SearchDriver {
        SearchDriver { search: self.search.avoiding(avoid), ..self }
    }

    /// The search, to read its results from.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Entropy of the network's prior at the root over legal moves, in nats, before noise; 0 before it is known.
    pub fn prior_entropy(&self) -> f32 {
        self.prior_entropy.unwrap_or(0.0)
    }

    /// The network's priors of the root by the index of the move, before noise, which sum to 1 over the moves that are
    /// considered; empty before they are known.
    pub fn priors(&self) -> &[f32] {
        self.prior_entropy.map_or(&[], |_| &self.priors)
    }

    /// The Kullback-Leibler divergence of a policy, in visits of moves by their index, from the network's priors before
    /// noise, in nats; `None` before these are known. It is good to 8 bits, since it is to be stored: all 24 take 4
    /// bytes more.
    pub fn policy_surprise(&self, visits: &[(u16, u32)]) -> Option<f32> {
        let total = visits.iter().map(|(_, count)| count).sum::<u32>() as f32;
        let term = |&(mv, count): &(u16, u32)| {
            let share = count as f32 / total;
            share * math::ln(share / self.priors[usize::from(mv)].max(f32::MIN_POSITIVE))
        };
        self.prior_entropy.map(|_| bf16::from_f32(visits.iter().map(term).sum()).to_f32())
    }

    /// Whether the budget for the present move is spent.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.search.is_expanded() && self.search.visits() >= self.budget.visits
    }

    /// Submits the leaves of one round. A round whose evaluations are all ready is taken at once, and the next begins.
    pub fn submit(&mut self, evaluator: &mut dyn Evaluator, rng: &mut GameRng) {
        self.submit_until(evaluator, rng, &mut |_| false);
    }

    /// The same, but that it returns when `stop` says so, which is called every 128 selections. Finished positions and
    /// evaluations that are ready can make up the whole budget within one call. A `stop` that is never true changes
    /// nothing, whereas a smaller budget would cut rounds short and change games. A round that was stopped is flushed
    /// and taken like others, with fewer leaves.
    pub fn submit_until(
        &mut self,
        evaluator: &mut dyn Evaluator,
        rng: &mut GameRng,
        stop: &mut dyn FnMut(&Search) -> bool,
    ) {
        let mut selections = 0_u32;
        let mut due = |search: &Search| {
            selections = selections.wrapping_add(1);
            selections.is_multiple_of(STEP) && stop(search)
        };
        loop {
            let stopped = self.submit_round(evaluator, rng, &mut due);
            let all_ready = self.waiting.iter().all(|&(_, ticket)| evaluator.is_ready(ticket));
            if stopped || self.waiting.is_empty() || !all_ready {
                return;
            }
            // As after a flush, so that a cache changes nothing but the time.
            self.take(evaluator);
        }
    }

    /// Submits leaves until the round is full. Asks `stop` before each selection, and returns whether it said so.
    fn submit_round(
        &mut self,
        evaluator: &mut dyn Evaluator,
        rng: &mut GameRng,
        stop: &mut dyn FnMut(&Search) -> bool,
    ) -> bool {
        self.prepare_root(rng);
        // A root that is not evaluated is the only leaf of its round; it is no visit below the root.
        let room = if self.search.is_expanded() { self.budget.leaves } else { 1 };
        while self.waiting.len() < room && !self.would_overspend() {
            if stop(&self.search) {
                return true;
            }
            let draw = Draw::new(rng.random());
            let (komi, alike) = (self.search.settings().komi, self.sees_images_alike);
            let mut ticket = None;
            let selected = self.search.select(&mut |game| {
                let draw = if alike { draw.seen_in(symmetry_of(game.position())) } else { draw };
                ticket = Some(evaluator.submit(Request { game, komi, draw }));
            });
            match selected {
                Selected::Leaf(leaf) => self.waiting.push((leaf, ticket.expect("a selected leaf was shown"))),
                Selected::Ended => {}
                Selected::Pending | Selected::Wait => break,
            }
        }
        false
    }

    fn would_overspend(&self) -> bool {
        self.search.is_expanded() && self.search.visits() + self.waiting.len() as u32 >= self.budget.visits
    }

    /// Begins the search of this move as soon as the root has priors.
    fn prepare_root(&mut self, rng: &mut GameRng) {
        if self.prior_entropy.is_none() && self.search.is_expanded() {
            self.prior_entropy = Some(self.search.prior_entropy());
            let size = self.search.game().size();
            self.priors.clear();
            self.priors.resize(size.moves(), 0.0);
            self.search.priors().iter().for_each(|&(mv, prior)| self.priors[mv.index(size)] = prior);
            match self.endless {
                true => self.search.begin_endless(),
                false => self.search.begin_move(self.budget.visits, self.purpose, rng),
            }
        }
    }

    /// Takes the evaluations of the round, all of which must be ready.
    pub fn take(&mut self, evaluator: &dyn Evaluator) {
        for (leaf, ticket) in self.waiting.drain(..) {
            self.search.expand(leaf, evaluator.get(ticket));
        }
    }

    /// Takes back the leaves of the round, whose evaluations failed: they are selected again.
    pub fn take_back(&mut self) {
        self.waiting.drain(..).for_each(|(leaf, _)| leaf.take_back(&mut self.search));
    }

    /// Searches the present position with so many visits, counting those inherited, and for this purpose, instead of as
    /// the last one. Call it before a leaf of the position is submitted.
    pub fn begin(&mut self, visits: u32, purpose: Purpose) {
        debug_assert!(self.prior_entropy.is_none() && self.waiting.is_empty(), "the search of this move has not begun");
        self.budget.visits = visits;
        self.purpose = purpose;
    }

    /// Forgets all that was searched of the present position, so that it is searched from the beginning. Leaves must
    /// not be waiting.
    pub fn reset(&mut self) {
        debug_assert!(self.waiting.is_empty(), "no leaf waits for an evaluation");
        self.prior_entropy = None;
        self.search.reset();
    }

    /// Searches the present position, and those that follow, so that every extension of the search leaves a best move:
    /// for searches whose visits are not known when they begin. Call it before a leaf of the position is submitted.
    pub fn set_endless(&mut self, endless: bool) {
        debug_assert!(self.prior_entropy.is_none() && self.waiting.is_empty(), "the search of this move has not begun");
        self.endless = endless;
    }

    /// Continues the search of the present position with the same settings, up to this number of visits.
    pub fn extend(&mut self, visits: u32) {
        self.budget.visits = visits;
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

/// The symmetry after which a position and its images have the same form. Which of the eight orientations that is
/// follows from the hash, so that over many positions all are as likely (`experiments/0062-canonical-symmetry-cache`).
fn symmetry_of(position: &Position) -> Symmetry {
    let (canonical, hash) = position.canonical();
    // The least of eight hashes has small upper bits; those of the product depend on all.
    let turn = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61;
    Symmetry::compose(canonical, Symmetry::ALL[turn as usize])
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;

    use go::{Point, Size};
    use mcts::Value;
    use rand::SeedableRng;
    use testing::{Stub, transformed};

    use super::*;

    /// Random positions of 12 stones.
    fn games() -> impl Iterator<Item = Game> {
        (0..100).map(|seed| {
            let (mut rng, mut game) = (GameRng::seed_from_u64(seed), Game::new(Size::new(9).unwrap()));
            while game.turn() < 12 {
                let point = Point::from_index(game.size(), rng.random_range(0..81)).unwrap();
                // An occupied point is drawn again.
                let _ = game.play(Move::Play(point));
            }
            game
        })
    }

    #[test]
    fn images_of_a_position_are_seen_alike_and_in_any_orientation() {
        let mut orientations = [0; 8];
        for game in games() {
            let (size, stones) = (game.size(), game.position().stones());
            let seen = Symmetry::ALL.map(|image| {
                let turned = transformed(image, size, stones);
                let position = Position::from_stones(size, &turned, game.to_move()).unwrap();
                transformed(symmetry_of(&position), size, &turned)
            });
            assert!(seen.iter().all(|stones| stones == &seen[0]));
            orientations[symmetry_of(game.position()).index()] += 1;
        }
        // 12.5 each of 100, by chance.
        assert!(orientations.iter().all(|&count| (3..=25).contains(&count)), "{orientations:?}");
    }

    #[test]
    fn symmetry_depends_on_random_numbers_unless_configured() {
        let config = config::Preset::Minigo.config();
        let settings = Settings::new(&config.search, &config.game);
        let game = games().next().unwrap();
        let seen = |alike: bool| -> BTreeSet<Symmetry> {
            let root = |seed: u64| {
                let budget = Budget { visits: 2, leaves: 1 };
                let driver = SearchDriver::new(game.clone(), settings, budget, Purpose::Win);
                let mut driver = if alike { driver.seeing_images_alike() } else { driver };
                let seen = Cell::new(None);
                let mut network = Stub::new(|request| {
                    assert!(seen.replace(Some(request.draw.symmetry())).is_none(), "the root alone is submitted");
                    (Vec::new(), Value::ZERO)
                });
                driver.submit(&mut network, &mut GameRng::seed_from_u64(seed));
                seen.get().unwrap()
            };
            (0..100).map(root).collect()
        };
        assert_eq!((seen(true).len(), seen(false).len()), (1, 8));
    }
}
