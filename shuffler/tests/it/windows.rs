//! Which games and how many examples.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use go::Size;
use record::{Example, GameId, GameRecord, HUMAN, synthetic};
use shuffler::{Calibrator, Shuffler, ShufflerError, compact_when_due};
use store::{AgeSummary, Run};

use crate::{a_run, config, counts, file, games, in_folder, play, publish, read};

fn ids<'a>(games: impl IntoIterator<Item = &'a GameRecord>) -> BTreeSet<GameId> {
    games.into_iter().map(|game| game.id).collect()
}

fn sampled(examples: &[Example]) -> BTreeSet<GameId> {
    examples.iter().map(|example| example.game).collect()
}

/// So many examples that every position of the window is sampled.
const ALL: [&str; 2] = ["train.steps=100", "window.reuse_limit=1000"];

#[test]
fn window_is_the_newest_games_without_the_validation_set() {
    let run = a_run();
    play(&run, 0, 0, 40);
    play(&run, 1, 0, 20);
    play(&run, 2, 0, 20);
    let manifest = publish(&run, &config(&ALL), 3).unwrap();
    let mut newest: Vec<GameRecord> = [games(0, 0, 40), games(1, 0, 20), games(2, 0, 20)].concat();
    newest.retain(|game| !game.holdout);
    let newest = &newest[newest.len() - 60..];
    assert_eq!(sampled(&read(&run, &manifest)), ids(newest));
    let positions: usize = newest.iter().map(GameRecord::positions).sum();
    assert_eq!((manifest.window.games, manifest.window.positions), (60, positions));
    assert_eq!((manifest.window.from_model, manifest.window.to_model), (0, 2));
}

#[test]
fn window_may_begin_within_a_file() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let mut settings = config(&ALL);
    settings.window.games = 13;
    let manifest = publish(&run, &settings, 1).unwrap();
    let training: Vec<GameRecord> = games(0, 0, 40).into_iter().filter(|game| !game.holdout).collect();
    assert_eq!(sampled(&read(&run, &manifest)), ids(&training[training.len() - 13..]));
}

/// A worker that is stopped, or has more threads, publishes the same games in other files.
#[test]
fn window_does_not_depend_on_which_file_a_game_is_in() {
    let window = |files: [Vec<GameRecord>; 2]| {
        let run = a_run();
        for (time, games) in (1..).zip(files.iter().filter(|games| !games.is_empty())) {
            run.games().publish_as(&file(0, time), games).unwrap();
        }
        let mut settings = config(&ALL);
        settings.window.games = 13;
        let manifest = publish(&run, &settings, 1).unwrap();
        (manifest.window.positions, read(&run, &manifest))
    };
    let all = || games(0, 0, 40).into_iter();
    let together = window([all().collect(), Vec::new()]);
    assert_eq!(sampled(&together.1).len(), 13);
    assert!(window(all().partition::<Vec<_>, _>(|game| game.index.is_multiple_of(2)).into()) == together, "by turns");
    assert!(window(all().partition::<Vec<_>, _>(|game| game.index >= 30).into()) == together, "the newest first");
}

#[test]
fn resign_threshold_does_not_depend_on_which_file_a_game_is_in() {
    let settings = config(&["resign.games=20", "resign.min_games=5"]).resign;
    let threshold = |files: [Vec<GameRecord>; 2]| {
        let run = a_run();
        for (time, games) in (1..).zip(files.iter().filter(|games| !games.is_empty())) {
            run.games().publish_as(&file(1, time), games).unwrap();
        }
        Calibrator::new(&run, &settings).update().unwrap().unwrap()
    };
    let all = || games(1, 0, 600).into_iter().filter(|game| game.calibration);
    let together = threshold([all().collect(), Vec::new()]);
    assert_eq!(together.games, 20);
    assert_eq!(threshold(all().partition::<Vec<_>, _>(|game| game.index.is_multiple_of(2)).into()), together);
    assert_eq!(threshold(all().partition::<Vec<_>, _>(|game| game.index >= 300).into()), together);
}

#[test]
fn validation_set_is_never_sampled() {
    let run = a_run();
    for model in 0..4 {
        play(&run, model, 0, 40);
    }
    let aside =
        ids((0..4).flat_map(|model| games(model, 0, 40)).filter(|game| game.holdout).collect::<Vec<_>>().iter());
    assert!(aside.len() > 5);
    for generation in 1..=4 {
        let manifest = publish(&run, &config(&ALL), generation).unwrap();
        assert!(sampled(&read(&run, &manifest)).is_disjoint(&aside));
    }
}

