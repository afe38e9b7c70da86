//! Where stores can be.

use std::fs;

use store::{Probe, Store, StoreError};
use tempfile::TempDir;
use testing::s3::Server;

use crate::{config, name, on_server};

#[test]
fn folders_are_created() {
    let folder = TempDir::new().unwrap();
    let nested = folder.path().join("s3:/b c");
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

/// A connection of a web server that stops may have the last one.
#[test]
fn last_store_is_dropped_by_an_asynchronous_task() {
    let folder = TempDir::new().unwrap();
    for store in [Store::open(folder.path().to_str().unwrap()).unwrap(), Store::in_memory().unwrap()] {
        // For a folder, threads of a pool have done this.
        store.run(&name("r")).create(&config(&[])).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async move { drop(store) });
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

/// They would be folders, below the folder that the program was started in.
#[test]
fn url_that_lacks_slashes_is_refused() {
    let places = [("s3:/bucket/x", "s3:"), ("s3:bucket", "s3:"), ("GS:/bucket", "gs:"), ("file:/x", "file:")];
    for (place, scheme) in places {
        assert!(!Store::is_absent_folder(place), "{place}");
        for opened in [Store::open(place), Store::open_or_empty(place), Store::open_existing(place)] {
            let error = opened.unwrap_err().to_string();
            let expected = format!("a URL begins with {scheme}//; put ./ before the name of a folder");
            assert_eq!(error, format!("cannot use {place} as a store: {expected}"));
        }
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
        ("s3:/key:secret@bucket/x", "s3:bucket/x"),
    ] {
        let error = Store::open(place).unwrap_err();
        assert!(matches!(&error, StoreError::BadUrl { url, .. } if url == shown), "{place}: {error}");
        assert_eq!(Store::shown(place), shown);
    }
    assert_eq!(Store::open("s3://bucket/a@b").unwrap().root(), "s3://bucket/a@b");
}

/// As of a server in the own cluster; requests would fail as if it were away.
#[test]
fn endpoint_without_tls_is_refused_unless_that_is_permitted() {
    let open = |options: &[(&str, &str)]| {
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Store::open_with("s3://bucket/x", &options.collect::<Vec<_>>())
    };
    for key in ["aws_endpoint", "aws_endpoint_url", "aws_endpoint_url_s3"] {
        let error = open(&[(key, "http://minio:9000")]).unwrap_err();
        let expected = "its endpoint http://minio:9000 has no TLS, which AWS_ALLOW_HTTP=true permits";
        assert!(matches!(&error, StoreError::BadUrl { reason, .. } if reason == expected), "{key}: {error}");
        open(&[(key, "http://minio:9000"), ("aws_allow_http", "true")]).unwrap();
        open(&[(key, "https://minio:9000")]).unwrap();
    }
}

#[test]
fn buckets_are_not_contacted_before_they_are_used() {
    for place in ["s3://bucket/some/prefix", "gs://bucket"] {
        assert_eq!(Store::open(place).unwrap().root(), place);
    }
}

#[test]
fn probe_makes_as_many_requests_as_it_states() {
    let server = Server::start().unwrap();
    assert!(on_server(&server).probe().unwrap().conditional_put);
    let asked = server.asked();
    assert_eq!(asked.len(), Probe::REQUESTS as usize, "{asked:?}");
}
