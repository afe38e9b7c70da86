//! Matches with players that are no models.

use std::fs;
use std::path::Path;

use config::{ModelId, Overrides, Preset, RunName};
use models::Models;
use ratings::pairing::Objective;
use ratings::sprt::Sprt;
use record::{EndReason, GameRecord, Outcome};
use runtime::{Silent, drive};
use store::{Claim, Store};

use super::*;
use crate::Matches;
use crate::comparison::SequentialTest;
use crate::tests::fixture::{self, match_game, store};

const RANDOM_MODEL: PlayerId = PlayerId::Model { id: ModelId::Random, settings: Overrides::NONE };

/// An arena in which these programs may play, too.
fn arena(store: &Store, engines: &str) -> Arena {
    let mut arena = fixture::arena(store, 2);
    arena.resources.engines = EngineSpecs::from_toml(engines).expect("the declarations are good");
    arena
}

fn player(name: &str) -> PlayerId {
    name.parse().expect("a name")
}

fn play_match(arena: &mut Arena, pair: [&PlayerId; 2], games: u64) -> Result<MatchProgress, EvaluatorError> {
    arena.play_match(pair, games, &Stop::never(), &mut |_| {})
}

fn played(arena: &Arena) -> Vec<GameRecord> {
    let files = arena.rated.run.matches().files().expect("memory can be read");
    let mut games: Vec<GameRecord> =
        files.iter().flat_map(|file| arena.rated.run.matches().read(file).expect("memory can be read")).collect();
    games.sort_by_key(|game| (game.black.clone().min(game.white.clone()), game.index));
    games
}

/// A declaration of a shell script that responds to GTP commands by `cases`. It has time enough on a busy machine: a
/// game with a late response is void.
fn script(name: &str, cases: &str) -> String {
    let text = format!(
        "while read -r id command arguments; do said=''; case $command in {cases} protocol_version) said=2 ;; esac; \
         printf '=%s %s\\n\\n' \"$id\" \"$said\"; done"
    );
    format!("[[engine]]\nname = '{name}'\nseconds_per_move = 600\ncommand = ['sh', '-c', {text:?}]\n")
}

#[test]
fn players_without_a_program_meet_models_and_each_other() {
    let (one, other) = (store(), store());
    let (mut first, mut second) = (arena(&one, ""), arena(&other, ""));
    for arena in [&mut first, &mut second] {
        for pair in [[&player("Random"), &player("Captures")], [&RANDOM_MODEL, &player("Random")]] {
            let met = play_match(arena, pair, 8).expect("they can play");
            assert_eq!((met.finished, met.void), (8, 0));
        }
    }
    assert_eq!(played(&first), played(&second), "the same games, move by move");
    assert!(played(&first).iter().all(|game| game.replay().is_ok() && game.end != EndReason::Forfeit));
    let table = first.rated.rate().expect("the results can be rated");
    assert_eq!(table.rows().len(), 3);
    let anchors = ["Random=-1534", "Captures=-1267"].map(|text| text.parse().expect("an anchor"));
    let anchored = first.rated.rate_with(&[], &anchors).expect("both have played");
    let elo = |name: &str| anchored.rows().iter().find(|row| row.player == name).map(|row| row.elo);
    assert_eq!((elo("Random"), elo("Captures")), (Some(-1534.0), Some(-1267.0)));
    assert!(anchored.to_string().contains("On the scale of Random = -1534, Captures = -1267; ± is against that"));
    assert_eq!(first.rated.rate().expect("the results can be rated"), table, "what is stored keeps its scale");
    let stranger =
        first.rated.rate_with(&[], &["GnuGo-10=0".parse().expect("an anchor")]).expect_err("it has not played");
    assert_eq!(stranger.to_string(), "cannot rate run tiny with these options");
    let met = play_match(&mut first, [&player("Captures"), &player("Random")], 108).expect("they can play");
    // Of 100 games by equals 65 are won once in a thousand tries.
    assert!(met.finished == 100 && met.points >= 65.0, "who takes stones beats who does not: {}", met.points);
}

