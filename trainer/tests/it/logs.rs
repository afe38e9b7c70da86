//! What is written down.

use std::collections::BTreeSet;
use std::fs;

use config::{LearningRate, RunConfig};
use facts::{Curves, plots};
use record::{Example, GameRecord, Turn};
use runtime::Stop;
use serde_json::Value;
use store::Run;
use testing::repository;
use trainer::{Reference, References, TrainerEvent};

use crate::beginnings::collection;
use crate::{
    TRAIN_DEVICE, config, examples, games, hold_out, publish, publish_two, run, train, train_measured, train_next,
    train_some,
};

#[test]
fn every_stretch_of_training_leaves_lines_and_events() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    assert!(train_some(&run, 2).is_none());
    train(&run).unwrap();
    let logs = run.logs().list().unwrap();
    let lines: Vec<&String> =
        logs.iter().filter(|name| name.starts_with("000001-") && name.ends_with(".jsonl")).collect();
    let events = logs.iter().filter(|name| name.starts_with("events.out.tfevents.") && name.ends_with(".000001"));
    assert_eq!((lines.len(), events.count(), logs.len()), (2, 2, 4));
    let text: String =
        lines.iter().map(|name| String::from_utf8(run.logs().read(name).unwrap().to_vec()).unwrap()).collect();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["set"] != "alarm");
    let steps: Vec<u64> = lines.iter().map(|line| line["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [2, 6]);
    for line in &lines {
        assert_eq!((&line["set"], &line["generation"]), (&Value::from("train"), &Value::from(1)));
        for key in ["policy", "value", "l2", "total", "accuracy", "learning_rate", "examples_per_second"] {
            assert!(line[key].is_f64(), "{key} in {line}");
        }
    }
}

/// Plots, the pages of models and the package for Python find the numbers by these names.
#[test]
fn log_has_every_number_that_readers_know() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    hold_out(&run);
    let heads = ["ownership", "score", "opponent_policy"];
    let overrides = heads.map(|head| [format!("network.{head}=true"), format!("train.{head}_weight=0.5")]).concat();
    let config = RunConfig::from_toml_with(&config().to_toml(), &overrides).unwrap();
    let human = Reference::read(&config, "games.sgf", &collection(20)).unwrap();
    // Of all stages of a game.
    let deep = examples(9, 16).into_iter().zip(0..).map(|(example, nth)| Example { turn: 2 * nth, ..example });
    let references = References { human: Some(human), deep: Some(deep.collect()) };
    train_measured(&run, &config, (TRAIN_DEVICE, &references), &Stop::never(), &mut |_| ()).unwrap();
    let mut curves = Curves::default();
    lines(&run).iter().for_each(|line| curves.read(&line.to_string()));
    for (set, number) in plots::logged_numbers() {
        assert!(curves.values(set, number).next().is_some(), "{set}/{number}");
    }
    for head in heads {
        assert!(curves.values("train", head).any(|(_, loss, _)| loss > 0.0), "{head}");
    }
    assert_eq!(curves.calibration.keys().collect::<Vec<_>>(), ["holdout", "human"]);
    let logged: BTreeSet<&str> = curves.metrics().iter().map(String::as_str).collect();
    let python = fs::read_to_string(repository().join("python/tengen/schemas.py")).unwrap();
    let numbers = python.split("_NUMBERS = \"\"\"").nth(1).unwrap().split("\"\"\"").next().unwrap();
    assert_eq!(logged, numbers.split_whitespace().collect::<BTreeSet<_>>());
}

#[test]
fn values_of_held_out_games_are_compared_with_their_outcomes() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    let held = hold_out(&run);
    train(&run).unwrap();
    let (line, curves) = newest(&run, "holdout");
    let bins = line["calibration"].as_array().unwrap();
    assert_eq!(bins.len(), 10);
    let count = |bin: &Value| bin["count"].as_u64().unwrap() as f64;
    let positions: f64 = bins.iter().map(count).sum();
    assert_eq!(positions as usize, held.iter().map(GameRecord::positions).sum::<usize>());
    let mut error = 0.0;
    for (bin, number) in bins.iter().zip(0..) {
        let Some(prediction) = bin["prediction"].as_f64() else {
            assert!(count(bin) == 0.0 && bin["outcome"].is_null(), "{bin}");
            continue;
        };
        assert!((number as f64 - 0.001..number as f64 + 1.001).contains(&(10.0 * prediction)), "{number}: {bin}");
        error += count(bin) / positions * (prediction - bin["outcome"].as_f64().unwrap()).abs();
    }
    let said = line["calibration_error"].as_f64().unwrap();
    assert!((said - error).abs() < 1e-5, "{said} and {error}");
    assert!(curves.contains("holdout/calibration_error") && !curves.contains("holdout/calibration\u{12}"), "{curves}");
}

#[test]
fn run_without_a_validation_set_is_not_searched_for_one() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    hold_out(&run);
    let mut config = config();
    config.selfplay.holdout_fraction = 0.0;
    let mut measured = false;
    let mut watch = |event| measured |= matches!(event, TrainerEvent::Holdout { .. });
    assert!(train_next(&run, &config, TRAIN_DEVICE, &Stop::never(), &mut watch).unwrap().is_some());
    assert!(!measured);
}

