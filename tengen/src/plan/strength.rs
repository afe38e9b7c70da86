//! Strength to expect, from experiments.

use config::{Preset, RunConfig};
use serde::Serialize;

/// Where [`TABLE`] is from.
pub(super) const SOURCE: &str = "experiments/0064-rating-curve-9x9; seeds: experiments/0051-95-percent-in-75-minutes";

/// Models of `configs/9x9.toml` with their Elo (GNU Go 3.8 level 10 = 0, 100 visits a move) and half of its 95 % interval.
const TABLE: [(u32, f64, f64); 6] = [
    (4, -491.0, 254.0),
    (8, -307.0, 213.0),
    (16, 156.0, 349.0),
    (24, -126.0, 152.0),
    (40, 127.0, 163.0),
    (80, 372.0, 111.0),
];

/// Points of model 80 in 100 games against GNU Go, by seed.
pub(super) const SEEDS: [f64; 3] = [89.5, 77.0, 76.5];

/// The strength of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Strength {
    pub(super) model: u32,
    /// Seconds from the start of the run.
    pub(super) seconds: f64,
    /// GNU Go 3.8 level 10 is 0.
    pub(super) elo: f64,
    /// Half of the 95 % interval.
    pub(super) elo_error: f64,
}

/// Strengths that were measured with this configuration; `seconds` says when a model is there.
pub(super) fn of(config: &RunConfig, seconds: impl Fn(u32) -> f64) -> Vec<Strength> {
    if !is_measured(config) {
        return Vec::new();
    }
    let there = TABLE.into_iter().filter(|&(model, ..)| model <= config.cycle.models);
    there.map(|(model, elo, elo_error)| Strength { model, seconds: seconds(model), elo, elo_error }).collect()
}

/// Whether models are trained as those of the table were: matches, extent and seed may differ.
fn is_measured(config: &RunConfig) -> bool {
    let measured = Preset::NineByNine.config();
    let (evaluate, cycle, seed) = (measured.evaluate.clone(), measured.cycle.clone(), measured.seed);
    RunConfig { evaluate, cycle, seed, ..config.clone() }.digest() == measured.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_that_of_the_experiment() {
        let file = include_str!("../../../experiments/0064-rating-curve-9x9/ratings.csv");
        for (model, elo, error) in TABLE {
            let line = file.lines().find(|line| line.contains(&format!("8x64, 9x9-further\",{model},")));
            assert!(line.is_some_and(|line| line.ends_with(&format!(",{elo},{error}"))), "{model}: {line:?}");
        }
        let seeds = include_str!("../../../experiments/0051-95-percent-in-75-minutes/README.md");
        let line = seeds.lines().find(|line| line.starts_with("| GNU Go 3.8 level 10")).unwrap();
        assert!(SEEDS.iter().all(|points| line.contains(&format!("**{points}"))), "{line}");
    }

    #[test]
    fn only_the_measured_configuration_has_a_strength() {
        let shorter = Preset::NineByNine.with(&["loop.models=40", "evaluate.every=4", "seed=7"]).unwrap();
        let models: Vec<u32> = of(&shorter, f64::from).iter().map(|strength| strength.model).collect();
        assert_eq!(models, [4, 8, 16, 24, 40]);
        let other = Preset::NineByNine.with(&["search.visits=9"]).unwrap();
        assert_eq!(of(&other, f64::from), []);
    }
}
