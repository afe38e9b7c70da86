//! Evaluation on a CPU allocates nothing, from a position to its policy; calibration packs weights once.

use std::sync::{Mutex, PoisonError};

use go::{Game, Symmetry};
use mcts::{Draw, Evaluator, Request, Ticket};
use net::{Device, Inputs, Model, Network, Precision, Shape, Weights};
use record::{Example, synthetic};
use testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Held by each test, since bytes are counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

const BATCH: usize = 16;

/// Evaluates a batch of the position; the sum of the values.
fn evaluate(network: &mut Network, game: &Game, tickets: &mut Vec<Ticket>) -> f32 {
    tickets.clear();
    for symmetry in Symmetry::ALL.into_iter().cycle().take(BATCH) {
        tickets.push(network.submit(Request { game, komi: 7.0, draw: Draw::PLAIN.seen_in(symmetry) }));
    }
    network.flush().expect("the network answers");
    tickets.iter().map(|&ticket| network.get(ticket).value.black()).sum()
}

#[test]
fn network_allocates_only_for_its_first_batch() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let size = go::Size::new(9).expect("9 is a size");
    let mut game = Game::new(size);
    for row in 0..8 {
        let point = go::Point::new(size, row, (row * 5) % 9).expect("on the board");
        game.play(go::Move::Play(point)).expect("the point is empty");
    }
    for inputs in [Inputs::History, Inputs::Features, Inputs::Tactics] {
        let weights = Weights::synthetic(Shape { inputs, blocks: 1, filters: 8, ..Shape::plain(size) }, 1);
        for precision in [Precision::Int16, Precision::F32] {
            let model = Model::new(&weights, Device::Cpu, precision, BATCH).expect("every CPU has both precisions");
            let (mut network, mut tickets) = (model.network(), Vec::with_capacity(BATCH));
            let first = evaluate(&mut network, &game, &mut tickets);
            let before = ALLOCATOR.calls();
            let second = evaluate(&mut network, &game, &mut tickets);
            assert_eq!(ALLOCATOR.calls(), before, "{inputs}, {precision}");
            assert_eq!(first.to_bits(), second.to_bits());
        }
    }
}

/// Each thread had a copy of its own: 64 cores took 17 GB for a network of 20 blocks and 256 filters.
#[test]
fn threads_of_a_calibration_share_the_packed_network() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let size = go::Size::new(5).expect("5 is a size");
    let weights = Weights::synthetic(Shape { blocks: 4, filters: 64, ..Shape::plain(size) }, 1);
    let games = (0..).map(|index| synthetic::game("made-1", "worker", index, size, 50));
    let examples = games.flat_map(|game| game.examples().expect("made-up games are legal"));
    let examples: Vec<Example> = examples.take(2 * BATCH).collect();
    let bytes = |count: usize, threads: usize| {
        let weights = weights.clone();
        let before = ALLOCATOR.bytes();
        assert!(weights.calibrated(&examples[..count], threads).expect("activations are finite").has_scales());
        ALLOCATOR.bytes() - before
    };
    // Shares are whole rounds of 16 examples.
    let (one, two) = (bytes(BATCH, 2), bytes(2 * BATCH, 2));
    assert!(two < one + one / 2, "{two} bytes with two threads, {one} with one");
    // Each thread has buffers of its own.
    let alone = bytes(2 * BATCH, 1);
    assert!(alone < two, "{alone} bytes where one thread is permitted, {two} with two");
}
