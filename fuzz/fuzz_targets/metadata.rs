//! TOML of a run: metadata of models, manifests of shards and checkpoints, thresholds, pairings, marks of pruned games and the
//! stored configuration.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scratch::Scratch;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("metadata"));

const OBJECTS: [&str; 7] = [
    "models/000001/model",
    "shards/000001/manifest",
    "checkpoints/000000000125/manifest",
    "resign/000001",
    "pairings/000001-000",
    "pruned/000001",
    "run",
];

fuzz_target!(|bytes: &[u8]| {
    for object in OBJECTS {
        SCRATCH.put(&format!("{object}.toml"), bytes);
    }
    // A run remembers the newest mark.
    let run = SCRATCH.run.store().run(SCRATCH.run.name());
    // An error is a result; metadata that is read belongs to the run and has an identifier.
    if let Ok(metadata) = run.models().metadata(1) {
        let _id = metadata.id().to_string();
        let _weights = run.models().get(1);
    }
    if let Ok(Some(manifest)) = run.shards().manifest(1) {
        for part in &manifest.parts {
            let _rows = run.shards().read(1, part);
        }
    }
    let _checkpoint = run.checkpoints().get(125);
    let _threshold = run.resign().get("000001");
    let _pairing = run.pairings().get(1, 0);
    let _mark = run.pruning().newest();
    let _configuration = run.config();
});