#[test]
fn generation_sees_no_games_of_its_own_model() {
    let run = a_run();
    play(&run, 0, 0, 40);
    play(&run, 1, 0, 20);
    let manifest = publish(&run, &config(&ALL), 1).unwrap();
    assert_eq!(manifest.window.to_model, 0);
    assert!(read(&run, &manifest).iter().all(|example| example.model == "random"));
}

#[test]
fn all_games_of_the_newest_model_must_be_there() {
    let run = a_run();
    let missing = |generation, expected: (u32, usize, usize)| match publish(&run, &config(&[]), generation) {
        Err(ShufflerError::NotReady { model, games, wanted, .. }) => assert_eq!((model, games, wanted), expected),
        other => panic!("{other:?}"),
    };
    missing(1, (0, 0, 40));
    play(&run, 0, 0, 30);
    missing(1, (0, 30, 40));
    play(&run, 0, 30, 40);
    publish(&run, &config(&[]), 1).unwrap();
    play(&run, 1, 0, 19);
    missing(2, (1, 19, 20));
}

/// They arrive at the rate of the import, which is not that of self-play.
#[test]
fn imported_games_count_and_give_no_estimate() {
    let run = a_run();
    for first in [0, 10] {
        let game = |index| synthetic::game(HUMAN, "sgf-1", index, Size::new(5).unwrap(), 1);
        run.games().publish(0, "sgf-1", &(first..first + 10).map(game).collect::<Vec<_>>()).unwrap();
    }
    let found = publish(&run, &config(&[]), 1);
    assert!(matches!(found, Err(ShufflerError::NotReady { games: 20, expected: None, .. })), "{found:?}");
}

#[test]
fn game_published_twice_counts_once() {
    let run = a_run();
    play(&run, 0, 0, 30);
    run.games().publish_as(&file(0, 100), &games(0, 15, 25)).unwrap();
    assert!(matches!(publish(&run, &config(&[]), 1), Err(ShufflerError::NotReady { games: 30, .. })));
    play(&run, 0, 30, 40);
    let manifest = publish(&run, &config(&ALL), 1).unwrap();
    assert_eq!(manifest.window.duplicate_games, 10);
    let training: Vec<GameRecord> = games(0, 0, 40).into_iter().filter(|game| !game.holdout).collect();
    assert_eq!(manifest.window.games, training.len());
    assert_eq!(manifest.window.positions, training.iter().map(GameRecord::positions).sum::<usize>());
}

#[test]
fn positions_are_sampled_once_while_there_are_enough() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let manifest = publish(&run, &config(&["train.steps=4"]), 1).unwrap();
    let examples = read(&run, &manifest);
    assert_eq!((examples.len(), counts(&examples).len()), (400, 400));
    assert!(!manifest.sampled.bounded);
}

#[test]
fn larger_sample_has_positions_equally_often_plus_or_minus_one() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let manifest = publish(&run, &config(&["train.steps=20"]), 1).unwrap();
    let examples = read(&run, &manifest);
    let (counts, positions) = (counts(&examples), manifest.window.positions);
    assert_eq!((examples.len(), counts.len()), (2000, positions));
    assert!(counts.values().all(|&n| n == 2000 / positions || n == 2000 / positions + 1));
    assert!((manifest.sampled.mean_per_position - 2000.0 / positions as f64).abs() < 1e-12);
}

#[test]
fn reuse_limit_bounds_samples_of_a_position() {
    let run = a_run();
    play(&run, 0, 0, 40);
    play(&run, 1, 0, 20);
    let settings = config(&["train.steps=50", "window.reuse_limit=2"]);
    let manifest = publish(&run, &settings, 2).unwrap();
    let training: Vec<GameRecord> = games(1, 0, 20).into_iter().filter(|game| !game.holdout).collect();
    let new: usize = training.iter().map(GameRecord::positions).sum();
    assert_eq!(manifest.window.new_positions, new);
    assert_eq!((manifest.sampled.wanted, manifest.sampled.examples), (5000, 2 * new / 100 * 100));
    assert!(manifest.sampled.bounded && manifest.sampled.reuse <= 2.0);
}

