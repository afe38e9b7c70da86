//! Files that are not what they were: every damage is an error that names the file, and never a panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use exit_class::{Classified, ExitClass};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use record::VERSION_KEY;
use store::{FileRef, Pairing, ResignThreshold, Run, Stem, StoreError};
use tempfile::TempDir;

use crate::state::{checkpoint, manifest, parts, rating, threshold};
use crate::{config, fresh, in_folder, some_games};

/// A run with one file of games, and the paths of the games and the examples.
struct Victim {
    _folder: TempDir,
    run: Run,
    file: FileRef,
    paths: [PathBuf; 2],
}

impl Victim {
    fn new() -> Victim {
        let (folder, run) = in_folder();
        let file = FileRef { model: 1, stem: Stem::new("w", 5).unwrap() };
        run.games().publish_as(&file, &some_games("w", 0, 2)).unwrap();
        let paths =
            ["games", "examples"].map(|part| folder.path().join("r").join(part).join(format!("{file}.parquet")));
        Victim { _folder: folder, run, file, paths }
    }

    /// Replaces a file by these bytes and reads it in every way.
    fn read(&self, path: &PathBuf, bytes: &[u8]) -> Vec<Result<(), StoreError>> {
        fs::write(path, bytes).unwrap();
        let results = if *path == self.paths[0] {
            vec![self.run.games().read(&self.file).map(drop), self.run.games().summaries(&self.file).map(drop)]
        } else {
            vec![self.run.examples().read(&self.file).map(drop)]
        };
        results.iter().filter_map(|result| result.as_ref().err()).for_each(|error| names(error, path));
        results
    }
}

/// The error is of this file, which is damaged.
fn names(error: &StoreError, path: &Path) {
    assert!(
        matches!(error, StoreError::Damaged { path: named, .. } if *named == path.display().to_string()),
        "{error}"
    );
}

/// A file replaced by nothing, without its end, and with another last byte. `read` reads it, which fails each time.
fn damage(path: &Path, read: impl Fn() -> Result<(), StoreError>) {
    let whole = fs::read(path).unwrap();
    let mut altered = whole.clone();
    *altered.last_mut().unwrap() = b'?';
    for bytes in [&whole[..0], &whole[..whole.len() - 10], &altered[..]] {
        fs::write(path, bytes).unwrap();
        names(&read().unwrap_err(), path);
    }
    fs::write(path, whole).unwrap();
    read().unwrap();
}

/// Many places in a file: all of the last bytes, and some of the others.
fn places(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let end = bytes.len().saturating_sub(100);
    (0..end).step_by(41).chain(end..bytes.len())
}

#[test]
fn file_cut_anywhere_is_damaged() {
    let victim = Victim::new();
    for path in &victim.paths {
        let whole = fs::read(path).unwrap();
        for length in places(&whole) {
            assert!(victim.read(path, &whole[..length]).iter().all(Result::is_err), "{length} of {}", whole.len());
        }
    }
}

#[test]
fn altered_byte_is_noticed() {
    let victim = Victim::new();
    let summaries = victim.run.games().summaries(&victim.file).unwrap();
    for path in &victim.paths {
        let whole = fs::read(path).unwrap();
        for at in places(&whole) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            let results = victim.read(path, &bytes);
            assert!(results[0].is_err(), "{at} of {}", whole.len());
            // A reader of a few columns notices changes in these.
            if results.iter().any(Result::is_ok) {
                assert_eq!(victim.run.games().summaries(&victim.file).unwrap(), summaries);
            }
        }
    }
}

#[test]
fn garbage_is_damaged() {
    let victim = Victim::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..100 {
        let garbage = prop::collection::vec(any::<u8>(), 0..200).new_tree(&mut runner).unwrap().current();
        let length = (garbage.len() as u32).to_le_bytes();
        let dressed = [b"PAR1", garbage.as_slice(), &length, b"PAR1"].concat();
        for path in &victim.paths {
            assert!(victim.read(path, &dressed).iter().all(Result::is_err));
            assert!(victim.read(path, &garbage).iter().all(Result::is_err));
        }
    }
}

