//! Which models of a run play matches.

use std::collections::BTreeSet;

use tests::{TestStore, repository, succeed};

#[test]
fn only_every_second_model_is_measured_and_the_last() {
    let store = TestStore::new();
    let tiny = repository().join("configs/tiny.toml");
    let sets = ["loop.models=3", "evaluate.every=2", "loop.final_games=2"].into_iter().flat_map(|set| ["--set", set]);
    let said = succeed(store.program("tengen").arg("run").arg(tiny).args(sets));
    let results = store.run("tiny").matches().all().unwrap();
    let met: BTreeSet<[String; 2]> = results.into_iter().map(|game| sorted([game.black, game.white])).collect();
    // The last one meets `random` and the model half its age at the end of every run.
    let expected = [["random", "tiny-2"], ["tiny-2", "tiny-3"], ["random", "tiny-3"], ["tiny-1", "tiny-3"]];
    assert_eq!(met, BTreeSet::from(expected.map(|pair| pair.map(ToOwned::to_owned))), "{said}");
}

#[test]
fn informed_pairs_are_models_that_are_measured() {
    let store = TestStore::new();
    let tiny = repository().join("configs/tiny.toml");
    let sets = [
        "loop.models=6",
        "loop.final_games=2",
        "loop.final_pairs=3",
        "loop.final_margin=0",
        "evaluate.every=2",
        "evaluate.pairing=informed",
    ];
    let run = || {
        let sets = sets.into_iter().flat_map(|set| ["--set", set]);
        succeed(store.program("tengen").arg("run").arg(&tiny).args(sets))
    };
    let said = run();
    assert!(said.contains("± is against the mean of the run's other models"), "{said}");
    let results = store.run("tiny").matches().all().unwrap();
    let games = results.len();
    // Model 2 met `random`, models 4 and 6 had a pair each, and the end had two meetings of 2 games and three pairs.
    assert_eq!(games, 4 + 2 * 4 + 2 * 2 + 3 * 4, "{said}");
    let mut players: BTreeSet<String> = results.into_iter().flat_map(|game| [game.black, game.white]).collect();
    // It joins the final pairs where models 4 and 6 are far apart.
    players.remove("tiny-5");
    let expected = ["random", "tiny-2", "tiny-3", "tiny-4", "tiny-6"];
    assert_eq!(players, BTreeSet::from(expected.map(ToOwned::to_owned)));
    run();
    assert_eq!(store.run("tiny").matches().all().unwrap().len(), games, "a finished run plays nothing more");
}

fn sorted(mut pair: [String; 2]) -> [String; 2] {
    pair.sort();
    pair
}
