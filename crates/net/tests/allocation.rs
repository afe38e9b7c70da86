//! Evaluation on a CPU allocates nothing, from a position to its policy.

use go::{Game, Symmetry};
use mcts::{Draw, Evaluator, Request, Ticket};
use net::{Device, Inputs, Model, Network, Precision, Shape, Weights};
use testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

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