/// Positions for training of games number `from` to `to` of a model.
fn positions(model: u32, from: u64, to: u64) -> usize {
    games(model, from, to).iter().filter(|game| !game.holdout).map(GameRecord::positions).sum()
}

/// Workers play on while a model is trained.
#[test]
fn games_that_came_after_the_last_window_are_new() {
    let run = a_run();
    let settings = config(&["train.steps=50", "window.reuse_limit=2", "window.games=200"]);
    play(&run, 0, 0, 40);
    assert_eq!(publish(&run, &settings, 1).unwrap().window.new_positions, positions(0, 0, 40));
    play(&run, 0, 40, 60);
    play(&run, 1, 0, 20);
    let new = positions(0, 40, 60) + positions(1, 0, 20);
    let manifest = publish(&run, &settings, 2).unwrap();
    assert_eq!((manifest.window.new_positions, manifest.sampled.examples), (new, 2 * new / 100 * 100));
    play(&run, 1, 20, 30);
    play(&run, 2, 0, 20);
    let new_of = |run: &Run| Shuffler::new(run, &settings).plan(3).unwrap().window.new_positions;
    assert_eq!(new_of(&run), positions(1, 20, 30) + positions(2, 0, 20));
    // Without the manifest of that window only games of the newest model are known to be new.
    run.shards().prune(3).unwrap();
    assert_eq!(new_of(&run), positions(2, 0, 20));
}

/// What a window that grows finds behind the last one is old.
#[test]
fn games_that_the_last_window_was_too_small_for_are_not_new() {
    for [small, large] in [["window.games=13", "window.games=200"], ["window.positions=200", "window.positions=100000"]]
    {
        let run = a_run();
        play(&run, 0, 0, 40);
        let window = publish(&run, &config(&[small]), 1).unwrap().window;
        assert!(window.positions < positions(0, 0, 40), "{small}: {window:?}");
        play(&run, 1, 0, 20);
        let plan = Shuffler::new(&run, &config(&[large])).plan(2).unwrap();
        assert_eq!((plan.window.from_model, plan.window.new_positions), (0, positions(1, 0, 20)), "{large}");
    }
}

/// Fewer games of a model than in the last window make none of the others old.
#[test]
fn games_that_leave_the_window_are_not_subtracted() {
    let run = a_run();
    play(&run, 0, 0, 40);
    publish(&run, &config(&["window.games=200"]), 1).unwrap();
    play(&run, 1, 0, 20);
    let plan = Shuffler::new(&run, &config(&["window.games=25"])).plan(2).unwrap();
    assert_eq!((plan.window.from_model, plan.window.new_positions), (0, positions(1, 0, 20)));
}

#[test]
fn samples_per_game_bound_the_sample() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let settings = config(&["train.steps=50", "window.reuse_limit=1000", "window.samples_per_game=6"]);
    let manifest = publish(&run, &settings, 1).unwrap();
    let training = games(0, 0, 40).iter().filter(|game| !game.holdout).count();
    // Whole batches of 100: if there are 36 games, 216 examples are allowed and 200 are sampled.
    assert_eq!((manifest.sampled.wanted, manifest.sampled.examples), (5000, 6 * training / 100 * 100));
    assert!(manifest.sampled.bounded);
}

/// The window is full within the games of the older model.
#[test]
fn manifest_has_the_share_of_each_model_newest_first() {
    let run = a_run();
    play(&run, 0, 0, 40);
    play(&run, 1, 0, 20);
    let manifest = publish(&run, &config(&["train.steps=4", "window.games=30"]), 2).unwrap();
    let examples = read(&run, &manifest);
    let training = |model, to| {
        let games = games(model, 0, to).into_iter();
        games.filter(|game| !game.holdout).collect::<Vec<GameRecord>>()
    };
    let (older, newer) = (training(0, 40), training(1, 20));
    let age = |model, games: &[GameRecord]| {
        let ids = ids(games);
        AgeSummary {
            model,
            games: games.len(),
            positions: games.iter().map(GameRecord::positions).sum(),
            examples: examples.iter().filter(|example| ids.contains(&example.game)).count(),
        }
    };
    let chosen = &older[older.len() + newer.len() - 30..];
    assert_eq!(manifest.ages, [age(1, &newer), age(0, chosen)]);
    assert_eq!(manifest.ages.iter().map(|age| age.examples).sum::<usize>(), 400);
}

