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
        ("tiny", "fe844df7425799d6"),
        ("9x9", "b965c7c181582860"),
        ("9x9-gpu", "9ad40ae4dd09b370"),
        ("9x9-larger", "881525d38f6edfb2"),
        ("9x9-further", "99836ddd9840c889"),
        ("19x19-gpu", "f7469e5dacae5b6d"),
        ("19x19-people", "25d8730e3217d163"),
        ("minigo/base", "78de8117e77f22d6"),
        ("minigo/v7", "43a220e94d04427d"),
        ("minigo/v9", "096774ff83f3438c"),
        ("minigo/v10", "4044b4e465047b3a"),
        ("minigo/v11", "4f8ec255794f9f08"),
        ("minigo/v12", "3b2b1d50ece9a183"),
        ("minigo/v13", "35afd8a3353c2196"),
        ("minigo/v14", "9604cc5df23ada3f"),
        ("minigo/v15", "08c6fb1a958bee2e"),
    ];
    for (name, digest) in expected {
        assert_eq!(load(Path::new(&format!("{CONFIGS}/{name}.toml"))).digest(), digest, "{name}");
    }
}
