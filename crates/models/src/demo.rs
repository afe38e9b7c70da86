//! The model that comes with the program: `9x9-demo`.

use config::{Preset, RunConfig, RunName};
use store::{ModelMetadata, Run, StoreError};

/// The name of its run.
pub(crate) const NAME: &str = "9x9-demo";

/// Its weights, after 6.3 hours on two cores: configs/9x9.toml, configs/9x9-larger.toml to its model 100 twice, then
/// eight blocks, then configs/9x9-further.toml (`experiments/0055-32-visits-six-hours`).
const WEIGHTS: &[u8] = include_bytes!("../../../demo/9x9-demo.safetensors");

/// Optimiser steps that it has taken.
const STEPS: u64 = 93_677;

/// Its network and its last search settings where they differ from `configs/9x9.toml`.
const DIFFERENCES: [&str; 6] = [
    "network.blocks=8",
    "network.filters=64",
    "network.inputs=tactics",
    "train.grow=[]",
    "search.visits=32",
    "search.phases=[]",
];

/// Its run.
pub(crate) fn run() -> RunName {
    NAME.parse().expect("a test parses it")
}

/// Whether this is the name of the demo's run.
pub(crate) fn is_named(run: &RunName) -> bool {
    run.as_str() == NAME
}

fn configuration() -> RunConfig {
    Preset::NineByNine.with(&DIFFERENCES).expect("a test reads it")
}

/// Publishes the demo's model 1, and then creates its run: a run without the model would take the place of the demo for
/// ever.
pub(crate) fn publish(run: &Run) -> Result<(), StoreError> {
    let config = configuration();
    let metadata = ModelMetadata::new(run.name(), 1, STEPS, &config);
    run.models().publish(&metadata, WEIGHTS.into())?;
    run.create(&config)
}

#[cfg(test)]
mod tests {
    use net::{Shape, Weights};
    use store::Store;

    use super::*;

    #[test]
    fn demo_is_a_small_network_of_its_configuration() {
        let run = Store::in_memory().unwrap().run(&run());
        publish(&run).unwrap();
        let (metadata, weights) = run.models().get(1).unwrap();
        let config = configuration();
        assert_eq!(run.config().unwrap(), Some(config.clone()));
        assert_eq!(
            (metadata.search.visits, metadata.search.gumbel_moves, metadata.search.gumbel_c_scale),
            (32, 4, 1.0)
        );
        let read = Weights::from_bytes(&weights).unwrap();
        assert_eq!(read.shape(), Shape::new(&config.game, &metadata.network));
        // Without scales every program would find them first: 384 evaluations in f32.
        assert!(read.has_scales());
        assert!(weights.len() < 3_000_000);
    }
}
