//! The resign threshold, from the calibration games that are published.

use record::{GameRecord, Outcome};
use runtime::{Driver as _, Silent};
use shuffler::{Calibrator, Driver};

use crate::{a_run, config, file, games, in_folder};

#[test]
fn calibrator_publishes_the_quantile_of_the_newest_calibration_games_once() {
    let run = a_run();
    let settings = config(&["resign.games=20", "resign.min_games=5"]).resign;
    let mut calibrator = Calibrator::new(&run, &settings);
    assert_eq!(calibrator.update().unwrap(), None);
    let calibration = |model| games(model, 0, 600).into_iter().filter(|game| game.calibration).collect::<Vec<_>>();
    run.games().publish(0, "w", &calibration(0)).unwrap();
    assert_eq!(calibrator.update().unwrap(), None, "values of `random` mean nothing");
    run.games().publish(1, "w", &calibration(1)[..30]).unwrap();
    let first = calibrator.update().unwrap().unwrap();
    assert_eq!(run.resign().newest().unwrap(), Some(first));

    let new = calibration(2);
    run.games().publish(2, "w", &new).unwrap();
    let found = calibrator.update().unwrap().unwrap();
    let newest: Vec<f32> = new.iter().rev().filter_map(|game| game.winner_min_value).take(20).collect();
    let expected = record::calibration::quantile(&newest, f64::from(settings.quantile)).unwrap().min(0.0);
    assert_eq!((found.threshold, found.games, found.from_model, found.to_model), (expected, 20, 2, 2));
    assert!(found.rate_low <= found.false_positive_rate && found.false_positive_rate <= found.rate_high);
    assert_eq!(calibrator.update().unwrap(), Some(found.clone()));
    assert_eq!(run.resign().newest().unwrap(), Some(found));
    assert_eq!(run.resign().list().unwrap(), ["000001", "000002"], "an unchanged threshold is not published again");
}

/// A worker that was killed may publish games twice.
#[test]
fn calibration_game_published_twice_counts_once() {
    let run = a_run();
    let settings = config(&["resign.games=20", "resign.min_games=5"]).resign;
    let won = games(1, 0, 600).into_iter().filter(|game| game.calibration && game.winner_min_value.is_some());
    let calibration: Vec<_> = won.take(10).collect();
    run.games().publish_as(&file(1, 1), &calibration).unwrap();
    let once = Calibrator::new(&run, &settings).update().unwrap().unwrap();
    assert_eq!(once.games, 10);
    run.games().publish_as(&file(1, 2), &calibration[5..]).unwrap();
    assert_eq!(Calibrator::new(&run, &settings).update().unwrap(), Some(once));
}

/// The games that a threshold comes from lose its quantile, whatever the threshold before them does to their winners.
#[test]
fn false_positives_are_those_of_the_threshold_in_force() {
    let run = a_run();
    let settings = config(&["resign.games=100", "resign.min_games=5"]).resign;
    let won = |model| {
        let games = games(model, 0, 600).into_iter().filter(|game| game.calibration && game.winner_min_value.is_some());
        games.take(20).collect::<Vec<_>>()
    };
    let under_a_threshold = |game: GameRecord, winner_first: bool| {
        // Black is to move at even turns.
        let turn = u16::from((game.outcome == Outcome::White) == winner_first);
        GameRecord { resign_threshold: Some(-0.5), would_resign_turn: Some(turn), ..game }
    };
    let mut calibrator = Calibrator::new(&run, &settings);
    let mut counts_after = |games: &[GameRecord], model| {
        assert_eq!(games.len(), 20);
        run.games().publish(model, "w", games).unwrap();
        let found = calibrator.update().unwrap().unwrap();
        assert!(found.false_positive_rate <= 0.1, "{found:?}");
        (found.games, found.in_force_games, found.in_force_wrong)
    };
    let without: Vec<_> = won(1).into_iter().map(|game| GameRecord { resign_threshold: None, ..game }).collect();
    assert_eq!(counts_after(&without, 1), (20, 0, 0));
    let wrong: Vec<_> = won(2).into_iter().map(|game| under_a_threshold(game, true)).collect();
    assert_eq!(counts_after(&wrong, 2), (40, 20, 20));
    let right: Vec<_> = won(3).into_iter().map(|game| under_a_threshold(game, false)).collect();
    assert_eq!(counts_after(&right, 3), (60, 40, 20));
}

/// Workers publish files all the time, and the newest games are in hundreds of them.
#[test]
fn calibrator_reads_a_file_of_games_once() {
    let (folder, run) = in_folder();
    let settings = config(&["resign.games=20", "resign.min_games=5"]).resign;
    let mut calibrator = Calibrator::new(&run, &settings);
    let calibration: Vec<_> = games(1, 0, 900).into_iter().filter(|game| game.winner_min_value.is_some()).collect();
    let calibration: Vec<_> = calibration.into_iter().filter(|game| game.calibration).collect();
    run.games().publish_as(&file(1, 1), &calibration[..15]).unwrap();
    run.games().publish_as(&file(1, 2), &calibration[15..30]).unwrap();
    assert_eq!(calibrator.update().unwrap().unwrap().games, 20);
    // Another read would move it to quarantine.
    std::fs::write(folder.path().join(format!("r/games/{}.parquet", file(1, 2))), "PAR1").unwrap();
    run.games().publish_as(&file(1, 3), &calibration[30..35]).unwrap();
    let found = calibrator.update().unwrap().unwrap();
    let newest: Vec<f32> = calibration[15..35].iter().filter_map(|game| game.winner_min_value).collect();
    let expected = record::calibration::quantile(&newest, f64::from(settings.quantile)).unwrap().min(0.0);
    assert_eq!((found.games, found.threshold), (20, expected));
    assert!(run.quarantine().files().unwrap().is_empty());
}

#[test]
fn threshold_holds_for_a_while_unless_a_newer_model_plays() {
    let run = a_run();
    run.create(&config(&["resign.min_games=5"])).unwrap();
    let mut driver = Driver::new(&run, Silent).unwrap();
    // Made before the first threshold, which holds for seconds.
    let calibration = |model| games(model, 0, 600).into_iter().filter(|game| game.calibration).collect::<Vec<_>>();
    let of_models = [1, 2].map(|model| (model, calibration(model)));
    let mut thresholds_after = |(model, calibration): &(u32, Vec<GameRecord>), time: usize| {
        run.games().publish_as(&file(*model, time as u64), &calibration[10 * time..10 * (time + 1)]).unwrap();
        driver.step().unwrap();
        run.resign().list().unwrap().len()
    };
    let [first, second] = &of_models;
    assert_eq!(thresholds_after(first, 0), 1);
    assert_eq!(thresholds_after(first, 1), 1, "workers have hardly seen the first");
    assert_eq!(thresholds_after(second, 0), 2);
}

#[test]
fn run_without_calibration_games_is_not_searched_for_them() {
    let (folder, run) = in_folder();
    let settings = config(&["resign.calibration_fraction=0"]).resign;
    run.games().publish_as(&file(1, 1), &games(1, 0, 5)).unwrap();
    // A read would move it to quarantine.
    std::fs::write(folder.path().join(format!("r/games/{}.parquet", file(1, 1))), "PAR1").unwrap();
    assert_eq!(Calibrator::new(&run, &settings).update().unwrap(), None);
    assert!(run.quarantine().files().unwrap().is_empty());
}
