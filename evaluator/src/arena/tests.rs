use std::collections::BTreeSet;

use config::{Overrides, Preset};
use ratings::sprt::{Sprt, Verdict};
use record::GameId;

use super::*;

const RUN: &str = "tiny";

/// A store with a run on a small board, few visits, and no model.
pub(super) fn store() -> Store {
    let changes = ["search.visits=4", "evaluate.visits=4", "evaluate.games_per_pair=4"];
    store_of(&Preset::Tiny.with(&changes).expect("the overrides are good"))
}

/// A store with a run of this configuration.
pub(super) fn store_of(config: &RunConfig) -> Store {
    let store = Store::in_memory().expect("there is memory");
    store.run(&name(RUN)).create(config).expect("the run is new");
    store
}

pub(super) fn name(run: &str) -> RunName {
    run.parse().expect("a name")
}

pub(super) fn arena(store: &Store, threads: usize) -> Arena {
    let place = Place {
        device: Device::Cpu,
        cache: 1 << 20,
        times: false,
        threads,
        engines: Declarations::default(),
        worker: "test".to_owned(),
    };
    Arena::open(store, &name(RUN), place).expect("the run is there")
}

fn ids(arena: &Arena) -> BTreeSet<GameId> {
    let results = arena.run.matches().all().expect("memory can be read");
    let ids: BTreeSet<GameId> = results.iter().map(|result| result.id).collect();
    assert_eq!(ids.len(), results.len(), "no game is stored twice");
    ids
}

pub(super) const BEST: Rule = Rule::Informed(pairing::About::Best);

const PAIR: [&PlayerId; 2] = [
    &PlayerId::Model { id: ModelId::Random, settings: Overrides::NONE },
    &PlayerId::Model { id: ModelId::Uniform, settings: Overrides::NONE },
];

#[test]
fn a_meeting_is_played_once() {
    let store = store();
    let mut arena = arena(&store, 2);
    let stop = Stop::never();
    let played = arena.meet(PAIR, 6, &stop, &mut |_| {}).expect("the players can play");
    assert_eq!((played.finished, played.wanted), (6, 6));
    assert!(played.moves > 6 && played.evaluations > played.moves);
    let games = ids(&arena);
    // The other order is the same series, and its games are there.
    let again = arena.meet([PAIR[1], PAIR[0]], 6, &stop, &mut |_| {}).expect("there is nothing to play");
    assert_eq!((again, ids(&arena)), (Progress::default(), games.clone()));
    arena.meet(PAIR, 8, &stop, &mut |_| {}).expect("the players can play");
    assert!(ids(&arena).len() == 8 && ids(&arena).is_superset(&games));
}

#[test]
fn what_is_left_of_a_meeting_is_what_it_then_plays() {
    let store = store();
    let mut arena = arena(&store, 1);
    // As if a meeting of eight games had been interrupted when the last two were done and no other.
    let played = arena.play(PAIR, vec![6, 7], &Stop::never(), &mut |_| {}).expect("the players can play");
    assert_eq!(played.finished, 2);
    for (wanted, missing) in [(4, 4), (7, 2), (8, 0)] {
        let left = arena.left(PAIR, wanted).expect("memory can be read");
        let played = arena.meet(PAIR, wanted, &Stop::never(), &mut |_| {}).expect("the players can play");
        assert_eq!((left, played.finished), (missing, missing));
    }
}

#[test]
fn colours_alternate_over_shared_openings() {
    let store = store();
    let mut arena = arena(&store, 1);
    let met = arena.meet(PAIR, 4, &Stop::never(), &mut |_| {}).expect("the players can play");
    let results = arena.run.matches().all().expect("memory can be read");
    let blacks: Vec<&str> = results.iter().map(|result| result.black.as_str()).collect();
    assert_eq!(blacks, ["uniform", "random", "uniform", "random"]);
    let score = arena.score(PAIR).expect("memory can be read");
    let won_as = |outcome, black: &str| {
        results.iter().filter(|result| result.outcome == outcome && result.black == black).count() as f64
    };
    let points = won_as(record::Outcome::Black, "random") + won_as(record::Outcome::White, "uniform");
    let draws = results.iter().filter(|result| result.outcome == record::Outcome::Draw).count() as f64;
    assert_eq!((score.games, score.points), (4, points + 0.5 * draws));
    assert_eq!((met.finished, met.points), (4, score.points), "points are those of the player named first");
}

