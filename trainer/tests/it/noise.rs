//! Training with wrong results.

use config::RunConfig;
use record::{Example, GameRecord};
use runtime::Stop;
use store::Run;
use trainer::{LabelNoise, TrainerError};

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
fn wrong_results_are_learned_and_seen_on_true_ones() {
    let (run, config) = (prepared(), outcomes());
    let before = (run.logs().list().unwrap(), run.models().list().unwrap(), run.checkpoints().newest().unwrap());
    let noise = LabelNoise::new(&run, &config, TRAIN_DEVICE).unwrap();
    assert_eq!((noise.generation(), noise.batches()), (1, 6));
    let trial = |share| noise.trial(share, 60, &Stop::never(), &mut |_| ()).unwrap().unwrap();
    let (right, again, wrong) = (trial(0.0), trial(0.0), trial(1.0));
    assert_eq!(right, again, "the same seed makes the same network");
    assert_eq!((right.flipped_positions, wrong.flipped_positions, right.steps), (0.0, 1.0, 60));
    assert!(wrong.value_error > 1.0 && right.value_error < 1.0, "{right:?} {wrong:?}");
    assert!(wrong.calibration_error > right.calibration_error, "{right:?} {wrong:?}");
    assert_eq!((run.logs().list().unwrap(), run.models().list().unwrap(), run.checkpoints().newest().unwrap()), before);
}

#[test]
fn stop_ends_it_and_what_is_missing_is_said() {
    let (run, config) = (prepared(), outcomes());
    let (stop, mut taken) = (Stop::never(), 0);
    let stopped = LabelNoise::new(&run, &config, TRAIN_DEVICE).unwrap().trial(0.1, 50, &stop, &mut |step| {
        taken = step;
        stop.request();
    });
    assert_eq!((stopped.unwrap(), taken), (None, 1));
    let bare = crate::run();
    let error = |run: &Run| LabelNoise::new(run, &config, TRAIN_DEVICE).err().expect("something is missing");
    assert_eq!(error(&bare).to_string(), "run r has no shards to train on");
    publish(&bare, 1, &[], 40);
    assert!(matches!(error(&bare), TrainerError::NoExamples { generation: 1 }));
    let unseen = crate::run();
    publish(&unseen, 1, &examples(1, 20), 40);
    assert_eq!(error(&unseen).to_string(), "run r has no validation games");
}
