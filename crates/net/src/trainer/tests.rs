//! What is reported of a batch in parts.

use config::{LearningRate, PolicyTarget, Preset, Train};
use go::Size;
use record::synthetic;

use super::*;
use crate::step::values;
use crate::{Device, Precision, Targets};

/// Positions in a part.
const ROWS: usize = 64;

fn train_config() -> TrainConfig {
    TrainConfig {
        train: Train {
            batch: 4 * ROWS,
            norm_batch: ROWS,
            l2: 0.0,
            augment_symmetries: false,
            learning_rate: vec![LearningRate { from_step: 0, rate: 0.01 }],
            ownership_weight: 0.5,
            score_weight: 0.25,
            opponent_policy_weight: 0.125,
            ..Preset::Minigo.config().train
        },
        targets: Targets {
            choice_moves: 2,
            policy: PolicyTarget::SquashedSampled,
            policy_exponent: 0.98,
            ownership: true,
            opponent_policy: true,
        },
        seed: 7,
        ema_warm_up: true,
    }
}

fn shape() -> Shape {
    Shape {
        blocks: 1,
        filters: 8,
        policy_planes: 2,
        value_planes: 1,
        value_hidden: 16,
        ownership: true,
        score: true,
        opponent_policy: true,
        ..Shape::plain(Size::new(5).unwrap())
    }
}

fn trainer() -> Trainer {
    with_threads(2)
}

fn with_threads(threads: usize) -> Trainer {
    let train_device = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads };
    Trainer::new(&Weights::synthetic(shape(), 11), 0, train_config(), train_device).unwrap()
}

/// Four parts of different weights. No position of the first and the third has a target of the auxiliary heads, all of
/// the second have one, and some of the fourth.
fn examples() -> Vec<Example> {
    let games = (0..).map(|index| synthetic::game("made-1", "worker", index, shape().size, 30));
    let examples = games.flat_map(|game| game.examples().unwrap());
    let known = |example: &Example| {
        let Example { area, score, opponent_move, .. } = example;
        area.is_some() && score.is_some() && opponent_move.is_some()
    };
    let mut examples: Vec<Example> = examples.filter(known).take(4 * ROWS).collect();
    for (row, example) in examples.iter_mut().enumerate() {
        let part = row / ROWS;
        example.weight = (1 + part + row % 3) as f32;
        if part == 0 || part == 2 || part == 3 && row % 5 > 0 {
            (example.area, example.score, example.opponent_move) = (None, None, None);
        }
    }
    examples
}

#[test]
fn parts_without_targets_do_not_lower_measured_losses() {
    let (trainer, examples) = (trainer(), examples());
    let parts = trainer.measure(&examples).unwrap();
    let whole = measure(&trainer.tower, &trainer.train_config, 1, &examples).unwrap().losses;
    for ((name, found), (_, expected)) in parts.named().into_iter().zip(whole.named()) {
        // Each part has a best constant of its own.
        let same = name == "constant_error" || (found - expected).abs() < 1e-5;
        assert!(same, "{name}: {found} in parts, {expected} as one");
    }
    assert!([whole.ownership, whole.score, whole.opponent_policy].iter().all(|&loss| loss > 0.01), "{whole:?}");
}

#[test]
fn parts_without_targets_do_not_lower_losses_in_training() {
    let examples = examples();
    let step = |rows: Range<usize>| trainer().step(&examples[rows]).unwrap();
    let (both, known) = (step(0..2 * ROWS), step(ROWS..2 * ROWS));
    let of_heads = |losses: Losses| [losses.ownership, losses.score, losses.opponent_policy];
    for (found, expected) in of_heads(both).into_iter().zip(of_heads(known)) {
        assert!(expected > 0.01 && (found - expected).abs() < 1e-5, "{both:?} {known:?}");
    }
    let train = train_config().train;
    let auxiliary = 0.5 * both.ownership + 0.25 * both.score + 0.125 * both.opponent_policy;
    assert!((both.total - (both.policy + train.value_weight * both.value + auxiliary)).abs() < 1e-5, "{both:?}");
}

/// A step takes the losses of auxiliary heads as means of a part, and a part by the weight of all its positions, as
/// [`Losses::total`] says.
#[test]
fn part_without_targets_takes_its_share_of_the_gradient_of_heads() {
    let examples = examples();
    let moved = |rows: Range<usize>| {
        let mut trainer = trainer();
        let bias = |trainer: &Trainer| trainer.weights().unwrap().tensor("ownership.conv.bias").unwrap()[0];
        let before = bias(&trainer);
        trainer.step(&examples[rows]).unwrap();
        bias(&trainer) - before
    };
    let (both, known) = (moved(0..2 * ROWS), moved(ROWS..2 * ROWS));
    let weight = |rows: Range<usize>| Example::total_weight(&examples[rows]) as f32;
    let share = weight(ROWS..2 * ROWS) / weight(0..2 * ROWS);
    assert!(known.abs() > 1e-5 && share < 0.9, "{known} {share}");
    assert!((both / known - share).abs() < 0.01, "{both} of {known}, {share} of the weight");
}

#[test]
fn update_has_the_rate_of_the_last_step() {
    let after_one = |rates: &[(u64, f32)]| {
        let mut trainer = trainer();
        trainer.train_config.train.learning_rate =
            rates.iter().map(|&(from_step, rate)| LearningRate { from_step, rate }).collect();
        trainer.step(&examples()).unwrap();
        trainer.diagnostics().unwrap()
    };
    let constant = after_one(&[(0, 0.01)]);
    assert!(constant.iter().any(|tensor| tensor.update_ratio > 0.0), "{constant:?}");
    assert_eq!(after_one(&[(0, 0.01), (1, 0.001)]), constant);
}

#[test]
fn symmetry_spread_is_that_of_the_whole_set_on_any_number_of_threads() {
    let (trainer, examples) = (trainer(), examples());
    let examples = &examples[..100];
    let under = |symmetry| values(&trainer.tower, &trainer.train_config, 1, examples, symmetry).unwrap();
    let values = Symmetry::ALL.map(under);
    let variance = |row: usize| {
        let mean = values.iter().map(|values| f64::from(values[row])).sum::<f64>() / 8.0;
        values.iter().map(|values| (f64::from(values[row]) - mean).powi(2)).sum::<f64>() / 8.0
    };
    let expected = ((0..100).map(variance).sum::<f64>() / 100.0).sqrt();
    assert!(expected > 0.001, "{expected}");
    let found = [1, 2, 3, 20].map(|threads| with_threads(threads).symmetry_spread(examples).unwrap());
    assert!((f64::from(found[0]) - expected).abs() < 1e-5, "{found:?}, {expected} as one");
    assert_eq!(found, [found[0]; 4]);
}
