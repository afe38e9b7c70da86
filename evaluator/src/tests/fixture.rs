//! What unit tests share: a run on a small board, an arena of built-in models, and made-up games of a match.

use std::collections::BTreeSet;

use config::{ModelId, Overrides, PlayerId, Preset, RunConfig, RunName};
use go::Size;
use gtp::engines::EngineSpecs;
use models::Models;
use net::Device;
use ratings::pairing::Objective;
use record::{GameId, GameRecord, Outcome, synthetic};
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

/// A made-up game of two players. Its id is that of their series with either colour; who wins is made up, too.
pub(crate) fn match_game(black: &str, white: &str, index: u64) -> GameRecord {
    let made_up = synthetic::game("made", "up", index, Size::new(5).expect("a size"), 1);
    let id = GameId::of(black.min(white), black.max(white), "", index);
    GameRecord { id, black: black.to_owned(), white: white.to_owned(), ..made_up }
}

/// A made-up game of two players, which the winner plays as Black where the index is even.
pub(crate) fn won_game(winner: &str, loser: &str, index: u64) -> GameRecord {
    if index.is_multiple_of(2) {
        GameRecord { outcome: Outcome::Black, ..match_game(winner, loser, index) }
    } else {
        GameRecord { outcome: Outcome::White, ..match_game(loser, winner, index) }
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
