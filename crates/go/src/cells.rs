//! The points of a board: chains of stones, how they grow, join and leave the board, and how that is taken back.
//!
//! Every chain is a ring through `next` with one of its stones as head. A move is undone without a copy
//! of the board, the last one first. Swapping the same two links again separates two joined rings. The head of the smaller
//! ring still has its length and liberties, and cells keep their links when their stones are captured.

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

/// The effect of a stone, to take it back.
#[derive(Debug)]
pub(crate) struct Placed {
    point: u16,
    /// The cell before, which may have links of a stone that was captured.
    before: PointState,
    /// For each neighbour the heads of the two chains that were joined there, the head that stayed first.
    joined: [Option<(u16, u16)>; 4],
    /// A stone of each chain that was captured.
    captured: [Option<u16>; 4],
}

impl Placed {
    /// Whether it captured.
    pub(crate) fn has_captured(&self) -> bool {
        self.captured.iter().any(Option::is_some)
    }

    /// Whether it joined chains that were there.
    pub(crate) fn has_joined_several(&self) -> bool {
        self.joined.iter().flatten().count() > 1
    }
}

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
    pub(crate) fn play(&mut self, point: u16, color: Color) -> Placed {
        let before = *self.at(point);
        let joined = self.place(point, color);
        let mut captured = [None; 4];
        let other = Content::stone(color.opponent());
        for (captured, &neighbour) in captured.iter_mut().zip(self.around(point)) {
            if self.at(neighbour).content == other && self.head(neighbour).liberties.are_none() {
                self.remove_chain(neighbour, color);
                *captured = Some(neighbour);
            }
        }
        Placed { point, before, joined, captured }
    }

    /// The stones that were captured. They know each other as long as nothing is played on their points.
    pub(crate) fn captured(&self, placed: &Placed) -> impl Iterator<Item = u16> {
        placed.captured.into_iter().flatten().flat_map(|stone| self.chain(stone))
    }

    /// Takes a stone back, the last that was played.
    pub(crate) fn take_back(&mut self, placed: &Placed) {
        let Placed { point, before, joined, captured } = placed;
        let own = self.at(*point).content;
        for stone in captured.iter().flatten() {
            self.put_chain_back(*stone, own);
        }
        for (joined, &neighbour) in joined.iter().zip(self.around(*point)).rev() {
            match self.at(neighbour).content {
                Content::Beyond => {}
                Content::Empty => self.head_mut(*point).liberties.remove(neighbour),
                _ => {
                    if let Some((large, small)) = *joined {
                        self.part(large, small);
                    }
                    self.head_mut(neighbour).liberties.add(*point);
                }
            }
        }
        self.cells[usize::from(*point)] = *before;
    }

    /// Puts a stone on an empty point and joins it with its neighbours; captures nothing. Returns the heads that were joined.
    #[inline]
    pub(crate) fn place(&mut self, point: u16, color: Color) -> [Option<(u16, u16)>; 4] {
        let own = Content::stone(color);
        self.cells[usize::from(point)] =
            PointState { content: own, head: point, next: point, len: 1, ..PointState::EMPTY };
        let mut joined = [None; 4];
        for (joined, &neighbour) in joined.iter_mut().zip(self.around(point)) {
            let cell = *self.at(neighbour);
            match cell.content {
                Content::Beyond => {}
                Content::Empty => self.head_mut(point).liberties.add(neighbour),
                content => {
                    self.cells[usize::from(cell.head)].liberties.remove(point);
                    if content == own {
                        *joined = self.join(cell.head, self.at(point).head);
                    }
                }
            }
        }
        joined
    }

    fn head_mut(&mut self, stone: u16) -> &mut PointState {
        &mut self.cells[usize::from(self.at(stone).head)]
    }

    /// Makes one chain of two, given by their heads, unless they are one already. Returns the head that stays and the other.
    fn join(&mut self, a: u16, b: u16) -> Option<(u16, u16)> {
        if a == b {
            return None;
        }
        let (large, small) = if self.at(a).len >= self.at(b).len { (a, b) } else { (b, a) };
        let PointState { len, liberties, .. } = *self.at(small);
        let head = &mut self.cells[usize::from(large)];
        head.len += len;
        head.liberties.join(liberties);
        self.lead(small, large);
        self.swap_links(large, small);
        Some((large, small))
    }

    /// Undoes [`Cells::join`].
    fn part(&mut self, large: u16, small: u16) {
        self.swap_links(large, small);
        let PointState { len, liberties, .. } = *self.at(small);
        let head = &mut self.cells[usize::from(large)];
        head.len -= len;
        head.liberties.part(liberties);
        self.lead(small, small);
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
        self.each_of_chain(start, Content::Empty, Content::stone(captor), |head, at| head.liberties.add(at));
    }

    /// Undoes [`Cells::remove_chain`].
    fn put_chain_back(&mut self, start: u16, captor: Content) {
        let own = if captor == Content::Black { Content::White } else { Content::Black };
        self.each_of_chain(start, own, captor, |head, at| head.liberties.remove(at));
    }

    /// Gives the points of a ring other contents, and changes the chains of the captor beside each.
    fn each_of_chain(&mut self, start: u16, content: Content, captor: Content, change: impl Fn(&mut PointState, u16)) {
        let mut at = start;
        loop {
            self.cells[usize::from(at)].content = content;
            for &neighbour in self.around(at) {
                if self.at(neighbour).content == captor {
                    change(self.head_mut(neighbour), at);
                }
            }
            at = self.at(at).next;
            if at == start {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::{Move, Point};
    use crate::position::Position;

    /// The stones of the chain at each point and the state of its head; nothing where there is no stone.
    fn all(cells: &Cells) -> Vec<Option<(Vec<u16>, PointState)>> {
        let of_stone = |stone: u16| {
            let mut chain: Vec<u16> = cells.chain(stone).collect();
            chain.sort_unstable();
            (chain, *cells.head(stone))
        };
        let points = 0..cells.size().area() as u16;
        points.map(|point| cells.at(point).content.color().map(|_| of_stone(point))).collect()
    }

    /// Lines of random stones of both colours in any order, each taken back from its end.
    #[test]
    fn stones_taken_back_leave_the_board_as_it_was() {
        let mut state = 1_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let (mut captures, mut joins) = (0, 0);
        for side in [2, 3, 5, 9] {
            let size = Size::new(side).unwrap();
            let mut position = Position::empty(size);
            for _ in 0..300 {
                let mut cells = position.cells().clone();
                let before = all(&cells);
                let mut line = Vec::new();
                for _ in 0..below(40) {
                    let (point, color) = (below(size.area()) as u16, Color::BOTH[below(2)]);
                    if cells.at(point).content == Content::Empty && cells.may_play(point, color) {
                        line.push(cells.play(point, color));
                    }
                }
                captures += line.iter().filter(|placed| placed.has_captured()).count();
                joins += line.iter().filter(|placed| placed.has_joined_several()).count();
                line.iter().rev().for_each(|placed| cells.take_back(placed));
                assert!(all(&cells) == before, "{position}");
                // An occupied point or a suicide is omitted.
                let _ = position.play(Move::Play(Point::at(below(size.area()))));
            }
        }
        assert!(captures > 500 && joins > 500, "{captures} {joins}");
    }
}
