//! Models by their names, and one that comes with the program: `9x9-demo`.

use cli::Classify;
use config::{ModelId, ModelRef, Preset, RunConfig, RunName};
use store::{ModelCard, Store, StoreError};

/// The name of its run.
const NAME: &str = "9x9-demo";

/// Its weights, after 6.3 hours on two cores: configs/9x9.toml, configs/9x9-larger.toml to its model 100, the same once more, then with
/// eight blocks, and then configs/9x9-further.toml (RESULTS.md, "searches of 32 visits, and six hours").
const WEIGHTS: &[u8] = include_bytes!("../../demo/9x9-demo.safetensors");

/// Optimiser steps that it has taken.
const STEPS: u64 = 93_677;

/// What it is, and what it was searched with in its last games, where `configs/9x9.toml` has something else.
const OTHERWISE: [&str; 6] = [
    "network.blocks=8",
    "network.filters=64",
    "network.inputs=tactics",
    "train.grow=[]",
    "search.visits=32",
    "search.phases=[]",
];

/// The store in which a model is to be looked for: the one that is named, or one in memory that has only the model that
/// comes with the program, if that is meant and the store has no run of its name.
///
/// # Errors
/// A store that cannot be opened.
pub fn store_of(store: &str, model: &ModelRef) -> anyhow::Result<Store> {
    let named = Store::open(store)?;
    match model {
        ModelRef::Newest(run) if run.as_str() == NAME && !named.run(run).exists()? => Ok(demo(run)?),
        _ => Ok(named),
    }
}

/// The model that is meant: the one that is named, or the newest of the run that is named.
///
/// # Errors
/// A store that cannot be reached, or a run without models.
pub fn resolve(store: &Store, model: &ModelRef) -> anyhow::Result<ModelId> {
    match model {
        ModelRef::Exact(id) => Ok(id.clone()),
        ModelRef::Newest(name) => {
            let newest = store.run(name).models().newest()?;
            newest
                .map(|number| name.model(number))
                .ok_or_else(|| anyhow::anyhow!("run {name} has no model yet"))
                .misconfigured()
        }
    }
}

/// The configuration of its run.
fn configuration() -> RunConfig {
    Preset::NineByNine.with(&OTHERWISE).expect("it is tested")
}

fn demo(name: &RunName) -> Result<Store, StoreError> {
    let config = configuration();
    let store = Store::in_memory()?;
    let run = store.run(name);
    run.create(&config)?;
    let card = ModelCard {
        run: name.clone(),
        number: 1,
        parent: None,
        origin: Vec::new(),
        step: STEPS,
        size: config.game.size,
        config_digest: config.digest(),
        network: config.network,
        search: config.search,
    };
    run.models().publish(&card, WEIGHTS.into())?;
    Ok(store)
}

#[cfg(test)]
mod tests {
    use net::Weights;

    use super::*;

    #[test]
    fn the_demo_is_a_small_network_of_the_configuration_that_comes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let model: ModelRef = NAME.parse().unwrap();
        let store = store_of(&folder.path().display().to_string(), &model).unwrap();
        let id = resolve(&store, &model).unwrap();
        assert_eq!(id.to_string(), "9x9-demo-1");
        let ModelId::Trained { run, number } = id else { panic!("{id} is trained") };
        let (card, weights) = store.run(&run).models().get(number).unwrap();
        let config = configuration();
        assert_eq!((card.search.visits, card.search.gumbel_moves, card.search.gumbel_c_scale), (32, 4, 1.0));
        let shape = net::Shape::new(&config.game, &card.network).unwrap();
        assert_eq!(Weights::from_bytes(&weights).unwrap().shape(), shape);
        assert!(weights.len() < 3_000_000);
    }

    #[test]
    fn a_run_of_that_name_is_what_is_meant_where_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().display().to_string();
        let model: ModelRef = NAME.parse().unwrap();
        Store::open(&url).unwrap().run(&NAME.parse().unwrap()).create(&Preset::NineByNine.config()).unwrap();
        assert_eq!(store_of(&url, &model).unwrap().root(), Store::open(&url).unwrap().root());
        let other: ModelRef = "v1".parse().unwrap();
        assert_eq!(store_of(&url, &other).unwrap().root(), Store::open(&url).unwrap().root());
    }
}