#[test]
fn an_interrupted_meeting_goes_on_to_the_same_games() {
    let whole = store();
    let mut uninterrupted = arena(&whole, 1);
    uninterrupted.meet(PAIR, 8, &Stop::never(), &mut |_| {}).expect("the players can play");

    let broken = store();
    let mut interrupted = arena(&broken, 2);
    let mut rounds = 0;
    while ids(&interrupted).len() < 8 {
        let stop = Stop::never();
        let mut heed = |progress: Progress| {
            if progress.finished > 0 {
                stop.request();
            }
        };
        interrupted.meet(PAIR, 8, &stop, &mut heed).expect("the players can play");
        rounds += 1;
        assert!(rounds <= 8, "every meeting publishes what it finished");
    }
    assert_eq!(ids(&interrupted), ids(&uninterrupted));
}

#[test]
fn what_was_played_is_rated_and_stored() {
    let store = store();
    let mut arena = arena(&store, 2);
    assert!(arena.rate().expect("an empty pool can be rated").lines().is_empty());
    arena.meet(PAIR, 8, &Stop::never(), &mut |_| {}).expect("the players can play");
    let table = arena.rate().expect("the results can be rated");
    let stored = arena.run.ratings().newest().expect("memory can be read").expect("ratings were published");
    assert_eq!((stored.len(), &stored), (2, &table.rows()));
    assert!(table.rows().iter().all(|row| row.games == 8 && row.elo.is_finite() && row.error.is_finite()));
    assert!(table.rows().iter().any(|row| row.player == "random" && row.elo == 0.0));
    assert_eq!(arena.rate().expect("the results can be rated"), table);
}

#[test]
fn a_pair_is_proposed_when_there_are_two_players() {
    let store = store();
    let mut arena = arena(&store, 1);
    assert_eq!(arena.propose(BEST).expect("the pool can be rated"), None);
    arena.meet(PAIR, 2, &Stop::never(), &mut |_| {}).expect("the players can play");
    let proposal = arena.propose(BEST).expect("the pool can be rated").expect("there are two players");
    assert_eq!(BTreeSet::from([&proposal.first, &proposal.second]), BTreeSet::from(PAIR));
    assert_eq!(
        arena.propose(BEST).expect("the pool can be rated"),
        Some(proposal),
        "the same question, the same answer"
    );
}

#[test]
fn a_test_ends_with_a_verdict_or_with_its_games() {
    let store = store();
    let mut arena = arena(&store, 2);
    let stop = Stop::never();
    // Whatever the two are, they are not 2000 Elo apart.
    let test = Sprt::new(-1000.0, 1000.0, 0.05, 0.05).expect("a good test");
    let found = arena.compare(PAIR, &test, 400, &stop, &mut |_, _| {}).expect("the players can play");
    assert_ne!(found.verdict, Verdict::Open, "{found}");
    let games = ids(&arena).len();
    assert_eq!(games, 2 * found.outcomes.count() as usize);
    let points = arena.score(PAIR).expect("memory can be read").points;
    assert!((found.outcomes.mean() * games as f64 - points).abs() < 1e-9);
    // Asked again it is known, and seen from the other side it is the opposite.
    assert_eq!(arena.compare(PAIR, &test, 400, &stop, &mut |_, _| {}).expect("nothing is played"), found);
    let turned = arena.pool().expect("memory can be read").pairs_of_games(PAIR[1], PAIR[0]);
    assert_eq!(turned.0.iter().rev().copied().collect::<Vec<_>>(), found.outcomes.0);
    let narrow = Sprt::new(-0.1, 0.1, 0.05, 0.05).expect("a good test");
    let open = arena.compare(PAIR, &narrow, games as u64 + 4, &stop, &mut |_, _| {}).expect("the players can play");
    assert_eq!((open.verdict, ids(&arena).len()), (Verdict::Open, games + 4));
}

#[test]
fn a_new_model_meets_ancestors_that_exist() {
    let store = store();
    let arena = arena(&store, 1);
    let model = name(RUN).model(5);
    // No model was published, so only the beginning of the run is left.
    assert_eq!(arena.ancestors(&model.into()).expect("memory can be read"), [ModelId::Random]);
    assert_eq!(arena.ancestors(&ModelId::Uniform.into()).expect("memory can be read"), []);
}