#[test]
fn model_with_other_settings_is_another_player() {
    let store = store();
    let mut arena = arena(&store, "");
    let deeper = player("uniform+visits=32+leaves=2");
    let met = play_match(&mut arena, [&deeper, &player("uniform")], 4).expect("they can play");
    assert_eq!(met.finished, 4);
    assert!(played(&arena).iter().all(|game| game.visits_budget == 32));
    let wrong = play_match(&mut arena, [&player("uniform+visits=0"), &player("random")], 2).expect_err("0 is too few");
    assert_eq!(wrong.to_string(), "uniform+visits=0 cannot play");
}

#[test]
fn engine_that_always_crashes_stops_the_match_and_loses_no_game() {
    let store = store();
    let mut arena = arena(&store, &script("Crash", "genmove) exit 1 ;;"));
    play_match(&mut arena, [&player("Random"), &player("Captures")], 2).expect("they can play");
    let error = play_match(&mut arena, [&player("Crash"), &player("Captures")], 8).expect_err("it cannot play");
    assert!(matches!(error, EvaluatorError::Voids { games: 6.., .. }), "{error}");
    assert!(error.to_string().contains("the process exited at \"genmove"), "{error}");
    assert_eq!(played(&arena).len(), 2);
}

/// The store fails, too, and the claim stays.
#[test]
fn match_that_fails_says_why_although_its_claim_cannot_be_released() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let changes = ["search.visits=4", "evaluate.visits=4", "evaluate.games_per_pair=8"];
    let config = Preset::Tiny.with(&changes).expect("the overrides are good");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    store.run(&"tiny".parse().expect("a name")).create(&config).expect("the run is new");
    let mut arena = arena(&store, &script("Crash", "genmove) exit 1 ;;"));
    play_match(&mut arena, [&player("Random"), &player("Captures")], 2).expect("they can play");
    let chosen = arena.propose(Objective::Best, &mut |_| {}).expect("the pool can be rated");
    let reason = chosen.expect("there are players").reason;
    let proposal = Proposal { first: player("Crash"), second: player("Captures"), reason, in_flight: 0 };
    let claims = folder.path().join("tiny/claims");
    let mut stuck = Vec::new();
    let error = arena.play_proposed(&proposal, &Stop::never(), &mut |_| {
        // A folder of the name of its file cannot be deleted as a file.
        for claim in fs::read_dir(&claims).expect("it is there").map(|claim| claim.expect("it can be read").path()) {
            if claim.is_file() {
                fs::remove_file(&claim).expect("it can be deleted");
                fs::create_dir(&claim).expect("its name is free");
                stuck.push(claim);
            }
        }
    });
    let error = error.expect_err("it cannot play");
    assert!(matches!(error, EvaluatorError::Voids { .. }), "{error}");
    assert!(stuck.len() == 1 && stuck[0].is_dir(), "{stuck:?}");
}

#[test]
fn match_whose_results_the_store_refuses_waits_for_no_game() {
    let [folder, marks] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder can be made"));
    let config = Preset::Tiny.with(&["evaluate.games_per_pair=4"]).expect("the override is good");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    store.run(&"tiny".parse().expect("a name")).create(&config).expect("the run is new");
    // The first move of all games but one takes half a minute, unless the test is over before.
    let at = marks.path().display();
    let slow = format!(
        "genmove) if mkdir {at}/quick; then quick=1; fi; if [ -z \"$quick\" ]; then \
         n=0; while [ -d {at} ] && [ $n -lt 300 ]; do n=$((n+1)); sleep 0.1; done; touch {at}/moved; fi; said=pass ;;"
    );
    let mut arena = arena(&store, &script("Fish", &slow));
    fs::write(folder.path().join("tiny/matches"), "no folder").expect("it can be written");
    let (fish, random) = (player("Fish"), player("Random"));
    let error = arena.play([&fish, &random], vec![0, 1], &Stop::never(), &mut |_| {}).expect_err("it cannot be stored");
    assert!(matches!(error, EvaluatorError::Store(_)), "{error}");
    assert!(marks.path().join("quick").exists() && !marks.path().join("moved").exists());
}

