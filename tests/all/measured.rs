//! Which models of a run play matches.

use std::collections::BTreeSet;

use tests::{TestStore, repository, succeed};

#[test]
fn only_every_second_model_is_measured_and_the_last() {
    let store = TestStore::new();
    let tiny = repository().join("configs/tiny.toml");
    let sets = ["loop.models=3", "evaluate.every=2", "loop.final_games=2"].into_iter().flat_map(|set| ["--set", set]);
    let said = succeed(store.program("tengen").arg("run").arg(tiny).args(sets));
    let results = store.run("tiny").results().unwrap();
    let met: BTreeSet<[String; 2]> = results.into_iter().map(|game| sorted([game.black, game.white])).collect();
    // The last one meets `random` and the model half its age at the end of every run.
    let expected = [["random", "tiny-2"], ["tiny-2", "tiny-3"], ["random", "tiny-3"], ["tiny-1", "tiny-3"]];
    assert_eq!(met, BTreeSet::from(expected.map(|pair| pair.map(ToOwned::to_owned))), "{said}");
}

fn sorted(mut pair: [String; 2]) -> [String; 2] {
    pair.sort();
    pair
}