#[test]
fn table_of_something_else_is_damaged() {
    let victim = Victim::new();
    let [games, examples] = victim.paths.clone();
    fs::copy(&examples, &games).unwrap();
    let error = victim.run.games().read(&victim.file).unwrap_err();
    let (games_version, examples_version) = (record::games::VERSION, record::examples::VERSION);
    let expected = format!("expected a table of version {games_version}, found {examples_version}");
    assert_eq!(error.to_string(), format!("{} is damaged: {expected}", games.display()));
}

#[test]
fn damaged_metadata_is_named() {
    let (folder, run) = in_folder();
    let settings = config(&[]);
    let metadata = store::ModelMetadata::new(run.name(), 1, 1, &settings);
    run.models().publish(&metadata, Bytes::from("weights")).unwrap();
    let model = folder.path().join("r/models/000001");
    let damaged = |reason: &str| {
        let error = run.models().get(1).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    };
    let text = fs::read_to_string(model.join("model.toml")).unwrap();
    fs::write(model.join("weights.safetensors"), "weight").unwrap();
    damaged("weights.safetensors is damaged: it has 6 bytes, not 7");
    fs::write(model.join("weights.safetensors"), "weightz").unwrap();
    damaged("weights.safetensors is damaged: its SHA-256");
    fs::write(model.join("model.toml"), &text[..text.len() / 2]).unwrap();
    damaged("model.toml is damaged: ");
    fs::write(model.join("model.toml"), &text[..text.find("\nsha256 = ").unwrap()]).unwrap();
    damaged("model.toml is damaged: missing field `sha256`");
    fs::write(model.join("model.toml"), text.replace("format = 1", "format = 0")).unwrap();
    damaged("model.toml is damaged: it has format 0");
    fs::write(model.join("model.toml"), text.replace("format = 1", "")).unwrap();
    damaged("model.toml is damaged: it has no format");
    fs::write(model.join("model.toml"), format!("later = 1\n{text}")).unwrap();
    assert_eq!(run.models().metadata(1).unwrap(), metadata);
}

/// The file is whole. A program that needs it stops; the threshold before the newest serves as well.
#[test]
fn metadata_of_a_later_format_is_refused_with_both() {
    let (folder, run) = in_folder();
    let metadata = store::ModelMetadata::new(run.name(), 1, 1, &config(&[]));
    run.models().publish(&metadata, Bytes::from("weights")).unwrap();
    for value in [-0.9, -0.8] {
        run.resign().publish(&threshold(value)).unwrap();
    }
    let [model, newest] =
        ["models/000001/model.toml", "resign/000002.toml"].map(|path| folder.path().join("r").join(path));
    for path in [&model, &newest] {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replace("format = 1", "format = 2")).unwrap();
    }
    let fresh = fresh(&run);
    let versions = "format 2, and this program reads format 1";
    is_of_another_version(&fresh.models().get(1).unwrap_err(), &model, versions);
    is_of_another_version(&fresh.resign().get("000002").unwrap_err(), &newest, versions);
    assert_eq!(fresh.resign().newest().unwrap(), Some(threshold(-0.9)));
    fresh.resign().publish(&threshold(-0.7)).unwrap();
    assert_eq!(fresh.resign().list().unwrap().len(), 3, "the file of the other version is not replaced");
}

/// Games that another version played, and their bytes.
#[test]
fn table_of_another_version_is_refused_and_stays() {
    let victim = Victim::new();
    let path = &victim.paths[0];
    let games = victim.run.games();
    for version in ["games/5", "games/7"] {
        let batch = record::games::to_batch(&some_games("w", 0, 2));
        let schema = batch.schema().as_ref().clone().with_metadata([(VERSION_KEY, version)]);
        let other = RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap();
        fs::write(path, store::encode(&other)).unwrap();
        let versions = format!("{version}, and this program reads games/6");
        is_of_another_version(&games.read(&victim.file).unwrap_err(), path, &versions);
        is_of_another_version(&games.summaries(&victim.file).unwrap_err(), path, &versions);
        is_of_another_version(&games.summaries_or_quarantine(&victim.file).unwrap_err(), path, &versions);
        is_of_another_version(&games.indices(1, "w").unwrap_err(), path, &versions);
        assert!(path.exists() && !games.is_altered(&victim.file).unwrap());
    }
}

