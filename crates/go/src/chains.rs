//! The chains of a position.

use arrayvec::ArrayVec;

use crate::cells::Cells;
use crate::flood::Board;
use crate::point::Point;
use crate::point_set::PointSet;
use crate::size::{MAX_AREA, Size};
use crate::words::Words;

/// Chains by their stones.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    chains: ArrayVec<Chain, MOST>,
    /// The number of the chain of each stone, [`NONE`] elsewhere.
    numbers: [u16; MAX_AREA],
}

/// The stones of a chain and the empty points beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    stones: PointSet,
    liberties: PointSet,
}

/// Every chain has a liberty, and a liberty is beside four chains at most.
const MOST: usize = MAX_AREA * 4 / 5;
const NONE: u16 = u16::MAX;

impl Chains {
    #[inline]
    pub(crate) const fn none() -> Chains {
        Chains { chains: ArrayVec::new_const(), numbers: [NONE; MAX_AREA] }
    }

    /// Removes all chains, for a board of this size.
    pub(crate) fn clear(&mut self, size: Size) {
        self.chains.clear();
        self.numbers[..size.area()].fill(NONE);
    }

    /// Adds the chain of a stone, and returns its stones and liberties.
    #[inline]
    pub(crate) fn add<const W: usize>(
        &mut self,
        board: &Board<W>,
        cells: &Cells,
        stone: Point,
        empty: Words<W>,
    ) -> [Words<W>; 2] {
        let (mut stones, number) = (Words::EMPTY, self.chains.len() as u16);
        for stone in cells.chain(stone.index() as u16) {
            stones |= Words::point(Point::at(stone.into()));
            self.numbers[usize::from(stone)] = number;
        }
        let liberties = board.neighbours(stones) & empty;
        self.chains.push(Chain { stones: stones.set(), liberties: liberties.set() });
        [stones, liberties]
    }

    /// The chain of a stone; none at an empty point.
    #[inline]
    pub(crate) fn of(&self, stone: Point) -> Option<&Chain> {
        self.chains.get(usize::from(self.numbers[stone.index()]))
    }
}

impl Chain {
    #[inline]
    pub(crate) fn stones<const W: usize>(&self) -> Words<W> {
        Words::of(&self.stones)
    }

    #[inline]
    pub(crate) fn liberties<const W: usize>(&self) -> Words<W> {
        Words::of(&self.liberties)
    }
}
