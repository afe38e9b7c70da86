use std::fs;

use bytes::Bytes;
use config::{ModelId, PlayerId, Preset};
use go::Size;
use models::Models;
use record::{EndReason, Outcome, synthetic};
use runtime::Stop;
use serde_json::Value;
use store::{ResignThreshold, Store};

use super::*;
use crate::Arena;
use crate::tests::fixture::{self, match_game, store_of};

/// An arena of a run in which nothing was played.
fn arena() -> Arena {
    fixture::arena(&store_of(&Preset::Tiny.config()), 1)
}

fn resign(threshold: f32) -> ResignThreshold {
    ResignThreshold {
        threshold,
        quantile: 0.05,
        games: 40,
        from_model: 1,
        to_model: 2,
        in_force_games: 30,
        in_force_wrong: 2,
        false_positive_rate: 0.05,
        rate_low: 0.01,
        rate_high: 0.16,
    }
}

/// A run in which models played, met and were trained a little.
fn run_of_three() -> RatedRun {
    let mut arena = arena();
    let size = Size::new(5).expect("a size");
    for model in 0..3 {
        let name = if model == 0 { "random".to_owned() } else { format!("tiny-{model}") };
        let games: Vec<_> = (0..30).map(|index| synthetic::game(&name, "w", index, size, 8)).collect();
        arena.rated().run().games().publish(model, "w", &games).expect("memory can be written");
        // Published twice, as by a worker that was started anew.
        arena.rated().run().games().publish(model, "w", &games[..5]).expect("memory can be written");
    }
    let [random, uniform] = [ModelId::Random, ModelId::Uniform].map(PlayerId::from);
    arena.play_match([&random, &uniform], 6, &Stop::never(), &mut |_| {}).expect("the built-in models can play");
    for threshold in [-0.9, -0.8] {
        arena.rated().run().resign().publish(&resign(threshold)).expect("memory can be written");
    }
    let log = "{\"set\":\"train\",\"step\":10,\"policy\":1.5,\"value\":0.5,\"accuracy\":0.25}\nnonsense\n";
    arena.rated().run().logs().publish("000001-1.jsonl", Bytes::from(log)).expect("memory can be written");
    arena.rated
}

/// The facts as a script in the page finds them.
fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"facts\">").expect("facts are in the page");
    let (json, _) = rest.split_once("</script>").expect("the element ends");
    serde_json::from_str(json).expect("facts are JSON")
}

#[test]
fn facts_of_the_page_are_those_of_the_store() {
    let rated = run_of_three();
    let run = rated.run();
    let facts = embedded(&page(&gather(&rated, &[]).expect("memory can be read")));

    let rows = run.ratings().newest().expect("memory can be read").expect("there are ratings");
    assert_eq!(facts["players"].as_array().map(Vec::len), Some(rows.len()));
    for (player, row) in facts["players"].as_array().expect("players").iter().zip(&rows) {
        assert_eq!((player["player"].as_str(), player["elo"].as_f64()), (Some(row.player.as_str()), Some(row.elo)));
        assert_eq!(player["above_pool_error"].as_f64(), Some(row.above_pool_error));
        assert_eq!((player["games"].as_u64(), player["points"].as_f64()), (Some(row.games.into()), Some(row.points)));
    }
    let results = run.matches().all().expect("memory can be read");
    let won = |outcome| results.iter().filter(|result| result.outcome == outcome).count() as u64;
    assert_eq!(facts["pool"]["black_won"].as_u64(), Some(won(Outcome::Black)));
    assert_eq!(facts["pool"]["white_won"].as_u64(), Some(won(Outcome::White)));
    let met: u64 = facts["pairings"].as_array().expect("pairings").iter().map(games_of).sum();
    assert_eq!(met, results.len() as u64);

    let models = facts["models"].as_array().expect("models");
    assert_eq!(models.len(), 3, "random and two more");
    for model in models {
        let number = model["number"].as_u64().expect("a number") as u32;
        let first = &run.games().files(number).expect("memory can be read")[0];
        let games = run.games().read(first).expect("memory can be read");
        assert_eq!((model["games"].as_u64(), games_of(model)), (Some(30), 30), "each game counts once");
        let moves: usize = games.iter().map(|game| game.turns.len()).sum();
        assert!((model["lengths"]["mean"].as_f64().expect("a mean") - moves as f64 / 30.0).abs() < 1e-9);
        assert_eq!(model["lengths"]["longest"].as_u64(), games.iter().map(|game| game.turns.len() as u64).max());
        let resigned = games.iter().filter(|game| game.end == EndReason::Resignation).count() as u64;
        assert_eq!(model["ends"]["resignation"].as_u64(), Some(resigned));
        assert_eq!(model["calibration"].as_u64(), Some(games.iter().filter(|game| game.calibration).count() as u64));
    }
    let newest = run.resign().newest().expect("memory can be read").expect("there is one");
    assert_eq!(facts["thresholds"][1]["threshold"].as_f64().map(|number| number as f32), Some(newest.threshold));
    assert_eq!(facts["plots"]["policy-loss"]["series"][0]["y"][0].as_f64(), Some(1.5));
    assert_eq!(facts["run"]["config_digest"].as_str(), Some(rated.config().digest().as_str()));
}

