//! Where stores can be.

use std::fs;

use store::{Store, StoreError};
use tempfile::TempDir;

use crate::{config, name};

#[test]
fn folders_are_created() {
    let folder = TempDir::new().unwrap();
    let nested = folder.path().join("a/b c");
    for place in [nested.display().to_string(), format!("file://{}", folder.path().join("x%20y").display())] {
        let run = Store::open(&place).unwrap().run(&name("r"));
        run.create(&config(&[])).unwrap();
    }
    assert!(nested.join("r/run.toml").is_file() && folder.path().join("x y/r/run.toml").is_file());
}

#[test]
fn absent_folder_is_an_empty_store_for_reading() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("absent").display().to_string();
    let store = Store::open_or_empty(&place).unwrap();
    assert_eq!((store.runs().unwrap(), store.root()), (Vec::new(), place.as_str()));
    assert!(!folder.path().join("absent").exists());
    Store::open(&place).unwrap().run(&name("r")).create(&config(&[])).unwrap();
    assert_eq!(Store::open_or_empty(&place).unwrap().runs().unwrap(), [name("r")]);
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for place in [file.display().to_string(), file.join("below").display().to_string()] {
        assert!(matches!(Store::open_or_empty(&place), Err(StoreError::BadUrl { .. })), "{place}");
    }
}

#[test]
fn unusable_store_error_names_the_place() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let below = file.join("below").display().to_string();
    for place in ["", "http://example.org/x", "s3://", "gs:///x", "ftp://x", &file.display().to_string(), &below] {
        let error = Store::open(place).unwrap_err();
        assert!(matches!(&error, StoreError::BadUrl { url, .. } if *url == place), "{place}: {error}");
    }
}

#[test]
fn credentials_in_a_url_are_refused_and_not_shown() {
    for (place, shown) in [
        ("s3://key:secret@bucket/x", "s3://bucket/x"),
        ("s3://key:se/cret@bucket", "s3://bucket"),
        ("s3://key:/secret@bucket", "s3://bucket"),
        ("gs://secret@bucket", "gs://bucket"),
        ("https://key:secret@host/x", "https://host/x"),
    ] {
        let error = Store::open(place).unwrap_err();
        assert!(matches!(&error, StoreError::BadUrl { url, .. } if url == shown), "{place}: {error}");
        assert_eq!(Store::shown(place), shown);
    }
    assert_eq!(Store::open("s3://bucket/a@b").unwrap().root(), "s3://bucket/a@b");
}

#[test]
fn buckets_are_not_contacted_before_they_are_used() {
    for place in ["s3://bucket/some/prefix", "gs://bucket"] {
        assert_eq!(Store::open(place).unwrap().root(), place);
    }
}
