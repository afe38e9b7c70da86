//! One board: its stones, the player to move, and the effect of a move.

mod canonical;
mod error;

use std::fmt;

pub use error::PositionError;

use crate::cells::Cells;
use crate::color::Color;
use crate::geometry::BEYOND;
use crate::illegal::Illegal;
use crate::point::{Move, Point};
use crate::point_set::PointSet;
use crate::point_state::Content;
use crate::size::Size;
use crate::stones::Stones;
use crate::symmetry::Symmetry;
use crate::zobrist;

/// A board with the player to move. It knows nothing of the past, so nothing of superko; [`crate::Game`] does.
///
/// It lives without the heap, so that a copy is one move of memory.
#[derive(Clone)]
pub struct Position {
    to_move: Color,
    stones: Stones,
    /// The hashes of the stones and their images under all symmetries.
    hashes: [u64; 8],
    cells: Cells,
}

impl Position {
    /// The empty board with Black to move.
    pub fn empty(size: Size) -> Position {
        Position { to_move: Color::Black, stones: Stones::EMPTY, hashes: [0; 8], cells: Cells::empty(size) }
    }

    /// The board with these stones.
    ///
    /// # Errors
    /// When a point has two stones or is off the board, or a chain has no liberty.
    pub fn from_stones(size: Size, stones: &Stones, to_move: Color) -> Result<Position, PositionError> {
        let mut position = Position::empty(size);
        position.set_stones(size, stones, to_move)?;
        Ok(position)
    }

    /// Makes this the board with these stones, which saves a new one.
    ///
    /// # Errors
    /// As [`Position::from_stones`]. After [`PositionError::NoLiberties`] this board has those stones and must not be
    /// played on.
    pub fn set_stones(&mut self, size: Size, stones: &Stones, to_move: Color) -> Result<(), PositionError> {
        if let Some(point) = (stones.black & stones.white).first() {
            return Err(PositionError::Overlap(point));
        }
        if let Some(point) = (stones.both() - PointSet::full(size)).first() {
            return Err(PositionError::OffBoard(point));
        }
        (self.to_move, self.stones, self.hashes) = (to_move, *stones, [0; 8]);
        self.cells.clear(size);
        for color in Color::BOTH {
            for point in stones.of(color) {
                change_hashes(&mut self.hashes, size, color, point);
                self.cells.place(point.index() as u16, color);
            }
        }
        let bare = |point: &Point| self.cells.head(point.index() as u16).liberties.are_none();
        match stones.both().iter().find(bare) {
            Some(point) => Err(PositionError::NoLiberties(point)),
            None => Ok(()),
        }
    }

    /// Makes this position equal to another; only the part that a board of that size uses is copied.
    pub fn copy_from(&mut self, other: &Position) {
        self.to_move = other.to_move;
        self.stones = other.stones;
        self.hashes = other.hashes;
        self.cells.copy_from(&other.cells);
    }

    /// The size of the board.
    pub const fn size(&self) -> Size {
        self.cells.size()
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
        self.cells.at(point.index() as u16).content.color()
    }

    /// All stones.
    pub const fn stones(&self) -> &Stones {
        &self.stones
    }

    /// The Zobrist hash of the stones, independent of the player to move; 0 for the empty board.
    pub const fn hash(&self) -> u64 {
        self.hashes[Symmetry::Identity.index()]
    }

    /// The points without a stone.
    pub fn empty_points(&self) -> PointSet {
        PointSet::full(self.size()) - self.stones.both()
    }

    /// The stones of the chain at a point; none where there is no stone.
    pub fn chain(&self, point: Point) -> PointSet {
        let stone = self.stone(point).map(|_| point.index() as u16);
        stone.into_iter().flat_map(|stone| self.cells.chain(stone)).map(|at| Point::at(at.into())).collect()
    }

    /// The number of different empty points next to the chain at a point; 0 where there is no stone.
    pub fn liberties(&self, point: Point) -> usize {
        (self.chain(point).neighbours(self.size()) & self.empty_points()).len()
    }

    /// Whether the chain at a point has one liberty; false where there is no stone.
    #[inline]
    pub fn in_atari(&self, point: Point) -> bool {
        let cell = self.cells.at(point.index() as u16);
        cell.content.color().is_some() && self.cells.in_atari(cell)
    }

    /// Pairs of a stone of the chain at a point and an empty point next to it, which costs no search as
    /// [`Position::liberties`] does; 0 where there is no stone.
    #[inline]
    pub fn pseudo_liberties(&self, point: Point) -> usize {
        let stone = point.index() as u16;
        if self.stone(point).is_some() { self.cells.head(stone).liberties.count() } else { 0 }
    }

    /// Plays a move for the player to move and gives the turn to the opponent. Returns the number of stones captured.
    ///
    /// # Errors
    /// When the point is occupied or the move is suicide; the position is then unchanged.
    pub fn play(&mut self, mv: Move) -> Result<usize, Illegal> {
        if let Move::Play(point) = mv {
            self.check(point)?;
        }
        Ok(self.play_checked(mv))
    }

    /// Plays a move that [`Position::check`] allows.
    pub(crate) fn play_checked(&mut self, mv: Move) -> usize {
        let (color, other) = (self.to_move, self.to_move.opponent());
        self.to_move = other;
        let Move::Play(point) = mv else { return 0 };
        let taken = self.cells.play(point.index() as u16, color);
        change_hashes(&mut self.hashes, self.cells.size(), color, point);
        self.stones.of_mut(color).insert(point);
        let mut captured = 0;
        for stone in self.cells.captured(&taken) {
            let stone = Point::at(stone.into());
            change_hashes(&mut self.hashes, self.cells.size(), other, stone);
            self.stones.of_mut(other).remove(stone);
            captured += 1;
        }
        captured
    }

    pub(crate) const fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Whether the player to move may put a stone on a point, were it not for superko.
    pub(crate) fn check(&self, point: Point) -> Result<(), Illegal> {
        let at = point.index() as u16;
        if self.cells.at(at).content != Content::Empty {
            return Err(Illegal::Occupied(point));
        }
        if self.cells.may_play(at, self.to_move) { Ok(()) } else { Err(Illegal::Suicide(point)) }
    }

    /// The hash after the player to move has put a stone on an empty point.
    pub(crate) fn hash_after(&self, point: Point) -> u64 {
        let other = self.to_move.opponent();
        let mut hash = self.hash() ^ zobrist::key(self.to_move, point);
        let mut captured = [BEYOND; 4];
        for (i, &neighbour) in self.cells.around(point.index() as u16).iter().enumerate() {
            let cell = self.cells.at(neighbour);
            if cell.content == Content::stone(other) && self.cells.in_atari(cell) && !captured.contains(&cell.head) {
                captured[i] = cell.head;
                for stone in self.cells.chain(neighbour) {
                    hash ^= zobrist::key(other, Point::at(stone.into()));
                }
            }
        }
        hash
    }
}

/// Puts a stone into the hashes of a board and its images, or takes it out.
fn change_hashes(hashes: &mut [u64; 8], size: Size, color: Color, stone: Point) {
    for (hash, key) in hashes.iter_mut().zip(zobrist::image_keys(size, color, stone)) {
        *hash ^= key;
    }
}

impl PartialEq for Position {
    /// Equal boards with the same player to move.
    fn eq(&self, other: &Position) -> bool {
        (self.size(), self.to_move, &self.stones) == (other.size(), other.to_move, &other.stones)
    }
}

impl Eq for Position {}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to move\n{self}", self.to_move)
    }
}
