//! The rules again, as slow and as obvious as possible, to compare with.

use std::collections::BTreeSet;

use go::{Color, Point, PointSet, Size, Stones};

/// A board as a list of rows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Board {
    pub(crate) side: usize,
    pub(crate) points: Vec<Option<Color>>,
}

impl Board {
    pub(crate) fn new(size: Size, stones: &Stones) -> Board {
        let points = Point::all(size).map(|point| stones.at(point)).collect();
        Board { side: size.side(), points }
    }

    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        let side = self.side;
        let (row, col) = (i / side, i % side);
        let up = (row > 0).then(|| i - side);
        let left = (col > 0).then(|| i - 1);
        let right = (col + 1 < side).then(|| i + 1);
        let down = (row + 1 < side).then(|| i + side);
        [up, left, right, down].into_iter().flatten()
    }

    /// The points that can be reached from `start` by steps on points that pass the test.
    fn reach(&self, start: usize, within: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut seen = vec![false; self.points.len()];
        seen[start] = true;
        let mut found = vec![start];
        let mut next = 0;
        while next < found.len() {
            for neighbour in self.neighbours(found[next]) {
                if within(neighbour) && !seen[neighbour] {
                    seen[neighbour] = true;
                    found.push(neighbour);
                }
            }
            next += 1;
        }
        found
    }

    /// The points next to a set and not in it.
    pub(crate) fn border(&self, set: &BTreeSet<usize>) -> BTreeSet<usize> {
        set.iter().flat_map(|&i| self.neighbours(i)).filter(|i| !set.contains(i)).collect()
    }

    fn chain(&self, i: usize) -> Vec<usize> {
        self.reach(i, |j| self.points[j] == self.points[i])
    }

    /// Whether any stone of the chain at a point has an empty point beside it.
    fn breathes(&self, i: usize) -> bool {
        self.chain(i).into_iter().any(|stone| self.neighbours(stone).any(|j| self.points[j].is_none()))
    }

    /// The board after a stone, or `None` where it may not be put. Superko is not looked at.
    pub(crate) fn play(&self, i: usize, color: Color) -> Option<Board> {
        if self.points[i].is_some() {
            return None;
        }
        let mut after = self.clone();
        after.points[i] = Some(color);
        for j in self.neighbours(i) {
            if after.points[j] == Some(color.opponent()) && !after.breathes(j) {
                for stone in after.chain(j) {
                    after.points[stone] = None;
                }
            }
        }
        after.breathes(i).then_some(after)
    }

    /// Black's area minus White's.
    pub(crate) fn area_score(&self) -> i32 {
        let worth = |color: Color| if color == Color::Black { 1 } else { -1 };
        let stones: i32 = self.points.iter().flatten().map(|&color| worth(color)).sum();
        let territory = self.parts(|i| self.points[i].is_none()).into_iter().map(|region| {
            let colors: BTreeSet<Color> = self.border(&region).iter().filter_map(|&j| self.points[j]).collect();
            let owner = if colors.len() == 1 { colors.into_iter().map(worth).sum() } else { 0 };
            owner * region.len() as i32
        });
        stones + territory.sum::<i32>()
    }

    /// The connected parts of the board that pass the test.
    pub(crate) fn parts(&self, within: impl Fn(usize) -> bool) -> BTreeSet<BTreeSet<usize>> {
        let mut covered = BTreeSet::new();
        let mut parts = BTreeSet::new();
        for i in 0..self.points.len() {
            if within(i) && !covered.contains(&i) {
                let part: BTreeSet<usize> = self.reach(i, &within).into_iter().collect();
                covered.extend(part.iter().copied());
                parts.insert(part);
            }
        }
        parts
    }

    /// Benson's algorithm as in his paper, and the regions in which the opponent cannot make two eyes.
    pub(crate) fn pass_alive(&self, color: Color) -> BTreeSet<usize> {
        let own = |i: usize| self.points[i] == Some(color);
        let mut chains = self.parts(own);
        let all_regions = self.parts(|i| !own(i));
        let mut regions = all_regions.clone();
        let empty = |region: &BTreeSet<usize>| -> BTreeSet<usize> {
            region.iter().copied().filter(|&i| self.points[i].is_none()).collect()
        };
        let vital = |chain: &BTreeSet<usize>, region: &BTreeSet<usize>| empty(region).is_subset(&self.border(chain));
        loop {
            let counts = (chains.len(), regions.len());
            chains.retain(|chain| regions.iter().filter(|region| vital(chain, region)).count() >= 2);
            let alive: BTreeSet<usize> = chains.iter().flatten().copied().collect();
            regions.retain(|region| self.border(region).is_subset(&alive));
            if counts == (chains.len(), regions.len()) {
                break;
            }
        }
        let mut points: BTreeSet<usize> = chains.iter().flatten().copied().collect();
        for region in all_regions {
            let border = self.border(&region);
            let interior =
                empty(&region).into_iter().filter(|&i| self.neighbours(i).all(|j| !border.contains(&j))).count();
            if !border.is_empty() && border.iter().all(|&i| points.contains(&i)) && interior <= 1 {
                points.extend(region);
            }
        }
        points
    }
}

/// A set of points as a set of numbers.
pub(crate) fn indices(set: &PointSet) -> BTreeSet<usize> {
    set.iter().map(Point::index).collect()
}
