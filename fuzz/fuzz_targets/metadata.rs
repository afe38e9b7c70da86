//! TOML of a run: metadata of models, manifests of shards and checkpoints, thresholds, pairings, marks of pruned games,
//! claims, leases, other programs and the stored configuration.
#![no_main]

use std::sync::LazyLock;

use config::EngineName;
use gtp::engines::Identity;
use libfuzzer_sys::fuzz_target;
use store::{FileRef, Stem, Store};

static STORE: LazyLock<Store> = LazyLock::new(|| Store::in_memory().expect("memory can be a store"));
static ENGINE: LazyLock<EngineName> =
    LazyLock::new(|| "GnuGo-10".parse().expect("a word that begins with a capital letter is a name"));

/// The objects that the bytes become. The file of games is only listed: the last two are about it.
const OBJECTS: [&str; 13] = [
    "models/000001/model.toml",
    "shards/000001/manifest.toml",
    "checkpoints/000000000125/manifest.toml",
    "resign/000001.toml",
    "pairings/000001-000.toml",
    "pruned/000001.toml",
    "run.toml",
    "claims/0123456789abcdef-000000004.toml",
    "leases/selfplay/0/000001.toml",
    "engines/GnuGo-10.toml",
    "unfinished/000001/w-0000000000007.parquet",
    "unfinished/000001/w-0000000000007.taken.toml",
    "unfinished/by/w-0000000000008.toml",
];

fuzz_target!(|bytes: &[u8]| {
    for object in OBJECTS {
        STORE.overwrite(&format!("fuzz/{object}"), bytes.to_vec()).expect("memory can be written");
    }
    // A run remembers the newest mark.
    let run = STORE.run(&"fuzz".parse().expect("letters are a name"));
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
    let _claims = run.claims().observe();
    for lease in run.leases().observe().unwrap_or_default() {
        let _holder = run.leases().holder_of(&lease);
    }
    let _engine = run.matches().remember_engine(&ENGINE, &unknown());
    let _takers = run.unfinished().files();
    // A taker reads which files it was about to take.
    let file = FileRef { model: 1, stem: Stem::new("w", 7).expect("letters are a name") };
    let _released = run.unfinished().release("w", &file);
});

/// A description that no program has: there is always one already.
fn unknown() -> Identity {
    let (program, version) = (String::new(), String::new());
    Identity { program, version, arguments: Vec::new(), before_game: Vec::new(), random_moves: 0.0 }
}