#[test]
fn searches_of_the_validation_set_that_add_nothing_raise_alarms() {
    let raised = |change: fn(&mut GameRecord)| {
        let run = run();
        publish(&run, 1, &examples(1, 6 * 16), 40);
        let held = games("w").map(|game| GameRecord { holdout: true, ..game });
        let mut held: Vec<GameRecord> = held.take(20).collect();
        for game in &mut held {
            searched(game).for_each(|turn| turn.network_value = turn.root_value);
            change(game);
        }
        run.games().publish(0, "w", &held).unwrap();
        train(&run).unwrap();
        let alarms = alarms(&run);
        ["search-adds-nothing", "root-value-worse"].map(|name| alarms.iter().any(|alarm| alarm == name))
    };
    assert_eq!(raised(|_| ()), [false, false]);
    assert_eq!(raised(|game| searched(game).for_each(|turn| turn.policy_surprise = Some(0.0))), [true, false]);
    let knows = |game: &mut GameRecord| {
        let outcome = f32::from(game.outcome.as_i8());
        searched(game).for_each(|turn| turn.network_value = outcome);
    };
    assert_eq!(raised(knows), [false, true]);
}

/// The turns of a game that were searched.
fn searched(game: &mut GameRecord) -> impl Iterator<Item = &mut Turn> {
    game.turns.iter_mut().filter(|turn| turn.is_searched())
}

/// Of two models of six steps each, the step that begins the second has a hundred times the rate.
#[test]
fn schedule_that_rises_raises_one_alarm() {
    let run = run();
    publish_two(&run);
    hold_out(&run);
    let mut config = config();
    let steps = [(0, 0.0001), (6, 0.01)];
    config.train.learning_rate = steps.map(|(from_step, rate)| LearningRate { from_step, rate }).to_vec();
    let raised = |model: usize| {
        assert!(train_next(&run, &config, TRAIN_DEVICE, &Stop::never(), &mut |_| ()).unwrap().is_some());
        let jumps = alarms(&run).into_iter().filter(|name| name == "learning-rate-jump").count();
        assert_eq!(jumps, model - 1, "after model {model}");
    };
    [1, 2].into_iter().for_each(raised);
}

/// Within the steps of one line.
#[test]
fn events_have_the_learning_rate_of_their_step() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    let (mut config, mut found) = (config(), Vec::new());
    let rates = [(0, 0.01), (4, 0.001)];
    config.train.learning_rate = rates.map(|(from_step, rate)| LearningRate { from_step, rate }).to_vec();
    let mut watch = |event: TrainerEvent| {
        if let TrainerEvent::Step { rate, .. } = event {
            found.push(rate);
        }
    };
    assert!(train_next(&run, &config, TRAIN_DEVICE, &Stop::never(), &mut watch).unwrap().is_some());
    assert_eq!(found, [0.01, 0.01, 0.01, 0.01, 0.001, 0.001]);
}

#[test]
fn alarm_that_needs_no_validation_set_is_raised_without_one() {
    for holdout_fraction in [0.0, 0.1] {
        let run = run();
        publish(&run, 1, &examples(1, 6 * 16), 40);
        let mut config = config();
        (config.selfplay.holdout_fraction, config.train.augment_symmetries) = (holdout_fraction, false);
        assert!(train_next(&run, &config, TRAIN_DEVICE, &Stop::never(), &mut |_| ()).unwrap().is_some());
        let rotation_off = alarms(&run).into_iter().filter(|name| name == "rotation-off").count();
        assert_eq!(rotation_off, 1, "{holdout_fraction}");
    }
}

/// The names of the alarms of a run.
pub(crate) fn alarms(run: &Run) -> Vec<String> {
    let alarms = lines(run).into_iter().filter(|line| line["set"] == "alarm");
    alarms.map(|line| line["alarm"].as_str().unwrap().to_owned()).collect()
}

/// The sets and steps of all lines but alarms, sorted.
pub(crate) fn logged(run: &Run) -> Vec<(String, u64)> {
    let lines = lines(run).into_iter().filter(|line| line["set"] != "alarm");
    let mut logged: Vec<(String, u64)> =
        lines.map(|line| (line["set"].as_str().unwrap().to_owned(), line["step"].as_u64().unwrap())).collect();
    logged.sort_unstable();
    logged
}

/// The lines of the training log.
fn lines(run: &Run) -> Vec<Value> {
    let logs = run.logs().list().unwrap();
    let lines = logs.iter().filter(|name| name.ends_with(".jsonl")).map(|name| run.logs().read(name).unwrap());
    let lines: String = lines.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect()
}

/// The last line of a set, and the event files as text.
pub(crate) fn newest(run: &Run, set: &str) -> (Value, String) {
    let text = |ending: &str| -> String {
        let logs = run.logs().list().unwrap();
        let named = logs.iter().filter(|name| name.contains(ending));
        named.map(|name| String::from_utf8_lossy(&run.logs().read(name).unwrap()).into_owned()).collect()
    };
    let lines = text(".jsonl");
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    (lines.rfind(|line| line["set"] == set).expect("there is such a line"), text("tfevents"))
}
