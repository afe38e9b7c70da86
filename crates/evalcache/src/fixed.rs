//! What there is to know of a move before anything of the policy is known: contexts for the log-odds that it has steps.

use crate::layout::{LogOdds, STAGES, given as fixed};
use crate::view::{BEYOND, BORDER, CELLS, EMPTY, OTHER, OWN, RECENT, View, WIDTH, cell};
use go::MAX_SIDE;

/// Contexts of a point.
pub(crate) const CONTEXTS: usize = 11;

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

/// Rows, and columns, that the difference of two points can be.
const SPAN: usize = 2 * MAX_SIDE - 1;

/// Classes of the distance to the last move.
const NO_REPLY: u8 = 6;

/// The class of each difference to the last move.
static REPLIES: [u8; SPAN * SPAN] = {
    let mut table = [0; SPAN * SPAN];
    let mut place = 0;
    while place < table.len() {
        let distance = DISTANCES[(place / SPAN).abs_diff(MAX_SIDE - 1)][(place % SPAN).abs_diff(MAX_SIDE - 1)];
        table[place] = if distance < NO_REPLY { distance } else { NO_REPLY };
        place += 1;
    }
    table
};

/// What is to be added to `row * SPAN + col` for the place of a point's difference to this one.
fn offset(row: u8, col: u8) -> usize {
    (MAX_SIDE - 1 - usize::from(row)) * SPAN + MAX_SIDE - 1 - usize::from(col)
}

/// The log-odds of each of the last moves by the difference of a point to it: those of the distances, laid out so that
/// neighbours are side by side.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Offsets {
    moves: [[i16; SPAN * SPAN]; RECENT],
    nothing: [i16; SPAN * SPAN],
}

impl Offsets {
    pub(crate) fn new(log_odds: &LogOdds) -> Offsets {
        let first = [fixed::LAST, fixed::SECOND, fixed::THIRD, fixed::FOURTH];
        let of = |k: usize, place: usize| {
            let (row, col) = ((place / SPAN).abs_diff(MAX_SIDE - 1), (place % SPAN).abs_diff(MAX_SIDE - 1));
            log_odds[first[k] as usize + usize::from(DISTANCES[row][col])]
        };
        Offsets { moves: std::array::from_fn(|k| std::array::from_fn(|place| of(k, place))), nothing: [0; SPAN * SPAN] }
    }
}

#[inline(always)]
fn distance(row: usize, col: usize, to: Option<(u8, u8)>) -> u32 {
    let Some((r, c)) = to else { return NO_DISTANCE };
    DISTANCES[row.abs_diff(r.into())][col.abs_diff(c.into())].into()
}

/// A position, and codes of the surroundings of all its points.
pub(crate) struct Fixed<'a> {
    view: &'a View,
    stage: u32,
    cells: Cells,
}

/// For each cell of the board's rows.
struct Cells {
    /// Codes of the four neighbours, in three bits each.
    four: [u16; CELLS],
    /// Codes of the four diagonal neighbours, in three bits each.
    diagonal: [u16; CELLS],
    /// Kinds of the four cells at distance two in a straight line, in two bits each.
    straight: [u8; CELLS],
    /// Stones in the square of five points a side: the mover's in the lower byte.
    around: [u16; CELLS],
}

