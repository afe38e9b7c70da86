//! How each move of a self-play game is to be found.

use config::PlayConfig;
use mcts::Purpose;
use rand::RngExt;
use record::SearchKind;

use crate::GameRng;

/// How one move is to be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchPlan {
    pub(crate) kind: SearchKind,
    /// Visits below the root, inherited ones included.
    pub(crate) visits: u32,
    pub(crate) purpose: Purpose,
    /// Weight of the example; 0 for none.
    pub(crate) weight: f32,
}

/// Settings of the search plans of a game.
#[derive(Clone, Debug)]
pub(crate) struct SearchPlanner {
    /// Moves at the start without search.
    opening: usize,
    drawn: SearchPlan,
    full: SearchPlan,
    fast: SearchPlan,
    full_search_fraction: f32,
}

impl SearchPlanner {
    /// For a game whose first `opening` moves are drawn from the network's policy.
    pub(crate) fn new(config: &PlayConfig, opening: usize) -> SearchPlanner {
        let selfplay = &config.selfplay;
        let purpose = Purpose::selfplay(selfplay, config.game.board().area());
        SearchPlanner {
            opening,
            drawn: SearchPlan { kind: SearchKind::Policy, visits: 0, purpose: Purpose::Win, weight: 0.0 },
            full: SearchPlan { kind: SearchKind::Full, visits: config.search.visits, purpose, weight: 1.0 },
            fast: SearchPlan {
                kind: SearchKind::Fast,
                visits: selfplay.fast_visits,
                purpose: Purpose::Win,
                weight: 0.0,
            },
            full_search_fraction: selfplay.full_search_fraction,
        }
    }

    /// The plan of the move after so many turns.
    ///
    /// Playout-cap randomisation (Wu 2019, section 3.1): a share of the searches is full; the others are fast and
    /// without any exploration, since they yield no examples and the game should continue well.
    pub(crate) fn next(&self, turns: usize, rng: &mut GameRng) -> SearchPlan {
        if turns < self.opening {
            return self.drawn;
        }
        let fast = self.full_search_fraction < 1.0 && rng.random::<f32>() >= self.full_search_fraction;
        if fast { self.fast } else { self.full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator;

    fn config(overrides: &[&str]) -> PlayConfig {
        (&config::Preset::Tiny.with(overrides).expect("the overrides are good")).into()
    }

    #[test]
    fn so_many_searches_are_full_and_the_others_do_not_explore() {
        let planner = SearchPlanner::new(&config(&["selfplay.full_search_fraction=0.25", "selfplay.fast_visits=3"]), 0);
        let mut rng = generator(1);
        let plans: Vec<SearchPlan> = (0..20_000).map(|_| planner.next(0, &mut rng)).collect();
        let full = plans.iter().filter(|plan| plan.kind == SearchKind::Full).count();
        // Three standard deviations of a binomial of 20,000 trials are 0.0092.
        assert!((full as f64 / 20_000.0 - 0.25).abs() < 0.0092, "{full}");
        for plan in plans {
            let full = plan.kind == SearchKind::Full;
            assert_eq!((plan.visits, plan.purpose != Purpose::Win), (if full { 16 } else { 3 }, full));
            assert_eq!(plan.weight, if full { 1.0 } else { 0.0 });
        }
    }

    #[test]
    fn without_the_option_every_search_is_full_and_nothing_is_drawn() {
        let planner = SearchPlanner::new(&config(&["selfplay.full_search_fraction=1.0"]), 0);
        let mut rng = generator(1);
        assert!((0..100).all(|_| planner.next(0, &mut rng).kind == SearchKind::Full));
        assert_eq!(rng, generator(1));
    }
}
