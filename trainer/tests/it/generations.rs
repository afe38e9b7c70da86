//! Models, one after the other.

use net::Weights;
use record::GameRecord;
use runtime::Stop;
use trainer::{TrainerError, TrainerEvent};

use crate::{TRAIN_DEVICE, config, examples, hold_out, publish, publish_two, run, train, train_next};

#[test]
fn training_two_generations_publishes_two_models() {
    let run = run();
    publish_two(&run);
    let (first, second) = (train(&run).unwrap(), train(&run).unwrap());
    assert_eq!((first.number, first.parent, first.step), (1, None, 6));
    assert_eq!((second.number, second.parent, second.step), (2, Some(1), 12));
    assert_eq!(second.config_digest, config().digest());
    assert_eq!((second.size, second.network, second.search.clone()), (5, config().network, config().search));
    let (metadata, weights) = run.models().get(2).unwrap();
    assert_eq!(metadata, second);
    let weights = Weights::from_bytes(&weights).unwrap();
    assert_eq!(weights.shape().filters, config().network.filters);
    assert_ne!(weights, Weights::from_bytes(&run.models().get(1).unwrap().1).unwrap());
    assert!(weights.clone().uncalibrated().calibrated(&examples(2, 6 * 16), 2).unwrap() == weights);
    assert_eq!(run.checkpoints().newest().unwrap().unwrap().step, 12);
}

#[test]
fn same_shards_make_the_same_model() {
    let (a, b) = (run(), run());
    [&a, &b].into_iter().for_each(publish_two);
    for number in [1, 2] {
        [&a, &b].into_iter().for_each(|run| drop(train(run).unwrap()));
        assert_eq!(a.models().get(number).unwrap(), b.models().get(number).unwrap());
    }
}

#[test]
fn too_few_examples_make_fewer_steps() {
    for (count, steps) in [(5, 1), (16, 1), (50, 3), (400, 6)] {
        let run = run();
        publish(&run, 1, &examples(1, count), 30);
        assert_eq!(train(&run).unwrap().step, steps, "{count} examples");
    }
    let run = run();
    publish(&run, 1, &[], 30);
    let error = train(&run).unwrap_err();
    assert!(matches!(error, TrainerError::NoExamples { generation: 1, .. }), "{error}");
}

#[test]
fn waiting_has_a_reason_and_stops_on_request() {
    let (run, stop, mut waited) = (run(), Stop::never(), Vec::new());
    let trained = train_next(&run, &config(), TRAIN_DEVICE, &stop, &mut |progress| {
        waited.push(progress);
        stop.request();
    });
    assert_eq!(trained.unwrap(), None);
    assert!(matches!(waited[..], [TrainerEvent::Waiting { generation: 1, .. }]));
    assert_eq!(run.checkpoints().newest().unwrap(), None);
}

#[test]
fn shards_that_come_later_are_found() {
    let (run, mut steps) = (run(), 0);
    let trained = train_next(&run, &config(), TRAIN_DEVICE, &Stop::never(), &mut |progress| match progress {
        TrainerEvent::Waiting { .. } => publish(&run, 1, &examples(1, 32), 32),
        TrainerEvent::Step { done, steps: of, .. } => {
            steps += 1;
            assert_eq!((done, of), (steps, Some(2)));
        }
        TrainerEvent::Holdout { .. } => panic!("no game is held out"),
        TrainerEvent::Human { .. } | TrainerEvent::Deep { .. } => panic!("no references were named"),
        TrainerEvent::Published { .. } => unreachable!("it is the result"),
    });
    assert_eq!((trained.unwrap().map(|metadata| metadata.number), steps), (Some(1), 2));
}

#[test]
fn model_is_measured_on_held_out_games() {
    let run = run();
    publish_two(&run);
    let wanted: usize = hold_out(&run).iter().map(GameRecord::positions).sum();
    let mut measured = None;
    train_next(&run, &config(), TRAIN_DEVICE, &Stop::never(), &mut |progress| {
        if let TrainerEvent::Holdout { generation, examples, losses, calibration_error } = progress {
            measured = Some((generation, examples, losses, calibration_error));
        }
    })
    .unwrap();
    let (generation, examples, losses, calibration_error) = measured.expect("it was measured");
    assert_eq!((generation, examples), (1, wanted));
    assert!((0.0..=1.0).contains(&calibration_error), "{calibration_error}");
    assert!(losses.policy >= losses.target_entropy && losses.value > 0.0, "{losses:?}");
}
