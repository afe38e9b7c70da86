//! Sequential halving at the root of a Gumbel search (Danihelka et al., ICLR 2022).
//!
//! At the start of a move the m moves with the highest g + ln P are sampled, g being Gumbel noise: a draw of m moves
//! from the prior without replacement. They are visited in phases. In each phase all moves that are still considered
//! get the same number of visits; after it those with the better half of the scores g + ln P + σ(q) stay. What the
//! budget leaves over goes to the last two, one by one. The remaining move is the one to play.
//!
//! Without noise a move is to be played, and nothing to be learnt. Then m is at most half the budget, or two, and the
//! best of the moves whose visits differ by one is played. Otherwise the last visit of an odd budget would decide even
//! if it found a refutation.
//!
//! A search without an end does this again and again, each time with as many visits as all before together, and
//! considers more moves each time: the doubling trick makes sequential halving (Karnin, Koren and Somekh, ICML 2013),
//! whose budget is fixed, a method without one. It may be stopped after any visit.
//!
//! A phase is judged only when all of its visits are backed up: the search waits for leaves at its end.

use rand::Rng;

use crate::gumbel::Sigma;
use crate::settings::Gumbel;
use crate::tree::View;
use crate::{math, sample};

/// Visits of the first round of a search without an end, for each move that is considered: as many as two phases of two
/// visits each take. Other rules for a search without an end are weaker (`experiments/0061-open-ended-search`).
const FIRST_ROUND: u32 = 4;

/// The moves considered at a root; none before [`Halving::start`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Halving {
    considered: Vec<Considered>,
    budget: u32,
    /// ⌈log2 m⌉, at least 1.
    phases: u32,
    /// Visits that each considered move has at the end of the present phase.
    due: u32,
    /// Visits that the move to play may lack to the most.
    margin: u32,
    /// In a search without an end: visits of the root at which the next round begins.
    round_ends: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Considered {
    mv: u16,
    /// g + ln P.
    key: f32,
    /// Its place among the children, once it was followed.
    slot: Option<usize>,
    /// Visits before the search of this move began.
    inherited: u32,
}

impl Considered {
    /// Visits of this search, those that wait included.
    fn visits(&self, view: &View<'_>) -> u32 {
        self.slot.map_or(0, |slot| {
            let child = &view.children[slot];
            child.visits + u32::from(child.pending) - self.inherited
        })
    }

    fn score(&self, view: &View<'_>, sigma: &Sigma) -> f32 {
        self.key + self.slot.map_or(sigma.unvisited, |slot| sigma.of(&view.children[slot]))
    }

    fn waits(&self, view: &View<'_>) -> bool {
        self.slot.is_some_and(|slot| view.children[slot].pending > 0)
    }
}

impl Halving {
    pub(crate) fn clear(&mut self) {
        self.considered.clear();
        self.round_ends = None;
    }

    pub(crate) fn is_active(&self) -> bool {
        !self.considered.is_empty()
    }

    /// Samples the moves of a search of `budget` more visits. Without a generator nothing is random: the moves with
    /// the highest priors are considered.
    pub(crate) fn start(&mut self, view: &View<'_>, gumbel: &Gumbel, budget: u32, rng: Option<&mut impl Rng>) {
        self.margin = u32::from(rng.is_none());
        match rng {
            // With fewer moves policies are learnt more slowly (`experiments/0118-considered-moves-in-self-play`).
            Some(rng) => self.consider(view, gumbel.moves, budget, || sample::gumbel(rng) as f32),
            // A move with one visit has the network's value and no more. Of four visits, two for each of two moves are
            // 102 Elo stronger than one for each of four (`experiments/0115-searches-of-few-visits`).
            None => self.consider(view, gumbel.moves.min((budget / 2).max(2) as usize), budget, || 0.0),
        }
        self.round_ends = None;
    }

    /// Takes the moves with the highest keys, `g` being called for each move of the root.
    fn consider(&mut self, view: &View<'_>, moves: usize, budget: u32, mut g: impl FnMut() -> f32) {
        self.considered.clear();
        for (slot, (&mv, &prior)) in view.moves.iter().zip(view.priors).enumerate().filter(|(_, (_, p))| **p > 0.0) {
            let slot = (slot < view.children.len()).then_some(slot);
            let inherited = slot.map_or(0, |slot| view.children[slot].visits);
            self.considered.push(Considered { mv, key: g() + math::ln(prior), slot, inherited });
        }
        let by_key = |a: &Considered, b: &Considered| b.key.total_cmp(&a.key).then(a.mv.cmp(&b.mv));
        // More moves than visits cannot be compared.
        let most = moves.min(budget.max(1) as usize);
        if most < self.considered.len() {
            self.considered.select_nth_unstable_by(most, by_key);
            self.considered.truncate(most);
        }
        self.considered.sort_unstable_by(by_key);
        self.budget = budget;
        self.phases = (self.considered.len() as u32).next_power_of_two().ilog2().max(1);
        self.due = self.share();
    }

