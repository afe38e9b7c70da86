//! The eight ways to turn and mirror a board.

use crate::point::{Move, Point};
use crate::point_set::PointSet;
use crate::size::{MAX_MOVES, MAX_SIDE, Size};

/// A symmetry of the square.
///
/// Rotations are anticlockwise; `Flip…` mirrors at the main diagonal first (a transposition) and rotates then. The
/// names and their order are Minigo's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symmetry {
    /// Nothing moves.
    Identity,
    /// A quarter turn anticlockwise.
    Rot90,
    /// A half turn.
    Rot180,
    /// A quarter turn clockwise.
    Rot270,
    /// Rows become columns.
    Flip,
    /// Top and bottom change places.
    FlipRot90,
    /// The mirror image at the other diagonal.
    FlipRot180,
    /// Left and right change places.
    FlipRot270,
}

impl Symmetry {
    /// All symmetries, in order of index.
    pub const ALL: [Symmetry; 8] = [
        Symmetry::Identity,
        Symmetry::Rot90,
        Symmetry::Rot180,
        Symmetry::Rot270,
        Symmetry::Flip,
        Symmetry::FlipRot90,
        Symmetry::FlipRot180,
        Symmetry::FlipRot270,
    ];

    /// The place of this symmetry in [`Symmetry::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The symmetry that undoes this one.
    pub const fn inverse(self) -> Symmetry {
        match self {
            Symmetry::Rot90 => Symmetry::Rot270,
            Symmetry::Rot270 => Symmetry::Rot90,
            own => own,
        }
    }

    /// The symmetry that does `first` and then `second`.
    pub const fn compose(first: Symmetry, second: Symmetry) -> Symmetry {
        let (flip, turns) = first.parts();
        let (flip_again, more_turns) = second.parts();
        // A transposition reverses the turns before it.
        let turns = if flip_again { 4 - turns } else { turns } + more_turns;
        Symmetry::ALL[4 * ((flip != flip_again) as usize) + turns % 4]
    }

    /// Where a point goes.
    pub const fn point(self, size: Size, point: Point) -> Point {
        Point::at(self.permutation(size)[point.index()] as usize)
    }

    /// Where a move goes; a pass stays.
    pub const fn apply_move(self, size: Size, mv: Move) -> Move {
        match mv {
            Move::Play(point) => Move::Play(self.point(size, point)),
            Move::Pass => Move::Pass,
        }
    }

    /// Where the points of a set go.
    pub fn apply_set(self, size: Size, set: &PointSet) -> PointSet {
        set.iter().map(|point| self.point(size, point)).collect()
    }

    /// Moves values along with their points: `to[permutation[i]] = from[i]`. One value a point, such as a plane of a
    /// network's input, or one a move, such as a policy, whose value for the pass stays last.
    ///
    /// # Panics
    /// When the slices differ in length, or have neither one value a point nor one a move.
    pub fn apply_values<T: Copy>(self, size: Size, from: &[T], to: &mut [T]) {
        assert_eq!(from.len(), to.len(), "as many values must come out as go in");
        assert!(
            [size.area(), size.moves()].contains(&from.len()),
            "{} values are neither one a point nor one a move of a {size}x{size} board",
            from.len()
        );
        for (&value, &index) in from.iter().zip(self.permutation(size)) {
            to[usize::from(index)] = value;
        }
    }

    /// For every move of the original board, by index, its index on the transformed board: `size.moves()` numbers, of
    /// which the last, the pass, is itself.
    pub const fn permutation(self, size: Size) -> &'static [u16] {
        PERMUTATIONS[size.side()][self.index()].split_at(size.moves()).0
    }

    /// Whether it begins with a transposition, and the quarter turns after that.
    const fn parts(self) -> (bool, usize) {
        (self.index() >= 4, self.index() % 4)
    }
}

static PERMUTATIONS: [[[u16; MAX_MOVES]; 8]; MAX_SIDE + 1] = {
    let mut tables = [[[0; MAX_MOVES]; 8]; MAX_SIDE + 1];
    let mut side = 2;
    while side <= MAX_SIDE {
        let mut i = 0;
        while i < 8 {
            tables[side][i] = tabulate(side, Symmetry::ALL[i]);
            i += 1;
        }
        side += 1;
    }
    tables
};

const fn tabulate(side: usize, symmetry: Symmetry) -> [u16; MAX_MOVES] {
    let mut table = [0; MAX_MOVES];
    let (flip, turns) = symmetry.parts();
    let mut i = 0;
    while i < side * side {
        let (mut row, mut col) = if flip { (i % side, i / side) } else { (i / side, i % side) };
        let mut turn = 0;
        while turn < turns {
            (row, col) = (side - 1 - col, row);
            turn += 1;
        }
        table[i] = (row * side + col) as u16;
        i += 1;
    }
    table[side * side] = (side * side) as u16;
    table
}
