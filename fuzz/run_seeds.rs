//! Objects of a small run, as the store writes them, for the targets that read them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use config::{Preset, RunConfig};
use go::Size;
use gtp::engines::Identity;
use record::{ExampleRows, GameRecord, RatingRow, games, ratings, synthetic};
use store::{
    AgeSummary, Checkpoint, Claim, FileRef, LeaseName, Manifest, ModelMetadata, Pairing, ResignThreshold, Run,
    SampleSummary, Stem, Store, StoreError, WindowSummary, encode_uncompressed,
};

/// What each target begins with: objects of the run by the start and the end of their names.
const TARGETS: [(&str, &[&str], &str); 5] = [
    ("games", &["games/", "matches/", "unfinished/"], ".parquet"),
    ("example_rows", &["examples/"], ".parquet"),
    ("shards", &["shards/000001/part"], ".parquet"),
    ("results", &["matches/", "ratings/"], ".parquet"),
    (
        "metadata",
        &[
            "models/000001/model", "shards/000001/manifest", "checkpoints/", "resign/", "pairings/", "pruned/", "run.toml",
            "claims/", "leases/", "unfinished/", "engines/",
        ],
        ".toml",
    ),
];

/// Writes a run to a folder that is gone afterwards, and its objects to the folders of the targets.
pub fn write(folder: &Path) -> io::Result<()> {
    let scratch = folder.join("run");
    let store = Store::open(&scratch.display().to_string()).expect("a folder that can be written is a store");
    publish(&store.run(&"seed".parse().expect("letters are a name"))).expect("a folder can be written");
    let root = scratch.join("seed");
    let mut objects = Vec::new();
    walk(&root, &root, &mut objects)?;
    objects.sort();
    for (target, starts, end) in TARGETS {
        let is_own = |name: &&String| starts.iter().any(|start| name.starts_with(start)) && name.ends_with(end);
        // Names of objects have the time, and every run of this program would add files.
        for (nth, name) in objects.iter().filter(is_own).enumerate() {
            let kind = name.split('/').next().unwrap_or_default();
            super::put(folder, target, &format!("{kind}-{nth}"), &fs::read(root.join(name))?)?;
        }
    }
    fs::remove_dir_all(scratch)?;
    // Nearly every altered byte of a compressed page is an error of the compression.
    let all = games();
    let (some, rows) = (&all[..2], examples(&all[..2]));
    for (target, name, table) in [
        ("games", "plain", games::to_batch(some)),
        ("games", "plain-unfinished", games::unfinished::to_batch(some)),
        ("example_rows", "plain", rows.batch().clone()),
        ("shards", "plain", rows.batch().clone()),
        ("results", "plain", games::to_batch(some)),
        ("results", "plain-ratings", ratings::to_batch(&rated())),
    ] {
        super::put(folder, target, name, &encode_uncompressed(&table))?;
    }
    Ok(())
}

/// The files below a folder, by their names from `root` on.
fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(root, &path, names)?;
        } else {
            names.push(path.strip_prefix(root).expect("a walk stays below its root").display().to_string());
        }
    }
    Ok(())
}

fn games() -> Vec<GameRecord> {
    let size = Size::new(5).expect("5 is a size");
    (0..4).map(|index| synthetic::game("seed-1", "w", index, size, 20)).collect()
}

fn examples(games: &[GameRecord]) -> ExampleRows {
    let all = games.iter().flat_map(|game| game.examples().expect("made-up games are played by the rules"));
    ExampleRows::from_examples(&all.collect::<Vec<_>>())
}

fn rated() -> [RatingRow; 2] {
    [("seed-1", 120.0), ("gnugo", 0.0)].map(|(player, elo)| RatingRow {
        player: player.to_owned(),
        elo,
        error: 40.0,
        above_pool: elo,
        above_pool_error: 30.0,
        games: 64,
        points: 40.5,
    })
}

fn publish(run: &Run) -> Result<(), StoreError> {
    let games = games();
    let file = |time| Stem::new("w", time).map(|stem| FileRef { model: 1, stem });
    run.games().publish_as(&file(7)?, &games[..2])?;
    assert_eq!(run.archives().compact(1, games.len())?.archives, 1);
    run.games().publish_as(&file(8)?, &games[2..])?;
    // Of another worker: those of this one are published.
    run.unfinished().hand_off(1, "v", &games[..2])?;
    assert!(run.unfinished().acquire("w", &[], |_| true)?.is_some());
    run.matches().publish("e", &games)?;
    run.ratings().publish(&rated())?;
    let config = Preset::Tiny.config();
    run.create(&config)?;
    run.models().publish(&ModelMetadata::new(run.name(), 1, 125, &config), vec![1; 64].into())?;
    let examples = examples(&games);
    let manifest = manifest(&config, examples.len());
    run.shards().publish([examples], manifest)?;
    let files = BTreeMap::from([("trainer.safetensors".to_owned(), vec![2; 64].into())]);
    run.checkpoints().publish(&Checkpoint { step: 125, files })?;
    publish_metadata(run)
}

fn publish_metadata(run: &Run) -> Result<(), StoreError> {
    let [first, second] = ["seed-1", "random"].map(|name| name.parse().expect("the names are a model and a built-in one"));
    run.pairings().remember(1, 0, &Pairing { first, second, games: 16 })?;
    run.pruning().prune_sgf(&[], 1, &|_| ControlFlow::Continue(()))?;
    let claim = Claim { first: "seed-1".to_owned(), second: "random".to_owned(), numbers: vec![4, 5] };
    assert!(run.claims().acquire("e", &claim)?);
    let name = LeaseName { stage: "selfplay", name: "0".to_owned(), remedy: "" };
    // Its file stays until it is released.
    drop(run.leases().acquire(name, &|_| ControlFlow::Break(()), || ())?);
    let engine = Identity {
        program: "GNU Go".to_owned(),
        version: "3.8".to_owned(),
        arguments: vec!["--mode".to_owned(), "gtp".to_owned()],
        before_game: vec!["level 10".to_owned()],
        random_moves: 0.25,
    };
    run.matches().remember_engine(&"GnuGo-10".parse().expect("a capitalised word is a name"), &engine)?;
    run.resign().publish(&ResignThreshold {
        threshold: -0.8,
        quantile: 0.05,
        games: 100,
        from_model: 0,
        to_model: 1,
        in_force_games: 60,
        in_force_wrong: 3,
        false_positive_rate: 0.04,
        rate_low: 0.01,
        rate_high: 0.1,
    })
}

fn manifest(config: &RunConfig, examples: usize) -> Manifest {
    Manifest {
        generation: 1,
        seed: 1,
        config_digest: config.digest(),
        window: WindowSummary {
            games: 4,
            from_model: 0,
            to_model: 1,
            positions: examples,
            new_positions: examples,
            duplicate_games: 0,
            limit: 200,
            in_positions: false,
            calibration_fraction: 0.1,
        },
        sampled: SampleSummary {
            wanted: examples,
            examples,
            bounded: false,
            mean_per_position: 1.0,
            reuse: 1.0,
            calibration_fraction: 0.1,
        },
        rejected: Vec::new(),
        ages: vec![AgeSummary { model: 1, games: 4, positions: examples, examples }],
        parts: Vec::new(),
    }
}