/// The error is of this file, which another version wrote.
fn is_of_another_version(error: &StoreError, path: &Path, versions: &str) {
    let expected = format!("{} has {versions}: use the version of Tengen that wrote it", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!((error.class(), error.is_damage(), error.is_skippable()), (ExitClass::Configuration, false, true));
}

#[test]
fn model_of_another_version_is_refused_with_the_key() {
    let (folder, run) = in_folder();
    let metadata = store::ModelMetadata::new(run.name(), 1, 1, &config(&[]));
    run.models().publish(&metadata, Bytes::from("weights")).unwrap();
    let path = folder.path().join("r/models/000001/model.toml");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, problem) in [
        ("[network]\n", "[network]\nsqueeze = 0\n", "unknown field `squeeze`"),
        ("\nblocks = ", "\n# ", "missing field `blocks`"),
        ("\nalgorithm = \"", "\nalgorithm = \"x", "unknown variant `x"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
        for error in [run.models().get(1).map(drop), run.models().metadata(1).map(drop)] {
            let error = error.unwrap_err();
            assert!(matches!(error, StoreError::OtherKeys { .. }), "{error}");
            let said = error.to_string();
            assert!(said.contains(&format!("r/models/000001/model.toml: {problem}")), "{said}");
            assert!(said.contains("; another version of Tengen began the run"), "{said}");
        }
    }
}

#[test]
fn configuration_with_keys_of_another_version_is_refused_with_the_key() {
    let (folder, run) = in_folder();
    let settings = config(&[]);
    run.create(&settings).unwrap();
    let text = settings.to_toml();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        fs::write(folder.path().join("r/run.toml"), text.replace(from, to)).unwrap();
        run.config().unwrap_err().to_string()
    };
    for (error, problem) in [
        (refused("\ngrowth_start = ", "\n# "), "missing key window.growth_start"),
        (refused("\ngrowth_start = ", "\npower_start = 1\ngrowth_start = "), "unknown key window.power_start"),
    ] {
        let expected = format!("r/run.toml: {problem}; another version of Tengen began the run");
        assert!(error.contains(&expected) && !error.contains("add it"), "{error}");
    }
    // This section may be edited.
    let error = refused("\n[retention]\n", "\n[retention]\ngamse = 1\n");
    assert!(error.contains("unknown key retention.gamse; did you mean retention.games?"), "{error}");
}

#[test]
fn damaged_checkpoint_is_named_and_deleted_one_is_not_the_newest() {
    let (folder, run) = in_folder();
    for step in [1, 2] {
        run.checkpoints().publish(&checkpoint(step, "x")).unwrap();
    }
    let newest = folder.path().join("r/checkpoints/000000000002");
    for file in ["manifest.toml", "state.toml", "weights.safetensors"] {
        damage(&newest.join(file), || run.checkpoints().newest().map(drop));
    }
    assert_eq!(run.checkpoints().newest().unwrap(), Some(checkpoint(2, "x")));
    fs::write(newest.join("weights.safetensors"), "x").unwrap();
    let error = run.checkpoints().newest().unwrap_err().to_string();
    assert!(
        error.ends_with("; delete its folder, and training continues from the checkpoint or model before it"),
        "{error}"
    );
    fs::remove_dir_all(newest).unwrap();
    assert_eq!(run.checkpoints().newest().unwrap(), Some(checkpoint(1, "x")));
}

