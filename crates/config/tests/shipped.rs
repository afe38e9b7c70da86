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
        ("tiny", "16993e168d8623bb"),
        ("9x9", "868eede806543615"),
        ("9x9-gpu", "0f3d138aafcbc2dc"),
        ("9x9-larger", "7c2fecb6ef6a94a0"),
        ("9x9-further", "21f567e271247be0"),
        ("19x19-gpu", "e1ea03ea8571e8cc"),
        ("19x19-supervised", "bb458860c65b9503"),
        ("minigo/base", "181e1f5b2bf16ad0"),
        ("minigo/v7", "8c62aee36e238a74"),
        ("minigo/v9", "bdb5140249dd8c7a"),
        ("minigo/v10", "830eefde7020bc6d"),
        ("minigo/v11", "3a4028fcc8aa8fb1"),
        ("minigo/v12", "f7130ffb20ac1146"),
        ("minigo/v13", "7a98e3eb60cddeb0"),
        ("minigo/v14", "76050fcc55beb527"),
        ("minigo/v15", "d4471e9e9f56c6cf"),
    ];
    let found = expected.map(|(name, _)| (name, load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest()));
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())));
}
