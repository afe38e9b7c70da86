//! Configurations, models, shards, checkpoints, thresholds, ratings.

use std::collections::BTreeMap;

use bytes::Bytes;
use record::{ExampleRows, RatingRow};
use store::{Checkpoint, Manifest, ModelMetadata, Pairing, Run, SampleSummary, Store, StoreError, WindowSummary};
use testing::{Access, killed, killed_after};

use crate::{config, fresh, name, on_every_run, on_every_store, some_games};

#[test]
fn run_is_created_once() {
    on_every_store(|store: &Store| {
        let run = store.run(&name("r"));
        assert_eq!((run.config().unwrap(), run.exists().unwrap()), (None, false));
        run.create(&config(&[])).unwrap();
        run.create(&config(&[])).unwrap();
        assert_eq!(run.config().unwrap(), Some(config(&[])));
        let error = run.create(&config(&["seed=2"])).unwrap_err();
        assert!(
            matches!(&error, StoreError::Conflict { changes, .. } if changes.found == config(&[]).digest()),
            "{error}"
        );
        store.run(&name("b")).create(&config(&[])).unwrap();
        store.run(&name("c")).ratings().publish(&[]).unwrap();
        assert_eq!(store.runs().unwrap(), [name("b"), name("r")]);
    });
}

pub(crate) fn metadata(number: u32) -> ModelMetadata {
    ModelMetadata::new(&name("r"), number, 100 * u64::from(number), &config(&[]))
}

#[test]
fn models_come_back_as_they_were() {
    on_every_run(|run| {
        assert_eq!((run.models().newest().unwrap(), run.models().list().unwrap()), (None, vec![]));
        for number in 1..=10 {
            run.models().publish(&metadata(number), Bytes::from(format!("weights {number}"))).unwrap();
        }
        assert_eq!((run.models().newest().unwrap(), run.models().list().unwrap()), (Some(10), (1..=10).collect()));
        assert_eq!(run.models().get(2).unwrap(), (metadata(2), Bytes::from("weights 2")));
        assert_eq!(run.models().metadata(10).unwrap().id().to_string(), "r-10");
        let error = run.models().get(11).unwrap_err();
        assert!(
            matches!(&error, StoreError::NotFound { path } if path.ends_with("r/models/000011/model.toml")),
            "{error}"
        );
    });
}

#[test]
fn model_is_published_once() {
    on_every_run(|run| {
        run.models().publish(&metadata(1), Bytes::from("a")).unwrap();
        run.models().publish(&metadata(1), Bytes::from("a")).unwrap();
        let error = run.models().publish(&metadata(1), Bytes::from("b")).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyExists { .. }), "{error}");
        assert_eq!(run.models().get(1).unwrap().1, "a");
    });
}

pub(crate) fn manifest(generation: u32) -> Manifest {
    Manifest {
        generation,
        seed: 1,
        config_digest: "d".to_owned(),
        window: WindowSummary { games: 10, to_model: 1, positions: 100, ..WindowSummary::default() },
        sampled: SampleSummary { wanted: 10, examples: 10, reuse: 0.2, ..SampleSummary::default() },
        ..Manifest::default()
    }
}

pub(crate) fn parts(seed: u64) -> Vec<ExampleRows> {
    let games = some_games("w", seed, seed + 4);
    games
        .chunks(2)
        .map(|games| games.iter().flat_map(|game| game.examples().unwrap()).collect::<Vec<_>>())
        .map(|rows| ExampleRows::from_examples(&rows))
        .collect()
}

fn read_all(run: &Run, manifest: &Manifest) -> Vec<ExampleRows> {
    manifest.parts.iter().map(|part| run.shards().read(manifest.generation, part).unwrap()).collect()
}

fn rows(parts: &[ExampleRows]) -> Vec<record::Example> {
    parts.iter().flat_map(ExampleRows::to_examples).collect()
}

#[test]
fn shards_come_back_as_they_were() {
    on_every_run(|run| {
        assert_eq!(run.shards().manifest(2).unwrap(), None);
        let published = run.shards().publish(parts(0), manifest(2)).unwrap();
        assert_eq!(run.shards().manifest(2).unwrap().as_ref(), Some(&published));
        assert_eq!(rows(&read_all(run, &published)), rows(&parts(0)));
        assert_eq!(run.shards().publish(parts(0), manifest(2)).unwrap(), published);
        let error = run.shards().publish(parts(50), manifest(2)).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyExists { .. }), "{error}");
        assert_eq!(rows(&read_all(run, &published)), rows(&parts(0)));
    });
}

#[test]
fn shards_exist_only_once_all_their_files_are_written() {
    let run = Store::in_memory().unwrap().run(&name("r"));
    // Of two parts and the manifest.
    for writes in 0..3 {
        killed(&run, writes).shards().publish(parts(0), manifest(2)).unwrap_err();
        assert_eq!(run.shards().manifest(2).unwrap(), None, "{writes} of 3 writes");
    }
    let published = run.shards().publish(parts(0), manifest(2)).unwrap();
    assert_eq!(rows(&read_all(&run, &published)), rows(&parts(0)));
}