/// Each game is void three times on a thread of its own, or there is one game.
#[test]
fn engine_that_always_crashes_stops_a_match_of_few_games() {
    for games in [1, 2] {
        let store = store();
        let mut arena = arena(&store, &script("Crash", "genmove) exit 1 ;;"));
        let error = play_match(&mut arena, [&player("Crash"), &player("Captures")], games).expect_err("it cannot play");
        assert!(matches!(error, EvaluatorError::Voids { .. }), "{error}");
    }
}

/// The two have results, so the match is not to be refused for ever.
#[test]
fn games_that_are_always_void_block_no_later_games() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mark = folder.path().join("mark");
    let crash_with = format!("genmove) if [ -e {} ]; then exit 1; fi; said=pass ;;", mark.display());
    let store = store();
    let mut arena = arena(&store, &script("Crash", &crash_with));
    let pair = [&player("Crash"), &player("Captures")];
    play_match(&mut arena, pair, 2).expect("it can play");
    fs::write(&mark, "").expect("it can be written");
    let played = play_match(&mut arena, pair, 4).expect("the match does not fail");
    assert_eq!((played.finished, played.void, played.exhausted), (0, 6, 2));
    // The engine may be broken, so the pair is not proposed until a game counts.
    let pair = [player("Captures"), player("Crash")];
    assert_eq!(arena.without_result, BTreeSet::from([pair.clone()]));
    // Others play the pairs with `random`, which have no results yet.
    for engine in &pair {
        let claim = Claim { first: engine.to_string(), second: RANDOM_MODEL.to_string(), numbers: vec![0] };
        assert!(arena.rated.run.claims().acquire("another", &claim).expect("memory can be written"));
    }
    assert_eq!(arena.propose(Objective::Curve, &mut |_| {}).expect("the results can be rated"), None);
    fs::remove_file(&mark).expect("it is there");
    play_match(&mut arena, pair.each_ref(), 6).expect("it can play");
    assert!(arena.without_result.is_empty());
}

/// The batch after the first two games is one game.
#[test]
fn test_whose_last_batch_is_void_ends_without_a_verdict() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mark = folder.path().join("mark");
    let crash_with = format!("genmove) if [ -e {} ]; then exit 1; fi; said=pass ;;", mark.display());
    let store = store();
    let mut arena = arena(&store, &script("Crash", &crash_with));
    play_match(&mut arena, [&player("Crash"), &player("Captures")], 2).expect("it can play");
    fs::write(&mark, "").expect("it can be written");
    let test = SequentialTest::new(
        [player("Crash"), player("Captures")],
        Sprt::new(0.0, 35.0, 0.05, 0.05).expect("a test"),
        3,
    );
    let stop = Stop::never();
    let mut matches = Matches::new(arena, test, Silent, &stop);
    drive(&mut matches, &stop).expect("the match does not fail");
    let conclusion = matches.conclusion().expect("memory can be read").expect("a test has one");
    assert!(conclusion.contains("no verdict yet") && conclusion.contains("after 1 pairs"), "{conclusion}");
}

#[test]
fn program_that_breaks_once_plays_on() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mark = folder.path().join("mark");
    let crash_once = |mark: &Path| format!("genmove) if mkdir {}; then exit 1; fi; said=pass ;;", mark.display());
    let store = store();
    let mut arena = arena(&store, &script("Once", &crash_once(&mark)));
    let met = play_match(&mut arena, [&player("Captures"), &player("Once")], 6).expect("it can play");
    assert_eq!((met.finished, met.void, met.exhausted), (6, 1, 0));
    assert_eq!(met.points, 6.0, "passing all the time is no way to win");
}

