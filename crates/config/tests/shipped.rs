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
        ("tiny", "56f7ac829e02dff9"),
        ("9x9", "18ae494783bb5968"),
        ("9x9-gpu", "1f96c5e9d632a850"),
        ("9x9-larger", "77f019a5e8435fca"),
        ("9x9-further", "9c97bc873063aeb3"),
        ("19x19-gpu", "268f1607294e6dfb"),
        ("19x19-people", "e3e923ee16dcf80d"),
        ("minigo/base", "9de9b945454fda43"),
        ("minigo/v7", "b07c1d591ac94b2d"),
        ("minigo/v9", "7ab9a5197cc612a7"),
        ("minigo/v10", "2f73f743632a04bd"),
        ("minigo/v11", "4ee8f64856d578dd"),
        ("minigo/v12", "ea420393179144bd"),
        ("minigo/v13", "065eb4e7e9425738"),
        ("minigo/v14", "5b389151e7289bb0"),
        ("minigo/v15", "901948531cf94b81"),
    ];
    for (name, digest) in expected {
        assert_eq!(load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest(), digest, "{name}");
    }
}
