//! The effect of every single move on liberties, which a player sees without reading.

use arrayvec::ArrayVec;

use crate::cells::Cells;
use crate::color::Color;
use crate::geometry::BEYOND;
use crate::ladder::Ladder;
use crate::point::Point;
use crate::point_set::PointSet;
use crate::point_state::Content;
use crate::position::Position;
use crate::size::MAX_AREA;

/// The chains of a position and their first liberties, found once for all questions about them. Does not allocate.
///
/// Superko is not considered: a position does not know the past.
#[derive(Clone, Debug)]
pub struct Tactics {
    cells: Cells,
    /// The heads of the chains of each colour.
    heads: [ArrayVec<u16, MAX_AREA>; 2],
    /// The liberties of each chain, at its head.
    liberties: [Liberties; MAX_AREA],
    /// The stones of chains with one, two and three liberties, by colour.
    few: [[PointSet; 3]; 2],
    /// The stones of chains with [`MANY`] liberties, and the liberties of those with one, by colour.
    many: [PointSet; 2],
    last: [PointSet; 2],
    own: [PointSet; 2],
    empty: PointSet,
}

/// Different points; [`MANY`] of them stand for more as well.
#[derive(Clone, Copy, Debug)]
struct Liberties {
    points: [u16; MANY],
    len: u8,
}

