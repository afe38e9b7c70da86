//! The options of `[window]`: what is in the window, and what is sampled how often.

use std::collections::BTreeSet;

use record::{Example, GameRecord};
use store::{Manifest, Run};

use crate::{a_run, config, counts, file, games, play, publish, read};

/// Forty games of `random`, then twenty of each of three models.
fn old_run() -> Run {
    let run = a_run();
    play(&run, 0, 0, 40);
    (1..4).for_each(|model| play(&run, model, 0, 20));
    run
}

fn training(model: u32, count: u64) -> Vec<GameRecord> {
    games(model, 0, count).into_iter().filter(|game| !game.holdout).collect()
}

fn all() -> Vec<GameRecord> {
    [training(0, 40), training(1, 20), training(2, 20), training(3, 20)].concat()
}

fn make(run: &Run, generation: u32, overrides: &[&str]) -> (Manifest, Vec<Example>) {
    let manifest = publish(run, &config(overrides), generation).unwrap();
    let examples = read(run, &manifest);
    (manifest, examples)
}

/// So many examples that every position of the window is sampled.
const ALL: [&str; 2] = ["train.steps=100", "window.reuse_limit=1000"];

#[test]
fn window_counted_in_positions_has_whole_games_until_it_is_full() {
    let run = old_run();
    let (manifest, examples) = make(&run, 4, &[&ALL[..], &["window.positions=300"]].concat());
    let mut expected = BTreeSet::new();
    let mut positions = 0;
    for game in all().iter().rev() {
        if positions < 300 {
            positions += game.positions();
            expected.insert(game.id);
        }
    }
    assert_eq!(examples.iter().map(|example| example.game).collect::<BTreeSet<_>>(), expected);
    let window = &manifest.window;
    assert_eq!((window.games, window.positions, window.limit), (expected.len(), positions, 300));
    assert!(window.in_positions && positions >= 300);
}

#[test]
fn windows_grow_with_the_run() {
    let run = old_run();
    let sizes = |overrides: &[&str]| -> Vec<(usize, usize)> {
        let made = (1..5).map(|generation| make(&run, generation, &[overrides, &["train.steps=1"]].concat()).0.window);
        let sizes = made.map(|window| (window.games, window.limit)).collect();
        run.shards().prune(5).unwrap();
        sizes
    };
    assert_eq!(sizes(&["window.growth=slow", "window.games=35"]), [(35, 35); 4]);
    // Far below its first size the window grows by every game of the models before it that is not in the validation
    // set: 36 of 40, and 16 of the 20 of model 1.
    assert_eq!(sizes(&["window.growth=power-law", "window.games=60"]), [(36, 36), (52, 52), (60, 60), (60, 60)]);
}

#[test]
fn calibration_games_have_their_share_exactly() {
    let run = old_run();
    for (share, expected) in [("0.25", 500), ("1.0", 2000), ("0.003", 6)] {
        let share = format!("window.calibration_fraction={share}");
        let (manifest, examples) = make(&run, 4, &["train.steps=20", "window.reuse_limit=1000", &share]);
        let calibration = examples.iter().filter(|example| example.calibration).count();
        assert_eq!((examples.len(), calibration), (2000, expected));
        assert!((manifest.sampled.calibration_fraction - expected as f64 / 2000.0).abs() < 1e-12);
        run.shards().prune(5).unwrap();
    }
}

/// The first window of a run may have no calibration game.
#[test]
fn window_of_one_kind_of_games_has_all_examples() {
    for calibration in [false, true] {
        let run = a_run();
        let games = games(0, 0, 100).into_iter().filter(|game| game.calibration == calibration);
        run.games().publish_as(&file(0, 0), &games.collect::<Vec<_>>()).unwrap();
        let (_, examples) = make(&run, 1, &["selfplay.first_games=10", "window.calibration_fraction=0.5"]);
        assert_eq!(examples.len(), 100, "calibration games: {calibration}");
    }
}

#[test]
fn surprising_positions_are_sampled_more_often() {
    surprising(&["window.value_surprise_weight=0.5"], |of| {
        0.5 + 0.5 * of(&|example| (example.root_value - example.network_value).abs())
    });
}

#[test]
fn positions_with_surprising_policies_are_sampled_more_often() {
    let policy = |example: &Example| example.policy_surprise.unwrap();
    surprising(&["window.policy_surprise_weight=0.75"], |of| 0.25 + 0.75 * of(&policy));
    surprising(&["window.value_surprise_weight=0.25", "window.policy_surprise_weight=0.5"], |of| {
        0.25 + 0.25 * of(&|example| (example.root_value - example.network_value).abs()) + 0.5 * of(&policy)
    });
}

/// Samples with these options; `chance` says how often a position is to be sampled, by numbers of it in proportion to
/// the mean of its game.
fn surprising(options: &[&str], chance: impl Fn(&dyn Fn(&dyn Fn(&Example) -> f32) -> f64) -> f64) {
    let run = old_run();
    let (_, examples) = make(&run, 4, &[&["train.steps=100", "window.reuse_limit=1000"], options].concat());
    let counts = counts(&examples);
    let newest = training(3, 20);
    for game in &newest {
        let own = game.examples().unwrap();
        let total: usize =
            own.iter().map(|example| counts.get(&(example.game, example.turn)).copied().unwrap_or(0)).sum();
        for example in &own {
            let count = counts.get(&(example.game, example.turn)).copied().unwrap_or(0) as f64;
            let by_mean = |number: &dyn Fn(&Example) -> f32| {
                let mean = own.iter().map(|example| f64::from(number(example))).sum::<f64>() / own.len() as f64;
                f64::from(number(example)) / mean
            };
            let expected = chance(&by_mean) * total as f64 / own.len() as f64;
            // Rounded up or down; the game's total is rounded, too.
            assert!((count - expected).abs() < 1.5, "{count} for {expected}");
        }
    }
}

#[test]
fn every_option_at_once_is_the_same_twice() {
    let run = old_run();
    let options = [
        "window.positions=600",
        "window.growth=power-law",
        "window.samples_per_game=6",
        "window.calibration_fraction=0.2",
        "window.value_surprise_weight=0.3",
        "window.policy_surprise_weight=0.4",
        "train.batch=10",
        "train.steps=30",
    ];
    let first = make(&run, 4, &options);
    run.shards().prune(5).unwrap();
    assert_eq!(make(&run, 4, &options), first);
    assert!(first.0.sampled.examples > 100);
}
