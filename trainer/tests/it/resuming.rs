//! Stopped, killed, overtaken: where training continues.

use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use config::RunConfig;
use net::{Device, TrainDevice, Weights};
use store::{Checkpoint, Run};
use testing::killed;
use trainer::TrainerError;

use crate::logs::{alarms, logged};
use crate::{
    TRAIN_DEVICE, config, examples, growing, hold_out, publish, publish_two, run, train, train_next, train_some,
};

/// The file of a model's weights.
fn weights(run: &Run, number: u32) -> Bytes {
    run.models().get(number).unwrap().1
}

/// A run whose first two models were trained without interruption.
fn whole() -> Run {
    let run = run();
    publish_two(&run);
    [1, 2].into_iter().for_each(|number| assert_eq!(train(&run).unwrap().number, number));
    run
}

#[test]
fn trainer_that_is_stopped_again_and_again_makes_the_same_models() {
    let whole = whole();
    let run = run();
    publish_two(&run);
    // Batches of 16 and parts of 40 examples: the second and the fifth batch lie across two parts.
    let finished: Vec<bool> =
        [1, 2, 2, 9, 4, 9].into_iter().map(|batches| train_some(&run, batches).is_some()).collect();
    assert_eq!(finished, [false, false, false, true, false, true]);
    for number in [1, 2] {
        assert_eq!(run.models().get(number).unwrap(), whole.models().get(number).unwrap());
    }
}

#[test]
fn restart_after_checkpoint_publishes_without_training() {
    let whole = whole();
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    train(&run).unwrap();
    // The second generation is finished, its model missing, and so are its shards.
    run.checkpoints().publish(&whole.checkpoints().newest().unwrap().unwrap()).unwrap();
    let metadata =
        train_next(&run, &config(), TRAIN_DEVICE, &runtime::Stop::never(), &mut |progress| panic!("{progress:?}"));
    assert_eq!(metadata.unwrap().unwrap().step, 12);
    // Without shards it is calibrated on games of its own.
    let [mine, other] = [&run, &whole].map(|run| Weights::from_bytes(&weights(run, 2)).unwrap());
    assert!(mine != other && mine.uncalibrated() == other.uncalibrated());
}

/// Lines may be lost.
#[test]
fn kill_at_any_write_logs_no_step_twice() {
    let whole = whole();
    for writes in 0.. {
        let run = run();
        publish(&run, 1, &examples(1, 6 * 16), 40);
        let survived = train(&killed(&run, writes)).is_ok();
        if run.models().newest().unwrap().is_none() {
            train(&run).unwrap();
        }
        assert_eq!(run.models().get(1).unwrap(), whole.models().get(1).unwrap());
        let (logged, line) = (logged(&run), [("train".to_owned(), 6_u64)]);
        if survived {
            assert_eq!(logged, line);
            break;
        }
        assert!(logged.is_empty() || logged == line, "after {writes} writes: {logged:?}");
    }
}

#[test]
fn stop_before_the_first_batch_leaves_no_checkpoint() {
    let run = run();
    publish_two(&run);
    let stop = runtime::Stop::never();
    stop.request();
    assert_eq!(train_next(&run, &config(), TRAIN_DEVICE, &stop, &mut |_| ()).unwrap(), None);
    assert_eq!(run.checkpoints().newest().unwrap(), None);
    assert!(run.logs().list().unwrap().is_empty());
}

#[test]
fn weights_of_the_newest_model_count_when_others_made_it() {
    let whole = whole();
    let run = run();
    publish_two(&run);
    assert!(train_some(&run, 2).is_none());
    // Another trainer publishes model 1; the checkpoint here is in the midst of it.
    let (metadata, theirs) = whole.models().get(1).unwrap();
    run.models().publish(&metadata, theirs).unwrap();
    let metadata = train(&run).unwrap();
    assert_eq!((metadata.number, metadata.step), (2, 12));
    // Only the momentum was lost, so the result is near that of the other and not the same.
    let [mine, other] = [&run, &whole].map(|run| Weights::from_bytes(&weights(run, 2)).unwrap());
    assert_ne!(mine, other);
    let name = "policy.dense.weight";
    let pairs = mine.tensor(name).unwrap().iter().zip(other.tensor(name).unwrap());
    assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 0.1);
}

