//! The effect of every single move on liberties, which a player sees without reading.

use crate::chains::Chains;
use crate::color::Color;
use crate::flood::{Board, on_board};
use crate::ladder::{Chase, Ladder};
use crate::point::Point;
use crate::point_set::{PointSet, WORDS};
use crate::position::Position;
use crate::size::Size;
use crate::stones::Stones;
use crate::words::{Few, Words};

/// The chains of a position and their liberties, found once for all questions about them. Does not allocate.
///
/// It is large, for any board fits in it, but of that little is used: [`Tactics::set`] is much faster than
/// [`Tactics::new`], which copies all of it.
///
/// Superko is not considered: a position does not know the past.
#[derive(Clone, Debug)]
pub struct Tactics {
    size: Size,
    stones: Stones,
    chains: Chains,
    /// Of each colour.
    counts: [Counts; 2],
}

/// The stones of a colour by the liberties of their chains, of which [`MANY`] stand for more as well.
#[derive(Clone, Copy, Debug)]
struct Counts {
    stones: [PointSet; MANY + 1],
    /// The liberties of chains with one.
    last: PointSet,
}

/// A chain with so many liberties has four even after a stone on one of them.
const MANY: usize = 5;

impl Counts {
    const NONE: Counts = Counts { stones: [PointSet::EMPTY; MANY + 1], last: PointSet::EMPTY };
}

