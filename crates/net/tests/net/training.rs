//! Training, and resuming it.

use config::{LearningRate, Optimizer};
use net::{NetError, Precision, Shape, TrainConfig, TrainDevice, Trainer, Weights};
use record::Example;

use crate::{TRAIN_DEVICE, examples, kinds, precisions, tiny, train_config};

fn trainer(train_config: TrainConfig) -> Trainer {
    Trainer::new(&start(), 0, train_config, TRAIN_DEVICE).unwrap()
}

/// Weights in which everything is alive.
fn start() -> Weights {
    Weights::synthetic(tiny(), 11)
}

/// The greatest difference between two sets of weights in tensors whose names end so.
fn difference(a: &Weights, b: &Weights, ends: &[&str]) -> f32 {
    let names = ["stem", "blocks.0.first", "blocks.0.second", "policy", "value"].map(|unit| {
        ["conv.weight", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"]
            .map(|part| format!("{unit}.{part}"))
    });
    let dense =
        ["policy.dense", "value.hidden", "value.out"].map(|layer| ["weight", "bias"].map(|p| format!("{layer}.{p}")));
    let names = names.into_iter().flatten().chain(dense.into_iter().flatten());
    let chosen = names.filter(|name| ends.iter().any(|end| name.ends_with(end)));
    let differences = chosen.flat_map(|name| {
        // The norms of the heads have fewer tensors.
        let (a, b) = (a.tensor(&name).unwrap_or(&[]), b.tensor(&name).unwrap_or(&[]));
        a.iter().zip(b).map(|(x, y)| (x - y).abs()).collect::<Vec<f32>>()
    });
    differences.fold(0.0, f32::max)
}

#[test]
fn overfits_one_batch() {
    let examples = examples(16);
    let mut trainer = Trainer::new(&Weights::random(tiny(), 11), 0, train_config(0.05), TRAIN_DEVICE).unwrap();
    let first = trainer.step(&examples).unwrap();
    let last = (0..300).map(|_| trainer.step(&examples).unwrap()).last().unwrap();
    assert!(first.policy - first.target_entropy > 0.5, "{first:?}");
    assert!(last.policy - last.target_entropy < 0.02, "{last:?}");
    assert!(first.value > 0.5 && last.value < 0.01, "{last:?}");
    assert_eq!((trainer.steps(), trainer.examples_seen()), (301, 301 * 16));
}

/// Examples whose policy is the opponent's last point, and whose value is a loss after a move in the upper half.
fn echoes(count: usize) -> Vec<Example> {
    let mut echoes = examples(count);
    echoes.retain(|example| example.recent.last().is_some_and(|&mv| usize::from(mv) < example.size.area()));
    for example in &mut echoes {
        let last = *example.recent.last().unwrap();
        example.visits = vec![(last, 1)];
        let opponent_lost = usize::from(last) < example.size.area() / 2;
        let winner = if opponent_lost { example.to_move } else { example.to_move.opponent() };
        example.outcome = winner.into();
    }
    echoes
}

#[test]
fn rule_is_found_and_holds_for_examples_never_seen() {
    let mut examples = echoes(4800);
    let unseen = examples.split_off(4000);
    // The examples of a game follow each other; 7 is prime to their number, and near ones become far.
    let mixed: Vec<Example> = (0..4000).map(|i| examples[i * 7 % 4000].clone()).collect();
    let shape = Shape { filters: 16, ..tiny() };
    let mut trainer = Trainer::new(&Weights::random(shape, 11), 0, train_config(0.05), TRAIN_DEVICE).unwrap();
    for batch in mixed.chunks(32).cycle().take(250) {
        trainer.step(batch).unwrap();
    }
    let losses = trainer.measure(&unseen).unwrap();
    assert!(losses.accuracy > 0.9 && losses.value < 0.2, "{losses:?}");
}

/// The precisions that can be trained in.
fn training_precisions() -> impl Iterator<Item = Precision> {
    precisions().into_iter().filter(|&precision| precision != Precision::Int16)
}

#[test]
fn bf16_training_reaches_nearly_the_same_loss() {
    let Some(precision) = training_precisions().nth(1) else { return };
    let examples = examples(16);
    let train_device = TrainDevice { precision, ..TRAIN_DEVICE };
    let mut trainer = Trainer::new(&Weights::random(tiny(), 11), 0, train_config(0.05), train_device).unwrap();
    let last = (0..300).map(|_| trainer.step(&examples).unwrap()).last().unwrap();
    assert!(last.policy - last.target_entropy < 0.05 && last.value < 0.02, "{last:?}");
}

#[test]
fn int16_is_refused_in_training() {
    let train_device = TrainDevice { precision: Precision::Int16, ..TRAIN_DEVICE };
    let error = Trainer::new(&start(), 0, train_config(0.01), train_device).err().unwrap();
    assert!(matches!(error, NetError::NoPrecision { .. }) && error.is_of_the_device(), "{error}");
}

#[test]
fn bf16_trains_or_is_refused() {
    let train_device = TrainDevice { precision: Precision::Bf16, ..TRAIN_DEVICE };
    match Trainer::new(&start(), 0, train_config(0.05), train_device) {
        Ok(mut trainer) => drop(trainer.step(&examples(16)).unwrap()),
        Err(error) => assert!(matches!(error, NetError::NoBf16 { .. }), "{error}"),
    }
}

#[test]
fn running_statistics_become_those_of_the_data() {
    // Nothing is trained at rate 0; outputs in training and playing differ by the statistics alone.
    let examples = examples(64);
    let mut trainer =
        trainer(TrainConfig { train: config::Train { batch: 64, ..train_config(0.0).train }, ..train_config(0.0) });
    let before = trainer.measure(&examples).unwrap();
    let training = (0..250).map(|_| trainer.step(&examples).unwrap()).last().unwrap();
    let playing = trainer.measure(&examples).unwrap();
    // 0.95^250 of the start is left, and variances are estimated with n − 1 for n = 1,600 points.
    let close = |a: f32, b: f32| (a - b).abs() < 2e-3;
    assert!(close(playing.policy, training.policy) && close(playing.value, training.value), "{playing:?} {training:?}");
    assert!(close(playing.output_entropy, training.output_entropy) && close(playing.mean_value, training.mean_value));
    assert!(!close(before.policy, training.policy), "{before:?}");
}

#[test]
fn penalty_pulls_weights_and_leaves_norms_and_biases_alone() {
    let examples = examples(32);
    let after = |l2: f32| {
        let mut trainer =
            trainer(TrainConfig { train: config::Train { l2, ..train_config(0.1).train }, ..train_config(0.1) });
        let losses = trainer.step(&examples).unwrap();
        (trainer.weights().unwrap(), losses)
    };
    let ((plain, free), (pulled, charged)) = (after(0.0), after(0.5));
    assert_eq!(difference(&plain, &pulled, &["norm.weight", "bias", "running_mean", "running_var"]), 0.0);
    let start = start();
    let mut squares = 0.0;
    for name in ["stem.conv.weight", "blocks.0.second.conv.weight", "policy.dense.weight", "value.out.weight"] {
        let tensor = |weights: &Weights| weights.tensor(name).unwrap().to_vec();
        let moved = tensor(&plain).into_iter().zip(tensor(&pulled)).map(|(plain, pulled)| plain - pulled);
        // rate · λ · w, with the rounding of numbers near 1.
        assert!(moved.zip(tensor(&start)).all(|(moved, w)| (moved - 0.1 * 0.5 * w).abs() < 1e-6), "{name}");
    }
    for name in ["stem", "blocks.0.first", "blocks.0.second", "policy", "value"].map(|unit| format!("{unit}.conv")) {
        squares += start.tensor(&format!("{name}.weight")).unwrap().iter().map(|w| w * w).sum::<f32>();
    }
    for name in ["policy.dense", "value.hidden", "value.out"] {
        squares += start.tensor(&format!("{name}.weight")).unwrap().iter().map(|w| w * w).sum::<f32>();
    }
    assert_eq!(free.l2, 0.0);
    assert!((charged.l2 / (0.5 * squares / 2.0) - 1.0).abs() < 1e-5, "{}", charged.l2);
    assert!((charged.total - (charged.policy + charged.value + charged.l2)).abs() < 1e-4);
}

#[test]
fn measuring_changes_nothing() {
    let examples = examples(70);
    let trainer = trainer(train_config(0.1));
    let losses = trainer.measure(&examples).unwrap();
    assert_eq!(trainer.measure(&examples).unwrap(), losses);
    assert_eq!(trainer.weights().unwrap(), start());
    assert!(matches!(trainer.measure(&[]), Err(NetError::NoExamples)));
}

/// A train_config in which everything moves that can.
fn lively() -> TrainConfig {
    let mut train_config = train_config(0.05);
    train_config.train.augment_symmetries = true;
    train_config.train.l2 = 1e-3;
    train_config.train.learning_rate.push(LearningRate { from_step: 6, rate: 0.01 });
    train_config
}

#[test]
fn restored_trainer_continues_bit_for_bit() {
    for precision in training_precisions() {
        let train_device = TrainDevice { precision, ..TRAIN_DEVICE };
        let examples = examples(10 * 32);
        let batches: Vec<&[Example]> = examples.chunks(32).collect();
        let mut whole = Trainer::new(&start(), 0, lively(), train_device).unwrap();
        let mut losses: Vec<_> = batches[..4].iter().map(|batch| whole.step(batch).unwrap()).collect();
        let checkpoint = whole.checkpoint("digest").unwrap();
        losses.extend(batches[4..].iter().map(|batch| whole.step(batch).unwrap()));

        let mut resumed = Trainer::restore(&checkpoint, tiny(), "digest", lively(), train_device).unwrap();
        assert_eq!((resumed.steps(), resumed.examples_seen()), (4, 128));
        assert_eq!(resumed.checkpoint("digest").unwrap(), checkpoint);
        let again: Vec<_> = batches[4..].iter().map(|batch| resumed.step(batch).unwrap()).collect();
        assert_eq!(again, losses[4..]);
        assert_eq!(resumed.weights().unwrap(), whole.weights().unwrap());
        assert_eq!(resumed.checkpoint("digest").unwrap(), whole.checkpoint("digest").unwrap());
    }
}

#[test]
fn threads_change_nothing_but_the_time() {
    let examples = examples(300);
    let after = |threads| {
        let train_device = TrainDevice { threads, ..TRAIN_DEVICE };
        let mut trainer = Trainer::new(&start(), 0, lively(), train_device).unwrap();
        let losses: Vec<_> = (0..3).map(|_| trainer.step(&examples).unwrap()).collect();
        (trainer.weights().unwrap(), losses, trainer.measure(&examples).unwrap())
    };
    let one = after(1);
    assert_eq!(one, after(2));
    assert_eq!(one, after(7));
}

#[test]
fn seed_decides_the_symmetries() {
    let examples = examples(32);
    let after = |seed| {
        let mut trainer = trainer(TrainConfig { seed, ..lively() });
        trainer.step(&examples).unwrap();
        trainer.weights().unwrap()
    };
    assert_eq!(after(1), after(1));
    assert_ne!(after(1), after(2));
}

#[test]
fn checkpoint_that_cannot_be_used_says_why() {
    let checkpoint = trainer(lively()).checkpoint("digest").unwrap();
    let refusal =
        |bytes: &[u8], shape: Shape, digest: &str| match Trainer::restore(bytes, shape, digest, lively(), TRAIN_DEVICE)
        {
            Ok(_) => panic!("it was restored"),
            Err(error) => error.to_string(),
        };
    for length in (0..checkpoint.len()).step_by(211) {
        assert!(refusal(&checkpoint[..length], tiny(), "digest").starts_with("not a whole safetensors file"));
    }
    let weights = start().to_bytes();
    let error = refusal(&weights, tiny(), "digest");
    assert_eq!(error, "the file is \"tengen-weights/2\", expected \"tengen-checkpoint/4\"");
    let larger = Shape { blocks: 2, ..tiny() };
    let error = refusal(&checkpoint, larger, "digest");
    assert!(error.contains("is 1 block of 8") && error.contains("expected 2 blocks of 8"), "{error}");
    let error = refusal(&checkpoint, tiny(), "other");
    let configurations = "the checkpoint was made with configuration digest, this is configuration other";
    assert_eq!(error, format!("{configurations}; resume with the former"));
}

#[test]
fn loss_that_is_no_number_stops_at_its_step() {
    let examples = examples(32);
    let mut trainer = trainer(train_config(1e30));
    let error = (0..5).find_map(|_| trainer.step(&examples).err()).expect("no network survives this rate");
    assert!(matches!(error, NetError::Diverged { step: 1..=4, .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("the loss is") && said.contains("; lower train.learning_rate"), "{said}");
}

#[test]
fn examples_that_do_not_fit_are_refused() {
    let mut trainer = trainer(train_config(0.1));
    assert!(matches!(trainer.step(&[]), Err(NetError::NoExamples)));
    let other = record::synthetic::game("made-1", "worker", 0, go::Size::new(9).unwrap(), 9);
    let error = trainer.step(&other.examples().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "a position on 9x9 for a network of 5x5");
    assert_eq!(trainer.steps(), 0);
}

/// Everything at once that is not there by default.
fn elaborate(optimizer: Optimizer) -> TrainConfig {
    let mut train_config = lively();
    train_config.train.optimizer = optimizer;
    train_config.train.clip_norm = 0.5;
    train_config.train.ema_decay = 0.9;
    train_config.train.ownership_weight = 0.5;
    train_config.train.score_weight = 0.1;
    train_config.train.opponent_policy_weight = 0.15;
    train_config.targets.ownership = true;
    train_config.targets.opponent_policy = true;
    train_config
}

fn helped() -> Shape {
    Shape { ownership: true, score: true, ..tiny() }
}

#[test]
fn restored_trainer_with_every_option_continues_bit_for_bit() {
    let examples = examples(8 * 32);
    let batches: Vec<&[Example]> = examples.chunks(32).collect();
    let [all, features] = kinds(helped());
    for (optimizer, shape) in [
        (Optimizer::Sgd, helped()),
        (Optimizer::Nesterov, helped()),
        (Optimizer::Muon, helped()),
        (Optimizer::Nesterov, all),
        (Optimizer::Nesterov, features),
    ] {
        let train_config = || elaborate(optimizer);
        let mut whole = Trainer::new(&Weights::synthetic(shape, 11), 0, train_config(), TRAIN_DEVICE).unwrap();
        for batch in &batches[..4] {
            whole.step(batch).unwrap();
        }
        whole.recalibrate_batch_norm(batches[0]).unwrap();
        let checkpoint = whole.checkpoint("digest").unwrap();
        let mut resumed = Trainer::restore(&checkpoint, shape, "digest", train_config(), TRAIN_DEVICE).unwrap();
        assert_eq!(resumed.checkpoint("digest").unwrap(), checkpoint);
        assert_eq!(resumed.published().unwrap(), whole.published().unwrap());
        assert_eq!(resumed.measure(&examples).unwrap(), whole.measure(&examples).unwrap());
        for batch in &batches[4..] {
            assert_eq!(whole.step(batch).unwrap(), resumed.step(batch).unwrap());
        }
        assert_eq!(resumed.checkpoint("digest").unwrap(), whole.checkpoint("digest").unwrap());
        assert_eq!(resumed.published().unwrap(), resumed.weights().unwrap(), "nothing is averaged after a step");
    }
}

#[test]
fn heads_whose_losses_have_no_weight_are_not_trained() {
    let [shape, _] = kinds(helped());
    let mut train_config = elaborate(Optimizer::Nesterov);
    train_config.train.l2 = 0.0;
    train_config.train.ownership_weight = 0.0;
    train_config.train.score_weight = 0.0;
    train_config.train.opponent_policy_weight = 0.0;
    train_config.targets.ownership = false;
    train_config.targets.opponent_policy = false;
    let start = Weights::synthetic(shape, 11);
    let mut trainer = Trainer::new(&start, 0, train_config, TRAIN_DEVICE).unwrap();
    let losses = trainer.step(&examples(32)).unwrap();
    // The loss of the score is measured anyway: every batch has its targets.
    assert_eq!((losses.ownership, losses.opponent_policy), (0.0, 0.0));
    let trained = trainer.weights().unwrap();
    for (name, is_trained) in [
        ("ownership.conv.weight", false),
        ("value.score.weight", false),
        ("opponent_policy.dense.weight", false),
        ("policy.dense.weight", true),
        ("value.hidden.weight", true),
        ("stem.conv.weight", true),
    ] {
        assert!((trained.tensor(name).unwrap() != start.tensor(name).unwrap()) == is_trained, "{name}");
    }
}

/// A network with more than the plain one overfits to one batch.
fn check_overfitting(optimizer: Optimizer, rate: f32, shape: Shape) {
    let examples = examples(16);
    let mut train_config = elaborate(optimizer);
    train_config.train.augment_symmetries = false;
    train_config.train.l2 = 0.0;
    train_config.train.clip_norm = 0.0;
    train_config.train.learning_rate = vec![LearningRate { from_step: 0, rate }];
    let mut trainer = Trainer::new(&Weights::random(shape, 11), 0, train_config, TRAIN_DEVICE).unwrap();
    let first = trainer.step(&examples).unwrap();
    // At a constant rate the loss jumps now and then: the best of the last hundred steps counts.
    let last_steps = (0..1500).map(|_| trainer.step(&examples).unwrap()).skip(1400);
    let last = last_steps.min_by(|a, b| a.total.total_cmp(&b.total)).unwrap();
    assert!(first.policy - first.target_entropy > 0.1, "{first:?}");
    assert!(last.policy - last.target_entropy < 0.01 && last.value < 0.01, "{last:?}");
    assert!(first.ownership > 0.3 && last.ownership < 0.1 * first.ownership, "{first:?} {last:?}");
    assert!(first.score > 0.05 && last.score < 0.05 * first.score, "{first:?} {last:?}");
    let known = |losses: &net::Losses| {
        if shape.opponent_policy { losses.opponent_policy > 0.0 } else { losses.opponent_policy == 0.0 }
    };
    assert!(known(&first) && last.opponent_policy < 0.1, "{first:?} {last:?}");
}

#[test]
fn overfits_one_batch_with_nesterov() {
    check_overfitting(Optimizer::Nesterov, 0.05, helped());
}

#[test]
fn overfits_one_batch_with_muon() {
    check_overfitting(Optimizer::Muon, 0.05, helped());
}

#[test]
fn overfits_one_batch_with_networks_of_all_parts() {
    let [all, _] = kinds(helped());
    check_overfitting(Optimizer::Nesterov, 0.02, all);
}

#[test]
fn overfits_one_batch_with_networks_of_features() {
    let [_, features] = kinds(helped());
    check_overfitting(Optimizer::Nesterov, 0.02, features);
}

#[test]
fn published_network_is_the_ema_with_its_own_statistics() {
    let examples = examples(64);
    let mut train_config = train_config(0.05);
    train_config.train.ema_decay = 0.9;
    let mut trainer = Trainer::new(&start(), 0, train_config.clone(), TRAIN_DEVICE).unwrap();
    for _ in 0..40 {
        trainer.step(&examples).unwrap();
    }
    let (before, raw) = (trainer.measure(&examples).unwrap(), trainer.weights().unwrap());
    trainer.recalibrate_batch_norm(&examples).unwrap();
    let (averaged, mean) = (trainer.measure(&examples).unwrap(), trainer.published().unwrap());
    assert_eq!(trainer.weights().unwrap(), raw, "training resumes where it was");
    assert!(difference(&raw, &mean, &["conv.weight"]) > 1e-4 && before != averaged);
    // Its output in play is that in training: its statistics are those of the examples.
    train_config.train.learning_rate[0].rate = 0.0;
    let mut at_rest = Trainer::new(&mean, 0, train_config, TRAIN_DEVICE).unwrap();
    let training = at_rest.step(&examples).unwrap();
    let close = |a: f32, b: f32| (a - b).abs() < 2e-3;
    assert!(
        close(training.policy, averaged.policy) && close(training.value, averaged.value),
        "{training:?} {averaged:?}"
    );
}

/// Checks that the mean starts at the weights, and becomes d·a + (1 − d)·w after each step.
fn check_ema(train_config: TrainConfig, decays: &[f64]) {
    let examples = examples(64);
    let mut trainer = trainer(train_config);
    let names = ["stem.conv.weight", "stem.norm.bias", "policy.dense.weight"];
    let numbers = |weights: &Weights, name: &str| -> Vec<f64> {
        weights.tensor(name).unwrap().iter().map(|&number| f64::from(number)).collect()
    };
    let mut expected = names.map(|name| numbers(&start(), name));
    for &decay in decays {
        trainer.step(&examples).unwrap();
        let raw = trainer.weights().unwrap();
        trainer.recalibrate_batch_norm(&examples).unwrap();
        let published = trainer.published().unwrap();
        for (means, name) in expected.iter_mut().zip(names) {
            let found = numbers(&published, name);
            for ((mean, weight), found) in means.iter_mut().zip(numbers(&raw, name)).zip(found) {
                *mean = decay * *mean + (1.0 - decay) * weight;
                // The rounding of numbers near 1.
                assert!((*mean - found).abs() < 1e-6, "{name} after decay {decay}: {found}, expected {mean}");
            }
        }
        assert!(difference(&raw, &published, &["conv.weight"]) > 1e-5, "the mean is that of the weights alone");
    }
}

/// At first d is (1 + t)/(10 + t), which is 1/10 and 2/11; 3/12 is more than the decay of 1/5. Trained weights have no
/// warm-up.
#[test]
fn ema_follows_the_weights_by_its_decay_after_a_warm_up() {
    let mut train_config = train_config(0.1);
    train_config.train.ema_decay = 0.2;
    check_ema(train_config.clone(), &[1.0 / 10.0, 2.0 / 11.0, 0.2, 0.2]);
    check_ema(TrainConfig { ema_warm_up: false, ..train_config }, &[0.2; 4]);
}

#[test]
fn clip_norm_bounds_gradient() {
    let examples = examples(32);
    let moved = |clip_norm: f32| {
        let mut train_config = train_config(0.1);
        train_config.train.clip_norm = clip_norm;
        let mut trainer = trainer(train_config);
        trainer.step(&examples).unwrap();
        (difference(&start(), &trainer.weights().unwrap(), &["conv.weight", "dense.weight"]), trainer.gradient_norm())
    };
    let ((free, length), (bound, same)) = (moved(0.0), moved(0.01));
    assert_eq!(length, same, "the length is told as it was");
    assert!((bound / free - 0.01 / length).abs() < 1e-3 * 0.01 / length, "{free} {bound} {length}");
}
