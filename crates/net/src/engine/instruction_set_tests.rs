//! Crate `cpu` with every instruction set in one process, where `ONEDNN_MAX_CPU_ISA` bounds the set of the whole one.

use expect_test::expect_file;
use go::{Game, Size, Symmetry};
use mcts::{Draw, Evaluator, Request, Ticket};
use record::synthetic;

use super::*;
use crate::Network;

const DEMO: &[u8] = include_bytes!("../../../../demo/9x9-demo.safetensors");
const SMALL: &[u8] = include_bytes!("../../tests/data/5x5.safetensors");

/// FNV-1a.
fn hash(numbers: &[u32]) -> u64 {
    testing::fnv(numbers.iter().flat_map(|bits| bits.to_le_bytes()))
}

/// A random game, stopped somewhere.
fn game(size: Size, index: u64) -> Game {
    let record = synthetic::game("made-1", "network", index, size, 9);
    let mut game = Game::new(record.size);
    record.turns.iter().take(index as usize % record.turns.len()).for_each(|turn| game.play(turn.mv).unwrap());
    game
}

/// The bits of the outputs to 16 made-up positions; a policy has its value at the end.
fn outputs(weights: &Weights, precision: Precision, set: InstructionSet, batch: usize) -> Vec<u32> {
    let engine = Engine::on_cpu(weights, precision, set).unwrap();
    let mut network = Network::new(weights.shape(), batch, engine.session());
    let submit = |index: u64| {
        let draw = Draw::new(Symmetry::ALL[index as usize % 8].index() as u64);
        network.submit(Request { game: &game(weights.shape().size, index), komi: 7.0, draw })
    };
    let tickets: Vec<Ticket> = (0..16).map(submit).collect();
    network.flush().unwrap();
    let bits = |ticket| {
        let answer = network.get(ticket);
        let numbers = answer.policy.iter().copied().chain([answer.value.black()]);
        numbers.map(f32::to_bits).collect::<Vec<_>>()
    };
    tickets.into_iter().flat_map(bits).collect()
}

/// Outputs that must be the same on every x86-64 CPU, with scales that the network's own games gave.
///
/// After a change that is meant to change them: `UPDATE_EXPECT=1`.
#[test]
fn outputs_are_golden_with_every_instruction_set_and_batch_size() {
    let text = |set: InstructionSet, batch: usize| {
        let mut text = String::new();
        for (name, file) in [("5x5", SMALL), ("9x9-demo", DEMO)] {
            let weights = Weights::from_bytes(file).unwrap();
            for precision in [Precision::F32, Precision::Int16] {
                text += &format!("{name} {precision} {:016x}\n", hash(&outputs(&weights, precision, set, batch)));
            }
        }
        text
    };
    let sets = testing::supported(InstructionSet::ALL, InstructionSet::is_available);
    for (set, batch) in sets.into_iter().zip([16, 64, 1, 7].into_iter().cycle()) {
        println!("{set}");
        expect_file!["../../tests/data/answers.txt"].assert_eq(&text(set, batch));
    }
}

#[test]
fn bf16_is_refused_with_an_instruction_set_of_crate_cpu() {
    let weights = Weights::from_bytes(SMALL).unwrap();
    let error = Engine::on_cpu(&weights, Precision::Bf16, InstructionSet::Portable).err().unwrap();
    assert_eq!(error.to_string(), "precision bf16 cannot be used in crate cpu; use auto, int16 or f32");
}
