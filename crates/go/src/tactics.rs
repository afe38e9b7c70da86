//! What a single move would do to liberties, for every move at once: what a player sees without reading.

use arrayvec::ArrayVec;

use crate::color::Color;
use crate::geometry::around;
use crate::ladder::Ladder;
use crate::point::Point;
use crate::point_set::PointSet;
use crate::position::Position;
use crate::size::{MAX_AREA, Size};
use crate::stones::Stones;

/// The chains of a position and their liberties, found once for all questions about them. Does not allocate.
///
/// Superko is not asked for: a position does not know the past.
#[derive(Clone, Debug)]
pub struct Tactics {
    size: Size,
    stones: Stones,
    empty: PointSet,
    chains: ArrayVec<Chain, MAX_AREA>,
    /// The number of each stone's chain.
    chain_at: [u16; MAX_AREA],
}

#[derive(Clone, Debug)]
struct Chain {
    color: Color,
    stones: PointSet,
    liberties: PointSet,
}

/// What a stone of one player would do, were it that player's turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prospects {
    /// The empty points where it would be in a chain of one, two and three liberties, after what it captures.
    pub liberties: [PointSet; 3],
    /// Where it would capture.
    pub captures: PointSet,
    /// Where it must not be: it would have no liberty.
    pub suicides: PointSet,
}

impl Tactics {
    /// The chains of a position.
    pub fn new(position: &Position) -> Tactics {
        let (size, stones, empty) = (position.size(), *position.stones(), position.empty_points());
        let (mut chains, mut chain_at) = (ArrayVec::new(), [0; MAX_AREA]);
        for color in Color::BOTH {
            let mut rest = *stones.of(color);
            while let Some(first) = rest.first() {
                let chain = position.chain(first);
                rest -= chain;
                chain.iter().for_each(|point| chain_at[point.index()] = chains.len() as u16);
                chains.push(Chain { color, stones: chain, liberties: chain.neighbours(size) & empty });
            }
        }
        Tactics { size, stones, empty, chains, chain_at }
    }

    /// The stones of chains with so many liberties, from 1 on.
    pub fn with_liberties(&self, color: Color, count: usize) -> PointSet {
        let few = self.chains.iter().filter(|chain| chain.color == color && chain.liberties.len() == count);
        few.fold(PointSet::EMPTY, |all, chain| all | chain.stones)
    }

    /// What a stone of this player would do on each empty point.
    pub fn prospects(&self, color: Color) -> Prospects {
        let mut found = Prospects::default();
        for point in self.empty {
            let (liberties, captures) = self.after(point, color);
            if captures {
                found.captures.insert(point);
            }
            match liberties {
                0 => found.suicides.insert(point),
                1..=3 => found.liberties[liberties - 1].insert(point),
                _ => {}
            }
        }
        found
    }

    /// How many liberties the chain of a stone on this empty point would have, and whether it would capture.
    fn after(&self, point: Point, color: Color) -> (usize, bool) {
        let mut stones = PointSet::from_iter([point]);
        let (mut liberties, mut captured) = (PointSet::EMPTY, PointSet::EMPTY);
        for next in around(point, self.size) {
            if self.empty.contains(next) {
                liberties.insert(next);
                continue;
            }
            let chain = &self.chains[usize::from(self.chain_at[next.index()])];
            if chain.color == color {
                liberties |= chain.liberties;
                stones |= chain.stones;
            } else if chain.liberties.len() == 1 {
                captured |= chain.stones;
            }
        }
        liberties.remove(point);
        if !captured.is_empty() {
            liberties |= stones.neighbours(self.size) & captured;
        }
        (liberties.len(), !captured.is_empty())
    }

    /// The stones of a player that a ladder catches: of chains in atari that cannot get away though it is that player's turn,
    /// and of chains with two liberties if it is the opponent's turn. With these the opponent's moves that begin the latter.
    ///
    /// Only atari after atari is read, at most 30 stones deep and 50 in all for a chain and a first move: who is not caught
    /// by then is free. Kos are taken back at once in it.
    pub fn ladders(&self, color: Color) -> (PointSet, PointSet) {
        let (mut caught, mut moves) = (PointSet::EMPTY, PointSet::EMPTY);
        for chain in self.chains.iter().filter(|chain| chain.color == color) {
            let prey = chain.stones.first().expect("a chain has stones");
            let ladder = || Ladder::new(self.size, *self.stones.of(color), *self.stones.of(color.opponent()), prey);
            match chain.liberties.len() {
                1 if ladder().is_caught() => caught |= chain.stones,
                2 => {
                    let working: PointSet =
                        chain.liberties.iter().filter(|&atari| ladder().catches(atari, chain.liberties)).collect();
                    if !working.is_empty() {
                        caught |= chain.stones;
                        moves |= working;
                    }
                }
                _ => {}
            }
        }
        (caught, moves)
    }
}
