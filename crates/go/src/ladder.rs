//! Ladders: atari after atari until a chain is caught or has three liberties.
//!
//! A reading needs few facts of a board: the stones of the chain, and which hunters are in atari. Both are sets, which
//! a line of play copies, so that nothing is taken back. Chains of the position are known, and only those that change
//! in a line are followed from stone to stone.

use crate::chains::{Chain, Chains};
use crate::flood::Board;
use crate::point::Point;
use crate::words::{Few, Words};

/// A board on which a chain is chased. The other stones of its owner are where nothing of this is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chase<const W: usize> {
    /// The stones of the chain.
    prey: Words<W>,
    hunters: Words<W>,
    empty: Words<W>,
    /// Those of `hunters` in chains with one liberty.
    in_atari: Words<W>,
    /// Whether nothing has been captured, so that all chains of the position are there.
    whole: bool,
}

/// One reading.
#[derive(Debug)]
pub(crate) struct Ladder<'a, const W: usize> {
    board: &'a Board<W>,
    chains: &'a Chains,
    /// Stones put down so far.
    stones: usize,
}

/// Stones of the longest line that is read: who is not caught by then is free.
const DEEPEST: usize = 30;
/// Stones put down in all lines of one reading, a guard: beyond it a chain in atari is free, too. The lines that are
/// open then still put down their second ataris, so there are some more.
const MOST: usize = 50;

