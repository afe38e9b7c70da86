//! The boards of an example, rebuilt from the oldest of them and the moves since.

use go::{Position, Size, Stones};

use crate::{Example, ExampleError};

/// The boards that an example knows. One is reused from example to example, so that each costs neither a new board nor
/// space on the heap.
#[derive(Clone, Debug)]
pub struct Replay {
    position: Position,
    /// Oldest first.
    boards: Vec<Stones>,
}

impl Replay {
    /// The empty board.
    pub fn new(size: Size) -> Replay {
        Replay { position: Position::empty(size), boards: vec![Stones::EMPTY] }
    }

    /// Rebuilds the boards of an example, of any size.
    ///
    /// # Errors
    /// Stones that make no position, or a recent move that cannot be played. Boards and position then mean nothing
    /// until the next example is rebuilt.
    pub fn rebuild(&mut self, example: &Example) -> Result<(), ExampleError> {
        let Replay { position, boards } = self;
        boards.clear();
        boards.push(example.base);
        position.set_stones(example.size, &example.base, example.first()).map_err(|error| example.error(error))?;
        for &index in &example.recent {
            let mv = example.recent_move(index)?;
            position.play(mv).map_err(|why| example.unplayable(mv, why))?;
            boards.push(*position.stones());
        }
        Ok(())
    }

    /// The boards that can be known, newest first: min(7, turn) + 1 of them, the first being the present one.
    pub fn boards(&self) -> impl ExactSizeIterator<Item = &Stones> {
        self.boards.iter().rev()
    }

    /// The present board, with the player to move.
    pub fn position(&self) -> &Position {
        &self.position
    }
}
