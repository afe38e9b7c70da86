//! What a board keeps for each point, and the liberties of a chain.

use crate::color::Color;

/// What is on a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Black,
    White,
    Empty,
    /// Not a point of this board.
    Beyond,
}

impl Content {
    pub(crate) const fn stone(color: Color) -> Content {
        match color {
            Color::Black => Content::Black,
            Color::White => Content::White,
        }
    }

    pub(crate) const fn color(self) -> Option<Color> {
        match self {
            Content::Black => Some(Color::Black),
            Content::White => Some(Color::White),
            Content::Empty | Content::Beyond => None,
        }
    }
}

/// One point of the board. The fields after `content` mean something only where there is a stone, and `len` and
/// `liberties` only on the stone that is the head of its chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) content: Content,
    /// The stone that stands for the whole chain.
    pub(crate) head: u16,
    /// The next stone of the chain; the last leads back to the first.
    pub(crate) next: u16,
    /// Stones in the chain.
    pub(crate) len: u16,
    pub(crate) liberties: Liberties,
}

impl Cell {
    pub(crate) const BEYOND: Cell =
        Cell { content: Content::Beyond, head: 0, next: 0, len: 0, liberties: Liberties::NONE };
    pub(crate) const EMPTY: Cell = Cell { content: Content::Empty, ..Cell::BEYOND };
}

/// The pseudo-liberties of a chain: one for every pair of a stone and an empty point next to it.
///
/// They can be added and taken away without looking for repetitions, and three sums over their indices are enough to
/// know whether they are all the same point: by Cauchy and Schwarz, count times the sum of squares equals the square
/// of the sum exactly then. The sums wrap; the test looks at them only when there are at most four, which is all one
/// point can have, and four indices below 362 do not wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Liberties {
    count: u16,
    sum: u16,
    squares: u32,
}

impl Liberties {
    pub(crate) const NONE: Liberties = Liberties { count: 0, sum: 0, squares: 0 };

    pub(crate) fn add(&mut self, point: u16) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(point);
        self.squares = self.squares.wrapping_add(u32::from(point) * u32::from(point));
    }

    pub(crate) fn remove(&mut self, point: u16) {
        self.count -= 1;
        self.sum = self.sum.wrapping_sub(point);
        self.squares = self.squares.wrapping_sub(u32::from(point) * u32::from(point));
    }

    pub(crate) fn join(&mut self, other: Liberties) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.squares = self.squares.wrapping_add(other.squares);
    }

    pub(crate) fn are_none(self) -> bool {
        self.count == 0
    }

    /// Whether there is at most one liberty.
    pub(crate) fn are_one_point(self) -> bool {
        let sum = u32::from(self.sum);
        self.count <= 4 && u32::from(self.count).wrapping_mul(self.squares) == sum.wrapping_mul(sum)
    }
}
