//! Runs that begin with a model from elsewhere, or with human games.

use std::time::Duration;

use config::{LearningRate, Preset, RunConfig};
use cpu::Description;
use exit_class::{Classified, ExitClass};
use models::{Models, NamedWeights};
use net::{FileKind, Inputs, NetError, Shape, Weights};
use runtime::{Reporter, Silent, Stop, drive};
use serde_json::Value;
use store::{ModelMetadata, Run, SourceKind, Store};
use testing::killed;
use trainer::{Bootstrap, BootstrapOptions, HumanGames, InitialWeights, TrainerError, TrainerEvent};

use crate::logs::{logged, newest};
use crate::{TRAIN_DEVICE, config, examples, growing, publish, publish_two, run, train, train_next, train_some};

fn shape() -> Shape {
    Shape::new(&config().game, &config().network)
}

fn weights(seed: u64) -> Weights {
    Weights::synthetic(shape(), seed)
}

/// A beginning with a file of this name.
fn named(name: &str, bytes: Vec<u8>) -> InitialWeights {
    InitialWeights::new(NamedWeights { name: name.to_owned(), bytes: bytes.into(), metadata: None }).unwrap()
}

/// A beginning with weights in a file of Leela Zero's kind.
fn of_file(weights: &Weights) -> InitialWeights {
    named("net.txt", FileKind::LeelaZero.write(weights, &[]).unwrap().0)
}

/// Games in which both sides play the points of the board in order, and Black always wins.
pub(crate) fn collection(games: usize) -> Vec<u8> {
    let points = |first: usize| {
        let moves = (0..8).map(|n| (first + 3 * n) % 25).zip(0..);
        let letter = |n: usize| char::from(b'a' + n as u8);
        let turn = |(point, n): (usize, usize)| {
            format!(";{}[{}{}]", if n % 2 == 0 { 'B' } else { 'W' }, letter(point % 5), letter(point / 5))
        };
        moves.map(turn).collect::<String>()
    };
    (0..games).map(|n| format!("(;SZ[5]KM[{}.5]RE[B+R]{})\n", n / 25, points(n % 25))).collect::<String>().into_bytes()
}

fn human_games(games: usize) -> HumanGames {
    HumanGames::read(&config(), &[("games.sgf".to_owned(), collection(games))]).unwrap()
}

fn options(steps: u64) -> BootstrapOptions {
    BootstrapOptions { steps: Some(steps), time: Duration::MAX, eval_interval: 10 }
}

/// Drives a bootstrap until it is done or stopped.
fn bootstrap(
    run: &Run,
    beginning: Option<&InitialWeights>,
    human_games: &HumanGames,
    options: BootstrapOptions,
    stop: &Stop,
    reporter: impl Reporter<TrainerEvent>,
) -> Result<Option<ModelMetadata>, TrainerError> {
    drive(&mut Bootstrap::new(run, &config(), beginning, human_games, options, TRAIN_DEVICE, reporter)?, stop)?;
    Ok(run.models().newest()?.map(|number| run.models().metadata(number).unwrap()))
}

/// Trains on games until so many steps are taken here, or it is done.
fn bootstrap_until(run: &Run, steps: u64, stop_after: usize) -> (Option<ModelMetadata>, Vec<TrainerEvent>) {
    let (stop, mut events, mut taken) = (Stop::never(), Vec::new(), 0);
    let metadata = bootstrap(run, None, &human_games(100), options(steps), &stop, |event| {
        taken += usize::from(matches!(event, TrainerEvent::Step { .. }));
        if taken == stop_after {
            stop.request();
        }
        events.push(event);
    });
    (metadata.unwrap(), events)
}

#[test]
fn run_begins_with_a_file_and_continues_from_it() {
    let run = run();
    let before = weights(1);
    let metadata = of_file(&before).publish(&run, &config()).unwrap();
    assert_eq!((metadata.number, metadata.parent, metadata.step, metadata.origin.len()), (1, None, 0, 1));
    assert_eq!((metadata.origin[0].kind, metadata.origin[0].name.as_str()), (SourceKind::Weights, "net.txt"));
    assert_eq!(run.models().metadata(1).unwrap(), metadata);
    publish(&run, 2, &examples(2, 6 * 16), 40);
    let second = train(&run).unwrap();
    assert_eq!((second.number, second.parent, second.step, second.origin.len()), (2, Some(1), 6, 0));
    let error = of_file(&before).publish(&run, &config()).unwrap_err();
    assert!(matches!(&error, TrainerError::HasModels { newest } if newest.to_string() == "r-2"), "{error}");
}