/// A chain with so many liberties has four even after a stone on one of them.
const MANY: usize = 5;

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
    /// The chains of a position.
    pub fn new(position: &Position) -> Tactics {
        let mut tactics = Tactics {
            cells: position.cells().clone(),
            heads: Default::default(),
            liberties: [Liberties::NONE; MAX_AREA],
            few: Default::default(),
            many: Default::default(),
            last: Default::default(),
            own: Color::BOTH.map(|color| *position.stones().of(color)),
            empty: position.empty_points(),
        };
        for color in Color::BOTH {
            for stone in position.stones().of(color).iter().map(|stone| stone.index() as u16) {
                if tactics.cells.at(stone).head == stone {
                    tactics.add_chain(stone, color);
                }
            }
        }
        tactics
    }

    fn add_chain(&mut self, head: u16, color: Color) {
        let liberties = &mut self.liberties[usize::from(head)];
        for stone in self.cells.chain(head) {
            let open = self.cells.around(stone).iter().filter(|&&at| self.cells.at(at).content == Content::Empty);
            open.for_each(|&at| liberties.add(at));
            if liberties.len() == MANY {
                break;
            }
        }
        self.heads[color.index()].push(head);
        let stones = match liberties.len() {
            MANY => &mut self.many[color.index()],
            few @ 1..=3 => &mut self.few[color.index()][few - 1],
            _ => return,
        };
        stones.extend(self.cells.chain(head).map(|stone| Point::at(stone.into())));
        if let [last] = *liberties.points() {
            self.last[color.index()].insert(Point::at(last.into()));
        }
    }

    /// The stones of chains with so many liberties, from 1 to 3.
    pub fn with_liberties(&self, color: Color, count: usize) -> PointSet {
        self.few[color.index()][count - 1]
    }

    /// The effect of a stone of this player on each empty point.
    pub fn prospects(&self, color: Color) -> Prospects {
        let size = self.cells.size();
        let (own, captures) = (self.own[color.index()], self.last[color.opponent().index()]);
        // A stone beside a chain with many liberties has many, and a stone alone has the empty points beside it.
        let has_many = self.many[color.index()].neighbours(size);
        let of_interest = self.empty - has_many;
        let joining = of_interest & (own.neighbours(size) | captures);
        let alone = of_interest - joining;
        let [suicides, one, two, three] = self.empty.beside(size).map(|points| points & alone);
        let mut found = Prospects { liberties: [one, two, three], captures, suicides };
        for point in joining {
            match self.after(point.index() as u16, color) {
                0 => found.suicides.insert(point),
                few @ 1..=3 => found.liberties[few - 1].insert(point),
                _ => {}
            }
        }
        found
    }

    /// How many liberties the chain of a stone on this empty point would have; four stand for more.
    fn after(&self, point: u16, color: Color) -> usize {
        let own = Content::stone(color);
        let mut liberties = Liberties::NONE;
        let (mut joined, mut captured) = (ArrayVec::<u16, 4>::new(), ArrayVec::<u16, 4>::new());
        for &next in self.cells.around(point) {
            let cell = self.cells.at(next);
            match cell.content {
                Content::Beyond => {}
                Content::Empty => liberties.add(next),
                content => {
                    let beside = &self.liberties[usize::from(cell.head)];
                    if content == own {
                        beside.points().iter().filter(|&&at| at != point).for_each(|&at| liberties.add(at));
                        joined.push(cell.head);
                    } else if beside.len() == 1 && !captured.contains(&cell.head) {
                        captured.push(cell.head);
                    }
                }
            }
        }
        if liberties.len() >= 4 {
            return 4;
        }
        for stone in captured.into_iter().flat_map(|head| self.cells.chain(head)) {
            let is_joined =
                |at: u16| at == point || self.cells.at(at).content == own && joined.contains(&self.cells.at(at).head);
            if self.cells.around(stone).iter().any(|&at| is_joined(at)) {
                liberties.add(stone);
            }
        }
        liberties.len()
    }

    /// The stones of a player that a ladder catches: of chains in atari that cannot get away though it is that player's turn,
    /// and of chains with two liberties if it is the opponent's turn. With these the opponent's moves that begin the latter.
    ///
    /// Only atari after atari is read, at most 30 stones deep and 50 in all for a chain and a first move: who is not caught
    /// by then is free. Kos are taken back at once in it.
    pub fn ladders(&mut self, color: Color) -> (PointSet, PointSet) {
        let (mut caught, mut moves) = (PointSet::EMPTY, PointSet::EMPTY);
        for nth in 0..self.heads[color.index()].len() {
            let head = self.heads[color.index()][nth];
            let is_caught = match *self.liberties[usize::from(head)].points() {
                [way_out] => {
                    !self.finds_help(head, color, [way_out; 2]) && Ladder::new(&mut self.cells, head, color).is_caught()
                }
                [a, b] => {
                    let catches = |(atari, way_out)| {
                        !self.finds_help(head, color, [way_out, atari])
                            && Ladder::new(&mut self.cells, head, color).catches(atari, way_out)
                    };
                    let working = [(a, b), (b, a)].map(catches);
                    let ataris = [a, b].into_iter().zip(working).filter(|(_, works)| *works);
                    moves.extend(ataris.map(|(atari, _)| Point::at(atari.into())));
                    working.contains(&true)
                }
                _ => false,
            };
            if is_caught {
                caught.extend(self.cells.chain(head).map(|stone| Point::at(stone.into())));
            }
        }
        (caught, moves)
    }

    /// Whether a chain that extends to the first of these points joins one that has three liberties without them: nothing
    /// has to be read then.
    fn finds_help(&self, head: u16, color: Color, [way_out, atari]: [u16; 2]) -> bool {
        self.cells.around(way_out).iter().any(|&beside| {
            let cell = self.cells.at(beside);
            let others = || self.liberties[usize::from(cell.head)].points().iter();
            cell.content == Content::stone(color)
                && cell.head != head
                && others().filter(|&&at| at != way_out && at != atari).count() >= 3
        })
    }
}

impl Liberties {
    const NONE: Liberties = Liberties { points: [BEYOND; MANY], len: 0 };

    fn points(&self) -> &[u16] {
        &self.points[..self.len()]
    }

    fn len(&self) -> usize {
        self.len.into()
    }

    /// Adds a point, unless it is there or there are many.
    fn add(&mut self, point: u16) {
        if self.len() < MANY && !self.points.contains(&point) {
            self.points[self.len()] = point;
            self.len += 1;
        }
    }
}
