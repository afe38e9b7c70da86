use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use config::{ModelId, Preset};
use models::Models;
use ratings::pairing::Reason;
use runtime::Step;
use store::{CLAIM_LASTS, Claim, Store};

use super::scheduler::HeldClaim;
use super::*;
use crate::driver::{Schedule, Session};
use crate::retirement::tests::run_with_weak_models;
use crate::schedule::Pairs;
use crate::tests::fixture::{BEST, PAIR, RUN, arena, ids, match_game, name, publish_models, store};

#[test]
fn match_is_played_once() {
    let store = store();
    let mut arena = arena(&store, 2);
    let stop = Stop::never();
    let played = arena.play_match(PAIR, 6, &stop, &mut |_| {}).expect("the players can play");
    assert_eq!(played.finished, 6);
    assert!(played.evaluations > 6);
    let games = ids(&arena);
    // The other order is the same series, and its games are there.
    let again = arena.play_match([PAIR[1], PAIR[0]], 6, &stop, &mut |_| {}).expect("there is nothing to play");
    assert_eq!((again, ids(&arena)), (MatchProgress::default(), games.clone()));
    arena.play_match(PAIR, 8, &stop, &mut |_| {}).expect("the players can play");
    assert!(ids(&arena).len() == 8 && ids(&arena).is_superset(&games));
}

#[test]
fn resumed_match_plays_the_remaining_games() {
    let store = store();
    let mut arena = arena(&store, 1);
    // As if a match of eight games had been interrupted when the last two were done and no other.
    let played = arena.play(PAIR, vec![6, 7], &Stop::never(), &mut |_| {}).expect("the players can play");
    assert_eq!(played.finished, 2);
    for (wanted, missing) in [(4, 4), (7, 2), (8, 0)] {
        let left = arena.missing(PAIR, wanted).expect("memory can be read").len() as u64;
        let played = arena.play_match(PAIR, wanted, &Stop::never(), &mut |_| {}).expect("the players can play");
        assert_eq!((left, played.finished), (missing, missing));
    }
}

#[test]
fn match_after_an_interrupted_one_plays_each_opening_with_both_colours() {
    let store = store();
    let mut arena = arena(&store, 1);
    let stop = Stop::never();
    arena.play(PAIR, vec![0], &stop, &mut |_| {}).expect("the players can play");
    let mut pairs = Pairs::of(PAIR.map(PlayerId::clone), None);
    let mut session = Session { arena: &mut arena, stop: &stop, report: &mut |_| {} };
    while pairs.step(&mut session).expect("the players can play") != Step::Finished {}
    let results = arena.rated.run.matches().all().expect("memory can be read");
    let mut openings = BTreeMap::new();
    for result in &results {
        *openings.entry(result.index / 2).or_insert(0) += 1;
    }
    assert_eq!(openings.into_values().collect::<Vec<_>>(), [2, 2, 2], "four more games, and the other of the first");
}

#[test]
fn colours_alternate_over_shared_openings() {
    let store = store();
    let mut arena = arena(&store, 1);
    let met = arena.play_match(PAIR, 4, &Stop::never(), &mut |_| {}).expect("the players can play");
    let results = arena.rated.run.matches().all().expect("memory can be read");
    let blacks: Vec<&str> = results.iter().map(|result| result.black.as_str()).collect();
    assert_eq!(blacks, ["uniform", "random", "uniform", "random"]);
    let score = arena.rated.score(PAIR).expect("memory can be read");
    let won_as = |outcome, black: &str| {
        results.iter().filter(|result| result.outcome == outcome && result.black == black).count() as f64
    };
    let points = won_as(record::Outcome::Black, "random") + won_as(record::Outcome::White, "uniform");
    let draws = results.iter().filter(|result| result.outcome == record::Outcome::Draw).count() as f64;
    assert_eq!((score.games, score.points), (4, points + 0.5 * draws));
    assert_eq!((met.finished, met.points), (4, score.points), "points are those of the player named first");
}

