//! Which chains and regions no sequence of moves can change while their owner passes.
//!
//! D. B. Benson, "Life in the game of Go", Information Sciences 10 (1976).

use arrayvec::ArrayVec;

use crate::color::Color;
use crate::point::Point;
use crate::point_set::PointSet;
use crate::point_state::Content;
use crate::position::Position;
use crate::size::Size;
use crate::stones::Stones;

impl Position {
    /// The points that are pass-alive for each colour: chains that cannot be captured even if their owner always
    /// passes, and the regions they enclose in which the opponent cannot live.
    ///
    /// The opponent needs two eyes to live, and an eye is an empty point with no enclosing stone beside it. So a
    /// region counts when all chains around it are pass-alive and at most one empty point of it is interior, which is
    /// to say not beside one of them.
    pub fn pass_alive(&self) -> Stones {
        Stones { black: self.pass_alive_of(Color::Black), white: self.pass_alive_of(Color::White) }
    }

    /// Whether every point is pass-alive for one colour, so that nothing can change any more.
    ///
    /// Most boards fail a cheaper test first. Minigo asks instead for N·⌊(N+2)/3⌋ moves on a board of side N; these
    /// tests need no proof about the least number of stones, and hold for boards that were set up.
    pub fn all_pass_alive(&self) -> bool {
        !self.has_open_pair()
            && (self.roomy(Color::Black) & self.roomy(Color::White)).is_empty()
            && self.pass_alive().both() == PointSet::full(self.size())
    }

    /// Whether two empty points side by side have no stone beside either. They are in one region whatever the colour,
    /// and both are interior, so that region is not pass-alive for anyone.
    fn has_open_pair(&self) -> bool {
        let open = self.empty_points() - self.stones().both().neighbours(self.size());
        !(open & open.neighbours(self.size())).is_empty()
    }

    /// The empty points in regions where the opponent of `color` has space for two eyes: those regions are not
    /// pass-alive for `color`, whatever lives around them.
    fn roomy(&self, color: Color) -> PointSet {
        let own = self.stones().of(color);
        let empty = self.empty_points();
        let not_own = PointSet::full(self.size()) - *own;
        let mut interior = empty - own.neighbours(self.size());
        let mut roomy = PointSet::EMPTY;
        while let Some(point) = interior.first() {
            let region = PointSet::from_iter([point]).reach(&not_own, self.size());
            if (interior & region).len() > 1 {
                roomy |= region & empty;
            }
            interior -= region;
        }
        roomy
    }

    fn pass_alive_of(&self, color: Color) -> PointSet {
        let (own, size) = (*self.stones().of(color), self.size());
        let rest = PointSet::full(size) - own;
        let interior = self.empty_points() - own.neighbours(size);
        // All regions with an interior at once. Most boards have no other, so that no region is vital to any chain.
        let vital = rest - interior.reach(&rest, size);
        let mut alive = if vital.is_empty() { PointSet::EMPTY } else { own };
        // Benson's loop: a chain needs two vital regions with nothing but living chains around them.
        while !alive.is_empty() {
            let next = self.with_two_eyes(color, &alive, &self.enclosed(&vital, color, &alive));
            if next == alive {
                break;
            }
            alive = next;
        }
        if alive.is_empty() {
            return PointSet::EMPTY;
        }
        let enclosed = self.enclosed(&rest, color, &alive);
        let safe = parts(enclosed, size).filter(|region| (interior & *region).len() <= 1);
        safe.fold(alive, |points, region| points | region)
    }

    /// The regions among these, each in whole, that have nothing but these living stones of a colour around them.
    fn enclosed(&self, regions: &PointSet, color: Color, alive: &PointSet) -> PointSet {
        let others = *self.stones().of(color) - *alive;
        *regions - others.neighbours(self.size()).reach(regions, self.size())
    }

    /// The chains among `alive` to which two of these regions are vital, which have no interior and are enclosed by
    /// `alive`.
    ///
    /// The regions are found anew in every round of Benson's loop, and the eyes counted at the heads of chains: there
    /// are two or three rounds, and nothing has to be allocated, which matters where a search asks at every leaf.
    fn with_two_eyes(&self, color: Color, alive: &PointSet, regions: &PointSet) -> PointSet {
        let mut eyes = [0u16; Size::MAX.area()];
        let empty = self.empty_points();
        for region in parts(*regions, self.size()) {
            self.vital_to(color, region & empty).for_each(|head| eyes[usize::from(head)] += 1);
        }
        alive.iter().filter(|stone| eyes[usize::from(self.cells().at(stone.index() as u16).head)] >= 2).collect()
    }

    /// The heads of the chains that a region with these empty points is vital to: all are liberties of the chain.
    fn vital_to(&self, color: Color, empty: PointSet) -> impl Iterator<Item = u16> {
        let (cells, own) = (self.cells(), Content::stone(color));
        let heads = |point: Point| {
            let stones = cells.around(point.index() as u16).map(|at| cells.at(at));
            stones.into_iter().filter(move |cell| cell.content == own).map(|cell| cell.head)
        };
        let mut vital = ArrayVec::<u16, 4>::new();
        let mut points = empty.iter();
        // Every region has an empty point, for chains have liberties; a chain not beside it is out of question.
        for head in points.next().into_iter().flat_map(heads) {
            if !vital.contains(&head) {
                vital.push(head);
            }
        }
        points.for_each(|point| vital.retain(|head| heads(point).any(|beside| beside == *head)));
        vital.into_iter()
    }
}

/// The connected parts of a set.
fn parts(mut rest: PointSet, size: Size) -> impl Iterator<Item = PointSet> {
    std::iter::from_fn(move || {
        let part = PointSet::from_iter([rest.first()?]).reach(&rest, size);
        rest -= part;
        Some(part)
    })
}
