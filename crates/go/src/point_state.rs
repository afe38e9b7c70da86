//! The state of each point, and the liberties of a chain.

use crate::color::Color;

/// The state of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Black,
    White,
    Empty,
    /// Not a point of this board.
    Beyond,
}

impl Content {
    pub(crate) const fn stone(color: Color) -> Content {
        match color {
            Color::Black => Content::Black,
            Color::White => Content::White,
        }
    }

    pub(crate) const fn color(self) -> Option<Color> {
        match self {
            Content::Black => Some(Color::Black),
            Content::White => Some(Color::White),
            Content::Empty | Content::Beyond => None,
        }
    }
}

/// One point of the board. The fields after `content` mean something only where there is a stone, and `len` and
/// `liberties` only on the stone that is the head of its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointState {
    pub(crate) content: Content,
    /// The stone that stands for the whole chain.
    pub(crate) head: u16,
    /// The next stone of the chain; the last leads back to the first.
    pub(crate) next: u16,
    /// Stones in the chain.
    pub(crate) len: u16,
    pub(crate) liberties: Liberties,
}

impl PointState {
    pub(crate) const BEYOND: PointState =
        PointState { content: Content::Beyond, head: 0, next: 0, len: 0, liberties: Liberties::NONE };
    pub(crate) const EMPTY: PointState = PointState { content: Content::Empty, ..PointState::BEYOND };
}

/// The pseudo-liberties of a chain: one for every pair of a stone and an empty point next to it.
///
/// They can be added and removed without a search for duplicates, and three sums over their indices are enough to
/// know whether they are all the same point: by Cauchy and Schwarz, count times the sum of squares equals the square
/// of the sum exactly then. The sums wrap; the test reads them only when there are at most four, which is all one
/// point can have, and four indices below 362 do not wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Liberties {
    count: u16,
    sum: u16,
    squares: u32,
}

impl Liberties {
    pub(crate) const NONE: Liberties = Liberties { count: 0, sum: 0, squares: 0 };

    pub(crate) fn add(&mut self, point: u16) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(point);
        self.squares = self.squares.wrapping_add(u32::from(point) * u32::from(point));
    }

    pub(crate) fn remove(&mut self, point: u16) {
        self.count -= 1;
        self.sum = self.sum.wrapping_sub(point);
        self.squares = self.squares.wrapping_sub(u32::from(point) * u32::from(point));
    }

    pub(crate) fn join(&mut self, other: Liberties) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.squares = self.squares.wrapping_add(other.squares);
    }

    /// The pairs.
    pub(crate) fn count(self) -> usize {
        self.count.into()
    }

    pub(crate) fn are_none(self) -> bool {
        self.count == 0
    }

    /// Whether there is at most one liberty.
    pub(crate) fn are_one_point(self) -> bool {
        let sum = u32::from(self.sum);
        self.count <= 4 && u32::from(self.count).wrapping_mul(self.squares) == sum.wrapping_mul(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::Liberties;

    fn liberties(points: &[u16]) -> Liberties {
        let mut all = Liberties::NONE;
        points.iter().for_each(|&point| all.add(point));
        all
    }

    #[test]
    fn one_point_differs_from_two() {
        for a in 0..361 {
            assert!(liberties(&[a]).are_one_point() && liberties(&[a; 4]).are_one_point());
            for b in (0..361).filter(|&b| b != a) {
                let two = [liberties(&[a, b]), liberties(&[a, a, a, b])];
                assert!(!two.iter().any(|liberties| liberties.are_one_point()), "{a} {b}");
            }
        }
    }

    /// The sum of these wraps to 0, and so does their number times the sum of their squares.
    #[test]
    fn sums_that_wrap_do_not_pass_for_one_point() {
        let many = [vec![0; 640], vec![128; 256], vec![256; 128]].concat();
        assert!(!liberties(&many).are_one_point());
    }

    #[test]
    fn removed_stone_leaves_no_trace() {
        let mut three = liberties(&[360, 7, 7]);
        three.remove(360);
        assert_eq!(three, liberties(&[7, 7]));
        let mut joined = liberties(&[1, 2]);
        joined.join(liberties(&[3]));
        assert_eq!(joined, liberties(&[1, 2, 3]));
    }
}
