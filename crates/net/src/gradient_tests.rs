//! Gradients of the whole network against differences of its loss, in f64.

use config::{Train, ValueLoss};
use go::{Size, Symmetry};
use record::{Example, synthetic};
use tch::{Kind, Tensor};

use crate::batch::Batch;
use crate::flat::Format;
use crate::loss::{LossConfig, loss};
use crate::mode::Mode;
use crate::step::BatchTensors;
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::tower::Tower;
use crate::{Shape, Targets, Weights};

/// How far a weight is moved to either side: the difference is then exact to about its square.
const STEP: f64 = 1e-6;
/// Weights of each tensor that are tried.
const TRIED: usize = 3;

fn shape() -> Shape {
    let plain = Shape { value_planes: 2, value_hidden: 8, ..Shape::plain(Size::new(5).unwrap()) };
    Shape { blocks: 2, filters: 4, ownership: true, score: true, ..plain }
}

fn train(changes: &[&str]) -> Train {
    let more = ["network.ownership=true", "network.score=true", "train.ownership_weight=0.7", "train.score_weight=0.3"];
    config::Preset::Minigo.with(&[&more[..], changes].concat()).unwrap().train
}

fn batch(shape: Shape, targets: &Targets) -> Batch {
    let games = (0..3).map(|index| synthetic::game("made-1", "worker", index, shape.size, 30));
    let examples: Vec<Example> = games.flat_map(|game| game.examples().unwrap()).step_by(5).take(12).collect();
    assert!(examples.iter().any(|example| example.area.is_some()), "there is something to learn of areas");
    let symmetries: Vec<Symmetry> = (0..examples.len()).map(|i| Symmetry::ALL[i % 8]).collect();
    Batch::encode(shape, &examples, targets, &symmetries).unwrap()
}

/// A tower on a CPU, and a batch for it.
fn tower_and_batch(shape: Shape, train: &Train, kind: Kind, format: Format) -> (Tower, BatchTensors) {
    let options = TensorOptions { device: tch::Device::Cpu, kind };
    let tower = Tower::new(&Weights::synthetic(shape, 5), options, format).unwrap();
    let targets = Targets {
        choice_moves: 0,
        policy: train.policy_target,
        policy_exponent: train.policy_exponent,
        ownership: true,
        opponent_policy: true,
    };
    let batch = BatchTensors::new(tower.options(), &batch(shape, &targets)).unwrap();
    (tower, batch)
}

/// The greatest difference between a gradient and what the loss does, by the size of the gradient.
fn error(shape: Shape, train: &Train, mode: Mode) -> f64 {
    let (tower, batch) = tower_and_batch(shape, train, Kind::Double, Format::Planes);
    let loss_config = LossConfig::new(train);
    let output = || tower.forward_there(&batch.planes, mode).unwrap();
    let cost = || loss(&output(), &batch.targets, &loss_config).unwrap().tensor;
    let trainable: Vec<&Tensor> = tower.trainable().map(|(_, tensor)| tensor).collect();
    let gradients = Tensor::run_backward(&[cost()], &trainable, false, false);
    let _no_gradients = tch::no_grad_guard();
    let mut worst: f64 = 0.0;
    for (tensor, gradient) in trainable.iter().zip(&gradients) {
        let (numbers, slopes) = (tensor.view([-1]), gradient.contiguous().view([-1]));
        let scale = f64::try_from(slopes.abs().max()).unwrap().max(1e-3);
        let count = numbers.numel();
        for index in (0..count).step_by(count.div_ceil(TRIED)) {
            let mut number = numbers.get(index as i64);
            let mut moved = |by: f64| {
                let _ = number.g_add_scalar_(by);
                f64::try_from(cost()).unwrap()
            };
            let difference = moved(STEP) - moved(-2.0 * STEP);
            moved(STEP);
            let slope = slopes.double_value(&[index as i64]);
            worst = worst.max((difference / (2.0 * STEP) - slope).abs() / scale);
        }
    }
    worst
}

#[test]
fn gradients_equal_finite_differences() {
    single();
    let losses: [&[&str]; 2] = [
        &["train.value_loss=squared", "train.outcome_fraction=0.6"],
        &["train.value_loss=cross-entropy", "train.outcome_fraction=0.9"],
    ];
    for changes in losses {
        let train = train(changes);
        for mode in [Mode::Training, Mode::Playing] {
            let error = error(shape(), &train, mode);
            assert!(error < 1e-5, "{:?} {mode:?}: {error:e}", train.value_loss);
        }
    }
    assert_eq!(train(losses[1]).value_loss, ValueLoss::CrossEntropy);
}

#[test]
fn gradients_are_right_whatever_a_network_is_made_of() {
    single();
    let train =
        train(&["train.value_loss=cross-entropy", "train.opponent_policy_weight=0.3", "train.outcome_fraction=0.6"]);
    for shape in Shape::samples(Size::new(5).unwrap()) {
        for mode in [Mode::Training, Mode::Playing] {
            let error = error(shape, &train, mode);
            assert!(error < 1e-5, "{shape} {mode:?}: {error:e}");
        }
    }
}

/// In f32 units are those of crate `cpu`, where it has loops for the processor; in f64 operations of libtorch. Where
/// rounding decides what a ReLU lets pass, a tensor can differ by some percent; such weights of a test need another
/// seed.
#[test]
fn gradients_in_f32_are_those_in_f64() {
    single();
    let train = train(&["train.opponent_policy_weight=0.3", "train.outcome_fraction=0.6"]);
    for shape in Shape::samples(Size::new(5).unwrap()) {
        let [found, expected] =
            [(Kind::Float, Format::Points), (Kind::Double, Format::Planes)].map(|(kind, format)| {
                let (tower, batch) = tower_and_batch(shape, &train, kind, format);
                let output = tower.forward_there(&batch.planes, Mode::Training).unwrap();
                let cost = loss(&output, &batch.targets, &LossConfig::new(&train)).unwrap().tensor;
                let trainable: Vec<&Tensor> = tower.trainable().map(|(_, tensor)| tensor).collect();
                Tensor::run_backward(&[cost], &trainable, false, false)
            });
        for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
            if expected.defined() {
                let length = |tensor: &Tensor| f64::try_from(tensor.norm()).unwrap();
                let error = length(&(found.to_kind(Kind::Double) - expected)) / length(expected).max(1e-6);
                assert!(error < 1e-3, "{shape}, tensor {index}: {error:e}");
            }
        }
    }
}
