//! Which chains and regions no sequence of moves can change while their owner passes.
//!
//! D. B. Benson, "Life in the game of Go", Information Sciences 10 (1976).

use crate::color::Color;
use crate::point_set::PointSet;
use crate::position::Position;
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
        let regions = self.regions(color);
        let eyes = self.eyes(color, &regions);
        let mut alive = *self.stones().of(color);
        // Benson's loop: a chain needs two vital regions with nothing but living chains around them.
        loop {
            let mut counts = vec![0; eyes.chains.len()];
            let sound = eyes.pairs.iter().filter(|eye| regions[eye.region].border.is_subset(&alive));
            sound.for_each(|eye| counts[eye.chain] += 1);
            let living = eyes.chains.iter().zip(counts).filter(|(_, count)| *count >= 2);
            let next = living.fold(PointSet::EMPTY, |points, (chain, _)| points | *chain) & alive;
            if next == alive {
                break;
            }
            alive = next;
        }
        let safe = regions
            .iter()
            .filter(|region| region.interior <= 1 && !region.border.is_empty() && region.border.is_subset(&alive));
        safe.fold(alive, |points, region| points | region.points)
    }

    /// The connected parts of what is left of the board without the stones of a colour.
    fn regions(&self, color: Color) -> Vec<Region> {
        let own = *self.stones().of(color);
        let empty = self.empty_points();
        let interior = empty - own.neighbours(self.size());
        let mut rest = PointSet::full(self.size()) - own;
        let mut regions = Vec::with_capacity(16);
        while let Some(point) = rest.first() {
            let points = PointSet::from_iter([point]).reach(&rest, self.size());
            regions.push(Region {
                points,
                empty: points & empty,
                border: points.neighbours(self.size()) & own,
                interior: (interior & points).len(),
            });
            rest -= points;
        }
        regions
    }

    /// Every pair of a chain and a region vital to it: one whose empty points are all liberties of the chain.
    fn eyes(&self, color: Color, regions: &[Region]) -> Eyes {
        let mut eyes = Eyes { chains: Vec::with_capacity(16), pairs: Vec::with_capacity(16) };
        let mut around = Vec::with_capacity(16);
        for (r, region) in regions.iter().enumerate().filter(|(_, region)| region.interior == 0) {
            // Every region has an empty point, for chains have liberties; a chain not beside it is out of question.
            let Some(first) = region.empty.first() else { continue };
            let mut beside = PointSet::from_iter([first]).neighbours(self.size()) & *self.stones().of(color);
            while let Some(stone) = beside.first() {
                let chain = eyes.chains.iter().position(|chain| chain.contains(stone)).unwrap_or_else(|| {
                    eyes.chains.push(self.chain(stone));
                    around.push(self.chain(stone).neighbours(self.size()));
                    eyes.chains.len() - 1
                });
                if region.empty.is_subset(&around[chain]) {
                    eyes.pairs.push(Eye { chain, region: r });
                }
                beside -= eyes.chains[chain];
            }
        }
        eyes
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

/// The chains that have any vital region, and which.
struct Eyes {
    chains: Vec<PointSet>,
    pairs: Vec<Eye>,
}

/// A region, by index, and a chain, by index, that it is vital to.
struct Eye {
    chain: usize,
    region: usize,
}
