//! Exports evaluated by Leela Zero itself, and imports of its format: both outputs agree.
//!
//! `leelaz` is Debian's leela-zero 0.17 (`apt-get install leela-zero`). Its `heatmap` prints the network's output to
//! the position as it is, through no symmetry: probabilities in thousandths, rounded down, and 0 for every point with a
//! stone, the winrate of the side to move with six digits.

use std::fs::File;
use std::process::{Command, Stdio};

use go::{Color, Game, Size};
use mcts::{Draw, Evaluator, Request, Ticket};
use net::{Device, FileKind, Inputs, Network, Precision, Shape, Weights};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{GameRecord, synthetic};
use testing::{Tool, require};

const GAMES: u64 = 10;
const POSITIONS_A_GAME: usize = 10;
/// A printed thousandth stands for the middle of what it may have been; the rest is f32.
const PRECISION: f32 = 0.000_5 + 2e-6;
/// Six digits of a winrate, which is (1 + value)/2, and sums of f32 that leelaz adds up in another order.
const VALUE_PRECISION: f32 = 2e-5;

/// What leelaz reads: the board and the hidden values are compiled into it.
fn shape() -> Shape {
    let size = Size::new(19).unwrap();
    Shape { blocks: 2, filters: 16, policy_planes: 2, value_planes: 1, value_hidden: 256, ..Shape::plain(size) }
}

/// A policy of thousandths, points row by row from the top left and the pass last, and a value for the side to move.
type Answer = (Vec<f32>, f32);

/// The positions: some turns of some made-up games.
fn positions(mut visit: impl FnMut(&GameRecord, usize)) {
    for index in 0..GAMES {
        let record = synthetic::game("made-up", "leelaz", index, shape().size, 1);
        let every = record.turns.len() / POSITIONS_A_GAME;
        // An odd distance lets either side be to move.
        (0..POSITIONS_A_GAME).for_each(|n| visit(&record, n * ((every - 1) | 1)));
    }
}

/// The commands to leelaz: to play up to each position and show what the network thinks of it.
fn script() -> String {
    let (mut script, mut played) = (String::new(), 0);
    positions(|record, turn| {
        if turn == 0 {
            script += "clear_board\n";
            played = 0;
        }
        for (number, played) in record.turns.iter().enumerate().take(turn).skip(played) {
            let color = if GameRecord::to_move(number) == Color::Black { 'b' } else { 'w' };
            script += &format!("play {color} {}\n", played.mv.to_gtp(record.size));
        }
        played = turn;
        script += "heatmap\n";
    });
    script + "quit\n"
}

/// leelaz's output with this file of weights; `None` where that is skipped.
fn theirs(file: &[u8]) -> Option<Vec<Answer>> {
    let leelaz = require(Tool::LeelaZero)?;
    let folder = tempfile::tempdir().unwrap();
    let [weights, commands, said] = ["weights.txt", "commands", "said"].map(|name| folder.path().join(name));
    std::fs::write(&weights, file).unwrap();
    std::fs::write(&commands, script()).unwrap();
    let mut command = Command::new(leelaz);
    command.args(["--gtp", "--cpu-only", "--threads", "1", "--noponder", "--weights"]).arg(weights);
    let (input, output) = (File::open(commands).unwrap(), File::create(&said).unwrap());
    let status = command.stdin(input).stdout(Stdio::null()).stderr(output).env("HOME", folder.path()).status().unwrap();
    let said = std::fs::read_to_string(said).unwrap();
    assert!(status.success(), "{status}: {said}");
    Some(heatmaps(&said))
}

fn heatmaps(said: &str) -> Vec<Answer> {
    let (mut answers, mut policy) = (Vec::new(), Vec::new());
    let middle = |thousandths: f32| (thousandths + 0.5) / 1000.0;
    for line in said.lines() {
        let words: Option<Vec<f32>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        if let Some(row) = words.filter(|row| row.len() == shape().size.side()) {
            policy.extend(row.into_iter().map(middle));
        } else if let Some(pass) = line.strip_prefix("pass: ") {
            policy.push(middle(pass.trim().parse().unwrap()));
        } else if let Some(winrate) = line.strip_prefix("winrate: ") {
            answers.push((std::mem::take(&mut policy), 2.0 * winrate.trim().parse::<f32>().unwrap() - 1.0));
        }
    }
    answers
}

