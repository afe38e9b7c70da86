//! How each move of a self-play game is to be found.

use config::RunConfig;
use mcts::Exploration;
use rand::RngExt;
use record::SearchKind;

use crate::Seed;

/// How one move is to be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) kind: SearchKind,
    /// Visits below the root, inherited ones included.
    pub(crate) visits: u32,
    pub(crate) exploration: Option<Exploration>,
}

/// What the plans of a game are made from.
#[derive(Clone, Debug)]
pub(crate) struct Planner {
    full: Plan,
    fast: Plan,
    full_share: f32,
}

impl Planner {
    pub(crate) fn new(config: &RunConfig) -> Planner {
        let selfplay = &config.selfplay;
        let exploration = Exploration::new(selfplay, config.game.size * config.game.size);
        Planner {
            full: Plan { kind: SearchKind::Full, visits: config.search.visits, exploration: Some(exploration) },
            fast: Plan { kind: SearchKind::Fast, visits: selfplay.fast_visits, exploration: None },
            full_share: selfplay.full_share,
        }
    }

    /// The plan of the next move.
    ///
    /// Playout-cap randomisation (Wu 2019, section 3.1): a share of the searches is full; the others are fast and
    /// without any exploration, since nobody learns from them and the game should go on well.
    pub(crate) fn next(&self, rng: &mut Seed) -> Plan {
        if self.full_share < 1.0 && rng.random::<f32>() >= self.full_share { self.fast } else { self.full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator;

    fn config(overrides: &[&str]) -> RunConfig {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let text = include_str!("../../../configs/tiny.toml");
        RunConfig::from_toml_with(text, &overrides).expect("the configuration that ships is good")
    }

    #[test]
    fn so_many_searches_are_full_and_the_others_do_not_explore() {
        let planner = Planner::new(&config(&["selfplay.full_share=0.25", "selfplay.fast_visits=3"]));
        let mut rng = generator(1);
        let plans: Vec<Plan> = (0..20_000).map(|_| planner.next(&mut rng)).collect();
        let full = plans.iter().filter(|plan| plan.kind == SearchKind::Full).count();
        // Three standard deviations of a binomial of 20,000 trials are 0.0092.
        assert!((full as f64 / 20_000.0 - 0.25).abs() < 0.0092, "{full}");
        for plan in plans {
            let full = plan.kind == SearchKind::Full;
            assert_eq!((plan.visits, plan.exploration.is_some()), (if full { 16 } else { 3 }, full));
        }
    }

    #[test]
    fn without_the_option_every_search_is_full_and_nothing_is_drawn() {
        let planner = Planner::new(&config(&["selfplay.full_share=1.0"]));
        let mut rng = generator(1);
        assert!((0..100).all(|_| planner.next(&mut rng).kind == SearchKind::Full));
        assert_eq!(rng, generator(1));
    }
}
