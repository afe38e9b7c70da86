//! The network from outside: files, play and training. One binary, for linking libtorch takes its time.

#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod convert;
mod cpu_kernels;
mod golden;
mod gpu;
mod instruction_sets;
mod leelaz;
mod network;
mod parity;
mod planes;
mod training;
mod weights;

use config::{LearningRate, PolicyHead, PolicyTarget, Preset, Train, ValueHead};
use go::Size;
use net::{Device, Inputs, Model, NetError, Precision, Shape, Targets, TrainConfig, TrainDevice, Weights};
use record::{Example, synthetic};

/// A network that takes no time.
fn tiny() -> Shape {
    Shape {
        blocks: 1,
        filters: 8,
        policy_planes: 2,
        value_planes: 1,
        value_hidden: 16,
        ..Shape::plain(Size::new(5).unwrap())
    }
}

/// Networks of other kinds, which have everything there is between them.
fn kinds(plain: Shape) -> [Shape; 2] {
    let all = Shape { blocks: 2, se_channels: 4, pooled_filters: 3, opponent_policy: true, ..plain };
    let (policy_head, value_head) = (PolicyHead::Convolution, ValueHead::WinDrawLoss);
    let heads = Shape { policy_planes: 16, policy_head, value_planes: 3, value_head, value_pooled: true, ..all };
    [all, Shape { inputs: Inputs::Features, ..heads }]
}

/// The precisions to test with. Where the CPU has no kernels for bf16, the skip is recorded.
fn precisions() -> Vec<Precision> {
    let others = vec![Precision::F32, Precision::Int16];
    match Model::new(&Weights::random(tiny(), 1), Device::Cpu, Precision::Bf16, 1) {
        Ok(_) => [others, vec![Precision::Bf16]].concat(),
        Err(NetError::NoBf16 { .. }) => {
            testing::unsupported("bf16");
            others
        }
        Err(error) => panic!("{error}"),
    }
}

/// Examples of made-up games on the board of [`tiny`].
fn examples(count: usize) -> Vec<Example> {
    let games = (0..).map(|index| synthetic::game("made-1", "worker", index, tiny().size, 50));
    games.flat_map(|game| game.examples().unwrap()).take(count).collect()
}

fn train_config(rate: f32) -> TrainConfig {
    TrainConfig {
        train: Train {
            batch: 32,
            steps: 1,
            l2: 0.0,
            augment_symmetries: false,
            learning_rate: vec![LearningRate { from_step: 0, rate }],
            ..Preset::Minigo.config().train
        },
        targets: Targets {
            choice_moves: 2,
            policy: PolicyTarget::SquashedSampled,
            policy_exponent: 0.98,
            ownership: false,
            opponent_policy: false,
        },
        seed: 7,
        ema_warm_up: true,
    }
}

const TRAIN_DEVICE: TrainDevice = TrainDevice { device: Device::Cpu, precision: Precision::F32, threads: 1 };