#[test]
fn old_shards_are_pruned() {
    on_every_run(|run| {
        for generation in 1..=4 {
            run.shards().publish(parts(generation.into()), manifest(generation)).unwrap();
        }
        run.shards().prune(3).unwrap();
        assert_eq!(run.shards().generations().unwrap(), [3, 4]);
        assert_eq!((run.shards().manifest(2).unwrap(), run.shards().manifest(3).unwrap().is_some()), (None, true));
    });
}

pub(crate) fn checkpoint(step: u64, text: &str) -> Checkpoint {
    let file = |name: &str| (name.to_owned(), Bytes::from(format!("{name} {text}")));
    Checkpoint { step, files: BTreeMap::from(["weights.safetensors", "state.toml"].map(file)) }
}

#[test]
fn newest_two_checkpoints_are_kept() {
    on_every_run(|run| {
        assert_eq!(run.checkpoints().newest().unwrap(), None);
        for step in [9, 10, 100] {
            run.checkpoints().publish(&checkpoint(step, "x")).unwrap();
            assert_eq!(run.checkpoints().newest().unwrap(), Some(checkpoint(step, "x")));
        }
        assert_eq!(run.checkpoints().steps().unwrap(), [10, 100]);
        assert_eq!(run.checkpoints().get(9).unwrap(), None);
        assert_eq!(run.checkpoints().get(10).unwrap(), Some(checkpoint(10, "x")));
        run.checkpoints().publish(&checkpoint(100, "x")).unwrap();
        let error = run.checkpoints().publish(&checkpoint(100, "y")).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyExists { .. }), "{error}");
        assert_eq!(run.checkpoints().newest().unwrap(), Some(checkpoint(100, "x")));
    });
}

#[test]
fn checkpoint_whose_deletion_is_killed_is_whole_or_gone() {
    let run = Store::in_memory().unwrap().run(&name("r"));
    // A place in memory lists files by name: this one before the manifest.
    let checkpoint = |step| Checkpoint { step, files: [("a.bin".to_owned(), Bytes::from("a"))].into() };
    (1..=2).for_each(|step| run.checkpoints().publish(&checkpoint(step)).unwrap());
    for (deletions, left) in [(0, Some(checkpoint(1))), (1, None)] {
        killed_after(&run, Access::Delete, deletions).checkpoints().prune(1).unwrap_err();
        assert_eq!(run.checkpoints().get(1).unwrap(), left, "after {deletions} deletions");
    }
    assert_eq!(run.checkpoints().prune(1).unwrap(), 1);
    assert_eq!(run.checkpoints().steps().unwrap(), [2]);
}

#[test]
fn files_of_checkpoints_have_plain_names() {
    on_every_run(|run| {
        for name in ["", "x", "../x.y", "a/b.c", ".x", "x.", "manifest.toml", "a b.c"] {
            let checkpoint = Checkpoint { step: 1, files: BTreeMap::from([(name.to_owned(), Bytes::new())]) };
            let error = run.checkpoints().publish(&checkpoint).unwrap_err();
            assert!(matches!(error, StoreError::Malformed { .. }), "{name}: {error}");
        }
    });
}

pub(crate) fn threshold(threshold: f32) -> store::ResignThreshold {
    store::ResignThreshold {
        threshold,
        quantile: 0.05,
        games: 100,
        from_model: 0,
        to_model: 3,
        in_force_games: 80,
        in_force_wrong: 5,
        false_positive_rate: 0.05,
        rate_low: 0.02,
        rate_high: 0.11,
    }
}

pub(crate) fn rating(elo: f64) -> RatingRow {
    RatingRow {
        player: "r-1".to_owned(),
        elo,
        error: 20.0,
        above_pool: 0.0,
        above_pool_error: 10.0,
        games: 4,
        points: 2.5,
    }
}

#[test]
fn newest_ratings_win() {
    on_every_run(|run| {
        assert_eq!(run.ratings().newest().unwrap(), None);
        run.ratings().publish(&[rating(1.0)]).unwrap();
        run.ratings().publish(&[rating(2.0), rating(-0.5)]).unwrap();
        assert_eq!(run.ratings().newest().unwrap(), Some(vec![rating(2.0), rating(-0.5)]));
    });
}

#[test]
fn model_is_retired_and_brought_back_by_marks_that_stay() {
    on_every_run(|run| {
        let why = BTreeMap::from([("by", "test")]);
        let retired = |run: &Run| (run.retirements().retired().unwrap(), run.retirements().reinstated().unwrap());
        assert_eq!(retired(run), ([].into(), [].into()));
        run.retirements().reinstate(7, &why).unwrap();
        assert_eq!(retired(run), ([].into(), [].into()), "it is not retired");
        for _ in 0..6 {
            run.retirements().retire(7, &why).unwrap();
            run.retirements().retire(7, &why).unwrap();
            run.retirements().retire(12, &why).unwrap();
            assert_eq!(retired(run), ([7, 12].into(), [].into()));
            run.retirements().reinstate(7, &why).unwrap();
            run.retirements().reinstate(7, &why).unwrap();
            assert_eq!(retired(run), ([12].into(), [7].into()));
        }
    });
}

