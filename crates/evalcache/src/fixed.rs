//! What there is to know of a move before anything of the policy is known: contexts for the log-odds that it has steps.

use crate::layout::{STAGES, given as fixed};
use crate::view::{CELLS, OTHER, OWN, RECENT, View, WIDTH, cell};
use go::MAX_SIDE;

/// Contexts of a point.
pub(crate) const CONTEXTS: usize = 11;

const FOUR: [isize; 4] = [-(WIDTH as isize), 1, WIDTH as isize, -1];
const DIAGONAL: [isize; 4] = [-(WIDTH as isize) - 1, -(WIDTH as isize) + 1, WIDTH as isize + 1, WIDTH as isize - 1];
const NO_DISTANCE: u32 = 190;

/// Nothing, mover's, opponent's or beyond the border.
const KINDS: [u8; 8] = [0, 3, 1, 1, 1, 2, 2, 2];

/// How many of four cells are of each kind: 5 · mover's + opponent's, and in the upper bits cells beyond the border, up to 2.
static COUNTS: [u8; 4096] = {
    let mut table = [0; 4096];
    let mut codes = 0;
    while codes < table.len() {
        let (mut counts, mut shift) = ([0; 4], 0);
        while shift < 12 {
            counts[KINDS[codes >> shift & 7] as usize] += 1;
            shift += 3;
        }
        let beyond = if counts[3] < 2 { counts[3] } else { 2 };
        table[codes] = 5 * counts[1] + counts[2] + 32 * beyond;
        codes += 1;
    }
    table
};

/// The place of a distance among those that are turned and mirrored into one.
static DISTANCES: [[u8; MAX_SIDE]; MAX_SIDE] = {
    let mut table = [[0; MAX_SIDE]; MAX_SIDE];
    let mut a = 0;
    while a < MAX_SIDE {
        let mut b = 0;
        while b < MAX_SIDE {
            let (near, far) = if a < b { (a, b) } else { (b, a) };
            table[a][b] = (far * (far + 1) / 2 + near) as u8;
            b += 1;
        }
        a += 1;
    }
    table
};

/// How many stones there are, in classes.
pub(crate) fn stage(view: &View) -> u32 {
    let share = u32::from(view.stones) * 2 * STAGES as u32 / view.size().area() as u32;
    share.min(STAGES as u32 - 1)
}

fn distance(row: usize, col: usize, to: Option<(u8, u8)>) -> u32 {
    let Some((r, c)) = to else { return NO_DISTANCE };
    DISTANCES[row.abs_diff(r.into())][col.abs_diff(c.into())].into()
}

/// A position, and counts that all of its points share.
pub(crate) struct Fixed<'a> {
    view: &'a View,
    stage: u32,
    /// Stones in the square of five points a side around each cell: the mover's in the lower byte.
    around: [u16; CELLS],
}

impl<'a> Fixed<'a> {
    pub(crate) fn new(view: &'a View) -> Fixed<'a> {
        let (mut stones, mut rows, mut around) = ([0; CELLS], [0; CELLS], [0; CELLS]);
        for (count, &code) in stones.iter_mut().zip(&view.cells) {
            *count = u16::from(code.wrapping_sub(OWN) < OTHER - OWN) | u16::from(code >= OTHER) << 8;
        }
        sums(&stones, 1, &mut rows);
        sums(&rows, WIDTH, &mut around);
        Fixed { view, stage: stage(view), around }
    }

    /// The contexts of a point.
    #[inline(always)]
    pub(crate) fn contexts(&self, row: usize, col: usize) -> [u32; CONTEXTS] {
        let (at, side) = (cell(row, col), self.view.size().side());
        let code = |offset: isize| u32::from(self.view.cells[(at as isize + offset) as usize]);
        let base = |offsets: [isize; 4]| offsets.into_iter().fold(0, |sum, offset| sum << 3 | code(offset));
        let (four, diagonal) = (base(FOUR), base(DIAGONAL));
        let (near_counts, far_counts) = (u32::from(COUNTS[four as usize]), u32::from(COUNTS[diagonal as usize]));
        let counts = (near_counts & 31) * 25 + (far_counts & 31);
        let distances: [u32; RECENT] = self.view.recent.map(|recent| distance(row, col, recent));
        let edge = |x: usize| x.min(side - 1 - x);
        let (down, across) = (edge(row), edge(col));
        let straight = FOUR.iter().fold(0, |sum, offset| sum << 2 | u32::from(KINDS[code(2 * offset) as usize & 7]));
        let (around, stage) = (self.around[at], self.stage);
        let (ours, theirs) = (u32::from(around & 255).min(9), u32::from(around >> 8).min(9));
        [
            fixed::NEIGHBOURS + four,
            fixed::COUNTS + counts * 4 + (near_counts >> 5),
            fixed::LAST + distances[0],
            fixed::SECOND + distances[1],
            fixed::THIRD + distances[2],
            fixed::FOURTH + distances[3],
            fixed::PLACE + u32::from(DISTANCES[down][across]) * STAGES as u32 + stage,
            fixed::STRAIGHT + straight * 3 + down.min(across).min(2) as u32,
            fixed::REPLY + distances[0].min(6) * 625 + counts,
            fixed::AROUND + (ours * 10 + theirs) * 4 + stage.min(7) / 2,
            fixed::DIAGONALS + diagonal,
        ]
    }

    /// The contexts of the pass.
    pub(crate) fn pass(&self) -> [u32; 1] {
        [fixed::PASS + 2 * self.stage + u32::from(self.view.recent[0].is_none())]
    }

    pub(crate) fn stage(&self) -> u32 {
        self.stage
    }
}

/// For each cell the sum of five cells with this distance around it; none where there are not as many.
fn sums(cells: &[u16; CELLS], step: usize, out: &mut [u16; CELLS]) {
    let len = CELLS - 4 * step;
    let out = &mut out[2 * step..][..len];
    out.copy_from_slice(&cells[..len]);
    for shift in 1..5 {
        out.iter_mut().zip(&cells[shift * step..]).for_each(|(sum, more)| *sum += more);
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Move, Size, Symmetry};

    use super::*;
    use crate::layout::given::END;

    #[test]
    fn contexts_stay_in_their_tables_on_all_boards() {
        let starts = [
            fixed::NEIGHBOURS,
            fixed::COUNTS,
            fixed::LAST,
            fixed::SECOND,
            fixed::THIRD,
            fixed::FOURTH,
            fixed::PLACE,
            fixed::STRAIGHT,
            fixed::REPLY,
            fixed::AROUND,
            fixed::DIAGONALS,
            fixed::PASS,
        ];
        for size in Size::all() {
            let mut game = Game::new(size);
            for index in (0..size.area()).step_by(2).chain((1..size.area()).step_by(6)) {
                let _ = game.play(Move::from_index(size, index).expect("a move"));
                let view = View::new(&game, Symmetry::Flip);
                let positions = Fixed::new(&view);
                for point in 0..size.area() {
                    let found = positions.contexts(point / size.side(), point % size.side());
                    for (k, &context) in found.iter().enumerate() {
                        assert!((starts[k]..starts[k + 1]).contains(&context), "{size} {point} {k}");
                    }
                }
                assert!((fixed::PASS..END as u32).contains(&positions.pass()[0]));
            }
        }
    }
}
