//! Ladders: atari after atari until a chain is caught or has three liberties.

use crate::cells::{Cells, Placed};
use crate::color::Color;
use crate::geometry::BEYOND;
use crate::point::Point;
use crate::point_set::PointSet;
use crate::point_state::Content;

/// A chain that is chased, on a board that is unchanged after every reading.
#[derive(Debug)]
pub(crate) struct Ladder<'a> {
    cells: &'a mut Cells,
    /// A stone of the chain, and its owner.
    prey: u16,
    owner: Color,
    /// Stones put down so far.
    stones: usize,
}

/// One or two liberties in order of index, or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Liberties {
    One(u16),
    Two([u16; 2]),
    More,
}

impl Ladder<'_> {
    /// Stones of the longest line that is read: who is not caught by then is free.
    const DEEPEST: usize = 30;
    /// Stones put down in all lines of one reading, a guard: who is not caught by then is free, too.
    const MOST: usize = 50;

    pub(crate) fn new(cells: &mut Cells, prey: u16, owner: Color) -> Ladder<'_> {
        Ladder { cells, prey, owner, stones: 0 }
    }

    /// Whether the chain, which has one liberty, is caught though its owner is to move.
    pub(crate) fn is_caught(&mut self) -> bool {
        self.caught_in_atari(Ladder::DEEPEST)
    }

    /// Whether the chain, which has two liberties, is caught when the hunter plays on the first of these; the other one is its
    /// way out.
    pub(crate) fn catches(&mut self, atari: u16, way_out: u16) -> bool {
        self.caught_by(atari, way_out, Ladder::DEEPEST)
    }

    /// The owner's turn: to extend, or to take hunters that are in atari themselves.
    fn caught_in_atari(&mut self, depth: usize) -> bool {
        if depth == 0 || self.stones > Ladder::MOST {
            return false;
        }
        let way = self.cells.head(self.prey).liberties.only().expect("the chain is in atari");
        // To extend first, because most chains get away by that.
        self.fails(way, true, depth) && {
            let captures = self.hunters_in_atari(way);
            captures.iter().all(|point| self.fails(point.index() as u16, false, depth))
        }
    }

    /// Whether the chain is caught though its owner plays here.
    fn fails(&mut self, way: u16, extends: bool, depth: usize) -> bool {
        self.stones += 1;
        // The empty points beside an extension are liberties whatever else it does.
        if extends && self.open_around(way).count() > 2 {
            return false;
        }
        if !self.cells.may_play(way, self.owner) {
            return true;
        }
        let placed = self.cells.play(way, self.owner);
        let liberties = if extends { self.after_extension(way, &placed) } else { self.liberties() };
        let fails = match liberties {
            Liberties::One(_) => true,
            Liberties::Two([a, b]) => self.caught_by(a, b, depth - 1) || self.caught_by(b, a, depth - 1),
            Liberties::More => false,
        };
        self.cells.take_back(&placed);
        fails
    }

    /// Whether the chain is caught once the hunter has played on one of its two liberties.
    fn caught_by(&mut self, atari: u16, way_out: u16, depth: usize) -> bool {
        let is_open = |&&at: &&u16| at != atari && self.cells.at(at).content == Content::Empty;
        if depth == 0 || self.cells.around(way_out).iter().filter(is_open).count() > 2 {
            return false;
        }
        self.stones += 1;
        if !self.cells.may_play(atari, self.owner.opponent()) {
            return false;
        }
        let placed = self.cells.play(atari, self.owner.opponent());
        let caught = self.caught_in_atari(depth - 1);
        self.cells.take_back(&placed);
        caught
    }

    /// Where the owner can take hunters beside the chain, but for its own liberty.
    fn hunters_in_atari(&self, liberty: u16) -> PointSet {
        let (mut found, hunter) = (PointSet::EMPTY, Content::stone(self.owner.opponent()));
        for stone in self.cells.chain(self.prey) {
            for &beside in self.cells.around(stone) {
                if self.cells.at(beside).content == hunter
                    && let Some(only) = self.cells.head(beside).liberties.only()
                {
                    found.insert(Point::at(only.into()));
                }
            }
        }
        found.remove(Point::at(liberty.into()));
        found
    }

    /// The liberties of the chain after a stone on its only one.
    fn after_extension(&self, way: u16, placed: &Placed) -> Liberties {
        if placed.has_captured() || placed.has_joined_several() {
            return self.liberties();
        }
        // The chain has those of the new stone.
        Liberties::of(self.open_around(way))
    }

    fn liberties(&self) -> Liberties {
        Liberties::of(self.cells.chain(self.prey).flat_map(|stone| self.open_around(stone)))
    }

    /// The empty points beside a stone.
    fn open_around(&self, stone: u16) -> impl Iterator<Item = u16> {
        self.cells.around(stone).iter().copied().filter(|&at| self.cells.at(at).content == Content::Empty)
    }
}

impl Liberties {
    /// From the liberties of a chain that has some, in any order and perhaps several times.
    fn of(points: impl Iterator<Item = u16>) -> Liberties {
        let mut found = [BEYOND; 2];
        for point in points {
            match found {
                [a, b] if point == a || point == b => {}
                [BEYOND, _] => found[0] = point,
                [_, BEYOND] => found[1] = point,
                _ => return Liberties::More,
            }
        }
        match found {
            [a, BEYOND] => Liberties::One(a),
            [a, b] => Liberties::Two([a.min(b), a.max(b)]),
        }
    }
}
