use std::collections::BTreeMap;
use std::fs;

use config::{ModelId, PlayerId, Preset};
use ratings::pairing::Objective;
use record::GameRecord;
use store::Store;

use super::*;
use crate::Arena;
use crate::tests::fixture::{BEST, RUN, arena, name, publish_models, store, won_game};

/// Five models, of which 4 beats 1 and 5 forty times each with either colour, and shares the points with 2.
pub(crate) fn run_with_weak_models(store: &Store) -> Arena {
    let arena = arena(store, 1);
    publish_models(&arena, 5);
    let mut games = Vec::new();
    for index in 0..40 {
        for (winner, loser) in [(4, 1), (4, 5), if index % 4 < 2 { (4, 2) } else { (2, 4) }] {
            games.push(won(winner, loser, index));
        }
    }
    arena.rated.run.matches().publish("test", &games).expect("memory can be written");
    arena
}

/// A made-up game of two models.
fn won(winner: u32, loser: u32, index: u64) -> GameRecord {
    let [winner, loser] = [winner, loser].map(|number| name(RUN).model(number).to_string());
    won_game(&winner, &loser, index)
}

fn shown(rated: &RatedRun) -> Vec<String> {
    rated.rate().expect("the results can be rated").shown().into_iter().map(|row| row.player).collect()
}

#[test]
fn models_far_behind_are_retired_once_and_paired_no_more() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let retired = arena.rated.retire(200.0).expect("the results can be rated");
    let models: Vec<String> = retired.iter().map(|retirement| retirement.model.to_string()).collect();
    assert_eq!(models, ["tiny-1"], "5 is the newest, 3 has not played, 2 is as good");
    assert!(retired[0].to_string().starts_with("tiny-1 is retired: "), "{}", retired[0]);
    assert_eq!(arena.rated.retire(200.0).expect("the results can be rated"), []);
    let outcast = PlayerId::from(name(RUN).model(1));
    for about in [BEST, Objective::Curve] {
        let proposal = arena.propose(about, &mut |_| {}).expect("the pool can be rated").expect("there are others");
        assert!(proposal.first != outcast && proposal.second != outcast, "{about:?}");
    }
}

/// Model 3 loses games to the best: too few to be judged, or so few that it may be within the bound.
#[test]
fn models_that_are_not_surely_far_behind_are_not_retired() {
    for (games, lost, bound) in [(15, 15, 60.0), (16, 14, 200.0)] {
        let arena = run_with_weak_models(&store());
        let of_game = |index: u64| if index < lost { won(4, 3, index) } else { won(3, 4, index) };
        let more: Vec<GameRecord> = (0..games).map(of_game).collect();
        arena.rated.run.matches().publish("more", &more).expect("memory can be written");
        let retired = arena.rated.retire(bound).expect("the results can be rated");
        let models: Vec<String> = retired.iter().map(|retirement| retirement.model.to_string()).collect();
        assert_eq!(models, ["tiny-1"], "{lost} of {games} games were lost");
    }
}

#[test]
fn champion_is_not_retired_by_its_rating() {
    let arena = run_with_weak_models(&store());
    let how = BTreeMap::from([("by", "test")]);
    arena.rated.run.champions().put(1, &how).expect("memory can be written");
    assert_eq!(arena.rated.retire(200.0).expect("the results can be rated"), []);
}

#[test]
fn retired_models_are_hidden_and_their_games_count() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let before = arena.rated.rate().expect("the results can be rated");
    let games = arena.rated.pool().expect("memory can be read").games();
    assert_eq!(shown(&arena.rated).len(), 4);
    arena.rated.retire(200.0).expect("the results can be rated");
    let after = arena.rated.rate().expect("the results can be rated");
    let one = "tiny-1".to_owned();
    assert!(!shown(&arena.rated).contains(&one) && shown(&arena.rated).len() == 3);
    // Rated and stored as before: only the printed table is shorter.
    assert_eq!(after.rows(), before.rows());
    assert!(after.to_string().contains(&format!("of {games} games drawn")), "{after}");
    assert!(after.to_string().contains("not shown without --include-retired: tiny-1"), "{after}");
    assert!(after.to_string().contains("tiny-5 minus tiny-2"), "{after}");
    assert!(!after.to_csv().contains("tiny-1,") && !after.to_json()["ratings"].to_string().contains("tiny-1\""));
    let models: Vec<u32> = arena.rated.paired_models().expect("memory can be read").iter().filter_map(number).collect();
    assert_eq!(models, [2, 3, 4, 5], "a round robin leaves it out");
    let ancestors = arena.rated.ancestors(&name(RUN).model(4).into()).expect("memory can be read");
    assert_eq!(ancestors.iter().filter_map(number).collect::<Vec<_>>(), [3, 2]);
    let included = arena.rated.including_retired();
    assert_eq!(shown(&included).len(), 4);
}

#[test]
fn model_that_is_brought_back_stays() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let model = |number| name(RUN).model(number);
    let error = arena.rated.unretire(&model(1)).expect_err("it is not retired");
    assert_eq!(error.to_string(), "tiny-1 cannot be brought back: it is not retired");
    for _ in 0..2 {
        arena.rated.retire_model(&model(1)).expect("it is there");
        assert!(!shown(&arena.rated).contains(&"tiny-1".to_owned()));
        arena.rated.unretire(&model(1)).expect("it is retired");
        assert!(shown(&arena.rated).contains(&"tiny-1".to_owned()));
    }
    assert_eq!(arena.rated.retire(200.0).expect("the results can be rated"), [], "by Elo it is left alone");
    for (wrong, reason) in [
        (model(5), "tiny-5 cannot be retired: it is the newest model of the run"),
        (model(9), "tiny-9 cannot be retired: the run has no such model"),
        (ModelId::Random, "random cannot be retired: the run has no such model"),
    ] {
        assert_eq!(arena.rated.retire_model(&wrong).expect_err("it cannot be").to_string(), reason);
    }
}