impl Cells {
    /// Rows of the border have zeros. Each loop is one the compiler makes wide operations of.
    fn new(view: &View) -> Cells {
        let side = view.size().side();
        let codes = &view.cells;
        let mut cells = Cells { four: [0; CELLS], diagonal: [0; CELLS], straight: [0; CELLS], around: [0; CELLS] };
        let (mut stones, mut kinds, mut rows) = ([0_u16; CELLS], [0_u8; CELLS], [0_u16; CELLS]);
        // With two rows above and below the board, which its points see.
        let all = ..(side + 2 * BORDER) * WIDTH;
        for ((count, kind), &code) in stones[all].iter_mut().zip(&mut kinds[all]).zip(&codes[all]) {
            let (own, other) = (code.wrapping_sub(OWN) < OTHER - OWN, code >= OTHER);
            *count = u16::from(own) | u16::from(other) << 8;
            *kind = if code == BEYOND { 3 } else { u8::from(own) | u8::from(other) << 1 };
        }
        let within = 2..(side + 2 * BORDER) * WIDTH - 2;
        for (k, sum) in rows[within].iter_mut().enumerate() {
            *sum = stones[k] + stones[k + 1] + stones[k + 2] + stones[k + 3] + stones[k + 4];
        }
        let board = cell(0, 0)..cell(side - 1, side);
        let (first, len) = (board.start, board.len());
        let shifted = |offset: usize| first + offset - 2 * WIDTH;
        for (k, sum) in cells.around[board.clone()].iter_mut().enumerate() {
            let at = first - 2 * WIDTH + k;
            *sum = rows[at] + rows[at + WIDTH] + rows[at + 2 * WIDTH] + rows[at + 3 * WIDTH] + rows[at + 4 * WIDTH];
        }
        let code = |offset: usize| &codes[shifted(offset)..][..len];
        let neighbours = [WIDTH, 2 * WIDTH + 1, 3 * WIDTH, 2 * WIDTH - 1].map(code);
        let diagonals = [WIDTH - 1, WIDTH + 1, 3 * WIDTH + 1, 3 * WIDTH - 1].map(code);
        packed(neighbours, 3, &mut cells.four[board.clone()]);
        packed(diagonals, 3, &mut cells.diagonal[board.clone()]);
        let kind = |offset: usize| &kinds[shifted(offset)..][..len];
        let [up, right, down, left] = [0, 2 * WIDTH + 2, 4 * WIDTH, 2 * WIDTH - 2].map(kind);
        for (k, straight) in cells.straight[board].iter_mut().enumerate() {
            *straight = up[k] << 6 | right[k] << 4 | down[k] << 2 | left[k];
        }
        cells
    }
}

/// Four codes in `bits` bits each, the first in the highest.
fn packed([a, b, c, d]: [&[u8]; 4], bits: u32, out: &mut [u16]) {
    let len = out.len();
    let (a, b, c, d) = (&a[..len], &b[..len], &c[..len], &d[..len]);
    for (k, code) in out.iter_mut().enumerate() {
        let [a, b, c, d] = [a[k], b[k], c[k], d[k]].map(u16::from);
        *code = a << (3 * bits) | b << (2 * bits) | c << bits | d;
    }
}

