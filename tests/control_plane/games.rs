//! What is in the store of a run, as tests of disturbed runs compare it.

use std::collections::BTreeSet;

use store::Run;

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

/// How many published games another process or model has resumed.
pub(crate) fn resumed(run: &Run) -> usize {
    let files = run.games().files_since(0).unwrap();
    let games = files.iter().flat_map(|file| run.games().read(file).unwrap());
    games.filter(|game| !game.takeovers.is_empty()).count()
}

/// None of these games is lost, and others came.
pub(crate) fn assert_kept(before: &BTreeSet<String>, run: &Run) {
    let after = published(run);
    assert_eq!(before.difference(&after).collect::<Vec<_>>(), [""; 0], "no published game is lost");
    assert!(after.len() > before.len(), "the run goes on");
}