#[test]
fn retired_models_are_not_on_the_page() {
    let mut rated = run_of_three();
    let model = |number: u32| format!("tiny-{number}");
    let games: Vec<_> = (0..8)
        .flat_map(|index| [(1, 2), (2, 3)].map(|pair| (index, pair)))
        .map(|(index, (one, other))| match_game(&model(one), &model(other), index))
        .collect();
    rated.run().matches().publish("test", &games).expect("memory can be written");
    let names = |rated: &RatedRun| {
        let facts = embedded(&page(&gather(rated, &[]).expect("memory can be read")));
        let names = facts["players"].as_array().expect("players").iter().map(|player| player["player"].to_string());
        let games = facts["games"].as_array().expect("games").iter().filter(|game| game["kind"] == "match");
        let own = games.filter(|game| game["black"] == "tiny-2" || game["white"] == "tiny-2").count();
        (names.collect::<Vec<_>>(), facts["pairings"].as_array().map(Vec::len), own, facts["notes"].to_string())
    };
    let (all, pairings, own, _) = names(&rated);
    assert!(all.len() == 5 && own > 0, "{all:?}");
    let reason = std::collections::BTreeMap::from([("by", "test")]);
    rated.run().retirements().retire(2, &reason).expect("memory can be written");
    let (shown, fewer, own, notes) = names(&rated);
    assert!(shown.len() == 4 && !shown.contains(&"\"tiny-2\"".to_owned()) && own == 0, "{shown:?}");
    assert!(fewer < pairings && notes.contains("not shown without --include-retired: tiny-2"), "{notes}");
    rated.run().retirements().retire(3, &reason).expect("memory can be written");
    let one = gather(&rated, &[]).expect("memory can be read");
    assert_eq!(one.strength.against(), "the mean of the run’s other models", "its rating has them in its error");
    rated = rated.including_retired();
    assert_eq!(names(&rated).0, all);
}

#[test]
fn ratings_are_on_the_scale_of_anchors() {
    let rated = run_of_three();
    let anchor = ["random=-1534".parse().expect("an anchor")];
    let before = rated.rate().expect("memory can be read");
    let facts = embedded(&page(&gather(&rated, &anchor).expect("random has played")));
    let players = facts["players"].as_array().expect("players");
    let random = players.iter().find(|player| player["player"] == "random").expect("random has played");
    assert_eq!(random["elo"].as_f64(), Some(-1534.0));
    assert_eq!(facts["scale"][0], "random = -1534");
    let stored = rated.run().ratings().newest().expect("memory can be read");
    assert_eq!(stored.as_deref(), Some(before.rows()), "what is stored");
    let unknown = ["Absent=0".parse().expect("an anchor")];
    let error = gather(&rated, &unknown).expect_err("no player has this name");
    assert!(matches!(error, EvaluatorError::Anchor { .. }), "{error}");
}

fn games_of(counted: &Value) -> u64 {
    ["black_won", "white_won", "drawn"].iter().filter_map(|name| counted[name].as_u64()).sum()
}