#[test]
fn weights_can_be_deleted_and_cards_stay() {
    on_every_run(|run| {
        (1..=3).for_each(|number| run.models().publish(&metadata(number), Bytes::from("weights")).unwrap());
        run.models().delete_weights(2).unwrap();
        run.models().delete_weights(2).unwrap();
        assert!(run.models().weights_are_deleted(2).unwrap() && !run.models().weights_are_deleted(3).unwrap());
        assert_eq!((run.models().list().unwrap(), run.models().newest().unwrap()), (vec![1, 2, 3], Some(3)));
        assert_eq!(run.models().metadata(2).unwrap(), metadata(2));
        let error = run.models().get(2).unwrap_err();
        assert!(matches!(&error, StoreError::Deleted { model, .. } if model.to_string() == "r-2"), "{error}");
        assert!(run.models().get(3).is_ok());
        assert!(matches!(run.models().delete_weights(9), Err(StoreError::NotFound { .. })));
    });
}

/// Killed before the mark, and between the mark and the deletion.
#[test]
fn weights_whose_deletion_is_killed_can_be_read() {
    let run = Store::in_memory().unwrap().run(&name("r"));
    run.models().publish(&metadata(2), Bytes::from("weights")).unwrap();
    for killed in [killed(&run, 0), killed_after(&run, Access::Delete, 0)] {
        killed.models().delete_weights(2).unwrap_err();
        assert_eq!(run.models().get(2).unwrap().1, "weights");
    }
    run.models().delete_weights(2).unwrap();
    assert!(matches!(run.models().get(2), Err(StoreError::Deleted { .. })));
}

#[test]
fn first_pairing_of_a_turn_is_kept() {
    on_every_run(|run| {
        let pairing = |first: &str, games| Pairing {
            first: first.parse().unwrap(),
            second: "r-8+visits=3".parse().unwrap(),
            games,
        };
        assert_eq!(run.pairings().get(80, 3).unwrap(), None);
        assert_eq!(run.pairings().remember(80, 3, &pairing("random", 32)).unwrap(), pairing("random", 32));
        assert_eq!(run.pairings().remember(80, 3, &pairing("r-1", 64)).unwrap(), pairing("random", 32));
        assert_eq!(run.pairings().get(80, 3).unwrap(), Some(pairing("random", 32)));
        assert_eq!((run.pairings().get(80, 4).unwrap(), run.pairings().get(8, 3).unwrap()), (None, None));
    });
}

#[test]
fn logs_are_kept_by_name() {
    on_every_run(|run| {
        assert_eq!(run.logs().list().unwrap(), Vec::<String>::new());
        run.logs().publish("000002-0.jsonl", Bytes::from("second")).unwrap();
        run.logs().publish("000001-0.jsonl", Bytes::from("first")).unwrap();
        assert_eq!(run.logs().list().unwrap(), ["000001-0.jsonl", "000002-0.jsonl"]);
        assert_eq!(run.logs().read("000001-0.jsonl").unwrap(), "first");
        assert!(matches!(run.logs().read("000003-0.jsonl"), Err(StoreError::NotFound { .. })));
        assert!(matches!(run.logs().publish("000001-0.jsonl", Bytes::new()), Err(StoreError::AlreadyExists { .. })));
        for name in ["", "..", ".hidden", "a/b", "a b", &"x".repeat(129)] {
            let error = run.logs().publish(name, Bytes::new()).unwrap_err();
            assert!(error.to_string().contains("is not a name of a log: use 1 to 128 letters"), "{name}: {error}");
        }
    });
}

#[test]
fn second_poll_finds_newer_model() {
    on_every_run(|run| {
        let publish = |number| run.models().publish(&metadata(number), Bytes::from("w")).unwrap();
        publish(9);
        assert_eq!(run.models().newest().unwrap(), Some(9));
        publish(3);
        assert_eq!(run.models().newest().unwrap(), Some(9), "an older one that comes later is not the newest");
        publish(10);
        publish(11);
        assert_eq!(run.models().newest().unwrap(), Some(11));
        assert_eq!(fresh(run).models().newest().unwrap(), Some(11));
    });
}

#[test]
fn newest_model_deleted_by_hand_is_not_the_newest() {
    let (folder, run) = crate::in_folder();
    for number in [1, 2] {
        run.models().publish(&metadata(number), Bytes::from("w")).unwrap();
    }
    assert_eq!(run.models().newest().unwrap(), Some(2));
    std::fs::remove_dir_all(folder.path().join("r/models/000002")).unwrap();
    assert_eq!(run.models().newest().unwrap(), Some(1));
}