#[test]
fn weights_of_retired_models_are_deleted_unless_something_needs_them() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let model = |number| name(RUN).model(number);
    arena.rated.run.champions().put(2, &BTreeMap::from([("by", "test")])).expect("memory can be written");
    arena.rated.run.champions().put(4, &BTreeMap::from([("by", "test")])).expect("memory can be written");
    assert!(arena.rated.retire_model(&model(4)).is_err(), "it is the champion");
    for number in 1..=3 {
        arena.rated.retire_model(&model(number)).expect("it is there");
    }
    let said = |arena: &Arena| -> Vec<String> {
        arena.rated.delete_retired_weights().expect("memory can be written").iter().map(Deletion::to_string).collect()
    };
    let kept = "tiny-2: weights kept, it was a champion".to_owned();
    assert_eq!(
        said(&arena),
        ["tiny-1: weights deleted".to_owned(), kept.clone(), "tiny-3: weights deleted".to_owned()]
    );
    assert_eq!(said(&arena), [kept], "what is deleted is not deleted again");
    let error = arena.rated.run.models().get(1).expect_err("its weights are gone");
    assert!(error.to_string().starts_with("the weights of tiny-1 were deleted"), "{error}");
    assert_eq!(arena.rated.run.models().metadata(1).expect("its metadata is there").number, 1);
    assert_eq!(arena.rated.run.models().list().expect("memory can be read"), [1, 2, 3, 4, 5]);
    assert!(arena.rated.run.models().get(2).is_ok() && arena.rated.run.models().get(5).is_ok());
    let error = arena.rated.unretire(&model(1)).expect_err("it cannot play");
    assert!(error.to_string().contains("its weights were deleted"), "{error}");
    assert_eq!(shown(&arena.rated.including_retired()).len(), 4, "ratings are kept");
}

#[test]
fn included_models_without_weights_are_rated_and_not_paired() {
    let store = store();
    let mut arena = run_with_weak_models(&store);
    for number in [1, 2] {
        arena.rated.retire_model(&name(RUN).model(number)).expect("it is there");
    }
    arena.rated.run.models().delete_weights(1).expect("memory can be written");
    arena.rated = arena.rated.including_retired();
    assert!(shown(&arena.rated).contains(&"tiny-1".to_owned()));
    let models: Vec<u32> = arena.rated.paired_models().expect("memory can be read").iter().filter_map(number).collect();
    assert_eq!(models, [2, 3, 4, 5], "2 is retired and has its weights");
    let outcast = PlayerId::from(name(RUN).model(1));
    for objective in [BEST, Objective::Curve, Objective::Ladder] {
        let proposal = arena.propose(objective, &mut |_| {}).expect("the pool can be rated").expect("there are others");
        assert!(proposal.first != outcast && proposal.second != outcast, "{objective:?}");
    }
}

#[test]
fn weights_whose_deletion_was_killed_are_deleted_by_the_next() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    store.run(&name(RUN)).create(&Preset::Tiny.config()).expect("the run is new");
    let arena = arena(&store, 1);
    publish_models(&arena, 3);
    arena.rated.retire_model(&name(RUN).model(1)).expect("it is there");
    let weights = folder.path().join(RUN).join("models/000001/weights.safetensors");
    let bytes = fs::read(&weights).expect("it was published");
    for _ in 0..2 {
        // After the mark and before the deletion.
        fs::write(&weights, &bytes).expect("it can be written");
        let deleted = arena.rated.delete_retired_weights().expect("the store can be written");
        assert_eq!(deleted.iter().map(Deletion::to_string).collect::<Vec<_>>(), ["tiny-1: weights deleted"]);
        assert!(!weights.exists());
    }
    assert_eq!(arena.rated.delete_retired_weights().expect("the store can be written"), []);
}

fn number(model: &ModelId) -> Option<u32> {
    match model {
        ModelId::Trained { number, .. } => Some(*number),
        ModelId::Uniform | ModelId::Random => None,
    }
}

#[test]
fn weights_that_training_may_continue_from_are_kept() {
    let store = store();
    let arena = arena(&store, 1);
    let config = arena.rated.config().clone();
    for number in 1..=6_u32 {
        let metadata = store::ModelMetadata::new(&name(RUN), number, 10 * u64::from(number), &config);
        arena.rated.run.models().publish(&metadata, bytes::Bytes::from_static(b"none")).expect("memory can be written");
    }
    let checkpoint = store::Checkpoint { step: 30, files: BTreeMap::new() };
    arena.rated.run.checkpoints().publish(&checkpoint).expect("memory can be written");
    (1..=5).for_each(|number| arena.rated.retire_model(&name(RUN).model(number)).expect("it is not the newest"));
    let said: Vec<String> =
        arena.rated.delete_retired_weights().expect("memory can be written").iter().map(Deletion::to_string).collect();
    let deleted = |number: u32| format!("tiny-{number}: weights deleted");
    let kept = |number: u32| format!("tiny-{number}: weights kept, training may continue from it");
    // 3 has a checkpoint, and 2 is its parent; 5 is the parent of the newest.
    assert_eq!(said, [deleted(1), kept(2), kept(3), deleted(4), kept(5)]);
}