#[test]
fn interrupted_match_resumes_with_the_same_games() {
    let whole = store();
    let mut uninterrupted = arena(&whole, 1);
    uninterrupted.play_match(PAIR, 8, &Stop::never(), &mut |_| {}).expect("the players can play");

    let broken = store();
    let mut interrupted = arena(&broken, 2);
    let mut rounds = 0;
    while ids(&interrupted).len() < 8 {
        let stop = Stop::never();
        let mut heed = |progress: MatchProgress| {
            if progress.finished > 0 {
                stop.request();
            }
        };
        interrupted.play_match(PAIR, 8, &stop, &mut heed).expect("the players can play");
        rounds += 1;
        assert!(rounds <= 8, "every match publishes what it finished");
    }
    assert_eq!(ids(&interrupted), ids(&uninterrupted));
}

/// Two evaluators that were given the same work have played the same games.
#[test]
fn games_that_were_published_twice_count_once() {
    let store = store();
    let mut arena = arena(&store, 1);
    arena.play_match(PAIR, 6, &Stop::never(), &mut |_| {}).expect("the players can play");
    let matches = arena.rated.run.matches();
    for file in matches.files().expect("memory can be read") {
        let games = matches.read(&file).expect("memory can be read");
        matches.publish("another", &games).expect("memory can be written");
    }
    assert_eq!(matches.all().expect("memory can be read").len(), 12);
    assert_eq!(arena.rated.pool().expect("memory can be read").games(), 6);
}

#[test]
fn played_games_are_rated_and_stored() {
    let store = store();
    let mut arena = arena(&store, 2);
    assert!(arena.rated.rate().expect("an empty pool can be rated").rows().is_empty());
    arena.play_match(PAIR, 8, &Stop::never(), &mut |_| {}).expect("the players can play");
    let table = arena.rated.rate().expect("the results can be rated");
    let stored = arena.rated.run.ratings().newest().expect("memory can be read").expect("ratings were published");
    assert_eq!((stored.len(), &stored[..]), (2, table.rows()));
    assert!(table.rows().iter().all(|row| row.games == 8 && row.elo.is_finite() && row.error.is_finite()));
    assert!(table.rows().iter().any(|row| row.player == "random" && row.elo == 0.0));
    assert_eq!(arena.rated.rate().expect("the results can be rated"), table);
}

#[test]
fn damaged_ratings_are_published_again() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let config = Preset::Tiny.with(&["search.visits=4", "evaluate.visits=4"]).expect("the overrides are good");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    store.run(&name(RUN)).create(&config).expect("the run is new");
    let mut arena = arena(&store, 1);
    arena.play_match(PAIR, 2, &Stop::never(), &mut |_| {}).expect("the players can play");
    let table = arena.rated.rate().expect("the results can be rated");
    let files = fs::read_dir(folder.path().join(RUN).join("ratings")).expect("ratings were published");
    for file in files {
        fs::write(file.expect("it can be read").path(), "PAR1").expect("it can be written");
    }
    arena.rated.run.ratings().newest().expect_err("they are damaged");
    assert_eq!(arena.rated.rate().expect("the results can be rated"), table);
    assert_eq!(arena.rated.run.ratings().newest().expect("there are newer ones").as_deref(), Some(table.rows()));
}

#[test]
fn pair_is_proposed_when_there_are_two_players() {
    let store = store();
    let mut arena = arena(&store, 1);
    assert_eq!(arena.propose(BEST, &mut |_| {}).expect("the pool can be rated"), None);
    arena.play_match(PAIR, 2, &Stop::never(), &mut |_| {}).expect("the players can play");
    let proposal = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("there are two players");
    assert_eq!(BTreeSet::from([&proposal.first, &proposal.second]), BTreeSet::from(PAIR));
    assert_eq!(
        arena.propose(BEST, &mut |_| {}).expect("the pool can be rated"),
        Some(proposal),
        "the same question, the same answer"
    );
    // Another evaluator plays it, and there is no other pair.
    let [first, second] = PAIR.map(PlayerId::to_string);
    let claim = Claim { first, second, numbers: vec![2, 3] };
    assert!(arena.rated.run.claims().acquire("another", &claim).expect("memory can be written"));
    let proposal = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("it is proposed to both");
    assert_eq!(proposal.in_flight, 2);
}