/// A trainer that resumes would train on from its own weights, and publish another model 1.
#[test]
fn run_that_trains_its_first_model_begins_with_no_other() {
    let run = run();
    publish_two(&run);
    assert!(train_some(&run, 2).is_none());
    let imported = of_file(&weights(1)).publish(&run, &config());
    let bootstrapped = bootstrap(&run, None, &human_games(100), options(3), &Stop::never(), Silent);
    for error in [imported.unwrap_err(), bootstrapped.unwrap_err()] {
        let is_named = matches!(&error, TrainerError::InTraining { model, step: 2 } if model.to_string() == "r-1");
        assert!(is_named, "{error}");
    }
    assert_eq!(run.models().newest().unwrap(), None);
    assert_eq!(train(&run).unwrap().step, 6);
}

/// Two planes for whose turn it is are the network's own affair; training and its checkpoints keep them.
#[test]
fn network_of_leela_zeros_is_trained_further_with_its_planes() {
    let run = run();
    let theirs = Weights::synthetic(Shape { inputs: Inputs::LeelaZero, ..shape() }, 2);
    of_file(&theirs).publish(&run, &config()).unwrap();
    for number in [2, 3] {
        publish(&run, number, &examples(number, 6 * 16), 40);
        assert_eq!(train(&run).unwrap().number, number);
        let weights = Weights::from_bytes(&run.models().get(number).unwrap().1).unwrap();
        assert_eq!(weights.shape(), theirs.shape());
    }
}

#[test]
fn metadata_names_model_of_other_run() {
    let models = Models::new(Store::in_memory().unwrap());
    let [old, new] = ["old", "new"].map(|name| models.store().run(&name.parse().unwrap()));
    [&old, &new].into_iter().for_each(|run| run.create(&config()).unwrap());
    of_file(&weights(1)).publish(&old, &config()).unwrap();
    let beginning = InitialWeights::new(models.weights(&"old-1".parse().unwrap()).unwrap()).unwrap();
    let metadata = beginning.publish(&new, &config()).unwrap();
    assert_eq!((metadata.origin[0].kind, metadata.origin[0].name.as_str()), (SourceKind::Model, "old-1"));
    assert_eq!(new.models().get(1).unwrap().1, old.models().get(1).unwrap().1);
    for (id, problem) in [("old-2", "the newest of run old is old-1"), ("random", "random has no weights")] {
        let error = models.weights(&id.parse().unwrap()).err().unwrap();
        assert!(error.to_string().contains(problem), "{error}");
    }
}

/// Added weights are trained, too.
#[test]
fn model_grows_into_a_larger_tower_and_trains_there() {
    let run = run();
    let small = Shape { filters: shape().filters - 3, blocks: shape().blocks - 1, ..shape() };
    let beginning = |shape| named("small", Weights::synthetic(shape, 1).to_bytes());
    let metadata = beginning(small).grown(&config()).unwrap().publish(&run, &config()).unwrap();
    assert_eq!((metadata.network, metadata.origin[0].name.as_str()), (config().network, "small"));
    // The scales of what the new block adds, and what the policy takes from the new filters.
    let new = |number| {
        let weights = Weights::from_bytes(&run.models().get(number).unwrap().1).unwrap();
        let scales = format!("blocks.{}.second.norm.weight", small.blocks);
        let rows = weights.tensor("policy.conv.weight").unwrap().chunks(shape().filters);
        let taken: Vec<f32> = rows.flat_map(|row| row[small.filters..].to_vec()).collect();
        [weights.tensor(&scales).unwrap().to_vec(), taken].concat()
    };
    assert!(new(1).iter().all(|&number| number == 0.0));
    publish(&run, 2, &examples(2, 6 * 16), 40);
    assert_eq!(train(&run).unwrap().number, 2);
    assert!(new(2).iter().all(|&number| number != 0.0), "{:?}", new(2));
    let error = beginning(Shape { filters: 99, ..shape() }).grown(&config()).unwrap_err();
    assert!(matches!(&error, TrainerError::Weights { source: NetError::NotGrown { .. }, .. }), "{error}");
}