#[test]
fn impossible_meetings_are_refused() {
    let store = store();
    let mut arena = arena(&store, 1);
    let stop = Stop::never();
    let itself = arena.meet([PAIR[0], PAIR[0]], 2, &stop, &mut |_| {}).unwrap_err();
    assert_eq!(itself.to_string(), "random cannot play itself: the result would say nothing");
    let missing = arena.meet([PAIR[0], &name(RUN).model(7).into()], 2, &stop, &mut |_| {}).unwrap_err();
    assert_eq!(missing.to_string(), "there is no model tiny-7");
    let none = arena.resolve(&RUN.parse().expect("a run")).unwrap_err();
    assert_eq!(none.to_string(), "run tiny has no model yet");
    let place = Place {
        device: Device::Cpu,
        cache: 1 << 20,
        times: false,
        threads: 1,
        engines: Declarations::default(),
        worker: "test".to_owned(),
    };
    let nowhere = Arena::open(&store, &name("other"), place).map(drop).unwrap_err();
    assert!(nowhere.to_string().starts_with("there is no run other in "), "{nowhere}");
    let place = Place {
        device: Device::Cpu,
        cache: 1 << 20,
        times: false,
        threads: 1,
        engines: Declarations::default(),
        worker: "a/b".to_owned(),
    };
    assert!(Arena::open(&store, &name(RUN), place).is_err());
}

/// Model cards without weights: these models never play.
pub(super) fn publish_models(arena: &Arena, count: u32) {
    for number in 1..=count {
        let config = arena.config();
        let card = store::ModelCard {
            run: name(RUN),
            number,
            parent: None,
            origin: Vec::new(),
            step: 0,
            size: config.game.size,
            config_digest: config.digest(),
            network: config.network,
            search: config.search.clone(),
        };
        arena.run.models().publish(&card, bytes::Bytes::from_static(b"none")).expect("memory can be written");
    }
}

/// Five models, of which 4 beats 1 and 5 forty times each with either colour, and shares the points with 2.
fn run_with_weak_models(store: &Store) -> Arena {
    let arena = arena(store, 1);
    publish_models(&arena, 5);
    let mut games = Vec::new();
    for index in 0..40 {
        for (winner, loser) in [(4, 1), (4, 5), if index % 4 < 2 { (4, 2) } else { (2, 4) }] {
            let [winner, loser] = [winner, loser].map(|number| name(RUN).model(number).to_string());
            let (black, white, outcome) = match index % 2 {
                0 => (winner, loser, record::Outcome::Black),
                _ => (loser, winner, record::Outcome::White),
            };
            let game = record::synthetic::game("made", "up", index, Size::new(5).expect("a size"), 1);
            let id = GameId::of(&black, &white, "", index);
            games.push(record::GameRecord { id, black, white, outcome, ..game });
        }
    }
    arena.run.matches().publish("test", &games).expect("memory can be written");
    arena
}

fn shown(arena: &Arena) -> Vec<String> {
    arena.rate().expect("the results can be rated").lines().iter().map(|line| line.player.clone()).collect()
}

#[test]
fn models_far_behind_are_retired_once_and_paired_no_more() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let retired = arena.retire(200.0).expect("the results can be rated");
    let models: Vec<String> = retired.iter().map(|retirement| retirement.model.to_string()).collect();
    assert_eq!(models, ["tiny-1"], "5 is the newest, 3 has not played, 2 is as good");
    assert!(retired[0].to_string().starts_with("tiny-1 is retired: "), "{}", retired[0]);
    assert_eq!(arena.retire(200.0).expect("the results can be rated"), []);
    let outcast = PlayerId::from(name(RUN).model(1));
    for rule in [BEST, Rule::Minigo, Rule::Random] {
        let proposal = arena.propose(rule).expect("the pool can be rated").expect("there are others");
        assert!(proposal.first != outcast && proposal.second != outcast, "{rule:?}");
    }
}

#[test]
fn retired_models_are_hidden_and_their_games_count() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let before = arena.rate().expect("the results can be rated");
    let games = arena.pool().expect("memory can be read").games();
    assert_eq!(shown(&arena).len(), 4);
    arena.retire(200.0).expect("the results can be rated");
    let after = arena.rate().expect("the results can be rated");
    let one = "tiny-1".to_owned();
    assert!(!shown(&arena).contains(&one) && shown(&arena).len() == 3);
    // Rated and stored as before: only the printed table is shorter.
    assert_eq!(after.rows(), before.rows());
    assert!(after.to_string().contains(&format!("of {games} games drawn")), "{after}");
    assert!(after.to_string().contains("not shown without --include-retired: tiny-1"), "{after}");
    assert!(after.to_string().contains("tiny-5 minus tiny-2"), "{after}");
    assert!(!after.to_csv().contains("tiny-1,") && !after.to_json()["ratings"].to_string().contains("tiny-1\""));
    let models: Vec<u32> = arena.models().expect("memory can be read").iter().filter_map(number).collect();
    assert_eq!(models, [2, 3, 4, 5], "a round robin leaves it out");
    let ancestors = arena.ancestors(&name(RUN).model(4).into()).expect("memory can be read");
    assert_eq!(ancestors.iter().filter_map(number).collect::<Vec<_>>(), [3, 2]);
    let included = arena.including_retired();
    assert_eq!(shown(&included).len(), 4);
}

