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
        ("tiny", "5dea7be2b1898dd2"),
        ("9x9", "7c8bbaa26d4439c8"),
        ("9x9-gpu", "d4d26bb991c295ca"),
        ("9x9-larger", "b670a4e5a9480de8"),
        ("9x9-further", "e7257a44080d0950"),
        ("9x9-strong", "0548ec3dc2a2fc9e"),
        ("9x9-hour", "fcee216caf7e0d01"),
        ("19x19-gpu", "72dfc5a68604d4c9"),
        ("19x19-supervised", "4faea876669a3bd6"),
        ("minigo/base", "46f51f5128a2d44f"),
        ("minigo/v7", "4ce0c36d1f1dfb53"),
        ("minigo/v9", "71fdd5556cb625aa"),
        ("minigo/v10", "48eef7d143344a11"),
        ("minigo/v11", "175c62cd88b304b5"),
        ("minigo/v12", "e801a3e9e8000df6"),
        ("minigo/v13", "11b29e9f2b5a0d80"),
        ("minigo/v14", "c9f4fd713eaaca2c"),
        ("minigo/v15", "565c17eb9b5b7721"),
    ];
    let found = expected.map(|(name, _)| (name, load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest()));
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())));
}
