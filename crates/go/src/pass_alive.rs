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
    /// region counts when all chains around it are pass-alive and at most one empty point of it is not beside one.
    pub fn pass_alive(&self) -> Stones {
        Stones { black: self.pass_alive_of(Color::Black), white: self.pass_alive_of(Color::White) }
    }

    /// Whether every point is pass-alive for one colour, so that nothing can change any more.
    pub fn all_pass_alive(&self) -> bool {
        !self.has_open_pair() && self.pass_alive().both() == PointSet::full(self.size())
    }

    /// Whether two empty points side by side have no stone beside either. They are in one region whatever the colour,
    /// and both are interior, so that region is not pass-alive for anyone.
    fn has_open_pair(&self) -> bool {
        let open = self.empty_points() - self.stones().both().neighbours(self.size());
        !(open & open.neighbours(self.size())).is_empty()
    }

    fn pass_alive_of(&self, color: Color) -> PointSet {
        let chains = self.chains_of(color);
        let regions = self.regions_of(color);
        let mut alive = vec![true; chains.len()];
        let vital: Vec<Vec<bool>> = chains
            .iter()
            .map(|chain| regions.iter().map(|region| region.empty.is_subset(&chain.around)).collect())
            .collect();
        let beside = |c: usize, r: usize| !(chains[c].around & regions[r].points).is_empty();
        let sound = |alive: &[bool], r: usize| (0..chains.len()).all(|c| alive[c] || !beside(c, r));
        loop {
            let next: Vec<bool> = (0..chains.len())
                .map(|c| {
                    let eyes = (0..regions.len()).filter(|&r| vital[c][r] && beside(c, r) && sound(&alive, r));
                    alive[c] && eyes.count() >= 2
                })
                .collect();
            if next == alive {
                break;
            }
            alive = next;
        }
        let mut points = PointSet::EMPTY;
        let mut around = PointSet::EMPTY;
        for (chain, _) in chains.iter().zip(&alive).filter(|(_, alive)| **alive) {
            points |= chain.points;
            around |= chain.around;
        }
        for (r, region) in regions.iter().enumerate() {
            let enclosed = (0..chains.len()).any(|c| beside(c, r)) && sound(&alive, r);
            if enclosed && (region.empty - around).len() <= 1 {
                points |= region.points;
            }
        }
        points
    }

    fn chains_of(&self, color: Color) -> Vec<Chain> {
        let mut rest = *self.stones().of(color);
        let mut chains = Vec::new();
        while let Some(point) = rest.first() {
            let points = self.chain(point);
            chains.push(Chain { points, around: points.neighbours(self.size()) });
            rest -= points;
        }
        chains
    }

    /// The connected parts of what is left of the board without the stones of a colour.
    fn regions_of(&self, color: Color) -> Vec<Region> {
        let mut rest = PointSet::full(self.size()) - *self.stones().of(color);
        let mut regions = Vec::new();
        while let Some(point) = rest.first() {
            let points = PointSet::from_iter([point]).reach(&rest, self.size());
            regions.push(Region { points, empty: points & self.empty_points() });
            rest -= points;
        }
        regions
    }
}

struct Chain {
    points: PointSet,
    around: PointSet,
}

struct Region {
    points: PointSet,
    empty: PointSet,
}