/// Only every second block pools, so the file does not say how many filters would.
#[test]
fn onnx_file_takes_widths_of_absent_layers_from_the_configuration() {
    let config = Preset::Tiny.with(&["network.blocks=1", "network.pooled_filters=6"]).unwrap();
    let shape = Shape::new(&config.game, &config.network);
    let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
    run.create(&config).unwrap();
    let network = Description::from_safetensors(&Weights::synthetic(shape, 1).to_bytes()).unwrap();
    let beginning = named("net.onnx", onnx::write(&network));
    assert_eq!(beginning.weights.shape(), Shape { pooled_filters: 0, ..shape.in_play() });
    let beginning = beginning.with_heads_of(&config).unwrap();
    beginning.publish(&run, &config).unwrap();
    assert_eq!(beginning.weights.shape(), shape);
}

#[test]
fn weights_of_another_shape_are_refused() {
    let run = run();
    let other = Weights::synthetic(Shape { filters: 9, ..shape() }, 1);
    let error = of_file(&other).publish(&run, &config()).unwrap_err();
    assert!(matches!(&error, TrainerError::Weights { name, source: NetError::OtherShape { .. } } if name == "net.txt"));
    assert_eq!(run.models().newest().unwrap(), None);
}

#[test]
fn bootstrap_from_sgf_publishes_model_1() {
    let run = run();
    let (metadata, events) = bootstrap_until(&run, 60, usize::MAX);
    let metadata = metadata.unwrap();
    assert_eq!((metadata.number, metadata.parent, metadata.step), (1, None, 60));
    assert_eq!((metadata.origin[0].kind, metadata.origin[0].name.as_str()), (SourceKind::Games, "games.sgf"));
    let look = |event: &TrainerEvent| match *event {
        TrainerEvent::Human { step, losses, constant, .. } => Some((step, losses, constant)),
        _ => None,
    };
    let looks: Vec<_> = events.iter().filter_map(look).collect();
    assert_eq!(looks.iter().map(|look| look.0).collect::<Vec<_>>(), [0, 10, 20, 30, 40, 50, 60]);
    // Black wins all games, which is what a constant knows of them.
    assert!(looks.iter().all(|look| look.2 == 0.0));
    let (first, last) = (looks[0].1, looks[6].1);
    assert!(last.policy < first.policy - 0.1 && last.value < first.value - 0.1, "{first:?}\n{last:?}");
    assert_eq!(run.logs().list().unwrap().len(), 2);
    assert_eq!(events.last(), Some(&TrainerEvent::Published { generation: 1, step: 60 }));
    // The run goes on from there.
    publish(&run, 2, &examples(2, 6 * 16), 40);
    assert_eq!(train(&run).unwrap().step, 66);
}

/// One game, all of whose points are Black's.
pub(crate) const COUNTED: &[u8] = b"(;SZ[5]KM[0.5]RU[Chinese]RE[B+24.5];B[cc];W[];B[])";

#[test]
fn bootstrap_trains_the_ownership_head() {
    let run = run();
    let overrides = ["network.ownership=true", "train.ownership_weight=0.5", "selfplay.holdout_fraction=0.0"];
    let config = RunConfig::from_toml_with(&config().to_toml(), &overrides).unwrap();
    let human_games = HumanGames::read(&config, &[("a.sgf".to_owned(), COUNTED.to_vec())]).unwrap();
    let mut ownership = Vec::new();
    let reporter = |event: TrainerEvent| {
        if let TrainerEvent::Step { losses, .. } = event {
            ownership.push(losses.ownership);
        }
    };
    let begun = Bootstrap::new(&run, &config, None, &human_games, options(2), TRAIN_DEVICE, reporter);
    drive(&mut begun.unwrap(), &Stop::never()).unwrap();
    assert!(ownership.len() == 2 && ownership.iter().all(|&loss| loss > 0.1), "{ownership:?}");
}

