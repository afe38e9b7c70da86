//! Which chains and regions no sequence of moves can change while their owner passes.
//!
//! D. B. Benson, "Life in the game of Go", Information Sciences 10 (1976).

use crate::color::Color;
use crate::point::Point;
use crate::point_set::PointSet;
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

    /// The empty points in regions where the opponent of `color` has room for two eyes: those regions are not
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
        let mut alive = *self.stones().of(color);
        // Benson's loop: a chain needs two vital regions with nothing but living chains around them.
        loop {
            let next = self.with_two_eyes(color, &alive);
            if next == alive {
                break;
            }
            alive = next;
        }
        let safe = self.regions(color).filter(|region| region.interior <= 1 && region.is_enclosed_by(&alive));
        safe.fold(alive, |points, region| points | region.points)
    }

    /// The chains among `alive` that have two vital regions enclosed by `alive`.
    ///
    /// The regions are found anew in every round of Benson's loop, and the eyes counted at each chain's first stone:
    /// there are two or three rounds, and nothing has to be allocated, which matters where a search asks at every leaf.
    fn with_two_eyes(&self, color: Color, alive: &PointSet) -> PointSet {
        let mut eyes = [0u16; Size::MAX.area()];
        let enclosed = self.regions(color).filter(|region| region.interior == 0 && region.is_enclosed_by(alive));
        enclosed.for_each(|region| self.count_eyes(color, &region, &mut eyes));
        let mut living = PointSet::EMPTY;
        for first in (0..self.size().area()).filter(|&point| eyes[point] >= 2) {
            living |= self.chain(Point::from_index(self.size(), first).expect("eyes are counted at stones"));
        }
        living
    }

    /// Counts a region as an eye of every chain that it is vital to: all its empty points are liberties of the chain.
    fn count_eyes(&self, color: Color, region: &Region, eyes: &mut [u16]) {
        // Every region has an empty point, for chains have liberties; a chain not beside it is out of question.
        let Some(first) = region.empty.first() else { return };
        let mut beside = PointSet::from_iter([first]).neighbours(self.size()) & *self.stones().of(color);
        while let Some(stone) = beside.first() {
            let chain = self.chain(stone);
            if region.empty.is_subset(&chain.neighbours(self.size())) {
                eyes[chain.first().expect("a chain has stones").index()] += 1;
            }
            beside -= chain;
        }
    }

    /// The connected regions of the board without the stones of a colour.
    fn regions(&self, color: Color) -> impl Iterator<Item = Region> {
        let (own, size) = (*self.stones().of(color), self.size());
        let empty = self.empty_points();
        let interior = empty - own.neighbours(size);
        let mut rest = PointSet::full(size) - own;
        std::iter::from_fn(move || {
            let points = PointSet::from_iter([rest.first()?]).reach(&rest, size);
            rest -= points;
            Some(Region {
                points,
                empty: points & empty,
                border: points.neighbours(size) & own,
                interior: (interior & points).len(),
            })
        })
    }
}

struct Region {
    points: PointSet,
    empty: PointSet,
    /// The stones around it.
    border: PointSet,
    /// The number of empty points not beside any of those stones.
    interior: usize,
}

impl Region {
    fn is_enclosed_by(&self, stones: &PointSet) -> bool {
        !self.border.is_empty() && self.border.is_subset(stones)
    }
}
