//! The same steps by PyTorch.

use std::path::Path;
use std::process::Command;

use config::Optimizer;
use go::Symmetry;
use mcts::{Draw, Evaluator, Request};
use net::{Device, Model, Precision, Shape, Trainer, Weights};
use record::{Example, Replay};
use safetensors::tensor::{Dtype, TensorView};
use tempfile::TempDir;
use testing::{Tool, require};

use crate::network::games;
use crate::{TRAIN_DEVICE, examples, kinds, tiny, train_config};

fn shape() -> Shape {
    Shape { ownership: true, score: true, ..tiny() }
}

/// Writes tensors of f32 with a line of JSON about them.
fn write(path: &Path, about: &str, tensors: &[(&str, Vec<usize>, Vec<f32>)]) {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|(.., numbers)| numbers.iter().flat_map(|n| n.to_le_bytes()).collect()).collect();
    let views = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, dimensions, _), bytes)| (*name, TensorView::new(Dtype::F32, dimensions.clone(), bytes).unwrap()));
    let about = std::collections::HashMap::from([("tengen".to_owned(), about.to_owned())]);
    std::fs::write(path, safetensors::serialize(views, Some(about)).unwrap()).unwrap();
}

fn write_batch(path: &Path, about: &str, shape: Shape, examples: &[Example], targets: &net::Targets) {
    let Shape { size, inputs, .. } = shape;
    let count = examples.len();
    let mut replay = Replay::new(size);
    let mut seen = vec![0; count * inputs.len(size)];
    let mut opponent_moves = vec![0.0; count * size.moves()];
    let mut policies = vec![0.0; count * size.moves()];
    let mut ownership = vec![0.0; count * size.area()];
    let rows = seen.chunks_exact_mut(inputs.len(size)).zip(policies.chunks_exact_mut(size.moves()));
    for ((example, (planes, policy)), owners) in examples.iter().zip(rows).zip(ownership.chunks_exact_mut(size.area()))
    {
        inputs.of_example(example, Symmetry::Identity, &mut replay, planes).unwrap();
        targets.policy(example, Symmetry::Identity, policy).unwrap();
        assert!(targets.ownership(example, Symmetry::Identity, owners));
    }
    for (example, moves) in examples.iter().zip(opponent_moves.chunks_exact_mut(size.moves())) {
        targets.opponent_move(example, Symmetry::Identity, moves).unwrap();
    }
    // The outcome alone is the value target: `train.outcome_fraction` is 1.
    let values = examples.iter().map(|example| targets.value_sources(example).unwrap()[0]).collect();
    let scores = examples.iter().map(|example| targets.score(example).unwrap()).collect();
    let side = size.side();
    write(
        path,
        about,
        &[
            ("planes", vec![count, inputs.count(), side, side], seen.into_iter().map(f32::from).collect()),
            ("policies", vec![count, size.moves()], policies),
            ("opponent_moves", vec![count, size.moves()], opponent_moves),
            ("values", vec![count], values),
            ("ownership", vec![count, size.area()], ownership),
            ("scores", vec![count], scores),
        ],
    );
}

/// Positions and the outputs of the network that plays.
fn write_answers(path: &Path, weights: &Weights) {
    let mut network = Model::new(weights, Device::Cpu, Precision::F32, 8).unwrap().network();
    let games = games(20);
    let Shape { size, inputs, .. } = weights.shape();
    let mut seen = vec![0; games.len() * inputs.len(size)];
    let mut tickets = Vec::new();
    for (game, planes) in games.iter().zip(seen.chunks_exact_mut(inputs.len(size))) {
        inputs.of_game(game, 7.0, Symmetry::Identity, planes);
        tickets.push(network.submit(Request { game, komi: 7.0, draw: Draw::PLAIN }));
    }
    network.flush().unwrap();
    let policies = tickets.iter().flat_map(|&ticket| network.get(ticket).policy.to_vec()).collect();
    let values = games.iter().zip(&tickets).map(|(game, &ticket)| network.get(ticket).value.mover(game.to_move()));
    let (count, side) = (games.len(), size.side());
    write(
        path,
        "{}",
        &[
            ("planes", vec![count, inputs.count(), side, side], seen.into_iter().map(f32::from).collect()),
            ("policies", vec![count, size.moves()], policies),
            ("values", vec![count], values.collect()),
        ],
    );
}

#[test]
fn pytorch_trains_to_the_same_weights() {
    let Some(python) = require(Tool::PyTorch) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python/check_training.py");
    let counted: Vec<Example> = examples(600).into_iter().filter(|example| example.area.is_some()).take(48).collect();
    assert_eq!(counted.len(), 48);
    let [all, features] = kinds(shape());
    let mut folders = Vec::new();
    // Made-up weights of a network with squeezes make large numbers that cancel, and a steep loss.
    for (optimizer, rate, shape, slack) in [
        (Optimizer::Sgd, 0.02, shape(), 1),
        (Optimizer::Nesterov, 0.02, shape(), 1),
        (Optimizer::Muon, 0.1, shape(), 3),
        (Optimizer::Muon, 0.005, all, 10),
        (Optimizer::Nesterov, 0.0005, all, 10),
        (Optimizer::Sgd, 0.00002, features, 10),
    ] {
        let mut train_config = train_config(rate);
        train_config.train.optimizer = optimizer;
        (train_config.train.l2, train_config.train.ownership_weight, train_config.train.score_weight) =
            (1e-3, 0.5, 0.1);
        (train_config.targets.ownership, train_config.targets.opponent_policy) = (true, shape.opponent_policy);
        train_config.train.opponent_policy_weight = 0.3;
        let config::Train { momentum, l2, value_weight, ownership_weight, score_weight, .. } = train_config.train;
        let (rate, name) = (train_config.train.learning_rate[0].rate, format!("{optimizer:?}").to_lowercase());
        let about = format!(
            r#"{{"optimizer":"{name}","rate":{rate},"momentum":{momentum},"l2":{l2},
            "value_weight":{value_weight},"ownership_weight":{ownership_weight},"score_weight":{score_weight},
            "opponent_policy_weight":0.3,"slack":{slack}}}"#
        );
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        write_batch(&file("batch.safetensors"), &about, shape, &counted, &train_config.targets);
        let start = Weights::synthetic(shape, 11);
        std::fs::write(file("start.safetensors"), start.to_bytes()).unwrap();
        let mut trainer = Trainer::new(&start, 0, train_config, TRAIN_DEVICE).unwrap();
        for step in 1..=50 {
            trainer.step(&counted).unwrap();
            std::fs::write(file(&format!("after-{step}.safetensors")), trainer.weights().unwrap().to_bytes()).unwrap();
        }
        write_answers(&file("answers.safetensors"), &trainer.weights().unwrap());
        folders.push(folder);
    }
    // In one process, since PyTorch takes seconds to start.
    let output = Command::new(&python).arg(&script).args(folders.iter().map(TempDir::path)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.matches("in 50 steps").count(), folders.len(), "{said}");
}
