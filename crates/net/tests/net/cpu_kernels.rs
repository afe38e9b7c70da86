//! Inference of crate `cpu` through the `Evaluator`: scales of int16, and how near it is to f32.

use go::{Size, Symmetry};
use net::{Device, Model, NetError, Precision, Weights};
use record::{Example, synthetic};

use crate::network::{answers, games_on};
use crate::{examples, kinds, tiny};

const DEMO: &[u8] = include_bytes!("../../../../demo/9x9-demo.safetensors");

/// The outputs to some made-up positions; a policy has its value at the end.
fn answers_of(model: &Model, count: usize) -> Vec<Vec<u32>> {
    let games = games_on(model.shape().size, count);
    let positions: Vec<_> = games.iter().enumerate().map(|(i, game)| (game, Symmetry::ALL[i % 8])).collect();
    answers(&mut model.network(), &positions)
}

#[test]
fn stored_scales_survive_the_file_and_change_outputs_slightly() {
    for shape in [[tiny()].as_slice(), &kinds(tiny())].concat() {
        let weights = Weights::synthetic(shape, 2);
        let calibrated = weights.clone().calibrated(&examples(100), 2).unwrap();
        let (file, plain) = (calibrated.to_bytes(), weights.to_bytes());
        assert_eq!(Weights::from_bytes(&file).unwrap(), calibrated);
        assert_eq!(calibrated.uncalibrated(), weights);
        let int16 = |file: &[u8]| answers_of(&Model::open(file, Device::Cpu, Precision::Auto, 8).unwrap(), 20);
        assert_ne!(int16(&file), int16(&plain), "the file's scales are in use");
        assert_eq!(
            int16(&plain),
            int16(&weights.clone().calibrated(&[], 1).unwrap().to_bytes()),
            "own games are the default"
        );
    }
}

#[test]
fn scales_do_not_depend_on_the_number_of_threads() {
    let (weights, examples) = (Weights::synthetic(tiny(), 2), examples(100));
    let [one, three, many] = [1, 3, 1000].map(|threads| weights.clone().calibrated(&examples, threads).unwrap());
    assert!(one.has_scales() && one == three && one == many);
}

#[test]
fn examples_of_another_board_are_not_used_for_calibration() {
    let game = synthetic::game("made-1", "worker", 1, Size::new(9).unwrap(), 50);
    let examples: Vec<Example> = game.examples().unwrap();
    let error = Weights::synthetic(tiny(), 1).calibrated(&examples, 1).unwrap_err();
    assert!(matches!(error, NetError::OtherBoard { .. }), "{error}");
}

/// The demo's scales come from games of its own; these positions are random, as none in its games are. The error was
/// 0.0019, and 0.011 at most; saturation of a layer makes tenths.
#[test]
fn own_games_calibrate_for_random_positions_too() {
    let weights = Weights::from_bytes(DEMO).unwrap();
    let [exact, int16] = [Precision::F32, Precision::Int16]
        .map(|precision| answers_of(&Model::new(&weights, Device::Cpu, precision, 64).unwrap(), 400));
    let values = |answers: &[Vec<u32>]| -> Vec<f32> { answers.iter().map(|all| f32::from_bits(all[82])).collect() };
    let apart: Vec<f32> = values(&exact).iter().zip(values(&int16)).map(|(one, other)| (one - other).abs()).collect();
    let mean_square = apart.iter().map(|apart| apart * apart).sum::<f32>() / apart.len() as f32;
    let most = apart.iter().copied().fold(0.0, f32::max);
    assert!(mean_square.sqrt() < 0.005 && most < 0.03, "{} {most}", mean_square.sqrt());
}
