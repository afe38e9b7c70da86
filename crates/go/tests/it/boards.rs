//! Short ways to write boards and moves.

use go::{Color, Game, Illegal, Move, Position, Size, Stones};

pub(crate) fn size(side: usize) -> Size {
    Size::new(side).expect("tests use real sizes")
}

pub(crate) fn position(side: usize, diagram: &str, to_move: Color) -> Position {
    testing::position(size(side), diagram, to_move)
}

pub(crate) fn game(side: usize, diagram: &str, to_move: Color) -> Game {
    Game::from_position(position(side, diagram, to_move))
}

pub(crate) fn stones(side: usize, diagram: &str) -> Stones {
    *position(side, diagram, Color::Black).stones()
}

pub(crate) fn vertex(size: Size, text: &str) -> Move {
    Move::from_gtp(size, text).unwrap_or_else(|| panic!("{text} is not on a board of {size}"))
}

/// Plays moves such as `B E5, W pass`.
pub(crate) fn play(game: &mut Game, moves: &str) {
    for step in moves.split(", ") {
        try_play(game, step).unwrap_or_else(|illegal| panic!("{step}: {illegal}\n{:?}", game.position()));
    }
}

/// Plays one move such as `B E5`.
pub(crate) fn try_play(game: &mut Game, step: &str) -> Result<(), Illegal> {
    let (color, text) = step.split_once(' ').expect("a colour and a vertex");
    game.set_to_move(if color == "B" { Color::Black } else { Color::White });
    let mv = vertex(game.size(), text);
    game.play(mv)
}

pub(crate) fn is_legal(game: &Game, text: &str) -> bool {
    game.is_legal(vertex(game.size(), text))
}
