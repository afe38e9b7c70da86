//! An evaluation of a segment, decoded for a position that its first bytes play.
#![no_main]

use evalcache::{Steps, Tables, View};
use go::{Game, Move, Size, Symmetry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<u8>, &[u8])| {
    let (side, steps, moves, code) = input;
    let size = Size::new(2 + usize::from(side) % 18).expect("2 to 19 are sizes");
    let mut game = Game::new(size);
    for mv in moves.into_iter().take(40) {
        let mv = Move::from_index(size, usize::from(mv) % size.moves()).expect("the index is below the moves");
        if game.is_legal(mv) {
            game.play(mv).expect("the move is legal");
        }
    }
    let steps = [Steps::S256, Steps::S2048, Steps::Exact][usize::from(steps) % 3];
    let tables = Tables::flat(steps);
    let view = View::new(&game, Symmetry::ALL[code.len() % Symmetry::ALL.len()]);
    let mut policy = vec![0.0; size.moves()];
    let value = tables.decode(&view, code, &mut policy);
    if steps != Steps::Exact {
        assert!((-1.0..=1.0).contains(&value), "{value}");
        assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-3, "{policy:?}");
    }
});