/// The shards were damaged and deleted, and fewer games were left to sample from.
#[test]
fn shards_with_fewer_batches_than_were_trained_on_end_the_generation() {
    let run = run();
    publish(&run, 1, &examples(1, 6 * 16), 40);
    hold_out(&run);
    assert!(train_some(&run, 4).is_none());
    run.shards().prune(2).unwrap();
    publish(&run, 1, &examples(1, 3 * 16), 40);
    assert_eq!(train(&run).unwrap().step, 4);
    assert_eq!(logged(&run), [("holdout".to_owned(), 4_u64), ("train".to_owned(), 4)]);
    assert!(alarms(&run).iter().all(|alarm| alarm != "overfitting"), "no losses in training are known");
    publish(&run, 2, &examples(2, 6 * 16), 40);
    assert_eq!(train(&run).unwrap().step, 10);
}

/// As if its shards had been so few from the beginning, with and without an average of the weights.
#[test]
fn generation_that_ends_with_fewer_batches_passes_its_momentum_on() {
    for decay in ["train.ema_decay=0.0", "train.ema_decay=0.9"] {
        let config = RunConfig::from_toml_with(&config().to_toml(), &[decay]).unwrap();
        let [whole, cut] = [4, 6].map(|batches| {
            let run = run();
            publish(&run, 1, &examples(1, batches * 16), 40);
            publish(&run, 2, &examples(2, 6 * 16), 40);
            run
        });
        assert!(!growing::train(&cut, &config, 4));
        cut.shards().prune(2).unwrap();
        publish(&cut, 1, &examples(1, 3 * 16), 40);
        for run in [&whole, &cut] {
            assert!(growing::train(run, &config, usize::MAX) && growing::train(run, &config, usize::MAX));
        }
        assert_eq!(cut.models().get(2).unwrap(), whole.models().get(2).unwrap(), "{decay}");
    }
}

#[test]
fn missing_gpu_is_not_a_bad_checkpoint() {
    let run = run();
    publish_two(&run);
    // No machine has so many.
    let train_device = TrainDevice { device: Device::Cuda(1 << 20), ..TRAIN_DEVICE };
    let refused = || train_next(&run, &config(), train_device, &runtime::Stop::never(), &mut |_| ()).unwrap_err();
    for error in [refused(), train_some(&run, 2).map_or_else(refused, |metadata| panic!("{metadata:?} is finished"))] {
        assert!(!matches!(error, TrainerError::Checkpoint { .. }), "{error:?}");
        let cause = error.source().unwrap().to_string();
        assert!(cause.contains("GPU"), "{cause}");
    }
    assert!(run.checkpoints().newest().unwrap().is_some(), "the last was to go on from a checkpoint");
    assert_eq!(train(&run).unwrap().number, 1, "which is as good as before");
}

#[test]
fn checkpoint_that_cannot_be_used_is_named() {
    for (name, bytes, problem) in [
        ("trainer.safetensors", "nothing", "not a whole safetensors file"),
        ("progress.toml", "generation = \"one\"", "progress.toml: invalid type"),
        ("other.toml", "", "it has no progress.toml"),
    ] {
        let run = run();
        publish_two(&run);
        let good = "generation = 1\nbatches = 2\nfinished = false\n";
        let mut files = BTreeMap::from([("trainer.safetensors".to_owned(), Bytes::new())]);
        if name != "other.toml" {
            files.insert("progress.toml".to_owned(), Bytes::from(good));
        }
        files.insert(name.to_owned(), Bytes::from(bytes));
        run.checkpoints().publish(&Checkpoint { step: 2, files }).unwrap();
        let error = train(&run).unwrap_err();
        assert!(matches!(error, TrainerError::Checkpoint { step: 2, .. }), "{error}");
        let said = error.to_string();
        assert!(said.starts_with("run r: checkpoint 2 ") && said.contains(problem), "{said}");
        assert!(said.contains("delete its folder"), "{said}");
    }
}