#[test]
fn proposal_reports_the_rating_of_the_newest_model() {
    let store = store();
    let arena = run_with_weak_models(&store);
    let mut models = Vec::new();
    arena.propose(BEST, &mut |model| models.push(model.number)).expect("the pool can be rated");
    assert_eq!(models, [5]);
}

#[test]
fn new_model_meets_ancestors_that_exist() {
    let store = store();
    let arena = arena(&store, 1);
    let model = name(RUN).model(5);
    // No model was published, so only the beginning of the run is left.
    assert_eq!(arena.rated.ancestors(&model.into()).expect("memory can be read"), [ModelId::Random]);
    assert_eq!(arena.rated.ancestors(&ModelId::Uniform.into()).expect("memory can be read"), []);
}

#[test]
fn impossible_matches_are_refused() {
    let store = store();
    let mut arena = arena(&store, 1);
    let stop = Stop::never();
    let itself = arena.play_match([PAIR[0], PAIR[0]], 2, &stop, &mut |_| {}).unwrap_err();
    assert_eq!(itself.to_string(), "random cannot play itself; name two players");
    let missing = arena.play_match([PAIR[0], &name(RUN).model(7).into()], 2, &stop, &mut |_| {}).unwrap_err();
    assert!(missing.to_string().starts_with("there is no model tiny-7 in "), "{missing}");
    let none = arena.rated.resolve(&RUN.parse().expect("a run")).unwrap_err();
    assert!(none.to_string().starts_with("run tiny has no model yet"), "{none}");
    let nowhere = RatedRun::open(Models::new(store), &name("other")).map(drop).unwrap_err();
    assert!(nowhere.to_string().starts_with("there is no run other in "), "{nowhere}");
    let resources = Resources { worker: "a/b".to_owned(), ..arena.resources };
    assert!(Arena::open(arena.rated, resources).is_err());
}

#[test]
fn claimed_games_count_as_played() {
    let store = store();
    let mut arena = arena(&store, 1);
    publish_models(&arena, 6);
    for _ in 0..3 {
        let proposal = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("there are players");
        let claim = Claim {
            first: proposal.first.to_string(),
            second: proposal.second.to_string(),
            numbers: (0..1000).collect(),
        };
        arena.rated.run.claims().acquire("another", &claim).expect("memory can be written");
        let next = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("there are players");
        assert_ne!((&next.first, &next.second), (&proposal.first, &proposal.second));
    }
    let reason = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("there are players").reason;
    let proposal = Proposal { first: PAIR[0].clone(), second: PAIR[1].clone(), reason, in_flight: 0 };
    let played = arena.play_proposed(&proposal, &Stop::never(), &mut |_| {}).expect("they can play");
    assert_eq!(played.map(|played| played.finished), Some(4));
    assert_eq!(arena.rated.run.claims().list(CLAIM_LASTS).expect("memory can be read").len(), 3, "its own is released");
}

/// Else the evaluator would try the same games for ever.
#[test]
fn games_behind_a_claim_that_cannot_be_read_are_claimed() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    store.run(&name(RUN)).create(&Preset::Tiny.config()).expect("the run is new");
    let arena = arena(&store, 1);
    publish_models(&arena, 2);
    let proposal = arena.propose(BEST, &mut |_| {}).expect("the pool can be rated").expect("there are players");
    let (first, second) = (proposal.first.to_string(), proposal.second.to_string());
    let foreign = Claim { first, second, numbers: vec![0] };
    assert!(arena.rated.run.claims().acquire("another", &foreign).expect("the store can be written"));
    let file = fs::read_dir(folder.path().join(RUN).join("claims")).expect("there are claims").next();
    let file = file.expect("there is one").expect("it can be read").path();
    fs::write(&file, "format = 2\n").expect("it can be written");
    let claim = arena.claim(&proposal).expect("the store can be used").expect("only the first games are claimed");
    let size = arena.rated.config().evaluate.games_per_pair as u64;
    assert_eq!(claim.numbers, (size..2 * size).collect::<Vec<_>>());
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "format = 2\n");
}

