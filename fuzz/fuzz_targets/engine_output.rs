//! Output of other programs: responses by the Go Text Protocol, and by KataGo's analysis protocol.
#![no_main]

use go::{Game, Move, Size};
use gtp::engines::read_output;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let size = Size::new(9).expect("9 is a size");
    // A response of any text is a result.
    for (_move, margin) in read_output(bytes, size) {
        assert!(margin.is_none_or(f32::is_finite));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut game = Game::new(size);
    for vertex in ["E5", "C3", "G7", "C7"] {
        game.play(Move::from_gtp(size, vertex).expect("the board has the vertex")).expect("the move is legal");
    }
    for line in text.lines() {
        // An error is a result; a position has moves, and its value is one.
        if let Ok(Some(position)) = study::read_response(line, &game, 7.0) {
            assert!((-1.0..=1.0).contains(&position.value), "{}", position.value);
            assert!(!position.visits.is_empty());
            assert!(position.visits.iter().all(|&(mv, visits)| game.is_legal(mv) && visits > 0));
        }
    }
});