fn number(model: &ModelId) -> Option<u32> {
    match model {
        ModelId::Trained { number, .. } => Some(*number),
        ModelId::Uniform | ModelId::Random => None,
    }
}

#[test]
fn a_retired_model_is_not_promoted() {
    let store = store();
    let mut arena = run_with_weak_models(&store);
    arena.retire(200.0).expect("the results can be rated");
    let test = Sprt::new(0.0, 100.0, 0.05, 0.05).expect("a test");
    let error = arena.promote(&name(RUN).model(1), &test, 0, &Stop::never(), &mut |_, _| {}).expect_err("retired");
    assert!(error.to_string().starts_with("tiny-1 is retired; bring it back with --unretire tiny-1"), "{error}");
    let mut arena = arena.including_retired();
    let tested = arena.promote(&name(RUN).model(1), &test, 0, &Stop::never(), &mut |_, _| {});
    assert!(!tested.expect("it may be tested").promoted);
}

#[test]
fn a_model_that_is_brought_back_stays() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let model = |number| name(RUN).model(number);
    let error = arena.unretire(&model(1)).expect_err("it is not retired");
    assert_eq!(error.to_string(), "tiny-1 cannot be brought back: it is not retired");
    for _ in 0..2 {
        arena.retire_model(&model(1)).expect("it is there");
        assert!(!shown(&arena).contains(&"tiny-1".to_owned()));
        arena.unretire(&model(1)).expect("it is retired");
        assert!(shown(&arena).contains(&"tiny-1".to_owned()));
    }
    assert_eq!(arena.retire(200.0).expect("the results can be rated"), [], "by Elo it is left alone");
    for (wrong, reason) in [
        (model(5), "tiny-5 cannot be retired: it is the newest model of the run"),
        (model(9), "tiny-9 cannot be retired: the run has no such model"),
        (ModelId::Random, "random cannot be retired: the run has no such model"),
    ] {
        assert_eq!(arena.retire_model(&wrong).expect_err("it cannot be").to_string(), reason);
    }
}

#[test]
fn weights_of_retired_models_are_deleted_unless_something_needs_them() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let model = |number| name(RUN).model(number);
    arena.run.promotions().put(2, &std::collections::BTreeMap::from([("by", "test")])).expect("memory can be written");
    arena.run.promotions().put(4, &std::collections::BTreeMap::from([("by", "test")])).expect("memory can be written");
    assert!(arena.retire_model(&model(4)).is_err(), "it is the champion");
    for number in 1..=3 {
        arena.retire_model(&model(number)).expect("it is there");
    }
    let said = |arena: &Arena| -> Vec<String> {
        arena.delete_retired_weights().expect("memory can be written").iter().map(Deletion::to_string).collect()
    };
    let kept = "tiny-2: weights kept, it was a champion".to_owned();
    assert_eq!(
        said(&arena),
        ["tiny-1: weights deleted".to_owned(), kept.clone(), "tiny-3: weights deleted".to_owned()]
    );
    assert_eq!(said(&arena), [kept], "what is deleted is not deleted again");
    let error = arena.run.models().get(1).expect_err("its weights are gone");
    assert!(error.to_string().starts_with("the weights of tiny-1 were deleted"), "{error}");
    assert_eq!(arena.run.models().card(1).expect("its card is there").number, 1);
    assert_eq!(arena.run.models().list().expect("memory can be read"), [1, 2, 3, 4, 5]);
    assert!(arena.run.models().get(2).is_ok() && arena.run.models().get(5).is_ok());
    let error = arena.unretire(&model(1)).expect_err("it cannot play");
    assert!(error.to_string().contains("its weights were deleted"), "{error}");
    assert_eq!(shown(&arena.including_retired()).len(), 4, "ratings are kept");
}