    /// Begins the next round of a search without an end. The moves with the highest priors are considered, twice as
    /// many with four times the visits: what a round leaves out for its prior gets its turn, and most visits stay with
    /// few moves.
    pub(crate) fn start_round(&mut self, view: &View<'_>, gumbel: &Gumbel) {
        let first = FIRST_ROUND * gumbel.moves as u32;
        let visits = view.children.iter().map(|child| child.visits).sum::<u32>();
        let budget = visits.max(first);
        let moves = gumbel.moves as f32 * (budget as f32 / first as f32).sqrt();
        self.consider(view, moves as usize, budget, || 0.0);
        self.round_ends = Some(visits + budget);
    }

    /// Visits of each move in a phase with the present moves.
    fn share(&self) -> u32 {
        (self.budget / (self.phases * self.considered.len() as u32)).max(1)
    }

    /// Ends phases that are complete. False when the present one is, but for visits that wait.
    pub(crate) fn settle(&mut self, view: &View<'_>, gumbel: &Gumbel) -> bool {
        if let Some(end) = self.round_ends {
            let waiting: u32 = view.children.iter().map(|child| u32::from(child.pending)).sum();
            let visits: u32 = view.children.iter().map(|child| child.visits).sum();
            match visits + waiting >= end {
                true if waiting > 0 => return false,
                true => self.start_round(view, gumbel),
                false => {}
            }
        }
        while self.considered.iter().all(|considered| considered.visits(view) >= self.due) {
            if self.considered.iter().any(|considered| considered.waits(view)) {
                return false;
            }
            self.halve(view, &Sigma::new(view, gumbel));
            self.due += self.share();
        }
        true
    }

    fn halve(&mut self, view: &View<'_>, sigma: &Sigma) {
        let by_score = |a: &Considered, b: &Considered| b.score(view, sigma).total_cmp(&a.score(view, sigma));
        self.considered.sort_unstable_by(|a, b| by_score(a, b).then(a.mv.cmp(&b.mv)));
        let half = self.considered.len() / 2;
        self.considered.truncate(half.max(2));
    }

    /// The move to visit next and its slot: of those with the fewest visits the one with the best score. The caller
    /// follows it; a move that was never followed is to be given the next free slot.
    pub(crate) fn next(&mut self, view: &View<'_>, gumbel: &Gumbel) -> (u16, usize) {
        let sigma = Sigma::new(view, gumbel);
        let rank = |considered: &Considered| (considered.visits(view), considered.score(view, &sigma));
        let order = |a: &Considered, b: &Considered| {
            let ((visits_a, score_a), (visits_b, score_b)) = (rank(a), rank(b));
            visits_a.cmp(&visits_b).then(score_b.total_cmp(&score_a)).then(a.mv.cmp(&b.mv))
        };
        let next = self.considered.iter_mut().min_by(|a, b| order(a, b)).expect("some move is considered");
        (next.mv, *next.slot.get_or_insert(view.children.len()))
    }

    /// The slot of the move to play: the one with the best score of the considered moves that have the most visits of
    /// this search, or nearly. None before any of them was visited. In a search without an end: of all moves with at
    /// least half the visits of the most visited one, whose values are known about as well.
    pub(crate) fn survivor(&self, view: &View<'_>, gumbel: &Gumbel) -> Option<usize> {
        let sigma = Sigma::new(view, gumbel);
        if self.round_ends.is_some() {
            let most = view.children.iter().map(|child| child.visits).max().filter(|&most| most > 0)?;
            let known = (0..view.children.len()).filter(|&slot| 2 * view.children[slot].visits >= most);
            let score = |slot: usize| math::ln(view.priors[slot]) + sigma.of(&view.children[slot]);
            let order =
                |a: &usize, b: &usize| score(*a).total_cmp(&score(*b)).then(view.moves[*b].cmp(&view.moves[*a]));
            return known.max_by(order);
        }
        let visited = |considered: &&Considered| considered.slot.is_some_and(|slot| view.children[slot].visits > 0);
        let known = || self.considered.iter().filter(visited);
        let most = known().map(|considered| considered.visits(view)).max()?;
        let order = |a: &&Considered, b: &&Considered| {
            a.score(view, &sigma).total_cmp(&b.score(view, &sigma)).then(b.mv.cmp(&a.mv))
        };
        let best = known().filter(|considered| considered.visits(view) + self.margin >= most).max_by(order);
        best.and_then(|considered| considered.slot)
    }
}
