//! The whole file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Evaluate, Game, Grow, Loop, Network, Resign, Retention, SCHEMA, Search, Selfplay, Train, Window};

/// The complete configuration of a run, with every value in range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Version of this format.
    #[schemars(range(min = SCHEMA, max = SCHEMA))]
    pub schema: u32,
    /// Seed of all randomness: on CPUs of one kind `tengen run` repeats a run by its seed.
    ///
    /// Games depend on the name of the run, too: two names with one seed are two runs.
    pub seed: u64,
    /// The rules of the game.
    pub game: Game,
    /// The architecture of the network: a residual tower after AlphaGo Zero.
    pub network: Network,
    /// The tree search; published with every model.
    pub search: Search,
    /// Games for training.
    pub selfplay: Selfplay,
    /// Resignation and its calibration.
    pub resign: Resign,
    /// The window (replay buffer) and the sampling of positions from it.
    pub window: Window,
    /// Optimiser, losses and schedules.
    pub train: Train,
    /// Matches between models.
    pub evaluate: Evaluate,
    /// The extent of `tengen run`.
    #[serde(rename = "loop")]
    pub run_loop: Loop,
    /// Objects that `tengen prune` keeps; no part of the digest.
    pub retention: Retention,
}

impl RunConfig {
    /// The network of a model, grown to its size by then.
    pub fn network_of(&self, model: u32) -> Network {
        let grown = self.train.grow.iter().rfind(|grow| grow.from_model <= model);
        grown.map_or(self.network, |&Grow { blocks, filters, inputs, .. }| Network {
            blocks,
            filters,
            inputs,
            ..self.network
        })
    }

    /// The complete configuration as TOML; [`RunConfig::from_toml`] reads it back unchanged.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration holds only numbers, strings, tables and arrays of tables")
    }

    /// [`RunConfig::to_toml`], parsed: numbers print as they are written.
    pub(crate) fn table(&self) -> toml::Table {
        self.to_toml().parse().expect("TOML that was written can be read")
    }

    /// This configuration with the schedules by model number applied.
    pub fn of_model(&self, model: u32) -> RunConfig {
        RunConfig {
            network: self.network_of(model),
            search: self.search.at(model),
            train: Train { grow: Vec::new(), ..self.train.clone() },
            ..self.clone()
        }
    }

    /// Whether the run plays matches of this model and rates it: every n-th model and the last (`evaluate.every`).
    pub fn is_evaluated(&self, model: u32) -> bool {
        model >= self.run_loop.models || model.is_multiple_of(self.evaluate.every)
    }

    /// The last evaluated model up to this one; 0 before the first.
    pub fn last_evaluated(&self, model: u32) -> u32 {
        if self.is_evaluated(model) { model } else { model - model % self.evaluate.every }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inputs;
    use crate::test::{error, minigo};

    #[test]
    fn every_nth_model_and_the_last_are_evaluated() {
        let mut config = minigo(&[]);
        (config.run_loop.models, config.evaluate.every) = (10, 4);
        assert_eq!([0, 3, 4, 7, 9, 10].map(|model| config.last_evaluated(model)), [0, 0, 4, 4, 8, 10]);
        assert_eq!((1..=10).filter(|&model| config.is_evaluated(model)).collect::<Vec<_>>(), [4, 8, 10]);
    }

    #[test]
    fn writing_and_reading_is_the_identity() {
        let config = minigo(&[]);
        let again = RunConfig::from_toml(&config.to_toml()).unwrap();
        assert_eq!(config, again);
        assert_eq!(config.digest(), again.digest());
        assert!(config.to_toml().starts_with("schema = 2\n"), "{}", config.to_toml());
    }

    #[test]
    fn digest_changes_with_every_value() {
        let plain = minigo(&[]).digest();
        let changes = [
            "seed=2",
            "search.visits=9",
            "search.q_init=0.25",
            "train.augment_symmetries=false",
            "loop.models=7",
            "selfplay.random_opening_fraction=0.5",
            "window.policy_surprise_weight=0.5",
            "evaluate.every=4",
            "evaluate.pairing=informed",
            "loop.final_pairs=10",
            "loop.final_margin=50.0",
        ];
        for change in changes {
            assert_ne!(minigo(&[change]).digest(), plain, "{change}");
        }
    }

    const SMALL: [&str; 3] = ["network.inputs=features", "network.blocks=2", "network.filters=16"];

    fn grown(list: &str) -> String {
        format!("train.grow=[{list}]")
    }

    #[test]
    fn network_of_a_model_grows() {
        let growing = |list: &str| minigo(&[SMALL[0], SMALL[1], SMALL[2], &grown(list)]);
        let config = growing(
            "{from_model=3,blocks=2,filters=16,inputs='tactics'},{from_model=5,blocks=4,filters=32,inputs='tactics'}",
        );
        let of = |network: Network| (network.blocks, network.filters, network.inputs);
        let first = (2, 16, Inputs::Features);
        let (second, third) = ((2, 16, Inputs::Tactics), (4, 32, Inputs::Tactics));
        let found = [0, 1, 2, 3, 4, 5, 99].map(|model| of(config.network_of(model)));
        assert_eq!(found, [first, first, first, second, second, third, third]);
        let fifth = config.of_model(5);
        assert_eq!((of(fifth.network), fifth.train.grow.len()), (third, 0));
        assert_ne!(config.digest(), growing("").digest());
        assert_eq!(RunConfig::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn networks_that_shrink_or_change_are_errors() {
        let error = |list: &str| error(&[SMALL[0], SMALL[1], SMALL[2], &grown(list)]);
        let one = |model: u32, blocks: usize, filters: usize, inputs: &str| {
            format!("{{from_model={model},blocks={blocks},filters={filters},inputs='{inputs}'}}")
        };
        assert!(error(&one(1, 4, 32, "features")).contains("from_model must rise, from 2 or later"));
        assert!(error(&format!("{0},{0}", one(4, 4, 32, "features"))).contains("4, 4"));
        for shrinks in [one(4, 1, 32, "features"), one(4, 2, 15, "features"), one(4, 2, 16, "history")] {
            assert!(error(&shrinks).contains("must not shrink"), "{shrinks}");
        }
        let back = error(&format!("{},{}", one(4, 2, 16, "tactics"), one(5, 2, 16, "features")));
        assert!(back.contains("2x16 features after 2x16 tactics"), "{back}");
        assert!(error(&one(4, 2, 5000, "features")).contains("train.grow[0].filters is 5000"));
    }
}