#[test]
fn damaged_shards_are_named() {
    let (folder, run) = in_folder();
    let published = run.shards().publish(parts(0), manifest(2)).unwrap();
    assert!(!published.parts.is_empty());
    let shards = folder.path().join("r/shards/000002");
    for part in &published.parts {
        damage(&shards.join(&part.part.file), || run.shards().read(2, part).map(drop));
    }
    damage(&shards.join("manifest.toml"), || run.shards().manifest(2).map(drop));
}

#[test]
fn damaged_ratings_thresholds_and_pairings_are_named() {
    let (folder, run) = in_folder();
    let run_folder = folder.path().join("r");
    run.ratings().publish(&[rating(1.0)]).unwrap();
    let ratings = fs::read_dir(run_folder.join("ratings")).unwrap().next().unwrap().unwrap().path();
    damage(&ratings, || run.ratings().newest().map(drop));

    run.resign().publish(&threshold(-0.9)).unwrap();
    damage(&run_folder.join("resign/000001.toml"), || run.resign().get("000001").map(drop));

    let [first, second] = ["random", "r-8"].map(|player| player.parse().unwrap());
    let pairing = Pairing { first, second, games: 32 };
    run.pairings().remember(80, 3, &pairing).unwrap();
    // A schedule does not choose anew what it cannot read.
    damage(&run_folder.join("pairings/000080-003.toml"), || run.pairings().remember(80, 3, &pairing).map(drop));
}

/// Evaluators would stop at it; they play the games again.
#[test]
fn damaged_results_are_moved_to_quarantine_with_their_readable_games() {
    let (folder, run) = in_folder();
    let [damaged, whole] = [0, 2].map(|first| run.matches().publish("w", &some_games("m", first, first + 2)).unwrap());
    fs::write(folder.path().join(format!("r/matches/{damaged}.parquet")), "PAR1").unwrap();
    let found = run.matches().all().unwrap();
    assert_eq!(found.iter().map(|game| game.index).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(run.matches().files().unwrap(), [whole]);
    let kept = [format!("matches/{damaged}.parquet"), format!("sgf/matches/{damaged}.sgf")];
    let kept = kept.map(|name| folder.path().join("r/quarantine").join(name).display().to_string());
    assert_eq!(run.quarantine().files().unwrap(), kept);
}

/// Files of earlier versions lack the counts of games under earlier thresholds.
#[test]
fn threshold_without_counts_in_force_is_read() {
    let (folder, run) = in_folder();
    run.resign().publish(&threshold(-0.9)).unwrap();
    let path = folder.path().join("r/resign/000001.toml");
    let text = fs::read_to_string(&path).unwrap();
    let old: Vec<&str> = text.lines().filter(|line| !line.starts_with("in_force_")).collect();
    assert_eq!(old.len() + 2, text.lines().count(), "{text}");
    fs::write(&path, old.join("\n")).unwrap();
    let found = fresh(&run).resign().newest().unwrap().unwrap();
    assert_eq!(found, ResignThreshold { in_force_games: 0, in_force_wrong: 0, ..threshold(-0.9) });
    assert_eq!((found.in_force_rate(), found.in_force_interval()), (0.0, (0.0, 1.0)));
}

/// Workers would stop at it, and there would be no games for the next one.
#[test]
fn threshold_before_a_damaged_one_holds_until_the_next() {
    let (folder, run) = in_folder();
    for value in [-0.9, -0.8] {
        run.resign().publish(&threshold(value)).unwrap();
    }
    let thresholds = folder.path().join("r/resign");
    let cut = |number: &str| fs::write(thresholds.join(format!("{number}.toml")), "format = 1\nti").unwrap();
    cut("000002");
    assert_eq!(fresh(&run).resign().newest().unwrap(), Some(threshold(-0.9)));
    cut("000001");
    let shuffler = fresh(&run);
    assert_eq!(shuffler.resign().newest().unwrap(), None);
    shuffler.resign().publish(&threshold(-0.7)).unwrap();
    assert!(thresholds.join("000003.toml").exists());
    for run in [&shuffler, &fresh(&run)] {
        assert_eq!(run.resign().newest().unwrap(), Some(threshold(-0.7)));
    }
}
