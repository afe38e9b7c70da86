//! The store.

use std::fmt;

use serde::Serialize;
use store::{Probe, Store, StoreError};

/// Signatures of S3 and the ages of claims suffer where clocks differ by more, in milliseconds.
const SKEW: i64 = 5000;

/// Facts of the store.
#[derive(Debug, Serialize)]
pub(super) struct StoreState {
    place: String,
    /// `works` where files can be written, listed, read and deleted, `absent` for a folder that is not there yet, or
    /// the problem.
    state: String,
    /// By how much the clock of this machine is ahead of the store's, in milliseconds.
    clock_ahead: Option<i64>,
    /// Whether a file that is there cannot be written again.
    conditional_put: Option<bool>,
}

/// Checks a store. A folder that is not there is not made.
pub(super) fn examine(place: &str) -> (StoreState, Result<(), StoreError>) {
    let state = |state: String, probe: Option<Probe>| StoreState {
        place: Store::shown(place),
        state,
        clock_ahead: probe.and_then(|probe| probe.clock_ahead),
        conditional_put: probe.map(|probe| probe.conditional_put),
    };
    if Store::is_absent_folder(place) {
        return (state("absent".to_owned(), None), Ok(()));
    }
    match Store::open(place).and_then(|store| store.probe()) {
        Ok(probe) if probe.conditional_put => (state("works".to_owned(), Some(probe)), Ok(())),
        Ok(probe) => {
            let reason = "no conditional put: existing files are overwritten; use another store".to_owned();
            let error = StoreError::BadUrl { url: place.to_owned(), reason };
            (state(error.to_string(), Some(probe)), Err(error))
        }
        Err(error) => (state(error.to_string(), None), Err(error)),
    }
}

impl fmt::Display for StoreState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.state)?;
        match self.clock_ahead {
            Some(ahead) if ahead.abs() > SKEW => {
                let side = if ahead > 0 { "ahead of" } else { "behind" };
                write!(f, "; CLOCK: this machine is {:.1} s {side} it", ahead.abs() as f64 / 1000.0)
            }
            Some(ahead) => write!(f, "; clocks differ by {:.1} s", ahead.abs() as f64 / 1000.0),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_works_and_one_that_is_absent_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let (state, done) = examine(folder.path().to_str().unwrap());
        assert!(done.is_ok() && state.state == "works" && state.conditional_put == Some(true), "{state:?}");
        let absent = folder.path().join("absent");
        let (state, done) = examine(absent.to_str().unwrap());
        assert!(done.is_ok() && state.state == "absent" && !absent.exists(), "{state:?}");
        let blank = folder.path().join("a b");
        std::fs::create_dir(&blank).unwrap();
        let (state, done) = examine(&format!("file://{}/a%20b", folder.path().display()));
        assert!(done.is_ok() && state.state == "works", "{state:?}");
    }

    #[test]
    fn clock_is_ahead_or_behind() {
        let said = |ahead| {
            let state = StoreState {
                place: "s3://b".to_owned(),
                state: "works".to_owned(),
                clock_ahead: Some(ahead),
                conditional_put: Some(true),
            };
            state.to_string()
        };
        assert_eq!(said(10_000), "s3://b: works; CLOCK: this machine is 10.0 s ahead of it");
        assert_eq!(said(-10_000), "s3://b: works; CLOCK: this machine is 10.0 s behind it");
        assert_eq!(said(-400), "s3://b: works; clocks differ by 0.4 s");
    }

    #[test]
    fn place_that_is_no_store_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (state, done) = examine(file.path().to_str().unwrap());
        assert!(done.is_err() && state.state.contains("cannot"), "{state:?}");
        let (state, done) = examine("s3:/bucket/x");
        assert!(done.is_err() && state.state.contains("begins with s3://"), "{state:?}");
    }
}