#[test]
fn weights_that_training_may_continue_from_are_kept() {
    let store = store();
    let arena = arena(&store, 1);
    let config = arena.config().clone();
    for number in 1..=4_u32 {
        let card = store::ModelCard {
            run: name(RUN),
            number,
            parent: number.checked_sub(1).filter(|&parent| parent > 0),
            origin: Vec::new(),
            step: 10 * u64::from(number),
            size: config.game.size,
            config_digest: config.digest(),
            network: config.network,
            search: config.search.clone(),
        };
        arena.run.models().publish(&card, bytes::Bytes::from_static(b"none")).expect("memory can be written");
    }
    (1..=3).for_each(|number| arena.retire_model(&name(RUN).model(number)).expect("it is not the newest"));
    let said: Vec<String> =
        arena.delete_retired_weights().expect("memory can be written").iter().map(Deletion::to_string).collect();
    let kept = "tiny-3: weights kept, training may continue from it";
    assert_eq!(said, ["tiny-1: weights deleted", "tiny-2: weights deleted", kept], "3 is the parent of the newest");
}

#[test]
fn what_others_are_playing_counts_as_played() {
    let store = store();
    let mut arena = arena(&store, 1);
    publish_models(&arena, 6);
    for _ in 0..3 {
        let proposal = arena.propose(BEST).expect("the pool can be rated").expect("there are players");
        let claim = Claim {
            first: proposal.first.to_string(),
            second: proposal.second.to_string(),
            numbers: (0..1000).collect(),
        };
        arena.run.claims().take("another", &claim).expect("memory can be written");
        let next = arena.propose(BEST).expect("the pool can be rated").expect("there are players");
        assert_ne!((&next.first, &next.second), (&proposal.first, &proposal.second));
    }
    let reason = arena.propose(BEST).expect("the pool can be rated").expect("there are players").reason;
    let proposal = Proposal { first: PAIR[0].clone(), second: PAIR[1].clone(), reason, in_flight: 0 };
    let played = arena.meet_proposed(&proposal, &Stop::never(), &mut |_| {}).expect("they can play");
    assert_eq!(played.map(|played| played.finished), Some(4));
    assert_eq!(arena.run.claims().list(CLAIM_LASTS).expect("memory can be read").len(), 3, "its own is released");
}

#[test]
fn only_a_newer_and_stronger_model_becomes_the_champion() {
    let store = store();
    let mut arena = arena(&store, 1);
    publish_models(&arena, 3);
    let model = |number| name(RUN).model(number);
    let test = Sprt::new(0.0, 100.0, 0.05, 0.05).expect("a test");
    let stop = Stop::never();
    // Enough games for a verdict are there already: model 2 beats `random`, and model 3 shares the points with model 2.
    let mut games = Vec::new();
    for index in 0..200 {
        for (one, other, one_wins) in [(2, 0, true), (3, 2, index % 4 < 2)] {
            let player = |number: u32| if number == 0 { "random".to_owned() } else { model(number).to_string() };
            let (black, white) =
                if index % 2 == 0 { (player(one), player(other)) } else { (player(other), player(one)) };
            let outcome = if one_wins == (index % 2 == 0) { record::Outcome::Black } else { record::Outcome::White };
            let game = record::synthetic::game("made", "up", index, Size::new(5).expect("a size"), 1);
            let id = GameId::of(&black, &white, "", index);
            games.push(record::GameRecord { id, black, white, outcome, ..game });
        }
    }
    arena.run.matches().publish("test", &games).expect("memory can be written");
    assert_eq!(arena.champion().expect("memory can be read"), ModelId::Random);
    let passed = arena.promote(&model(2), &test, 0, &stop, &mut |_, _| {}).expect("the games are there");
    assert!(passed.promoted && passed.to_string().ends_with("tiny-2 is the champion now"), "{passed}");
    assert_eq!(arena.champion().expect("memory can be read"), model(2));
    let failed = arena.promote(&model(3), &test, 0, &stop, &mut |_, _| {}).expect("the games are there");
    assert!(!failed.promoted && failed.to_string().ends_with("tiny-2 stays the champion"), "{failed}");
    for wrong in [model(1), model(2), ModelId::Uniform] {
        let error = arena.promote(&wrong, &test, 0, &stop, &mut |_, _| {}).expect_err("it cannot follow");
        assert!(matches!(error, EvaluatorError::NoCandidate { .. }), "{wrong}");
    }
}
