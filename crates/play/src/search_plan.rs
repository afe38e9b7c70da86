//! How each move of a self-play game is to be found.

use config::RunConfig;
use mcts::Exploration;
use rand::RngExt;
use record::{SearchKind, Turn};

use crate::Seed;

/// How one move is to be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchPlan {
    pub(crate) kind: SearchKind,
    /// Visits below the root, inherited ones included.
    pub(crate) visits: u32,
    pub(crate) exploration: Option<Exploration>,
    /// Weight of the example; 0 for none.
    pub(crate) weight: f32,
}

/// What the plans of a game are made from.
#[derive(Clone, Debug)]
pub(crate) struct SearchPlanner {
    /// Moves at the start without search.
    opening: usize,
    drawn: SearchPlan,
    full: SearchPlan,
    fast: SearchPlan,
    full_search_fraction: f32,
    reduced: SearchPlan,
    /// Turns that must agree before a game is decided; `None` when no game ever is.
    agreement: Option<usize>,
    /// Value that they must agree on.
    decided_value: f32,
}

impl SearchPlanner {
    /// For a game whose first `opening` moves are drawn from the network's policy.
    pub(crate) fn new(config: &RunConfig, opening: usize) -> SearchPlanner {
        let (selfplay, resign) = (&config.selfplay, &config.resign);
        let exploration = Exploration::new(selfplay, config.game.size * config.game.size);
        SearchPlanner {
            opening,
            drawn: SearchPlan { kind: SearchKind::Policy, visits: 0, exploration: None, weight: 0.0 },
            full: SearchPlan {
                kind: SearchKind::Full,
                visits: config.search.visits,
                exploration: Some(exploration),
                weight: 1.0,
            },
            fast: SearchPlan { kind: SearchKind::Fast, visits: selfplay.fast_visits, exploration: None, weight: 0.0 },
            full_search_fraction: selfplay.full_search_fraction,
            reduced: SearchPlan {
                kind: SearchKind::Reduced,
                visits: resign.decided_visits,
                exploration: Some(exploration),
                weight: resign.decided_weight,
            },
            agreement: (resign.decided_moves > 0).then_some(resign.decided_moves),
            decided_value: resign.decided_value,
        }
    }

    /// The plan of the move that comes after `turns`.
    ///
    /// Playout-cap randomisation (Wu 2019, section 3.1): a share of the searches is full; the others are fast and
    /// without any exploration, since they yield no examples and the game should continue well.
    pub(crate) fn next(&self, turns: &[Turn], rng: &mut Seed) -> SearchPlan {
        if turns.len() < self.opening {
            return self.drawn;
        }
        let fast = self.full_search_fraction < 1.0 && rng.random::<f32>() >= self.full_search_fraction;
        match (fast, self.is_decided(turns)) {
            (true, false) => self.fast,
            (true, true) => SearchPlan { visits: self.fast.visits.min(self.reduced.visits), ..self.fast },
            (false, true) => self.reduced,
            (false, false) => self.full,
        }
    }

    /// Whether the searches of the last turns, of both sides, all found the same side to be winning.
    fn is_decided(&self, turns: &[Turn]) -> bool {
        let Some(last) = self.agreement.and_then(|turns_needed| turns.len().checked_sub(turns_needed)) else {
            return false;
        };
        let agree = |sign: f32| {
            turns[last..].iter().all(|turn| turn.is_searched() && sign * turn.root_value >= self.decided_value)
        };
        agree(1.0) || agree(-1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator;

    fn config(overrides: &[&str]) -> RunConfig {
        config::Preset::Tiny.with(overrides).expect("the overrides are good")
    }

    #[test]
    fn so_many_searches_are_full_and_the_others_do_not_explore() {
        let planner = SearchPlanner::new(&config(&["selfplay.full_search_fraction=0.25", "selfplay.fast_visits=3"]), 0);
        let mut rng = generator(1);
        let plans: Vec<SearchPlan> = (0..20_000).map(|_| planner.next(&[], &mut rng)).collect();
        let full = plans.iter().filter(|plan| plan.kind == SearchKind::Full).count();
        // Three standard deviations of a binomial of 20,000 trials are 0.0092.
        assert!((full as f64 / 20_000.0 - 0.25).abs() < 0.0092, "{full}");
        for plan in plans {
            let full = plan.kind == SearchKind::Full;
            assert_eq!((plan.visits, plan.exploration.is_some()), (if full { 16 } else { 3 }, full));
            assert_eq!(plan.weight, if full { 1.0 } else { 0.0 });
        }
    }

    #[test]
    fn without_the_option_every_search_is_full_and_nothing_is_drawn() {
        let planner = SearchPlanner::new(&config(&["selfplay.full_search_fraction=1.0"]), 0);
        let mut rng = generator(1);
        assert!((0..100).all(|_| planner.next(&[], &mut rng).kind == SearchKind::Full));
        assert_eq!(rng, generator(1));
    }
    fn turns(values: &[f32]) -> Vec<Turn> {
        let pass = |value: &f32| Turn { root_value: *value, ..Turn::unsearched(SearchKind::Full, go::Move::Pass) };
        values.iter().map(pass).collect()
    }

    #[test]
    fn a_game_is_decided_when_both_sides_agreed_long_enough() {
        let decided = ["resign.decided_moves=3", "resign.decided_value=0.9", "resign.decided_visits=2"];
        let planner = SearchPlanner::new(&config(&[&decided[..], &["resign.decided_weight=0.25"]].concat()), 0);
        for (values, expected) in [
            (&[][..], false),
            (&[0.95, 0.95], false),
            (&[0.95, 0.9, 0.99], true),
            (&[-0.95, -0.9, -0.99], true),
            (&[0.95, -0.95, 0.95], false),
            (&[0.95, 0.89, 0.95], false),
            (&[0.0, 0.95, 0.95, 0.95], true),
            (&[0.95, 0.95, 0.95, 0.5], false),
        ] {
            let plan = planner.next(&turns(values), &mut generator(1));
            let (kind, visits, weight) =
                if expected { (SearchKind::Reduced, 2, 0.25) } else { (SearchKind::Full, 16, 1.0) };
            assert_eq!((plan.kind, plan.visits, plan.weight), (kind, visits, weight), "{values:?}");
        }
        let mut unsearched = turns(&[1.0; 3]);
        unsearched[1].kind = SearchKind::Given;
        assert_eq!(planner.next(&unsearched, &mut generator(1)).kind, SearchKind::Full);
        let off = SearchPlanner::new(&config(&["resign.decided_value=0"]), 0);
        assert_eq!(off.next(&turns(&[1.0; 9]), &mut generator(1)).kind, SearchKind::Full, "off by default");
    }

    #[test]
    fn a_fast_search_of_a_decided_game_stays_fast_and_has_no_more_visits_than_a_reduced_one() {
        let overrides = [
            "resign.decided_moves=2",
            "resign.decided_visits=2",
            "selfplay.full_search_fraction=0.5",
            "selfplay.fast_visits=4",
        ];
        let planner = SearchPlanner::new(&config(&overrides), 0);
        let mut rng = generator(1);
        let plans: Vec<SearchPlan> = (0..100).map(|_| planner.next(&turns(&[1.0; 2]), &mut rng)).collect();
        assert!(plans.iter().all(|plan| plan.visits == 2 && (plan.kind == SearchKind::Fast) == (plan.weight == 0.0)));
        assert!(plans.iter().any(|plan| plan.weight == 0.0) && plans.iter().any(|plan| plan.weight == 0.1));
    }
}