/// Another evaluator has claimed, played and released them since the results were read.
#[test]
fn games_that_were_played_before_their_claim_are_not_claimed() {
    let store = store();
    let games: Vec<_> = (0..4).map(|number| match_game("random", "uniform", number)).collect();
    let (other, played) = (store.clone(), AtomicBool::new(false));
    // After the response to the claim, and before the results are read again.
    let play = move || {
        let run = other.run(&name(RUN));
        let is_claimed = !run.claims().observe().expect("memory can be read").is_empty();
        if is_claimed && !played.swap(true, Ordering::Relaxed) {
            run.matches().publish("another", &games).expect("memory can be written");
        }
    };
    let arena = arena(&store.with_progress(play), 1);
    let reason = Reason::Random { before: ratings::Estimate { elo: 0.0, error: 0.0 } };
    let proposal = Proposal { first: PAIR[0].clone(), second: PAIR[1].clone(), reason, in_flight: 0 };
    let claim = arena.claim(&proposal).expect("memory can be used").expect("no other evaluator has a claim");
    assert_eq!(claim.numbers, [4, 5, 6, 7]);
    let claims = arena.rated.run.claims().list(CLAIM_LASTS).expect("memory can be read");
    assert_eq!(claims, [claim], "the first one is released");
}

#[test]
fn match_is_claimed_while_it_is_played() {
    let store = store();
    let (mut arena, run, stop) = (arena(&store, 1), store.run(&name(RUN)), Stop::never());
    let claim = |numbers: &[u64]| {
        let [first, second] = PAIR.map(PlayerId::to_string);
        Claim { first, second, numbers: numbers.to_vec() }
    };
    let claims = || {
        let observed = run.claims().observe().expect("memory can be read");
        observed.into_iter().map(|(_, claim)| claim).collect::<Vec<_>>()
    };
    // Of a process of the same name that was killed.
    assert!(run.claims().acquire("test", &claim(&[0, 1])).expect("memory can be written"));
    let mut seen = Vec::new();
    arena.play_match(PAIR, 4, &stop, &mut |_| seen.push(claims())).expect("the players can play");
    assert!(!seen.is_empty() && seen.iter().all(|seen| *seen == [claim(&[0, 1, 2, 3])]), "{seen:?}");
    assert!(claims().is_empty(), "it is released");

    arena.play_match([PAIR[0], &name(RUN).model(7).into()], 2, &stop, &mut |_| {}).expect_err("there is no such model");
    assert!(claims().is_empty(), "it is released, too");

    assert!(run.claims().acquire("another", &claim(&[4, 5])).expect("memory can be written"));
    let played = arena.play_match(PAIR, 6, &stop, &mut |_| {}).expect("the players can play");
    assert_eq!((played.finished, claims()), (2, vec![claim(&[4, 5])]), "the claim of another stays");

    let (interrupted, mut longest) = (Stop::never(), None);
    let mut watch = |_| {
        longest = claims().iter().map(|claim| claim.numbers.len()).max();
        interrupted.request();
    };
    arena.play_match(PAIR, 5000, &interrupted, &mut watch).expect("the players can play");
    assert_eq!(longest, Some(1000), "a long match is claimed in part");
}

#[test]
fn claim_of_slow_games_lasts_while_they_are_played() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    let claim = |number| Claim { first: "a".to_owned(), second: "b".to_owned(), numbers: vec![number] };
    let run = || store.run(&name(RUN));
    let (evaluator, other) = (run(), run());
    assert!(evaluator.claims().acquire("slow", &claim(0)).expect("the store can be written"));
    let mut held = HeldClaim::new(&evaluator, "slow", claim(0));
    let file = fs::read_dir(folder.path().join(RUN).join("claims")).expect("there are claims").next();
    let file = file.expect("there is one").expect("it can be read").path();
    let file = File::options().write(true).open(file).expect("it can be written");
    file.set_modified(SystemTime::now() - 2 * CLAIM_LASTS).expect("its time can be set");
    held.renew_after(Duration::ZERO);
    // How late it is at the place is known from then on.
    assert!(other.claims().acquire("other", &claim(1)).expect("the store can be written"));
    assert_eq!(other.claims().list(CLAIM_LASTS).expect("the store can be read").len(), 2);
}