/// The effect of a stone of one player, were it that player's turn.
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
    /// The chains of a position, copied.
    pub fn new(position: &Position) -> Tactics {
        let mut tactics = Tactics::empty(position.size());
        tactics.set(position);
        tactics
    }

    /// The chains of an empty board.
    pub fn empty(size: Size) -> Tactics {
        Tactics { size, stones: Stones::EMPTY, chains: Chains::none(), counts: [Counts::NONE; 2] }
    }

    /// Makes these the chains of a position.
    pub fn set(&mut self, position: &Position) {
        (self.size, self.stones) = (position.size(), *position.stones());
        self.chains.clear(self.size);
        on_board!(self.size, board => self.find_chains(position, &board));
    }

    fn find_chains<const W: usize>(&mut self, position: &Position, board: &Board<W>) {
        let empty = board.all() - Words::of(&self.stones.both());
        for color in Color::BOTH {
            // By index, since a branch on the number of liberties cannot be predicted.
            let [mut stones_by_count, mut liberties_by_count] = [[Words::<W>::EMPTY; MANY + 1]; 2];
            let mut rest = Words::<W>::of(self.stones.of(color));
            while let Some(first) = rest.first() {
                let [stones, liberties] = self.chains.add(board, position.cells(), first, empty);
                rest -= stones;
                let count = liberties.len().min(MANY);
                stones_by_count[count] |= stones;
                liberties_by_count[count] |= liberties;
            }
            let (stones, last) = (stones_by_count.map(Words::set), liberties_by_count[1].set());
            self.counts[color.index()] = Counts { stones, last };
        }
    }

    /// The stones of chains with so many liberties, from 1 to 3.
    pub fn with_liberties(&self, color: Color, count: usize) -> PointSet {
        self.counts[color.index()].stones[count]
    }

    /// The effect of a stone of this player on each empty point.
    pub fn prospects(&self, color: Color) -> Prospects {
        on_board!(self.size, board => self.prospects_on(&board, color))
    }

    fn prospects_on<const W: usize>(&self, board: &Board<W>, color: Color) -> Prospects {
        let [own, theirs]: [Words<W>; 2] = self.sides(color);
        let empty = board.all() - own - theirs;
        let captures = Words::<W>::of(&self.counts[color.opponent().index()].last);
        // A stone beside a chain with many liberties has many, and a stone alone has the empty points beside it.
        let has_many = board.neighbours(Words::of(&self.counts[color.index()].stones[MANY]));
        let of_interest = empty - has_many;
        let joining = of_interest & (board.neighbours(own) | captures);
        let alone = of_interest - joining;
        let [none, one, two, three] = board.beside(empty).map(|points| points & alone);
        let mut found = [none, one, two, three, Words::EMPTY];
        for point in joining.iter() {
            let around = board.around(point);
            let mut liberties = around & empty;
            for chain in (around & own).iter().filter_map(|stone| self.chains.of(stone)) {
                liberties |= chain.liberties();
            }
            liberties -= Words::point(point);
            if captures.contains(point) {
                liberties |= self.freed(board, point, own, theirs);
            }
            found[liberties.len().min(4)] |= Words::point(point);
        }
        let [suicides, one, two, three, _] = found.map(Words::set);
        Prospects { liberties: [one, two, three], captures: captures.set(), suicides }
    }

    /// The points that a stone on this one would capture beside its chain.
    fn freed<const W: usize>(&self, board: &Board<W>, point: Point, own: Words<W>, theirs: Words<W>) -> Words<W> {
        let around = board.around(point);
        let chains = |stones: Words<W>| stones.iter().filter_map(|stone| self.chains.of(stone));
        let joined = chains(around & own).fold(Words::point(point), |all, chain| all | chain.stones());
        let captured = chains(around & theirs).filter(|chain| !chain.liberties::<W>().has_several());
        captured.fold(Words::<W>::EMPTY, |all, chain| all | chain.stones()) & board.neighbours(joined)
    }

    /// The stones of a player that a ladder catches: of chains in atari that cannot get away though it is that player's
    /// turn, and of chains with two liberties if it is the opponent's turn. With these the opponent's moves that begin
    /// the latter.
    ///
    /// Only atari after atari is read, at most 30 stones deep and about 50 in all for a chain and a first move: who is
    /// not caught by then is free. Kos are taken back at once in it. Lines are tried in the order of their points. So
    /// where 50 stones are not enough, the ladders of an image of the board may be others.
    pub fn ladders(&self, color: Color) -> (PointSet, PointSet) {
        on_board!(self.size, board => self.ladders_on(&board, color))
    }

    fn ladders_on<const W: usize>(&self, board: &Board<W>, color: Color) -> (PointSet, PointSet) {
        let [mut caught, mut moves] = [Words::<W>::EMPTY; 2];
        let sides @ [own, _] = self.sides(color);
        let in_atari = Words::of(&self.with_liberties(color.opponent(), 1));
        let mut rest = Words::<W>::of(&(self.with_liberties(color, 1) | self.with_liberties(color, 2)));
        while let Some(chain) = rest.first().and_then(|stone| self.chains.of(stone)) {
            let prey = chain.stones();
            rest -= prey;
            let chase = Chase::new(board, sides, prey, in_atari);
            let ladder = || Ladder::new(board, &self.chains);
            match chain.liberties::<W>().few() {
                Few::One(way_out) => {
                    if !self.finds_help(board, own - prey, [way_out; 2]) && ladder().is_caught(&chase, way_out) {
                        caught |= prey;
                    }
                }
                Few::Two([a, b]) => {
                    for [atari, way_out] in [[a, b], [b, a]] {
                        if !self.finds_help(board, own - prey, [way_out, atari])
                            && ladder().catches(&chase, atari, way_out)
                        {
                            caught |= prey;
                            moves |= Words::point(atari);
                        }
                    }
                }
                Few::None | Few::More => {}
            }
        }
        (caught.set(), moves.set())
    }

    /// Whether a chain that extends to the first of these points joins one of these that has three liberties without
    /// them: nothing has to be read then.
    fn finds_help<const W: usize>(&self, board: &Board<W>, others: Words<W>, [way_out, atari]: [Point; 2]) -> bool {
        let filled = Words::<W>::point(way_out) | Words::point(atari);
        let mut joined = (board.around(way_out) & others).iter().filter_map(|stone| self.chains.of(stone));
        joined.any(|chain| (chain.liberties::<W>() - filled).len() >= 3)
    }

    /// The stones of this player and of the opponent.
    fn sides<const W: usize>(&self, color: Color) -> [Words<W>; 2] {
        [color, color.opponent()].map(|color| Words::of(self.stones.of(color)))
    }
}