impl<'a> Fixed<'a> {
    pub(crate) fn new(view: &'a View) -> Fixed<'a> {
        Fixed { view, stage: stage(view), cells: Cells::new(view) }
    }

    /// The contexts of a point.
    #[inline(always)]
    pub(crate) fn contexts(&self, row: usize, col: usize) -> [u32; CONTEXTS] {
        let (at, side) = (cell(row, col), self.view.size().side());
        let (four, diagonal) = (self.cells.four[at], self.cells.diagonal[at]);
        // Codes have three bits.
        let near_counts = u32::from(COUNTS[usize::from(four & 4095)]);
        let far_counts = u32::from(COUNTS[usize::from(diagonal & 4095)]);
        let counts = (near_counts & 31) * 25 + (far_counts & 31);
        let [last, second, third, fourth] = self.view.recent;
        let last = distance(row, col, last);
        let edge = |x: usize| x.min(side - 1 - x);
        let (down, across) = (edge(row), edge(col));
        let (around, stage) = (self.cells.around[at], self.stage);
        let (ours, theirs) = (u32::from(around & 255).min(9), u32::from(around >> 8).min(9));
        [
            fixed::NEIGHBOURS + u32::from(four),
            fixed::COUNTS + counts * 4 + (near_counts >> 5),
            fixed::LAST + last,
            fixed::SECOND + distance(row, col, second),
            fixed::THIRD + distance(row, col, third),
            fixed::FOURTH + distance(row, col, fourth),
            fixed::PLACE + u32::from(DISTANCES[down][across]) * STAGES as u32 + stage,
            fixed::STRAIGHT + u32::from(self.cells.straight[at]) * 3 + down.min(across).min(2) as u32,
            fixed::REPLY + last.min(6) * 625 + counts,
            fixed::AROUND + (ours * 10 + theirs) * 4 + stage.min(7) / 2,
            fixed::DIAGONALS + u32::from(diagonal),
        ]
    }

    /// Calls `take` for each empty point with its index, its cell, and the log-odds of its contexts together.
    #[inline(always)]
    pub(crate) fn points(&self, log_odds: &LogOdds, offsets: &Offsets, mut take: impl FnMut(usize, usize, i32)) {
        let side = self.view.size().side();
        let of = |context: u32| i32::from(log_odds[usize::from(context as u16)]);
        let tables = [fixed::LAST, fixed::SECOND, fixed::THIRD, fixed::FOURTH];
        let mut absent = 0;
        let moves: [(&[i16; SPAN * SPAN], usize); RECENT] = std::array::from_fn(|k| match self.view.recent[k] {
            Some((row, col)) => (&offsets.moves[k], offset(row, col)),
            None => {
                absent += of(tables[k] + NO_DISTANCE);
                (&offsets.nothing, 0)
            }
        });
        let [last, second, third, fourth] = moves;
        let reply = match self.view.recent[0] {
            Some(_) => &REPLIES,
            None => &[NO_REPLY; SPAN * SPAN],
        };
        for row in 0..side {
            let down = row.min(side - 1 - row);
            let line = &DISTANCES[down];
            for col in 0..side {
                let at = cell(row, col);
                if self.view.cells[at] != EMPTY {
                    continue;
                }
                let (four, diagonal) = (self.cells.four[at], self.cells.diagonal[at]);
                let near_counts = u32::from(COUNTS[usize::from(four & 4095)]);
                let far_counts = u32::from(COUNTS[usize::from(diagonal & 4095)]);
                let counts = (near_counts & 31) * 25 + (far_counts & 31);
                let across = col.min(side - 1 - col);
                let around = self.cells.around[at];
                let (ours, theirs) = (u32::from(around & 255).min(9), u32::from(around >> 8).min(9));
                let place = row * SPAN + col;
                let moves = i32::from(last.0[place + last.1])
                    + i32::from(second.0[place + second.1])
                    + i32::from(third.0[place + third.1])
                    + i32::from(fourth.0[place + fourth.1]);
                let sum = absent
                    + moves
                    + of(fixed::NEIGHBOURS + u32::from(four))
                    + of(fixed::COUNTS + counts * 4 + (near_counts >> 5))
                    + of(fixed::PLACE + u32::from(line[across]) * STAGES as u32 + self.stage)
                    + of(fixed::STRAIGHT + u32::from(self.cells.straight[at]) * 3 + down.min(across).min(2) as u32)
                    + of(fixed::REPLY + u32::from(reply[place + last.1]) * 625 + counts)
                    + of(fixed::AROUND + (ours * 10 + theirs) * 4 + self.stage.min(7) / 2)
                    + of(fixed::DIAGONALS + u32::from(diagonal));
                take(row * side + col, at, sum);
            }
        }
    }

    /// The contexts of the pass.
    pub(crate) fn pass(&self) -> [u32; 1] {
        [fixed::PASS + 2 * self.stage + u32::from(self.view.recent[0].is_none())]
    }

    pub(crate) fn stage(&self) -> u32 {
        self.stage
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

    /// Every context has another number, so that a wrong one changes the sum.
    #[test]
    fn points_have_the_log_odds_of_their_contexts() {
        let mut log_odds: LogOdds = [0; 1 << 16];
        log_odds.iter_mut().enumerate().for_each(|(k, number)| *number = ((k as u32 * 40_503) >> 7) as i16);
        let offsets = Offsets::new(&log_odds);
        for size in [2, 3, 9, 19].map(|side| Size::new(side).expect("a size")) {
            let mut game = Game::new(size);
            for index in (0..size.area()).step_by(3).chain([size.area()]).chain((1..size.area()).step_by(5)) {
                let view = View::new(&game, Symmetry::Rot90);
                let positions = Fixed::new(&view);
                let mut points = 0;
                positions.points(&log_odds, &offsets, |index, at, sum| {
                    let (row, col) = (index / size.side(), index % size.side());
                    let of = |context: u32| i32::from(log_odds[context as usize]);
                    assert_eq!(at, cell(row, col));
                    assert_eq!(sum, positions.contexts(row, col).into_iter().map(of).sum::<i32>(), "{size} {index}");
                    points += 1;
                });
                assert_eq!(points, size.area() - usize::from(view.stones));
                let _ = game.play(Move::from_index(size, index).expect("a move"));
            }
        }
    }
}
