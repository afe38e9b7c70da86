//! Strength to expect, from experiments.

use config::{Preset, RunConfig};
use serde::Serialize;

/// Where [`CURVES`] are from.
pub(super) const SOURCE: &str = "experiments/0064-rating-curve-9x9; seeds: experiments/0051-95-percent-in-75-minutes";

/// A configuration whose models were rated.
struct Curve {
    preset: Preset,
    /// What a run begins with, if not with random play.
    start: Option<Start>,
    /// Models with their Elo (GNU Go 3.8 level 10 = 0, 100 visits a move) and half of its 95 % interval.
    models: &'static [(u32, f64, f64)],
}

/// The model that a run begins with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Start {
    pub(super) model: &'static str,
    /// Minutes of its training from random weights, on the machines of the experiment.
    pub(super) minutes: f64,
}

const CURVES: [Curve; 3] = [
    Curve {
        preset: Preset::NineByNine,
        start: None,
        models: &[
            (4, -491.0, 254.0),
            (8, -307.0, 213.0),
            (16, 156.0, 349.0),
            (24, -126.0, 152.0),
            (40, 127.0, 163.0),
            (80, 372.0, 111.0),
        ],
    },
    Curve {
        preset: Preset::NineByNineLarger,
        start: Some(Start { model: "model 80 of configs/9x9.toml", minutes: 11.8 }),
        models: &[(30, 436.0, 289.0), (100, 521.0, 113.0)],
    },
    Curve {
        preset: Preset::NineByNineFurther,
        start: Some(Start { model: "the last model of experiments/0054-eight-blocks", minutes: 282.4 }),
        models: &[(48, 636.0, 218.0)],
    },
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
    pub(super) elo_margin: f64,
}

/// Strengths that were measured with this configuration, and what its run began with; `seconds` says when a model is
/// there.
pub(super) fn of(config: &RunConfig, seconds: impl Fn(u32) -> f64) -> (Option<Start>, Vec<Strength>) {
    let Some(curve) = CURVES.iter().find(|curve| is_measured(curve.preset, config)) else { return (None, Vec::new()) };
    let there = curve.models.iter().filter(|&&(model, ..)| model <= config.run_loop.models);
    let strength = |&(model, elo, elo_margin)| Strength { model, seconds: seconds(model), elo, elo_margin };
    (curve.start, there.map(strength).collect())
}

/// Whether models are trained as those of the preset were: matches, extent and seed may differ.
fn is_measured(preset: Preset, config: &RunConfig) -> bool {
    let measured = preset.config();
    let (evaluate, run_loop, seed) = (measured.evaluate.clone(), measured.run_loop.clone(), measured.seed);
    RunConfig { evaluate, run_loop, seed, ..config.clone() }.digest() == measured.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_that_of_the_experiment() {
        let file = include_str!("../../../experiments/0064-rating-curve-9x9/ratings.csv");
        let line = |model: u32| {
            let found = file.lines().find(|line| line.contains(&format!("8x64, 9x9-further\",{model},")));
            found.unwrap_or_else(|| panic!("no model {model}"))
        };
        // It numbers the models of all runs of the line in one series.
        for (curve, before) in CURVES.iter().zip([0, 80, 299]) {
            for (model, elo, margin) in curve.models {
                let line = line(before + model);
                assert!(line.ends_with(&format!(",{elo},{margin}")), "{model}: {line}");
            }
            if let Some(start) = curve.start {
                let line = line(before);
                assert!(line.contains(&format!(",{},", start.minutes)), "{start:?}: {line}");
            }
        }
        let seeds = include_str!("../../../experiments/0051-95-percent-in-75-minutes/README.md");
        let line = seeds.lines().find(|line| line.starts_with("| GNU Go 3.8 level 10")).unwrap();
        assert!(SEEDS.iter().all(|points| line.contains(&format!("**{points}"))), "{line}");
    }

    #[test]
    fn strength_as_json_has_the_margin_of_its_elo() {
        let (_, strengths) = of(&Preset::NineByNineFurther.config(), f64::from);
        let expected = serde_json::json!([{ "model": 48, "seconds": 48.0, "elo": 636.0, "elo_margin": 218.0 }]);
        assert_eq!(serde_json::to_value(strengths).unwrap(), expected);
    }

    #[test]
    fn only_measured_configurations_have_a_strength() {
        let shorter = Preset::NineByNine.with(&["loop.models=40", "evaluate.every=4", "seed=7"]).unwrap();
        let models = |config: &RunConfig| {
            let (start, strengths) = of(config, f64::from);
            (start.map(|start| start.minutes), strengths.iter().map(|strength| strength.model).collect::<Vec<u32>>())
        };
        assert_eq!(models(&shorter), (None, vec![4, 8, 16, 24, 40]));
        assert_eq!(models(&Preset::NineByNineLarger.with(&["seed=7"]).unwrap()), (Some(11.8), vec![30, 100]));
        assert_eq!(models(&Preset::NineByNineFurther.config()), (Some(282.4), vec![48]));
        let other = Preset::NineByNine.with(&["search.visits=9"]).unwrap();
        assert_eq!(models(&other), (None, Vec::new()));
    }
}
