//! Objects of a small run, as the store writes them, for the targets that read them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use config::{Preset, RunConfig};
use go::Size;
use record::{ExampleRows, GameRecord, RatingRow, synthetic};
use store::{
    AgeSummary, Checkpoint, FileRef, Manifest, ModelMetadata, Pairing, ResignThreshold, Run, SampleSummary, Stem,
    Store, WindowSummary,
};

/// What each target begins with: objects of the run by the start of their names.
const TARGETS: [(&str, &[&str]); 5] = [
    ("games", &["games/", "matches/"]),
    ("example_rows", &["examples/"]),
    ("shards", &["shards/000001/part"]),
    ("results", &["matches/", "ratings/"]),
    (
        "metadata",
        &["models/000001/model", "shards/000001/manifest", "checkpoints/", "resign/", "pairings/", "pruned/", "run.toml"],
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
    for (target, starts) in TARGETS {
        let own = objects.iter().filter(|name| starts.iter().any(|start| name.starts_with(start)));
        for name in own.filter(|name| name.ends_with(".parquet") || name.ends_with(".toml")) {
            super::put(folder, target, &name.replace('/', "-"), &fs::read(root.join(name))?)?;
        }
    }
    fs::remove_dir_all(scratch)
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

fn publish(run: &Run) -> Result<(), store::StoreError> {
    let size = Size::new(5).expect("5 is a size");
    let games: Vec<GameRecord> = (0..4).map(|index| synthetic::game("seed-1", "w", index, size, 20)).collect();
    run.games().publish_as(&FileRef { model: 1, stem: Stem::new("w", 7)? }, &games)?;
    run.matches().publish("e", &games)?;
    let rating = |player: &str, elo| RatingRow {
        player: player.to_owned(),
        elo,
        error: 40.0,
        above_pool: elo,
        above_pool_error: 30.0,
        games: 64,
        points: 40.5,
    };
    run.ratings().publish(&[rating("seed-1", 120.0), rating("gnugo", 0.0)])?;
    let config = Preset::Tiny.config();
    run.create(&config)?;
    let [first, second] = ["seed-1", "random"].map(|name| name.parse().expect("the names are a model and a built-in one"));
    run.pairings().remember(1, 0, &Pairing { first, second, games: 16 })?;
    run.pruning().prune_sgf(&[], 1, &|_| false)?;
    run.models().publish(&ModelMetadata::new(run.name(), 1, 125, &config), vec![1; 64].into())?;
    let examples: Vec<_> = games.iter().flat_map(|game| game.examples().expect("made-up games are played by the rules")).collect();
    run.shards().publish([ExampleRows::from_examples(&examples)], manifest(&config, examples.len()))?;
    let files = BTreeMap::from([("trainer.safetensors".to_owned(), vec![2; 64].into())]);
    run.checkpoints().publish(&Checkpoint { step: 125, files })?;
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
