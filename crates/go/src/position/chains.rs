//! Chains of stones: how they grow, join and leave the board.

use super::Position;
use crate::color::Color;
use crate::geometry::geometry;
use crate::point::Point;
use crate::point_state::{Content, PointState};
use crate::zobrist;

impl Position {
    pub(super) fn around(&self, point: Point) -> &'static [u16; 4] {
        &geometry(self.size).neighbours[point.index()]
    }

    /// Whether the chain of a stone has at most one liberty.
    pub(super) fn in_atari(&self, cell: &PointState) -> bool {
        self.cells[usize::from(cell.head)].liberties.are_one_point()
    }

    /// The cell that stands for the chain of a stone.
    pub(super) fn head(&self, point: Point) -> &PointState {
        &self.cells[usize::from(self.cells[point.index()].head)]
    }

    /// The stones of the chain at a point, beginning there.
    pub(super) fn chain_points(&self, point: Point) -> impl Iterator<Item = Point> {
        let start = self.stone(point).map(|_| point.index());
        std::iter::successors(start, move |&at| {
            let next = usize::from(self.cells[at].next);
            (next != point.index()).then_some(next)
        })
        .map(Point::at)
    }

    /// Puts a stone on an empty point and joins it with its neighbours; captures nothing.
    pub(super) fn place(&mut self, point: Point, color: Color) {
        self.hash ^= zobrist::key(color, point);
        self.stones.of_mut(color).insert(point);
        let at = point.index() as u16;
        let own = Content::stone(color);
        self.cells[point.index()] = PointState { content: own, head: at, next: at, len: 1, ..PointState::EMPTY };
        for &neighbour in self.around(point) {
            let cell = self.cells[usize::from(neighbour)];
            match cell.content {
                Content::Beyond => {}
                Content::Empty => {
                    let head = self.cells[point.index()].head;
                    self.cells[usize::from(head)].liberties.add(neighbour);
                }
                content => {
                    self.cells[usize::from(cell.head)].liberties.remove(at);
                    if content == own {
                        self.join(cell.head, self.cells[point.index()].head);
                    }
                }
            }
        }
    }

    /// Makes one chain of two, given by their heads, unless they are one already.
    fn join(&mut self, a: u16, b: u16) {
        let [a, b] = [usize::from(a), usize::from(b)];
        if a == b {
            return;
        }
        let (large, small) = if self.cells[a].len >= self.cells[b].len { (a, b) } else { (b, a) };
        let PointState { len, liberties, .. } = self.cells[small];
        self.cells[large].len += len;
        self.cells[large].liberties.join(liberties);
        let mut at = small;
        for _ in 0..len {
            self.cells[at].head = large as u16;
            at = usize::from(self.cells[at].next);
        }
        let after_large = self.cells[large].next;
        self.cells[large].next = self.cells[small].next;
        self.cells[small].next = after_large;
    }

    /// Takes the opponent's chains next to the stone just played that have no liberty. Returns the stones taken.
    pub(super) fn capture_around(&mut self, point: Point) -> usize {
        let other = Content::stone(self.to_move.opponent());
        let mut captured = 0;
        for &neighbour in self.around(point) {
            let cell = self.cells[usize::from(neighbour)];
            if cell.content == other && self.cells[usize::from(cell.head)].liberties.are_none() {
                captured += self.remove_chain(neighbour, self.to_move.opponent());
            }
        }
        captured
    }

    /// Takes a chain without liberties off the board. Returns its stones.
    fn remove_chain(&mut self, start: u16, color: Color) -> usize {
        let mut at = start;
        let mut removed = 0;
        loop {
            let point = Point::at(usize::from(at));
            self.hash ^= zobrist::key(color, point);
            self.stones.of_mut(color).remove(point);
            let next = self.cells[usize::from(at)].next;
            self.cells[usize::from(at)] = PointState::EMPTY;
            for &neighbour in self.around(point) {
                let cell = self.cells[usize::from(neighbour)];
                if cell.content == Content::stone(color.opponent()) {
                    self.cells[usize::from(cell.head)].liberties.add(at);
                }
            }
            removed += 1;
            at = next;
            if at == start {
                return removed;
            }
        }
    }
}
