//! Every configuration that ships.

// Only the library has to be pure: this test walks a folder.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use config::RunConfig;

const CONFIGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs");

fn files() -> Vec<PathBuf> {
    let list =
        |folder: &str| std::fs::read_dir(format!("{CONFIGS}/{folder}")).unwrap().map(|entry| entry.unwrap().path());
    list("")
        .chain(list("minigo"))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect()
}

fn load(path: &Path) -> RunConfig {
    let config = RunConfig::load(path, &[] as &[&str], |path| std::fs::read_to_string(path));
    config.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn shipped_configurations_are_complete_and_in_range() {
    let files = files();
    assert_eq!(files.len(), 8 + 9, "{files:?}");
    for path in files {
        load(&path);
    }
}

/// A file states its differences: `extends`, and no key with the value that it has anyway.
#[test]
fn shipped_configurations_hold_only_what_differs() {
    for path in files().iter().filter(|path| !path.ends_with("configs/base.toml")) {
        let text = std::fs::read_to_string(path).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let parent = load(&path.parent().unwrap().join(table["extends"].as_str().unwrap()));
        let differs: Vec<String> = parent.differences(&load(path)).into_iter().map(|found| found.key).collect();
        for (section, keys) in table.iter().filter_map(|(name, value)| Some((name, value.as_table()?))) {
            for key in keys.keys() {
                assert!(differs.contains(&format!("{section}.{key}")), "{}: {section}.{key}", path.display());
            }
        }
        assert!(text.starts_with("#:schema ../"), "{}: editors find the schema by its first line", path.display());
    }
}

/// Digests are part of the ids of games, which decide what is held out: a change of one changes what a run trains on.
#[test]
fn digests_of_shipped_configurations_are_stable() {
    let expected = [
        ("tiny", "563c143dc3a74c24"),
        ("9x9", "34cda6ae3cbcc508"),
        ("9x9-gpu", "2e368d476dced195"),
        ("9x9-larger", "63eb226a7884c6cd"),
        ("9x9-further", "95ffa99a4434fbe9"),
        ("19x19-gpu", "e07a043fc33ca621"),
        ("19x19-supervised", "366c2c7447dce385"),
        ("minigo/base", "5555165c7af1fa6d"),
        ("minigo/v7", "20898774ea0bed53"),
        ("minigo/v9", "399a6958656655d5"),
        ("minigo/v10", "4c211743389f2ab7"),
        ("minigo/v11", "d4a8f8a05a324728"),
        ("minigo/v12", "927a8cab9cc35557"),
        ("minigo/v13", "ad8fa9b7895df219"),
        ("minigo/v14", "60e8bbd9b4cdd656"),
        ("minigo/v15", "9d7924c7e4c64419"),
    ];
    let found = expected.map(|(name, _)| (name, load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest()));
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())));
}
