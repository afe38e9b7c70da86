//! What is in the store of a run, as tests of disturbed runs compare it.

use std::collections::BTreeSet;

use store::{Run, StoreError};

use crate::plane::ControlPlane;

/// The ids of all published games; a game that is there twice is a failure.
pub(crate) fn published(run: &Run) -> BTreeSet<String> {
    let mut games = BTreeSet::new();
    for file in run.games().files_since(0).unwrap() {
        for game in run.games().summaries(&file).unwrap() {
            assert!(games.insert(game.id.to_string()), "game {} is published twice", game.id);
        }
    }
    games
}

/// The ids of the games that are handed off and not published yet, of workers whose names these are.
pub(crate) fn handed_off(run: &Run, of: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut games = BTreeSet::new();
    for (file, _) in run.unfinished().files().unwrap() {
        match run.unfinished().read(&file) {
            Ok(left) if of(file.stem.worker()) => games.extend(left.iter().map(|game| game.id.to_string())),
            // Those of a file that is gone are published.
            Ok(_) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    games
}

/// Waits until these games are published.
pub(crate) fn wait_until_published(plane: &ControlPlane, run: &Run, games: &BTreeSet<String>) {
    plane.wait("the end of handed-off games", |_| games.is_subset(&published(run)).then_some(()));
}

/// None of these games is lost, and others came.
pub(crate) fn assert_kept(before: &BTreeSet<String>, run: &Run) {
    let after = published(run);
    assert_eq!(before.difference(&after).collect::<Vec<_>>(), [""; 0], "no published game is lost");
    assert!(after.len() > before.len(), "the run goes on");
}
