//! Where the points of a board lie in memory.

use std::ops::RangeInclusive;

/// Sides of boards, as of crate `go`.
pub const SIDES: RangeInclusive<usize> = 2..=19;
/// Points along a tile of the output: F(3x3, 3x3) makes 3x3 outputs of 5x5 inputs.
pub(crate) const STEP: usize = 3;
/// Products of a tile, input and output channel: the numbers of a transformed tile.
pub(crate) const FREQUENCIES: usize = 25;
/// Channels are padded to a multiple of this many, the lanes of the widest vector.
pub(crate) const LANES: usize = 16;
/// Output channels that are multiplied and transformed back together.
pub(crate) const PANEL: usize = 32;

/// A square board in tiles of 3x3 points, with the zeros around it that a convolution sees.
///
/// Activations are f32 by position, row, column and channel; rows and columns are [`Board::padded`] many, and the board
/// begins at row 1 and column 1. Nothing is ever written beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    pub(crate) side: usize,
    /// Tiles along a side.
    pub(crate) tiles: usize,
}

impl Board {
    pub(crate) fn new(side: usize) -> Board {
        Board { side, tiles: side.div_ceil(STEP) }
    }

    pub(crate) fn area(self) -> usize {
        self.side * self.side
    }

    /// Rows and columns in memory.
    pub(crate) fn padded(self) -> usize {
        STEP * self.tiles + 2
    }

    /// Tiles of a position.
    pub(crate) fn columns(self) -> usize {
        self.tiles * self.tiles
    }

    /// Numbers of a position with so many channels.
    pub(crate) fn len(self, channels: usize) -> usize {
        self.padded() * self.padded() * channels
    }

    /// The index of the first channel of a point.
    pub(crate) fn index(self, position: usize, row: usize, column: usize, channels: usize) -> usize {
        let padded = self.padded();
        ((position * padded + row + 1) * padded + column + 1) * channels
    }
}

/// So many channels as they are in memory.
pub(crate) fn padded(channels: usize) -> usize {
    channels.next_multiple_of(LANES)
}