#[test]
fn less_than_a_batch_is_a_mistake_of_the_configuration() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let error = publish(&run, &config(&["train.batch=100000"]), 1).unwrap_err();
    assert!(error.to_string().contains("raise selfplay.games or window.reuse_limit"), "{error}");
}

#[test]
fn manifest_has_the_share_of_calibration_games() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let manifest = publish(&run, &config(&["train.steps=20"]), 1).unwrap();
    let examples = read(&run, &manifest);
    let calibration = examples.iter().filter(|example| example.calibration).count();
    assert!(calibration > 0);
    assert!((manifest.sampled.calibration_fraction - calibration as f64 / 2000.0).abs() < 1e-12);
}

#[test]
fn plan_says_what_would_be_sampled() {
    let run = a_run();
    let mut shuffler = Shuffler::new(&run, &config(&["train.steps=20"]));
    play(&run, 0, 0, 10);
    let waiting = shuffler.plan(1).unwrap().to_string();
    assert!(waiting.ends_with("no sample: model 0 has 10 of the 40 games that generation 1 needs"), "{waiting}");
    play(&run, 0, 10, 40);
    let plan = shuffler.plan(1).unwrap();
    assert!(plan.to_string().contains("sample: 2000 of 2000 examples wanted"), "{plan}");
    assert_eq!(run.shards().manifest(1).unwrap(), None);
    let manifest = shuffler.publish(1).unwrap();
    assert_eq!(plan.window, manifest.window);
    assert!(shuffler.plan(1).unwrap().to_string().starts_with("generation 1, which is published already"));
}

/// More models than are listed together: one file each, the tenth of them damaged.
#[test]
fn process_that_has_just_started_sees_the_same_window() {
    let (folder, run) = in_folder();
    let settings = config(&["selfplay.first_games=3", "selfplay.games=3", "window.games=200"]);
    let mut old = Shuffler::new(&run, &settings);
    for model in 0..80 {
        play(&run, model, 0, 3);
        if model == 70 {
            std::fs::write(folder.path().join(format!("r/games/{}.parquet", file(model, 0))), "PAR1").unwrap();
        }
        let seen = old.plan(model + 1).unwrap();
        if model % 13 == 1 || model == 79 {
            let young = Shuffler::new(&run.store().run(run.name()), &settings).plan(model + 1).unwrap();
            assert_eq!((&young.window, young.rejected.len()), (&seen.window, usize::from(model >= 70)));
        }
    }
    let last = old.plan(80).unwrap();
    assert!(last.window.games == 200 && (1..16).contains(&last.window.from_model), "{:?}", last.window);
}

/// What is due is a number of files: of long games few are in a file.
#[test]
fn many_files_become_an_archive_however_few_games_they_have() {
    let run = a_run();
    for number in 0..499 {
        run.games().publish_as(&file(0, number), &games(0, number, number + 1)).unwrap();
    }
    compact_when_due(&run).unwrap();
    assert_eq!(run.archives().loose_files().unwrap().len(), 499);
    play(&run, 1, 0, 1);
    compact_when_due(&run).unwrap();
    let (archives, _) = run.archives().check(&|_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!((run.archives().loose_files().unwrap().len(), archives), (0, 1));
    assert_eq!(run.games().files_since(0).unwrap().len(), 500);
}

/// Games lie in their files, in archives, or in both: what is sampled is the same to the byte.
#[test]
fn archives_do_not_change_what_is_sampled() {
    let shards = |compact: fn(&Run)| {
        let (folder, run) = in_folder();
        play(&run, 0, 0, 40);
        compact(&run);
        play(&run, 1, 0, 20);
        let mut shuffler = Shuffler::new(&run, &config(&["train.steps=5"]));
        shuffler.plan(2).unwrap();
        compact(&run);
        shuffler.publish(2).unwrap();
        let folder = folder.path().join("r/shards/000002");
        ["part-0000.parquet", "manifest.toml"].map(|name| std::fs::read(folder.join(name)).unwrap())
    };
    let loose = shards(|_| {});
    assert!(loose == shards(|run| drop(run.archives().compact(1, 1000).unwrap())));
    assert!(loose == shards(|run| drop(run.archives().compact(1, 25).unwrap())));
}
