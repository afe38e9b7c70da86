//! Training with wrong results.

use config::RunConfig;
use record::{Example, GameRecord};
use runtime::{Silent, Stop, drive};
use store::Run;
use trainer::{LabelNoise, LabelNoiseOptions, TrainerError, TrialEvent};

use crate::{TRAIN_DEVICE, config, examples, games, publish, run};

/// Black wins all games, as far as training on these can show.
fn all_to_black(examples: Vec<Example>) -> Vec<Example> {
    let won = |example| Example { outcome: record::Outcome::Black, root_value: 1.0, ..example };
    examples.into_iter().map(won).collect()
}

/// A run with shards and a validation set, in all games of which Black won.
fn prepared() -> Run {
    let run = run();
    publish(&run, 1, &all_to_black(examples(1, 6 * 16)), 40);
    let held = games("w").map(|game| GameRecord { holdout: true, outcome: record::Outcome::Black, ..game });
    run.games().publish(0, "w", &held.take(4).collect::<Vec<_>>()).unwrap();
    run
}

/// What counts is the outcome alone.
fn outcomes() -> RunConfig {
    let mut config = config();
    config.train.outcome_fraction = 1.0;
    config
}

#[test]
fn flipped_results_raise_the_error_on_true_ones() {
    let (run, config) = (prepared(), outcomes());
    let before = (run.logs().list().unwrap(), run.models().list().unwrap(), run.checkpoints().newest().unwrap());
    let (stop, mut trials) = (Stop::never(), Vec::new());
    let reporter = |event| match event {
        TrialEvent::Step { done, steps, .. } => assert!(done <= steps && steps == 60),
        TrialEvent::Measured(trial) => trials.push(trial),
    };
    let options = LabelNoiseOptions { shares: vec![0.0, 0.0, 1.0], steps: Some(60) };
    drive(&mut LabelNoise::new(&run, &config, options, TRAIN_DEVICE, &stop, reporter).unwrap(), &stop).unwrap();
    let [right, again, wrong] = &trials[..] else { panic!("{trials:?}") };
    assert_eq!(right, again, "the same seed makes the same network");
    assert_eq!((right.flipped_positions, wrong.flipped_positions, right.steps), (0.0, 1.0, 60));
    assert!(wrong.value_error > 1.0 && right.value_error < 1.0, "{right:?} {wrong:?}");
    assert!(wrong.calibration_error > right.calibration_error, "{right:?} {wrong:?}");
    assert_eq!((run.logs().list().unwrap(), run.models().list().unwrap(), run.checkpoints().newest().unwrap()), before);
}

#[test]
fn stop_interrupts_a_trial_and_missing_data_is_an_error() {
    let (run, config) = (prepared(), outcomes());
    let (stop, mut taken) = (Stop::never(), Vec::new());
    let reporter = |event| match event {
        TrialEvent::Step { done, steps, .. } => {
            taken.push((done, steps));
            stop.request();
        }
        TrialEvent::Measured(trial) => panic!("{trial:?}"),
    };
    let options = || LabelNoiseOptions { shares: vec![0.1, 0.2], steps: None };
    drive(&mut LabelNoise::new(&run, &config, options(), TRAIN_DEVICE, &stop, reporter).unwrap(), &stop).unwrap();
    assert_eq!(taken, [(1, 6)], "one pass over the shards has 6 steps");
    let bare = crate::run();
    let error = |run: &Run| {
        let noise = LabelNoise::new(run, &config, options(), TRAIN_DEVICE, &Stop::never(), Silent);
        noise.err().expect("something is missing")
    };
    assert_eq!(error(&bare).to_string(), "run r has no shards to train on");
    publish(&bare, 1, &[], 40);
    assert!(matches!(error(&bare), TrainerError::NoExamples { generation: 1 }));
    let unseen = crate::run();
    publish(&unseen, 1, &examples(1, 20), 40);
    assert_eq!(error(&unseen).to_string(), "run r has no validation games");
}
