//! The options of self-play, from the command line through games and shards to a model.

use std::collections::BTreeSet;

use record::{Example, SearchKind};
use tests::{TestStore, games_of, repository, succeed};

const OPTIONS: [&str; 8] = [
    "loop.models=1",
    "loop.final_games=0",
    "evaluate.pairs_per_model=0",
    "selfplay.full_search_fraction=0.5",
    "selfplay.fast_visits=3",
    "selfplay.policy_opening_fraction=0.5",
    "selfplay.policy_opening_moves=2.0",
    "selfplay.komi_deviation=2.0",
];

#[test]
fn options_of_selfplay_reach_the_trainer() {
    let store = TestStore::new();
    let mut tengen = store.program("tengen");
    tengen.arg("run").arg(repository().join("configs/tiny.toml"));
    succeed(OPTIONS.iter().fold(&mut tengen, |command, option| command.args(["--set", option])));
    let run = store.run("tiny");

    let games = games_of(&run, 0);
    let kinds: BTreeSet<SearchKind> = games.iter().flat_map(|game| &game.turns).map(|turn| turn.kind).collect();
    let all = [SearchKind::Full, SearchKind::Fast, SearchKind::Policy];
    assert_eq!(kinds, BTreeSet::from(all));
    assert!(
        games.iter().any(|game| game.komi != games[0].komi) && games.iter().all(|game| game.mean_depth > Some(0.0))
    );

    let shards = run.shards().manifest(1).unwrap().unwrap();
    let read = |part| run.shards().read(1, part).unwrap().to_examples();
    let examples: Vec<Example> = shards.parts.iter().flat_map(read).collect();
    assert!(!examples.is_empty() && examples.iter().all(|example| example.kind == SearchKind::Full));
    assert_eq!(run.models().list().unwrap(), [1]);

    let files = store.files().into_iter().filter(|file| file.ends_with(".sgf"));
    let readable: String = files.map(|file| std::fs::read_to_string(store.path().join(file)).unwrap()).collect();
    for words in ["fast search", "policy draw", "variation ", "mean depth "] {
        assert!(readable.contains(words), "{words}");
    }
}
