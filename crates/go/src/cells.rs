//! The points of a board: chains of stones, how they grow, join and leave the board.
//!
//! Every chain is a ring through `next` with one of its stones as head. Stones that are captured keep their links until
//! something is played on their points.

use crate::color::Color;
use crate::geometry::geometry;
use crate::point_state::{Content, PointState};
use crate::size::{MAX_AREA, Size};

/// One cell a point; from the area on, cells that are not on the board.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    size: Size,
    cells: [PointState; MAX_AREA + 1],
}

/// A stone of each chain that a move captured.
#[derive(Debug)]
pub(crate) struct Captured([Option<u16>; 4]);

impl Cells {
    pub(crate) fn empty(size: Size) -> Cells {
        let mut cells = [PointState::BEYOND; MAX_AREA + 1];
        cells[..size.area()].fill(PointState::EMPTY);
        Cells { size, cells }
    }

    /// Takes all stones off, on a board of any size.
    pub(crate) fn clear(&mut self, size: Size) {
        if self.size == size {
            self.cells[..size.area()].fill(PointState::EMPTY);
        } else {
            *self = Cells::empty(size);
        }
    }

    pub(crate) const fn size(&self) -> Size {
        self.size
    }

    /// Makes these cells equal to others; only the part that a board of that size uses is copied.
    pub(crate) fn copy_from(&mut self, other: &Cells) {
        if self.size == other.size {
            let area = other.size.area();
            self.cells[..area].copy_from_slice(&other.cells[..area]);
        } else {
            self.clone_from(other);
        }
    }

    pub(crate) fn at(&self, point: u16) -> &PointState {
        &self.cells[usize::from(point)]
    }

    /// The cell that stands for the chain of a stone.
    pub(crate) fn head(&self, stone: u16) -> &PointState {
        self.at(self.at(stone).head)
    }

    pub(crate) fn around(&self, point: u16) -> &'static [u16; 4] {
        &geometry(self.size).neighbours[usize::from(point)]
    }

    /// Whether the chain of a stone has at most one liberty.
    pub(crate) fn in_atari(&self, cell: &PointState) -> bool {
        self.at(cell.head).liberties.are_one_point()
    }

    /// The stones of the chain of a stone, beginning there.
    pub(crate) fn chain(&self, stone: u16) -> impl Iterator<Item = u16> {
        std::iter::successors(Some(stone), move |&at| Some(self.at(at).next).filter(|&next| next != stone))
    }

    /// Whether a stone on an empty point would have a liberty.
    pub(crate) fn may_play(&self, point: u16, color: Color) -> bool {
        let own = Content::stone(color);
        self.around(point).iter().any(|&neighbour| {
            let cell = self.at(neighbour);
            match cell.content {
                Content::Empty => true,
                Content::Beyond => false,
                content => (content == own) != self.in_atari(cell),
            }
        })
    }

    /// Puts a stone where it may be played, and takes what it captures.
    pub(crate) fn play(&mut self, point: u16, color: Color) -> Captured {
        self.place(point, color);
        let mut captured = [None; 4];
        let other = Content::stone(color.opponent());
        for (captured, &neighbour) in captured.iter_mut().zip(self.around(point)) {
            if self.at(neighbour).content == other && self.head(neighbour).liberties.are_none() {
                self.remove_chain(neighbour, color);
                *captured = Some(neighbour);
            }
        }
        Captured(captured)
    }

    /// The stones that were captured. They know each other as long as nothing is played on their points.
    pub(crate) fn captured(&self, captured: &Captured) -> impl Iterator<Item = u16> {
        captured.0.into_iter().flatten().flat_map(|stone| self.chain(stone))
    }

    /// Puts a stone on an empty point and joins it with its neighbours; captures nothing.
    #[inline]
    pub(crate) fn place(&mut self, point: u16, color: Color) {
        let own = Content::stone(color);
        self.cells[usize::from(point)] =
            PointState { content: own, head: point, next: point, len: 1, ..PointState::EMPTY };
        for &neighbour in self.around(point) {
            let cell = *self.at(neighbour);
            match cell.content {
                Content::Beyond => {}
                Content::Empty => self.head_mut(point).liberties.add(neighbour),
                content => {
                    self.cells[usize::from(cell.head)].liberties.remove(point);
                    if content == own {
                        self.join(cell.head, self.at(point).head);
                    }
                }
            }
        }
    }

    fn head_mut(&mut self, stone: u16) -> &mut PointState {
        &mut self.cells[usize::from(self.at(stone).head)]
    }

    /// Makes one chain of two, given by their heads, unless they are one already.
    fn join(&mut self, a: u16, b: u16) {
        if a == b {
            return;
        }
        let (large, small) = if self.at(a).len >= self.at(b).len { (a, b) } else { (b, a) };
        let PointState { len, liberties, .. } = *self.at(small);
        let head = &mut self.cells[usize::from(large)];
        head.len += len;
        head.liberties.join(liberties);
        self.lead(small, large);
        self.swap_links(large, small);
    }

    /// Gives the ring of a stone a head.
    fn lead(&mut self, stone: u16, head: u16) {
        let mut at = stone;
        loop {
            let cell = &mut self.cells[usize::from(at)];
            cell.head = head;
            at = cell.next;
            if at == stone {
                return;
            }
        }
    }

    fn swap_links(&mut self, a: u16, b: u16) {
        let [next_a, next_b] = [a, b].map(|at| self.at(at).next);
        self.cells[usize::from(a)].next = next_b;
        self.cells[usize::from(b)].next = next_a;
    }

    /// Takes a chain without liberties off the board, next to stones of its captor.
    fn remove_chain(&mut self, start: u16, captor: Color) {
        let captor = Content::stone(captor);
        let mut at = start;
        loop {
            self.cells[usize::from(at)].content = Content::Empty;
            for &neighbour in self.around(at) {
                if self.at(neighbour).content == captor {
                    self.head_mut(neighbour).liberties.add(at);
                }
            }
            at = self.at(at).next;
            if at == start {
                return;
            }
        }
    }
}
