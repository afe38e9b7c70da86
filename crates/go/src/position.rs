//! One board: its stones, whose turn it is, and what a move does to it.

mod canonical;
mod chains;
mod error;

use std::fmt;

pub use error::PositionError;

use crate::color::Color;
use crate::geometry::BEYOND;
use crate::illegal::Illegal;
use crate::point::{Move, Point};
use crate::point_set::PointSet;
use crate::point_state::{Content, PointState};
use crate::size::{MAX_AREA, Size};
use crate::stones::Stones;
use crate::zobrist;

/// A board with the player to move. It knows nothing of the past, so nothing of superko; [`crate::Game`] does.
///
/// Every chain is a ring through `next` with one of its stones as head. It lives without the heap, so that a copy is
/// one move of memory.
#[derive(Clone)]
pub struct Position {
    size: Size,
    to_move: Color,
    stones: Stones,
    hash: u64,
    /// One cell a point; from the area on, cells that are not on the board.
    cells: [PointState; MAX_AREA + 1],
}

impl Position {
    /// The empty board with Black to move.
    pub fn empty(size: Size) -> Position {
        let mut cells = [PointState::BEYOND; MAX_AREA + 1];
        cells[..size.area()].fill(PointState::EMPTY);
        Position { size, to_move: Color::Black, stones: Stones::EMPTY, hash: 0, cells }
    }

    /// The board with these stones.
    ///
    /// # Errors
    /// When a point has two stones or is off the board, or a chain has no liberty.
    pub fn from_stones(size: Size, stones: &Stones, to_move: Color) -> Result<Position, PositionError> {
        if let Some(point) = (stones.black & stones.white).first() {
            return Err(PositionError::Overlap(point));
        }
        if let Some(point) = (stones.both() - PointSet::full(size)).first() {
            return Err(PositionError::OffBoard(point));
        }
        let mut position = Position::empty(size);
        position.to_move = to_move;
        for color in Color::BOTH {
            for point in stones.of(color) {
                position.place(point, color);
            }
        }
        match stones.both().iter().find(|&point| position.head(point).liberties.are_none()) {
            Some(point) => Err(PositionError::NoLiberties(point)),
            None => Ok(position),
        }
    }

    /// Makes this position equal to another; only the part that a board of that size uses is copied.
    pub fn copy_from(&mut self, other: &Position) {
        if self.size == other.size {
            let area = other.size.area();
            self.to_move = other.to_move;
            self.stones = other.stones;
            self.hash = other.hash;
            self.cells[..area].copy_from_slice(&other.cells[..area]);
        } else {
            self.clone_from(other);
        }
    }

    /// The size of the board.
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The player whose turn it is.
    pub const fn to_move(&self) -> Color {
        self.to_move
    }

    /// Gives the turn to a player.
    pub const fn set_to_move(&mut self, color: Color) {
        self.to_move = color;
    }

    /// The stone on a point.
    pub fn stone(&self, point: Point) -> Option<Color> {
        self.cells[point.index()].content.color()
    }

    /// All stones.
    pub const fn stones(&self) -> &Stones {
        &self.stones
    }

    /// The Zobrist hash of the stones, independent of the player to move; 0 for the empty board.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The points without a stone.
    pub fn empty_points(&self) -> PointSet {
        PointSet::full(self.size) - self.stones.both()
    }

    /// The stones of the chain at a point; none where there is no stone.
    pub fn chain(&self, point: Point) -> PointSet {
        self.chain_points(point).collect()
    }

    /// The number of different empty points next to the chain at a point; 0 where there is no stone.
    pub fn liberties(&self, point: Point) -> usize {
        (self.chain(point).neighbours(self.size) & self.empty_points()).len()
    }

    /// Plays a move for the player to move and gives the turn to the opponent. Returns the number of stones captured.
    ///
    /// # Errors
    /// When the point is occupied or the move is suicide; the position is then as before.
    pub fn play(&mut self, mv: Move) -> Result<usize, Illegal> {
        if let Move::Play(point) = mv {
            self.check(point)?;
        }
        Ok(self.play_checked(mv))
    }

    /// Plays a move that [`Position::check`] allows.
    pub(crate) fn play_checked(&mut self, mv: Move) -> usize {
        let captured = match mv {
            Move::Pass => 0,
            Move::Play(point) => {
                self.place(point, self.to_move);
                self.capture_around(point)
            }
        };
        self.to_move = self.to_move.opponent();
        captured
    }

    /// Whether the player to move may put a stone on a point, were it not for superko.
    pub(crate) fn check(&self, point: Point) -> Result<(), Illegal> {
        if self.cells[point.index()].content != Content::Empty {
            return Err(Illegal::Occupied(point));
        }
        let own = Content::stone(self.to_move);
        let breathes = self.around(point).iter().any(|&neighbour| {
            let cell = &self.cells[usize::from(neighbour)];
            match cell.content {
                Content::Empty => true,
                Content::Beyond => false,
                content => (content == own) != self.in_atari(cell),
            }
        });
        if breathes { Ok(()) } else { Err(Illegal::Suicide(point)) }
    }

    /// The hash after the player to move has put a stone on an empty point.
    pub(crate) fn hash_after(&self, point: Point) -> u64 {
        let other = self.to_move.opponent();
        let mut hash = self.hash ^ zobrist::key(self.to_move, point);
        let mut captured = [BEYOND; 4];
        for (i, &neighbour) in self.around(point).iter().enumerate() {
            let cell = &self.cells[usize::from(neighbour)];
            if cell.content == Content::stone(other) && self.in_atari(cell) && !captured.contains(&cell.head) {
                captured[i] = cell.head;
                for stone in self.chain_points(Point::at(usize::from(neighbour))) {
                    hash ^= zobrist::key(other, stone);
                }
            }
        }
        hash
    }
}

impl PartialEq for Position {
    /// Equal boards with the same player to move.
    fn eq(&self, other: &Position) -> bool {
        (self.size, self.to_move, &self.stones) == (other.size, other.to_move, &other.stones)
    }
}

impl Eq for Position {}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to move\n{self}", self.to_move)
    }
}
