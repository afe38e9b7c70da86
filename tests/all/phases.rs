//! A run whose searches grow longer and whose network grows larger, being of another kind.

use std::collections::BTreeSet;
use std::fs::{self, File};

use config::Inputs;
use tests::{TestStore, games_of, repository, succeed};

#[test]
fn run_in_phases_with_features_trains_and_passes_an_audit() {
    let store = TestStore::new();
    let changes = [
        "loop.models=2",
        "search.phases=[{from_model=1,visits=12,gumbel_moves=8,gumbel_c_scale=0.5}]",
        "network.inputs=features",
        "network.opponent_policy=true",
        "network.pooled_filters=2",
        "network.blocks=2",
        "network.policy_head=convolution",
        "network.value_head=win-draw-loss",
        "train.opponent_policy_weight=0.15",
        "train.grow=[{from_model=2,blocks=3,filters=12,inputs='tactics'}]",
    ];
    let sets = changes.iter().flat_map(|change| ["--set", change]);
    succeed(store.program("tengen").arg("run").arg(repository().join("configs/tiny.toml")).args(sets));
    let run = store.run("tiny");
    let digest = run.config().unwrap().unwrap().digest();
    let plain = run.config().unwrap().unwrap().search.visits;
    for (model, visits) in [(0, plain), (1, 12)] {
        let games = games_of(&run, model);
        let found: BTreeSet<u32> = games.iter().map(|game| game.visits_budget).collect();
        assert_eq!(found, BTreeSet::from([visits]), "model {model}");
        assert!(games.iter().all(|game| game.config_digest == digest));
    }
    let (metadata, _) = run.models().get(2).unwrap();
    assert_eq!((metadata.search.visits, metadata.search.gumbel_c_scale, metadata.search.phases.len()), (12, 0.5, 0));
    let networks = [run.models().metadata(1).unwrap(), metadata].map(|metadata| metadata.network);
    let networks = networks.map(|network| (network.blocks, network.filters, network.inputs));
    assert_eq!(networks, [(2, 8, Inputs::Features), (3, 12, Inputs::Tactics)]);
    let said = succeed(store.program("tengen").args(["audit", "tiny"]));
    assert!(said.ends_with(": 0 problems\n"), "{said}");
    // The trained model plays by itself, too.
    let commands = store.path().join("commands");
    fs::write(&commands, "genmove b\nquit\n").unwrap();
    let mut gtp = store.program("tengen");
    let said = succeed(gtp.args(["gtp", "--model", "tiny-2"]).stdin(File::open(commands).unwrap()));
    assert!(said.starts_with("= "), "{said}");
}
