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
        ("tiny", "20441ac0ce1c15b6"),
        ("9x9", "8f23f16c54a5bfe1"),
        ("9x9-gpu", "1efdffdd605757df"),
        ("9x9-larger", "983369968007014c"),
        ("9x9-further", "e00500ddc970fdb8"),
        ("19x19-gpu", "36ebc25ba20c5895"),
        ("19x19-supervised", "bb2c3e1d34c0f3fb"),
        ("minigo/base", "112b10939cc563f2"),
        ("minigo/v7", "d78c596612ce16bc"),
        ("minigo/v9", "5d458954a03b669f"),
        ("minigo/v10", "07c7ef6e3481d7f0"),
        ("minigo/v11", "78a7182ec6094d10"),
        ("minigo/v12", "86e6425de3b1d3d1"),
        ("minigo/v13", "d628895eaa06266c"),
        ("minigo/v14", "919c6ac672685ab5"),
        ("minigo/v15", "a2d3560f5760ab67"),
    ];
    let found = expected.map(|(name, _)| (name, load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest()));
    assert_eq!(found, expected.map(|(name, digest)| (name, digest.to_owned())));
}
