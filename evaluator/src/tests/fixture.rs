//! What unit tests share: a run on a small board, and an arena of built-in models.

use std::collections::BTreeSet;

use config::{ModelId, Overrides, PlayerId, Preset, RunConfig, RunName};
use gtp::engines::EngineSpecs;
use models::Models;
use net::Device;
use ratings::pairing::Objective;
use record::GameId;
use store::Store;

use crate::{Arena, RatedRun, Resources};

pub(crate) const RUN: &str = "tiny";

/// A store with a run on a small board, few visits, and no model.
pub(crate) fn store() -> Store {
    let changes = ["search.visits=4", "evaluate.visits=4", "evaluate.games_per_pair=4"];
    store_of(&Preset::Tiny.with(&changes).expect("the overrides are good"))
}

/// A store with a run of this configuration.
pub(crate) fn store_of(config: &RunConfig) -> Store {
    let store = Store::in_memory().expect("there is memory");
    store.run(&name(RUN)).create(config).expect("the run is new");
    store
}

pub(crate) fn name(run: &str) -> RunName {
    run.parse().expect("a name")
}

pub(crate) fn arena(store: &Store, threads: usize) -> Arena {
    let resources = Resources {
        place: Device::Cpu.into(),
        cache: 1 << 20,
        times: false,
        threads,
        engines: EngineSpecs::default(),
        worker: "test".to_owned(),
        evaluations: None,
    };
    let rated = RatedRun::open(Models::new(store.clone()), &name(RUN)).expect("the run is there");
    Arena::open(rated, resources).expect("a good name")
}

/// Model metadata without weights: these models never play.
pub(crate) fn publish_models(arena: &Arena, count: u32) {
    for number in 1..=count {
        let config = arena.rated.config();
        let metadata = store::ModelMetadata::new(&name(RUN), number, 0, config);
        arena.rated.run.models().publish(&metadata, bytes::Bytes::from_static(b"none")).expect("memory can be written");
    }
}

pub(crate) fn ids(arena: &Arena) -> BTreeSet<GameId> {
    let results = arena.rated.run.matches().all().expect("memory can be read");
    let ids: BTreeSet<GameId> = results.iter().map(|result| result.id).collect();
    assert_eq!(ids.len(), results.len(), "no game is stored twice");
    ids
}

pub(crate) const BEST: Objective = Objective::Best;

pub(crate) const PAIR: [&PlayerId; 2] = [
    &PlayerId::Model { id: ModelId::Random, settings: Overrides::NONE },
    &PlayerId::Model { id: ModelId::Uniform, settings: Overrides::NONE },
];