#[test]
fn illegal_move_loses_the_game() {
    let store = store();
    let mut arena = arena(&store, &script("Cheat", "genmove) said=C3 ;;"));
    play_match(&mut arena, [&player("Cheat"), &player("Captures")], 4).expect("it plays, if badly");
    let games = played(&arena);
    assert_eq!(games.len(), 4);
    for game in games {
        let winner = if game.black == "Captures" { Outcome::Black } else { Outcome::White };
        assert_eq!((game.end, game.outcome), (EndReason::Forfeit, winner));
        assert!(game.replay().is_ok(), "the illegal move is no move of the game");
    }
}

/// The games behind it would wait for ever.
#[test]
fn game_that_is_always_void_is_claimed_once() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mark = folder.path().join("mark");
    let crash_with = format!("genmove) if [ -e {} ]; then exit 1; fi; said=pass ;;", mark.display());
    let store = store();
    let mut arena = arena(&store, &script("Crash", &crash_with));
    let (stop, pair) = (Stop::never(), [player("Captures"), player("Crash")]);
    arena.play(pair.each_ref(), vec![0, 1, 2], &stop, &mut |_| {}).expect("it can play");
    let chosen = arena.propose(Objective::Best, &mut |_| {}).expect("the pool can be rated");
    let reason = chosen.expect("there are players").reason;
    let [first, second] = pair;
    let proposal = Proposal { first, second, reason, in_flight: 0 };
    fs::write(&mark, "").expect("it can be written");
    let played = arena.play_proposed(&proposal, &stop, &mut |_| {}).expect("the match does not fail");
    let played = played.expect("no other evaluator is there");
    assert_eq!((played.finished, played.void, played.exhausted), (0, 3, 1));
    let claim = arena.claim(&proposal).expect("memory can be used").expect("no other evaluator is there");
    assert_eq!(claim.numbers, [4, 5, 6, 7], "and not game 3");
}

#[test]
fn name_means_one_program_for_ever() {
    let store = store();
    let first = script("Fish", "genmove) said=pass ;;");
    play_match(&mut arena(&store, &first), [&player("Fish"), &player("Random")], 2).expect("it can play");
    play_match(&mut arena(&store, &first), [&player("Fish"), &player("Captures")], 2).expect("it is the same");
    let other = script("Fish", "genmove) said=pass ;; name) said=Other ;;");
    let error = play_match(&mut arena(&store, &other), [&player("Fish"), &player("Random")], 4).expect_err("it is not");
    assert!(error.to_string().starts_with("Fish is not the Fish that has played in this run"), "{error}");
    let error =
        play_match(&mut arena(&store, ""), [&player("Fish"), &player("Random")], 4).expect_err("it is not there");
    assert!(
        error.to_string().starts_with("there is no engine Fish; known are Random, Captures, GnuGo-10, "),
        "{error}"
    );
}

#[test]
fn engine_of_another_machine_is_not_proposed() {
    let store = store();
    let mut with_fish = arena(&store, &script("Fish", "genmove) said=pass ;;"));
    for other in ["Random", "Captures"] {
        play_match(&mut with_fish, [&player("Fish"), &player(other)], 2).expect("it can play");
    }
    let mut without = arena(&store, "");
    // One pair in ten is drawn at random, by the name of the worker.
    for worker in 0..40 {
        without.resources.worker = worker.to_string();
        for objective in [Objective::Best, Objective::Curve, Objective::Newest, Objective::Anchors, Objective::Ladder] {
            let proposal = without.propose(objective, &mut |_| {}).expect("the pool can be rated");
            let Proposal { first, second, .. } = proposal.expect("there are others");
            assert!(first != player("Fish") && second != player("Fish"), "{objective:?}: {first} and {second}");
        }
    }
}

