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
        ("tiny", "24d7ae29c2a95c97"),
        ("9x9", "8aacf4c69fd6bee0"),
        ("9x9-gpu", "f83be950a67521b2"),
        ("9x9-larger", "603f0ece0a560c97"),
        ("9x9-further", "119fa24e1c4a8521"),
        ("9x9-strong", "5c148f0d0d063625"),
        ("9x9-hour", "291d79a9d1093dfd"),
        ("19x19-gpu", "53948f45bac77d69"),
        ("19x19-supervised", "fb68b5282f617aa8"),
        ("minigo/base", "e39118169851b042"),
        ("minigo/v7", "d322209d4f9f4891"),
        ("minigo/v9", "340395596558216f"),
        ("minigo/v10", "28a0d35e840a184c"),
        ("minigo/v11", "f260d50b1b8e192c"),
        ("minigo/v12", "5c0641e8e11f388b"),
        ("minigo/v13", "40ae9449dd7becb4"),
        ("minigo/v14", "98b5fdfc2eb17465"),
        ("minigo/v15", "ab144328592f2a87"),
    ];
    let found = expected.map(|(name, _)| (name, load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest()));
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())));
}
