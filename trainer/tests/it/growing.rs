//! Networks that grow while their run goes on.

use config::{Inputs, RunConfig};
use net::{Shape, Weights};
use runtime::Stop;
use store::{Run, Store};
use trainer::TrainerEvent;

use crate::{TRAIN_DEVICE, examples, publish, train_next};

/// The network has more of everything from model 2 on; so small a rate changes nothing that can be seen.
fn config(rate: f64) -> RunConfig {
    let changes = [
        "network.blocks=1".to_owned(),
        "network.filters=8".to_owned(),
        "network.inputs=features".to_owned(),
        "train.grow=[{from_model=2,blocks=2,filters=12,inputs='tactics'}]".to_owned(),
        format!("train.learning_rate=[{{from_step=0,rate={rate}}}]"),
    ];
    RunConfig::from_toml_with(&crate::config().to_toml(), &changes).unwrap()
}

/// A run with shards for three models.
fn run(config: &RunConfig) -> Run {
    let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
    run.create(config).unwrap();
    [1, 2, 3].into_iter().for_each(|generation| publish(&run, generation, &examples(generation, 6 * 16), 40));
    run
}

/// Trains until so many batches are trained on, or the model is published.
pub(crate) fn train(run: &Run, config: &RunConfig, batches: usize) -> bool {
    let (stop, mut trained) = (Stop::never(), 0);
    let mut watch = |progress| {
        trained += usize::from(matches!(progress, TrainerEvent::Step { .. }));
        if trained == batches {
            stop.request();
        }
    };
    train_next(run, config, TRAIN_DEVICE, &stop, &mut watch).unwrap().is_some()
}

fn weights(run: &Run, number: u32) -> Weights {
    Weights::from_bytes(&run.models().get(number).unwrap().1).unwrap()
}

/// A run whose three models were trained without interruption.
fn whole(config: &RunConfig) -> Run {
    let run = run(config);
    (0..3).for_each(|_| assert!(train(&run, config, 99)));
    run
}

#[test]
fn every_model_has_the_network_that_its_run_says() {
    let config = config(0.05);
    let run = whole(&config);
    for number in 1..=3 {
        let network = config.network_of(number);
        let shape = Shape::new(&config.game, &network);
        assert_eq!((weights(&run, number).shape(), run.models().metadata(number).unwrap().network), (shape, network));
        let expected = if number == 1 { (1, 8, Inputs::Features) } else { (2, 12, Inputs::Tactics) };
        assert_eq!((network.blocks, network.filters, network.inputs), expected);
        assert_eq!(run.models().metadata(number).unwrap().step, 6 * u64::from(number));
    }
}

#[test]
fn grown_network_keeps_its_weights() {
    let config = config(1e-9);
    let run = whole(&config);
    let (small, large) = (weights(&run, 1), weights(&run, 2));
    let grown = small.grown(large.shape(), config.seed).unwrap();
    for name in ["stem.conv.weight", "blocks.0.first.conv.weight", "blocks.1.first.conv.weight", "policy.dense.weight"]
    {
        let pairs = grown.tensor(name).unwrap().iter().zip(large.tensor(name).unwrap());
        assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-6, "{name}");
    }
}

#[test]
fn stop_or_kill_during_growth_changes_no_weight() {
    let config = config(0.05);
    let whole = whole(&config);
    let run = run(&config);
    let finished: Vec<bool> = [6, 2, 2, 9, 1, 9].map(|batches| train(&run, &config, batches)).into();
    assert_eq!(finished, [true, false, false, true, false, true]);
    for number in 1..=3 {
        assert_eq!(run.models().get(number).unwrap(), whole.models().get(number).unwrap());
    }
    // Killed between checkpoint and model: model 2 of a run that has trained the third.
    let killed = self::run(&config);
    assert!(train(&killed, &config, 99));
    let halfway = self::run(&config);
    (0..2).for_each(|_| assert!(train(&halfway, &config, 99)));
    killed.checkpoints().publish(&halfway.checkpoints().newest().unwrap().unwrap()).unwrap();
    let stop = Stop::never();
    let metadata = train_next(&killed, &config, TRAIN_DEVICE, &stop, &mut |progress| panic!("{progress:?}")).unwrap();
    assert_eq!(metadata.unwrap().step, 12);
    assert_eq!(killed.models().get(2).unwrap(), whole.models().get(2).unwrap());
    assert!(train(&killed, &config, 99));
    assert_eq!(killed.models().get(3).unwrap(), whole.models().get(3).unwrap());
}

#[test]
fn growth_without_checkpoint_starts_from_newest_model() {
    let config = config(0.05);
    let whole = whole(&config);
    let run = run(&config);
    let (metadata, theirs) = whole.models().get(1).unwrap();
    run.models().publish(&metadata, theirs).unwrap();
    assert!(train(&run, &config, 99));
    assert_eq!(weights(&run, 2), weights(&whole, 2), "momentum begins at rest there either way");
}