fn ours(weights: &Weights) -> Vec<Answer> {
    let mut network = Network::open(&weights.to_bytes(), Device::Cpu, Precision::F32, 10).unwrap();
    let mut games = Vec::new();
    positions(|record, turn| {
        let mut game = Game::new(record.size);
        record.turns.iter().take(turn).for_each(|turn| game.play(turn.mv).unwrap());
        let ticket = network.submit(Request { game: &game, komi: 7.0, draw: Draw::PLAIN });
        games.push((game, ticket));
    });
    network.flush().unwrap();
    let answer = |(game, ticket): &(Game, Ticket)| {
        let answer = network.get(*ticket);
        let mut policy = answer.policy.to_vec();
        game.stones_ago(0).unwrap().both().iter().for_each(|point| policy[point.index()] = 0.0);
        (policy, answer.value.mover(game.to_move()))
    };
    games.iter().map(answer).collect()
}

fn assert_alike(name: &str, ours: &[Answer], theirs: &[Answer]) {
    assert_eq!((ours.len(), theirs.len()), (100, 100));
    let (mut policy, mut value, mut likeliest) = (0.0f32, 0.0f32, 0.0f32);
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!((ours.0.len(), theirs.0.len()), (362, 362));
        let apart = ours.0.iter().zip(&theirs.0).map(|(a, b)| (a - b).abs());
        policy = apart.fold(policy, f32::max);
        value = value.max((ours.1 - theirs.1).abs());
        likeliest = ours.0.iter().copied().fold(likeliest, f32::max);
    }
    let values: Vec<f32> = ours.iter().map(|answer| answer.1).collect();
    let spread = values.iter().copied().fold(f32::MIN, f32::max) - values.iter().copied().fold(f32::MAX, f32::min);
    println!("{name}: largest differences {policy:.6} in the policy, {value:.7} in the value");
    println!("{name}: probabilities up to {likeliest:.3}, values over {spread:.3}");
    assert!(policy <= PRECISION && value <= VALUE_PRECISION, "{name}: {policy} {value}");
    // Outputs that are all alike would agree with anything.
    assert!(likeliest > 0.02 && spread > 0.05, "{name}: {likeliest} {spread}");
}

#[test]
fn leela_zero_agrees_with_its_exported_network() {
    let weights = Weights::synthetic(shape(), 5);
    let (file, difference) = FileKind::LeelaZero.write(&weights, &[]).unwrap();
    assert!(difference.positions >= 16, "{difference}");
    let Some(theirs) = theirs(&file) else { return };
    assert_alike("exported", &ours(&weights), &theirs);
}

#[test]
fn imported_network_agrees_with_leela_zero() {
    let file = foreign();
    let (_, weights, _) = FileKind::read(file.as_bytes()).unwrap();
    assert_eq!(weights.shape().inputs, Inputs::LeelaZero);
    let Some(theirs) = theirs(file.as_bytes()) else { return };
    assert_alike("imported", &ours(&weights), &theirs);
}

/// A file that no code of ours has written: all planes looked at, all biases there.
fn foreign() -> String {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut line = |count: usize, middle: f32, width: f32| {
        let numbers = (0..count).map(|_| format!("{:.7}", middle + width * (rng.random::<f32>() - 0.5)));
        numbers.collect::<Vec<String>>().join(" ") + "\n"
    };
    let mut text = "1\n".to_owned();
    let mut convolution = |text: &mut String, inputs: usize, outputs: usize| {
        // A uniform distribution of width w has the variance w²/12.
        *text += &line(inputs * outputs, 0.0, (24.0 / inputs as f32).sqrt());
        *text += &line(outputs, 0.0, 0.5);
        *text += &line(outputs, 0.0, 0.5);
        *text += &line(outputs, 1.0, 0.8);
    };
    for inputs in [18, 16, 16, 16, 16] {
        convolution(&mut text, inputs * 9, 16);
    }
    convolution(&mut text, 16, 2);
    let mut policy_and_value = [String::new(), String::new()];
    std::mem::swap(&mut policy_and_value[0], &mut text);
    convolution(&mut policy_and_value[1], 16, 1);
    let [mut text, value] = policy_and_value;
    text += &line(722 * 362, 0.0, 0.25);
    text += &line(362, 0.0, 0.5);
    text += &value;
    text += &line(361 * 256, 0.0, 0.25);
    text += &line(256, 0.0, 0.5);
    text += &line(256, 0.0, 0.25);
    text + &line(1, 0.0, 0.5)
}