#[test]
fn model_of_a_deleted_run_is_not_proposed() {
    let store = store();
    let mut arena = arena(&store, "");
    play_match(&mut arena, [&player("Random"), &player("Captures")], 2).expect("they can play");
    let games = [0, 1].map(|index| match_game("gone-7", "Random", index));
    arena.rated.run.matches().publish("test", &games).expect("memory can be written");
    for objective in [Objective::Best, Objective::Curve] {
        let proposal = arena.propose(objective, &mut |_| {}).expect("the pool can be rated");
        let Proposal { first, second, .. } = proposal.expect("there are others");
        assert!(first != player("gone-7") && second != player("gone-7"), "{first} and {second}");
    }
}

#[test]
fn runs_are_tied_by_those_who_have_played_in_both() {
    let store = store();
    let config = store.run(&"tiny".parse().expect("a name")).config().expect("memory can be read").expect("a run");
    let other: RunName = "other".parse().expect("a name");
    store.run(&other).create(&config).expect("the run is new");
    let mut first = arena(&store, "");
    let rated = RatedRun::open(Models::new(store), &other).expect("the run is there");
    let mut second = Arena::open(rated, first.resources.clone()).expect("a good name");
    play_match(&mut first, [&RANDOM_MODEL, &player("Captures")], 8).expect("they can play");
    play_match(&mut second, [&player("uniform"), &player("Captures")], 8).expect("they can play");
    let alone = first.rated.rate().expect("the results can be rated");
    let both = first.rated.rate_with(std::slice::from_ref(&other), &[]).expect("the results can be rated");
    assert_eq!((alone.rows().len(), both.rows().len()), (2, 3));
    assert!(both.rows().iter().any(|row| row.player == "Captures" && row.games == 16));
    let missing = first.rated.rate_with(&["nowhere".parse().expect("a name")], &[]).expect_err("there is no such run");
    assert!(missing.to_string().starts_with("there is no run nowhere"), "{missing}");
}

/// Their ids differ, since they have the digests of the configurations in them.
#[test]
fn games_that_two_runs_have_both_played_count_once() {
    let first = store();
    let mut arena = arena(&first, "");
    let pair = [player("Random"), player("Captures")];
    play_match(&mut arena, pair.each_ref(), 8).expect("they can play");
    let plain = ["search.visits=4", "evaluate.visits=4", "evaluate.games_per_pair=4"];
    for (name, change, games) in [
        ("same", "train.l2=0.3", 8),
        ("search", "search.reuse=false", 8),
        ("rules", "game.komi=5.5", 16),
        ("seed", "seed=7", 16),
        ("openings", "evaluate.opening_moves=4", 16),
    ] {
        let config = Preset::Tiny.with(&[&plain[..], &[change]].concat()).expect("the overrides are good");
        let name: RunName = name.parse().expect("a name");
        first.run(&name).create(&config).expect("the run is new");
        let rated = RatedRun::open(Models::new(first.clone()), &name).expect("the run is there");
        let mut other = Arena::open(rated, arena.resources.clone()).expect("a good name");
        play_match(&mut other, pair.each_ref(), 8).expect("they can play");
        let table = arena.rated.rate_with(&[name], &[]).expect("the results can be rated");
        let row = table.rows().iter().find(|row| row.player == "Captures").expect("it has played");
        assert_eq!(row.games, games, "{change}");
    }
}

#[test]
fn runs_on_different_boards_are_not_tied() {
    let store = store();
    let config = Preset::Tiny.with(&["game.size=7"]).expect("the override is good");
    let large: RunName = "large".parse().expect("a name");
    store.run(&large).create(&config).expect("the run is new");
    let error = arena(&store, "").rated.rate_with(&[large], &[]).expect_err("the boards differ");
    assert!(error.to_string().starts_with("run large plays on a board of 7x7, and this run on 5x5"), "{error}");
}