#[test]
fn stopped_bootstrap_resumes_to_the_same_model() {
    let (whole, parted) = (run(), run());
    assert!(bootstrap_until(&whole, 25, usize::MAX).0.is_some());
    assert_eq!(bootstrap_until(&parted, 25, 7).0, None);
    // What is under way is neither taken for a generation of training nor mixed with other games.
    let error = train_next(&parted, &config(), TRAIN_DEVICE, &Stop::never(), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("a bootstrap is in progress"), "{error}");
    let error = bootstrap(&parted, None, &human_games(50), options(25), &Stop::never(), Silent).unwrap_err();
    assert!(matches!(&error, TrainerError::OtherBootstrap { names, .. } if names == "games.sgf"), "{error}");
    assert_eq!(error.class(), ExitClass::Configuration);
    assert_eq!(bootstrap_until(&parted, 25, 9).0, None);
    assert!(bootstrap_until(&parted, 25, usize::MAX).0.is_some());
    assert_eq!(parted.models().get(1).unwrap(), whole.models().get(1).unwrap());
}

#[test]
fn run_with_a_bootstrap_in_progress_begins_with_no_other_model() {
    let run = run();
    assert_eq!(bootstrap_until(&run, 25, 7).0, None);
    let error = of_file(&weights(1)).publish(&run, &config()).unwrap_err();
    assert!(matches!(error, TrainerError::Bootstrapping { .. }), "{error}");
    let metadata = bootstrap_until(&run, 25, usize::MAX).0.unwrap();
    assert_eq!((metadata.number, metadata.step), (1, 25));
}

#[test]
fn bootstrap_stopped_while_it_measures_logs_that_step_once() {
    let (run, stop) = (run(), Stop::never());
    let stopped = bootstrap(&run, None, &human_games(100), options(25), &stop, |event: TrainerEvent| {
        if matches!(event, TrainerEvent::Human { step: 10, .. }) {
            stop.request();
        }
    });
    assert_eq!(stopped.unwrap(), None);
    assert!(bootstrap_until(&run, 25, usize::MAX).0.is_some());
    let logged: Vec<(String, u64)> = logged(&run).into_iter().filter(|&(_, step)| step == 10).collect();
    assert_eq!(logged, [("human".to_owned(), 10), ("train".to_owned(), 10)]);
}

#[test]
fn bootstrap_logs_the_rate_of_the_first_step_of_a_line() {
    let run = run();
    let mut config = config();
    let rates = [(0, 0.01), (5, 0.001)];
    config.train.learning_rate = rates.map(|(from_step, rate)| LearningRate { from_step, rate }).to_vec();
    let human_games = human_games(100);
    let begun = Bootstrap::new(&run, &config, None, &human_games, options(10), TRAIN_DEVICE, Silent);
    drive(&mut begun.unwrap(), &Stop::never()).unwrap();
    let (line, _) = newest(&run, "train");
    assert_eq!((&line["step"], &line["learning_rate"]), (&Value::from(10), &Value::from(0.01)));
    assert!(line["gradient_norm"].as_f64().unwrap() > 0.0, "{line}");
}

/// Lines may be lost.
#[test]
fn bootstrap_killed_at_any_write_logs_no_step_twice() {
    let human_games = human_games(100);
    let train = |run: &Run, stop_at: u64| {
        let stop = Stop::never();
        bootstrap(run, None, &human_games, options(3), &stop, |event: TrainerEvent| {
            if matches!(event, TrainerEvent::Step { step, .. } if step == stop_at) {
                stop.request();
            }
        })
    };
    for stop_at in [2, u64::MAX] {
        for writes in 0.. {
            let run = run();
            let survived = train(&killed(&run, writes), stop_at).is_ok();
            if run.models().newest().unwrap().is_none() {
                train(&run, u64::MAX).unwrap();
            }
            let logged = logged(&run);
            assert!(logged.windows(2).all(|pair| pair[0] != pair[1]), "after {writes} writes: {logged:?}");
            if survived {
                assert!(logged.contains(&("train".to_owned(), 3)), "{logged:?}");
                break;
            }
        }
    }
}

#[test]
fn bootstrap_may_begin_with_weights() {
    let run = run();
    let beginning = of_file(&weights(1));
    let (begun, human_games) = (Some(&beginning), human_games(100));
    let metadata = bootstrap(&run, begun, &human_games, options(3), &Stop::never(), Silent).unwrap().unwrap();
    let kinds: Vec<SourceKind> = metadata.origin.iter().map(|source| source.kind).collect();
    assert_eq!((kinds, metadata.step), (vec![SourceKind::Weights, SourceKind::Games], 3));
    let again = bootstrap(&run, begun, &human_games, options(3), &Stop::never(), Silent).unwrap_err();
    assert!(matches!(again, TrainerError::HasModels { .. }), "{again}");
}