impl<'a, const W: usize> Ladder<'a, W> {
    pub(crate) fn new(board: &'a Board<W>, chains: &'a Chains) -> Ladder<'a, W> {
        Ladder { board, chains, stones: 0 }
    }

    /// Whether the chain, which has one liberty, is caught though its owner is to move.
    pub(crate) fn is_caught(&mut self, chase: &Chase<W>, liberty: Point) -> bool {
        self.caught_in_atari(chase, liberty, DEEPEST)
    }

    /// Whether the chain, which has two liberties, is caught when the hunter plays on the first of these; the other one
    /// is its way out.
    pub(crate) fn catches(&mut self, chase: &Chase<W>, atari: Point, way_out: Point) -> bool {
        self.caught_by(chase, atari, way_out, DEEPEST)
    }

    /// The owner's turn: to extend, or to take hunters that are in atari themselves.
    fn caught_in_atari(&mut self, chase: &Chase<W>, liberty: Point, depth: usize) -> bool {
        if depth == 0 || self.stones > MOST {
            return false;
        }
        // To extend first, because most chains get away by that.
        self.extension_fails(chase, liberty, depth)
            && (chase.in_atari.is_empty() || self.captures_fail(chase, liberty, depth))
    }

    /// Whether the chain is caught though its owner plays on its only liberty.
    fn extension_fails(&mut self, chase: &Chase<W>, point: Point, depth: usize) -> bool {
        self.stones += 1;
        let around = self.board.around(point);
        let mut liberties = around & chase.empty;
        // The empty points beside an extension are liberties whatever else it does.
        if liberties.has_three_of_four() {
            return false;
        }
        let mut next = self.with_own(chase, point);
        next.prey = chase.prey | Words::point(point);
        let own = next.own(self.board);
        for stone in (around & (own - chase.prey)).iter() {
            if let Some(chain) = self.known(stone, own, next.whole) {
                next.prey |= chain.stones();
                liberties |= chain.liberties() & next.empty;
            }
        }
        if !next.whole {
            liberties = self.board.grow_around(&mut next.prey, own) & next.empty;
        }
        self.fails(&mut next, liberties, around, depth)
    }

    /// Whether the chain is caught though its owner takes hunters beside it, on a point other than its liberty.
    fn captures_fail(&mut self, chase: &Chase<W>, liberty: Point, depth: usize) -> bool {
        let beside = self.board.neighbours(chase.prey);
        let mut hunters = beside & chase.in_atari;
        if hunters.is_empty() {
            return true;
        }
        let around = self.board.grow_around(&mut hunters, chase.in_atari);
        // Each of these chains has one liberty.
        let captures = (around & chase.empty) - Words::point(liberty);
        captures.iter().all(|point| {
            self.stones += 1;
            let mut next = self.with_own(chase, point);
            let liberties = beside & next.empty;
            self.fails(&mut next, liberties, self.board.around(point), depth)
        })
    }

    /// Whether the chain is caught with these liberties after a stone of its owner, which is suicide where there are
    /// none.
    fn fails(&mut self, chase: &mut Chase<W>, liberties: Words<W>, around: Words<W>, depth: usize) -> bool {
        match liberties.few() {
            Few::None | Few::One(_) => true,
            Few::Two([a, b]) => {
                // Hunters beside the stone may have one liberty without its point.
                for hunter in (around & chase.hunters).iter() {
                    if let Some(chain) = self.chain_in_atari(hunter, chase.hunters, chase.empty, chase.whole) {
                        chase.in_atari |= chain;
                    }
                }
                self.caught_by(chase, a, b, depth - 1) || self.caught_by(chase, b, a, depth - 1)
            }
            Few::More => false,
        }
    }

    /// Whether the chain is caught once the hunter has played on one of its two liberties.
    fn caught_by(&mut self, chase: &Chase<W>, atari: Point, way_out: Point, depth: usize) -> bool {
        let open = self.board.around(way_out) & (chase.empty - Words::point(atari));
        if depth == 0 || open.has_three_of_four() {
            return false;
        }
        self.stones += 1;
        self.with_hunter(chase, atari).is_some_and(|next| self.caught_in_atari(&next, way_out, depth - 1))
    }

    /// After a stone of the owner. The chain and the hunters that it brings into atari are as before.
    #[inline]
    fn with_own(&self, chase: &Chase<W>, point: Point) -> Chase<W> {
        let mut next = *chase;
        next.empty = chase.empty - Words::point(point);
        let mut captured = self.board.around(point) & chase.in_atari;
        if !captured.is_empty() {
            captured = self.board.grow(captured, chase.in_atari);
            next.hunters = chase.hunters - captured;
            next.in_atari = chase.in_atari - captured;
            next.empty |= captured;
            next.whole = false;
        }
        next
    }

    /// After a stone of the hunter on a liberty of the chain, which has another one; `None` where the stone may not be.
    #[inline]
    fn with_hunter(&self, chase: &Chase<W>, point: Point) -> Option<Chase<W>> {
        let around = self.board.around(point);
        let open = around & chase.empty;
        let mut captured = Words::EMPTY;
        let others = around - chase.empty - chase.hunters - chase.prey;
        for other in others.iter() {
            if let Some(chain) = self.chain_in_atari(other, chase.own(self.board), chase.empty, chase.whole) {
                captured |= chain;
            }
        }
        if (open | captured | (around & (chase.hunters - chase.in_atari))).is_empty() {
            return None;
        }
        let mut next = *chase;
        next.hunters = chase.hunters | Words::point(point);
        next.empty = chase.empty - Words::point(point);
        let mut beside = around;
        if !captured.is_empty() {
            next.empty |= captured;
            next.whole = false;
            // A captured stone is a second liberty of every chain beside it.
            beside |= self.board.neighbours(captured);
        }
        let freed = beside & chase.in_atari;
        if !freed.is_empty() {
            next.in_atari = chase.in_atari - self.board.grow(freed, chase.in_atari);
        }
        if !open.has_several()
            && let Some(chain) = self.chain_in_atari(point, next.hunters, next.empty, next.whole)
        {
            next.in_atari |= chain;
        }
        Some(next)
    }

    /// The chain of a stone in the position, if all its stones are there still. It may be a part of one now.
    #[inline]
    fn known(&self, stone: Point, stones: Words<W>, whole: bool) -> Option<&Chain> {
        self.chains.of(stone).filter(|chain| whole || (chain.stones() - stones).is_empty())
    }

    /// The chain of a stone, if it has only one liberty.
    fn chain_in_atari(&self, stone: Point, stones: Words<W>, empty: Words<W>, whole: bool) -> Option<Words<W>> {
        let mut chain = Words::point(stone);
        if let Some(known) = self.known(stone, stones, whole) {
            let liberties: Words<W> = known.liberties();
            if (liberties & empty).has_several() {
                return None;
            }
            let added = liberties & stones;
            chain = known.stones() | added;
            if whole && added.is_empty() {
                return Some(chain);
            }
        } else {
            for known in (self.board.around(stone) & stones).iter().filter_map(|stone| self.known(stone, stones, whole))
            {
                if (known.liberties::<W>() & empty).has_several() {
                    return None;
                }
                chain |= known.stones();
            }
        }
        loop {
            let around = self.board.neighbours(chain);
            if (around & empty).has_several() {
                return None;
            }
            let more = (around & stones) - chain;
            if more.is_empty() {
                return Some(chain);
            }
            chain |= more;
        }
    }
}

impl<const W: usize> Chase<W> {
    pub(crate) fn new(board: &Board<W>, [own, hunters]: [Words<W>; 2], prey: Words<W>, in_atari: Words<W>) -> Chase<W> {
        Chase { prey, hunters, empty: board.all() - own - hunters, in_atari, whole: true }
    }

    /// All stones of the owner.
    fn own(&self, board: &Board<W>) -> Words<W> {
        board.all() - self.empty - self.hunters
    }
}
