//! The options of self-play, from the command line through games and shards to a model.

use std::collections::BTreeSet;

use record::{Example, GameRecord, SearchKind};
use tests::{TestStore, repository, succeed};

const OPTIONS: [&str; 16] = [
    "loop.models=1",
    "loop.final_games=0",
    "evaluate.pairs_per_model=0",
    "selfplay.full_share=0.5",
    "selfplay.fast_visits=3",
    "selfplay.policy_opening_share=0.5",
    "selfplay.policy_opening_moves=2.0",
    "selfplay.komi_deviation=2.0",
    "selfplay.noise_shaped=0.5",
    "selfplay.forced_visits=2.0",
    "selfplay.prune_target=true",
    "resign.decided_moves=2",
    "resign.decided_value=0.1",
    "resign.decided_visits=2",
    "resign.decided_weight=0.25",
    "train.policy_target=one-hot",
];

#[test]
fn the_options_of_selfplay_reach_the_trainer() {
    let store = TestStore::new();
    let mut tengen = store.program("tengen");
    tengen.arg("run").arg(repository().join("configs/tiny.toml"));
    succeed(OPTIONS.iter().fold(&mut tengen, |command, option| command.args(["--set", option])));
    let run = store.run("tiny");

    let files = run.games().files(0).unwrap();
    let games: Vec<GameRecord> = files.iter().flat_map(|file| run.games().read(file).unwrap()).collect();
    let kinds: BTreeSet<SearchKind> = games.iter().flat_map(|game| &game.turns).map(|turn| turn.kind).collect();
    let all = [SearchKind::Full, SearchKind::Fast, SearchKind::Reduced, SearchKind::Policy];
    assert_eq!(kinds, BTreeSet::from(all));
    assert!(
        games.iter().any(|game| game.komi != games[0].komi) && games.iter().all(|game| game.mean_depth > Some(0.0))
    );

    let shards = run.shards().manifest(1).unwrap().unwrap();
    let read = |part| run.shards().read(1, part).unwrap().to_examples();
    let examples: Vec<Example> = shards.parts.iter().flat_map(read).collect();
    let (light, full): (Vec<&Example>, Vec<&Example>) = examples.iter().partition(|example| example.weight == 0.25);
    assert!(!light.is_empty() && !full.is_empty() && full.iter().all(|example| example.weight == 1.0));
    assert_eq!(run.models().list().unwrap(), [1]);

    let readable = store.files().into_iter().find(|file| file.ends_with(".sgf")).unwrap();
    let readable = std::fs::read_to_string(store.path().join(readable)).unwrap();
    for words in ["fast search", "reduced search, weight 0.25", "policy draw", "variation ", "mean depth "] {
        assert!(readable.contains(words), "{words}");
    }
}

/// Games on two boards, some with random moves to begin with, by a network that sees each position twice.
#[test]
fn one_network_learns_from_games_on_two_boards() {
    let store = TestStore::new();
    let mut tengen = store.program("tengen");
    tengen.arg("run").arg(repository().join("configs/tiny.toml"));
    let options = [
        "network.inputs=features",
        "selfplay.small_share=0.5",
        "selfplay.small_size=3",
        "selfplay.small_komi=2.5",
        "selfplay.random_opening_share=0.5",
        "selfplay.random_opening_moves=2",
        "loop.models=2",
        "loop.final_games=2",
    ];
    succeed(options.iter().fold(&mut tengen, |command, option| command.args(["--set", option])));
    let run = store.run("tiny");
    for model in [0, 1] {
        let files = run.games().files(model).unwrap();
        let games: Vec<GameRecord> = files.iter().flat_map(|file| run.games().read(file).unwrap()).collect();
        let boards: BTreeSet<(usize, u32)> =
            games.iter().map(|game| (game.size.side(), (game.komi * 10.0) as u32)).collect();
        assert_eq!(boards, BTreeSet::from([(3, 25), (5, 5)]), "of model {model}");
        assert!(games.iter().any(|game| game.turns[0].kind == SearchKind::Given));
        assert!(games.iter().any(|game| game.turns[0].kind == SearchKind::Full));
    }
    let shards = run.shards().manifest(2).unwrap().unwrap();
    let read = |part| run.shards().read(2, part).unwrap().to_examples();
    let sides: BTreeSet<usize> =
        shards.parts.iter().flat_map(read).map(|example: Example| example.size.side()).collect();
    assert_eq!(sides, BTreeSet::from([3, 5]));
    succeed(store.program("tengen").args(["audit", "tiny"]));
}