#[test]
fn games_can_be_played_again() {
    let rated = run_of_three();
    let facts = gather(&rated, &[]).expect("memory can be read");
    let kinds = |kind: &str| facts.games.iter().filter(|game| game.kind == kind).count();
    assert_eq!((kinds("match"), kinds("self-play")), (6, 5));
    for shown in &facts.games {
        let size = Size::new(shown.size).expect("a size");
        let mut game = go::Game::new(size);
        let mut stones = std::collections::BTreeSet::new();
        assert_eq!(shown.captures.len(), shown.moves.len());
        for (&mv, captured) in shown.moves.iter().zip(&shown.captures) {
            game.play(go::Move::from_index(size, mv).expect("a move")).expect("a legal move");
            stones.extend(Some(mv).filter(|&mv| mv < size.area()));
            captured.iter().for_each(|point| assert!(stones.remove(point), "{point} is captured and was empty"));
        }
        let on_board = go::Point::all(size).filter(|&point| game.position().stone(point).is_some()).count();
        assert_eq!(stones.len(), on_board);
        assert_eq!(shown.values.len(), shown.moves.len());
    }
}

/// Changes a byte in the middle of a file of games.
fn damage(file: &Path) {
    let mut bytes = fs::read(file).expect("it was published");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    fs::write(file, bytes).expect("it can be written");
}

#[test]
fn games_of_damaged_files_are_not_on_the_page() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = Store::open(folder.path().to_str().expect("its name is UTF-8")).expect("it is a folder");
    let run = store.run(&"tiny".parse().expect("a name"));
    run.create(&Preset::Tiny.config()).expect("the run is new");
    let size = Size::new(5).expect("a size");
    let games = |first: u64| (first..first + 5).map(move |index| synthetic::game("random", "w", index, size, 8));
    // Of model 0 the newer file is damaged, of model 1 the only one.
    for (model, first, is_damaged) in [(0, 0, false), (0, 5, true), (1, 10, true)] {
        let games: Vec<_> = games(first).collect();
        let file = run.games().publish(model, "w", &games).expect("the store can be written");
        if is_damaged {
            damage(&folder.path().join(format!("tiny/games/{model:06}/{}.parquet", file.stem)));
        }
    }
    for (index, is_damaged) in [(0, false), (1, true)] {
        let game = match_game("random", "uniform", index);
        let stem = run.matches().publish("test", &[game]).expect("the store can be written");
        if is_damaged {
            damage(&folder.path().join(format!("tiny/matches/{stem}.parquet")));
        }
    }
    let shown = games::games(&run, &|_| false).expect("damaged files are skipped");
    let kinds: Vec<_> = shown.iter().map(|game| game.kind).collect();
    assert_eq!(kinds, ["match", "self-play"]);
    let rated = RatedRun::open(Models::new(store), run.name()).expect("the run is there");
    gather(&rated, &[]).expect("damaged files are skipped");
}

/// Nothing is fetched from anywhere, and no name breaks out of its place.
#[test]
fn page_is_whole_in_itself() {
    let mut report = gather(&run_of_three(), &[]).expect("memory can be read");
    report.notes.push("</script><script>alert(1)</script>".to_owned());
    let page = page(&report);
    assert_eq!(
        embedded(&page)["notes"].as_array().and_then(|notes| notes.last()).and_then(Value::as_str),
        report.notes.last().map(String::as_str)
    );
    assert_eq!(page.matches("<script").count(), 2);
    assert!(page.contains("1 unreadable line of the logs is omitted."), "{page}");
    for outside in ["src=", "@import", "url(", "fetch(", "href=\"http", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn games_of_random_are_no_games_of_a_model() {
    let report = gather(&run_of_three(), &[]).expect("memory can be read").to_string();
    assert!(report.ends_with(" in 6 games, and 60 games of self-play by 2 models and 30 by random"), "{report}");
}

#[test]
fn run_that_has_just_begun_has_a_page_too() {
    let facts = gather(&arena().rated, &[]).expect("memory can be read");
    assert_eq!(facts.to_string(), "0 players in 0 games, and 0 games of self-play by 0 models and 0 by random");
    assert_eq!(embedded(&page(&facts))["games"].as_array().map(Vec::len), Some(0));
}

#[test]
fn report_replaces_previous_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    fs::write(&file, "old").expect("the folder can be written");
    write(&file, &gather(&arena().rated, &[]).expect("memory can be read")).expect("the folder can be written");
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["report.html"]);
    assert!(fs::read_to_string(&file).expect("text").starts_with("<!DOCTYPE html>"));
    assert!(
        write(&folder.path().join("none/report.html"), &gather(&arena().rated, &[]).expect("memory can be read"))
            .is_err()
    );
}
