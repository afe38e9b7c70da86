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
    assert_eq!(files.len(), 10 + 9, "{files:?}");
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
        ("tiny", "72700e3421eb11b9"),
        ("9x9", "a9765508b7b304e2"),
        ("9x9-gpu", "4d1f27f2ed454299"),
        ("9x9-larger", "90c9858cbe38094f"),
        ("9x9-further", "504c965f3480b4cb"),
        ("9x9-strong", "97df861dde6e6c1e"),
        ("9x9-hour", "ebaedcb6fab4f0e6"),
        ("19x19-gpu", "7486cec7a967c151"),
        ("19x19-supervised", "45e14457b91f08c2"),
        ("minigo/base", "5e9f5d6f6f1874df"),
        ("minigo/v7", "9d2101ab5364e9b7"),
        ("minigo/v9", "d1ed0c1fbc1626dd"),
        ("minigo/v10", "fa38c36851d36c36"),
        ("minigo/v11", "ec44bfc6dce1750b"),
        ("minigo/v12", "5390512240f32edd"),
        ("minigo/v13", "abb7ec8efa3238d4"),
        ("minigo/v14", "cd7b7322589da0ca"),
        ("minigo/v15", "a4a80c7242b9e191"),
    ];
    let found = expected.map(|(name, _)| (name, load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest()));
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())));
}