/// By how much a model differs from the weights that its run began with.
fn moved(run: &Run, beginning: &InitialWeights) -> f32 {
    let newest = run.models().newest().unwrap().unwrap();
    let weights = Weights::from_bytes(&run.models().get(newest).unwrap().1).unwrap();
    let name = "policy.dense.weight";
    let pairs = beginning.weights.tensor(name).unwrap().iter().zip(weights.tensor(name).unwrap());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// After six steps with a decay of 0.999 the mean has gone less than 0.006 of the way. The trainer resumes after the
/// third.
#[test]
fn ema_of_a_run_that_begins_with_weights_keeps_them() {
    let beginning = of_file(&weights(1));
    let human_games = human_games(100);
    let [(bare, bare_bootstrapped), (mean, mean_bootstrapped)] = [0.0, 0.999].map(|decay| {
        let config = RunConfig::from_toml_with(&config().to_toml(), &[format!("train.ema_decay={decay:?}")]).unwrap();
        let trained = run();
        beginning.publish(&trained, &config).unwrap();
        publish(&trained, 2, &examples(2, 6 * 16), 40);
        assert!(!growing::train(&trained, &config, 3) && growing::train(&trained, &config, usize::MAX));
        let bootstrapped = run();
        let (begun, options) = (Some(&beginning), options(6));
        let mut bootstrap =
            Bootstrap::new(&bootstrapped, &config, begun, &human_games, options, TRAIN_DEVICE, Silent).unwrap();
        drive(&mut bootstrap, &Stop::never()).unwrap();
        (moved(&trained, &beginning), moved(&bootstrapped, &beginning))
    });
    assert!(mean > 0.0 && mean < 0.05 * bare, "{mean} {bare}");
    assert!(
        mean_bootstrapped > 0.0 && mean_bootstrapped < 0.05 * bare_bootstrapped,
        "{mean_bootstrapped} {bare_bootstrapped}"
    );
}

#[test]
fn bootstrap_stops_at_its_time_limit_after_one_step_at_least() {
    let run = run();
    // The first measurement takes longer than that.
    let options = BootstrapOptions { steps: None, time: Duration::ZERO, eval_interval: u64::MAX };
    let mut looks = Vec::new();
    let metadata = bootstrap(&run, None, &human_games(100), options, &Stop::never(), |event| {
        if let TrainerEvent::Human { step, .. } = event {
            looks.push(step);
        }
    });
    let metadata = metadata.unwrap().unwrap();
    assert_eq!((metadata.step, looks), (1, vec![0, 1]));
}

#[test]
fn games_are_held_out_by_what_is_in_them_and_counted() {
    let human_games = human_games(100);
    assert_eq!(human_games.games() + human_games.holdout_games(), 100);
    // A tenth of them; the standard deviation is 3.
    assert!((1..25).contains(&human_games.holdout_games()), "{}", human_games.holdout_games());
    assert_eq!(human_games.positions(), 8 * human_games.games());
    let twice = [collection(100), collection(100)].map(|bytes| ("games.sgf".to_owned(), bytes));
    assert_eq!(HumanGames::read(&config(), &twice).unwrap().games(), human_games.games());
}

#[test]
fn collections_of_no_use_are_named() {
    let read = |text: &str| HumanGames::read(&config(), &[("a.sgf".to_owned(), text.as_bytes().to_vec())]);
    let error = read("(;SZ[9]KM[0.5]RE[B+R];B[aa])").unwrap_err();
    assert_eq!(error.to_string(), "no game to train on: 1 unusable, 0 held out (selfplay.holdout_fraction)");
    let broken = [0x1f, 0x8b, 0];
    let error = HumanGames::read(&config(), &[("a.sgf.gz".to_owned(), broken.to_vec())]).unwrap_err();
    assert!(error.to_string().starts_with("a.sgf.gz: not a whole gzip file"), "{error}");
    let text = String::from_utf8(collection(30)).unwrap() + "(;SZ[5]KM[0.5];B[aa])\n";
    let human_games = read(&text).unwrap();
    assert_eq!(human_games.left_out, ["a.sgf, game 31: skipped: it has no result"]);
}
