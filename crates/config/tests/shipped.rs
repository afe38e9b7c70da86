//! Every configuration that ships can be read.

// Only the library has to be pure: this test walks a folder.
#![allow(clippy::disallowed_methods)]

use config::RunConfig;

#[test]
fn every_shipped_configuration_is_complete_and_in_range() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs");
    let mut read = 0;
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let text = std::fs::read_to_string(&path).unwrap();
        RunConfig::from_toml(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        read += 1;
    }
    assert!(read >= 2, "{folder} holds the configurations");
}
