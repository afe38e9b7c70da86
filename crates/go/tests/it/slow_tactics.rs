//! Ladders again, with sets of points for everything: each chain and each reading is found anew, and nothing is taken
//! back.

use go::{Color, Point, PointSet, Position, Size};

fn around(point: Point, size: Size) -> impl Iterator<Item = Point> {
    PointSet::from_iter([point]).neighbours(size).into_iter()
}

/// The chains of a position and their liberties.
pub(crate) struct Tactics<'a> {
    position: &'a Position,
    chains: Vec<Chain>,
}

struct Chain {
    color: Color,
    stones: PointSet,
    liberties: PointSet,
}

impl Tactics<'_> {
    pub(crate) fn new(position: &Position) -> Tactics<'_> {
        let (empty, mut chains) = (position.empty_points(), Vec::new());
        for color in Color::BOTH {
            let mut rest = *position.stones().of(color);
            while let Some(first) = rest.first() {
                let stones = position.chain(first);
                rest -= stones;
                chains.push(Chain { color, stones, liberties: stones.neighbours(position.size()) & empty });
            }
        }
        Tactics { position, chains }
    }

    pub(crate) fn ladders(&self, color: Color) -> (PointSet, PointSet) {
        let (mut caught, mut moves) = (PointSet::EMPTY, PointSet::EMPTY);
        for chain in self.chains.iter().filter(|chain| chain.color == color) {
            let prey = chain.stones.first().expect("a chain has stones");
            let ladder = || Ladder::new(self.position, color, prey);
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

/// A chain that is chased.
#[derive(Clone, Copy, Debug)]
struct Ladder {
    size: Size,
    /// The stones of the chain's owner, and of the hunter.
    own: PointSet,
    hunters: PointSet,
    /// A stone of the chain.
    prey: Point,
}

impl Ladder {
    const DEEPEST: usize = 30;
    const MOST: usize = 50;

    fn new(position: &Position, color: Color, prey: Point) -> Ladder {
        let stones = position.stones();
        Ladder { size: position.size(), own: *stones.of(color), hunters: *stones.of(color.opponent()), prey }
    }

    /// Whether the chain, which has one liberty, is caught though its owner is to move.
    fn is_caught(&self) -> bool {
        self.caught_in_atari(Ladder::DEEPEST, &mut 0)
    }

    /// Whether the chain, which has these two liberties, is caught when the hunter plays on this one.
    fn catches(&self, atari: Point, liberties: PointSet) -> bool {
        self.caught_by(atari, liberties, Ladder::DEEPEST, &mut 0)
    }

    /// The owner's turn: to extend, or to take hunters that are in atari themselves.
    fn caught_in_atari(&self, depth: usize, stones: &mut usize) -> bool {
        if depth == 0 || *stones > Ladder::MOST {
            return false;
        }
        let chain = self.chain(self.prey, &self.own);
        let mut fails = |way: Point| {
            *stones += 1;
            let Some((own, hunters)) = put(way, self.own, self.hunters, self.size) else { return true };
            let next = Ladder { own, hunters, ..*self };
            let liberties = next.liberties(&next.chain(self.prey, &own));
            match liberties.len() {
                1 => true,
                2 => liberties.iter().any(|atari| next.caught_by(atari, liberties, depth - 1, stones)),
                _ => false,
            }
        };
        // To extend first, because most chains get away by that.
        self.liberties(&chain).iter().all(&mut fails) && self.hunters_in_atari(&chain).iter().all(fails)
    }

    /// Where the owner can take hunters beside the chain.
    fn hunters_in_atari(&self, chain: &PointSet) -> PointSet {
        let mut found = PointSet::EMPTY;
        let mut beside = chain.neighbours(self.size) & self.hunters;
        while let Some(hunter) = beside.first() {
            let hunter = self.chain(hunter, &self.hunters);
            let liberties = self.liberties(&hunter);
            if liberties.len() == 1 {
                found |= liberties;
            }
            beside -= hunter;
        }
        found - self.liberties(chain)
    }

    /// Whether the chain is caught once the hunter has played on one of its two liberties.
    fn caught_by(&self, atari: Point, liberties: PointSet, depth: usize, stones: &mut usize) -> bool {
        let is_open = |at: &Point| *at != atari && !self.own.contains(*at) && !self.hunters.contains(*at);
        let way_out = liberties.iter().find(|&at| at != atari);
        if depth == 0 || way_out.is_some_and(|way| around(way, self.size).filter(is_open).count() > 2) {
            return false;
        }
        *stones += 1;
        let Some((hunters, own)) = put(atari, self.hunters, self.own, self.size) else { return false };
        Ladder { own, hunters, ..*self }.caught_in_atari(depth - 1, stones)
    }

    fn chain(&self, stone: Point, stones: &PointSet) -> PointSet {
        PointSet::from_iter([stone]).reach(stones, self.size)
    }

    fn liberties(&self, chain: &PointSet) -> PointSet {
        chain.neighbours(self.size) - self.own - self.hunters
    }
}

/// The stones of who moves and of the other after a stone on an empty point; `None` where it would have no liberty.
fn put(point: Point, mut own: PointSet, mut other: PointSet, size: Size) -> Option<(PointSet, PointSet)> {
    own.insert(point);
    // Most stones have a liberty of their own, and their chains need not be followed.
    let has_liberty = |at: Point, own: &PointSet, other: &PointSet| {
        around(at, size).any(|next| !own.contains(next) && !other.contains(next))
    };
    for neighbour in around(point, size) {
        if other.contains(neighbour) && !has_liberty(neighbour, &own, &other) {
            let chain = PointSet::from_iter([neighbour]).reach(&other, size);
            if chain.neighbours(size).is_subset(&(own | other)) {
                other -= chain;
            }
        }
    }
    let breathes = has_liberty(point, &own, &other) || {
        let chain = PointSet::from_iter([point]).reach(&own, size);
        !chain.neighbours(size).is_subset(&(own | other))
    };
    breathes.then_some((own, other))
}
