//! What there is to know of a move before anything of the policy is known: contexts for the log-odds that it has steps.

use crate::layout::{LogOdds, STAGES, given as fixed};
use crate::view::{BEYOND, BORDER, CELLS, EMPTY, OTHER, OWN, RECENT, View, WIDTH, cell};
use go::{MAX_AREA, MAX_SIDE};

/// Contexts of a point.
pub(crate) const CONTEXTS: usize = 11;

const NO_DISTANCE: u32 = 190;

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

/// What a cell of the board's rows tells of a point there.
#[derive(Clone, Copy)]
struct Place {
    /// Its distances to the two nearest sides, as a place of [`DISTANCES`].
    sides: u8,
    /// The lesser of them, up to 2.
    side: u8,
}

/// For each size of the board, and for each cell.
static PLACES: [[Place; CELLS]; MAX_SIDE + 1] = {
    let mut table = [[Place { sides: 0, side: 0 }; CELLS]; MAX_SIDE + 1];
    let mut size = 2;
    while size <= MAX_SIDE {
        let mut index = 0;
        while index < size * size {
            let (row, col) = (index / size, index % size);
            let down = if row < size - 1 - row { row } else { size - 1 - row };
            let across = if col < size - 1 - col { col } else { size - 1 - col };
            let near = if down < across { down } else { across };
            table[size][cell(row, col)] =
                Place { sides: DISTANCES[down][across], side: if near < 2 { near as u8 } else { 2 } };
            index += 1;
        }
        size += 1;
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
/// Places of differences, and unused ones up to a power of 2, so that none is outside.
const SPANS: usize = (SPAN * SPAN).next_power_of_two();

/// Classes of the distance to the last move.
const NO_REPLY: u8 = 6;
/// Contexts of each of them.
const REPLIED: u32 = 625;

/// The class of each difference to the last move.
static REPLIES: [u8; SPANS] = {
    let mut table = [0; SPANS];
    let mut place = 0;
    while place < SPAN * SPAN {
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
    moves: [[i16; SPANS]; RECENT],
    nothing: [i16; SPANS],
}

impl Offsets {
    pub(crate) fn new(log_odds: &LogOdds) -> Offsets {
        let first = [fixed::LAST, fixed::SECOND, fixed::THIRD, fixed::FOURTH];
        let of = |k: usize, place: usize| {
            let (row, col) = ((place / SPAN).abs_diff(MAX_SIDE - 1), (place % SPAN).abs_diff(MAX_SIDE - 1));
            let distance = DISTANCES.get(row).map_or(0, |distances| distances[col]);
            log_odds[first[k] as usize + usize::from(distance)]
        };
        Offsets { moves: std::array::from_fn(|k| std::array::from_fn(|place| of(k, place))), nothing: [0; SPANS] }
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

/// For each cell of the board's rows, parts of its contexts.
struct Cells {
    /// Codes of the four neighbours, in three bits each.
    four: [u16; CELLS],
    /// Codes of the four diagonal neighbours, in three bits each.
    diagonal: [u16; CELLS],
    /// How many of the eight neighbours are stones of each player, and how many of the four are beyond the border, up
    /// to 2: 4 · (25 · (5 · mover's + opponent's of the four) + 5 · mover's + opponent's of the diagonal ones) +
    /// beyond.
    counts: [u16; CELLS],
    /// Kinds of the four cells at distance two in a straight line, in two bits each, times 3, and the distance to the
    /// side.
    straight: [u16; CELLS],
    /// Stones in the square of five points a side, up to nine of each player: 4 · (10 · mover's + opponent's).
    around: [u16; CELLS],
}

/// Bits for each of the numbers of cells that are the mover's, the opponent's and beyond the border. There are up
/// to 25.
const COUNT: u32 = 5;
const COUNT_MASK: u16 = (1 << COUNT) - 1;

/// 5 · mover's + opponent's.
#[inline(always)]
fn of_five(counts: u16) -> u16 {
    5 * (counts & COUNT_MASK) + (counts >> COUNT & COUNT_MASK)
}

impl Cells {
    /// Rows of the border have zeros. Each loop is one the compiler makes wide operations of.
    fn new(view: &View) -> Cells {
        let side = view.size().side();
        let codes = &view.cells;
        let nothing = [0; CELLS];
        let mut cells = Cells { four: nothing, diagonal: nothing, counts: nothing, straight: nothing, around: nothing };
        let (mut stones, mut kinds, mut rows) = ([0_u16; CELLS], [0_u8; CELLS], [0_u16; CELLS]);
        // With two rows above and below the board, which its points see.
        let all = ..(side + 2 * BORDER) * WIDTH;
        for ((count, kind), &code) in stones[all].iter_mut().zip(&mut kinds[all]).zip(&codes[all]) {
            let (own, other) = (code.wrapping_sub(OWN) < OTHER - OWN, code >= OTHER);
            *count = u16::from(own) | u16::from(other) << COUNT | u16::from(code == BEYOND) << (2 * COUNT);
            *kind = if code == BEYOND { 3 } else { u8::from(own) | u8::from(other) << 1 };
        }
        let within = 2..(side + 2 * BORDER) * WIDTH - 2;
        for (k, sum) in rows[within].iter_mut().enumerate() {
            *sum = stones[k] + stones[k + 1] + stones[k + 2] + stones[k + 3] + stones[k + 4];
        }
        let board = cell(0, 0)..cell(side - 1, side);
        let (first, len) = (board.start, board.len());
        let shifted = |offset: usize| first + offset - 2 * WIDTH;
        for (k, around) in cells.around[board.clone()].iter_mut().enumerate() {
            let at = first - 2 * WIDTH + k;
            let sum = rows[at] + rows[at + WIDTH] + rows[at + 2 * WIDTH] + rows[at + 3 * WIDTH] + rows[at + 4 * WIDTH];
            *around = 4 * (10 * (sum & COUNT_MASK).min(9) + (sum >> COUNT & COUNT_MASK).min(9));
        }
        let (neighbours, diagonals) =
            ([WIDTH, 2 * WIDTH + 1, 3 * WIDTH, 2 * WIDTH - 1], [WIDTH - 1, WIDTH + 1, 3 * WIDTH + 1, 3 * WIDTH - 1]);
        let code = |offset: usize| &codes[shifted(offset)..][..len];
        packed(neighbours.map(code), 3, &mut cells.four[board.clone()]);
        packed(diagonals.map(code), 3, &mut cells.diagonal[board.clone()]);
        let count = |offset: usize| &stones[shifted(offset)..][..len];
        let ([a, b, c, d], [e, f, g, h]) = (neighbours.map(count), diagonals.map(count));
        for (k, counts) in cells.counts[board.clone()].iter_mut().enumerate() {
            let (near, far) = (a[k] + b[k] + c[k] + d[k], e[k] + f[k] + g[k] + h[k]);
            *counts = 4 * (25 * of_five(near) + of_five(far)) + (near >> (2 * COUNT)).min(2);
        }
        let kind = |offset: usize| &kinds[shifted(offset)..][..len];
        let [up, right, down, left] = [0, 2 * WIDTH + 2, 4 * WIDTH, 2 * WIDTH - 2].map(kind);
        let places = &PLACES[side][board.clone()];
        for (k, straight) in cells.straight[board].iter_mut().enumerate() {
            let four = up[k] << 6 | right[k] << 4 | down[k] << 2 | left[k];
            *straight = 3 * u16::from(four) + u16::from(places[k].side);
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
        let at = cell(row, col);
        let [last, second, third, fourth] = self.view.recent;
        let last = distance(row, col, last);
        let counts = u32::from(self.cells.counts[at]);
        [
            fixed::NEIGHBOURS + u32::from(self.cells.four[at]),
            fixed::COUNTS + counts,
            fixed::LAST + last,
            fixed::SECOND + distance(row, col, second),
            fixed::THIRD + distance(row, col, third),
            fixed::FOURTH + distance(row, col, fourth),
            fixed::PLACE + u32::from(self.place(at).sides) * STAGES as u32 + self.stage,
            fixed::STRAIGHT + u32::from(self.cells.straight[at]),
            fixed::REPLY + last.min(NO_REPLY.into()) * REPLIED + counts / 4,
            fixed::AROUND + u32::from(self.cells.around[at]) + self.stage.min(7) / 2,
            fixed::DIAGONALS + u32::from(self.cells.diagonal[at]),
        ]
    }

    #[inline(always)]
    fn place(&self, at: usize) -> Place {
        PLACES[self.view.size().side()][at]
    }

    /// Calls `take` for each empty point with its index, its cell, and the log-odds of its contexts together.
    #[inline(always)]
    pub(crate) fn points(&self, log_odds: &LogOdds, offsets: &Offsets, mut take: impl FnMut(usize, usize, i32)) {
        let side = self.view.size().side();
        let of = |context: u32| i32::from(log_odds[usize::from(context as u16)]);
        let tables = [fixed::LAST, fixed::SECOND, fixed::THIRD, fixed::FOURTH];
        let mut absent = 0;
        let moves: [(&[i16; SPANS], usize); RECENT] = std::array::from_fn(|k| match self.view.recent[k] {
            Some((row, col)) => (&offsets.moves[k], offset(row, col)),
            None => {
                absent += of(tables[k] + NO_DISTANCE);
                (&offsets.nothing, 0)
            }
        });
        let [last, second, third, fourth] = moves;
        let reply = match self.view.recent[0] {
            Some(_) => &REPLIES,
            None => &[NO_REPLY; SPANS],
        };
        // Without a branch for each point: whether it is empty cannot be foreseen.
        let (mut empty, mut len) = ([0_u64; MAX_AREA + 1], 0);
        for row in 0..side {
            let first = (row * side) as u64 | (cell(row, 0) as u64) << 16 | ((row * SPAN) as u64) << 32;
            for (&code, col) in self.view.cells[cell(row, 0)..cell(row, side)].iter().zip(0..) {
                empty[len] = first + col * (1 | 1 << 16 | 1 << 32);
                len += usize::from(code == EMPTY);
            }
        }
        for numbers in &empty[..len] {
            let [index, at, place] = [0, 16, 32].map(|shift| usize::from((numbers >> shift) as u16));
            let counts = u32::from(self.cells.counts[at]);
            let moves = i32::from(last.0[(place + last.1) % SPANS])
                + i32::from(second.0[(place + second.1) % SPANS])
                + i32::from(third.0[(place + third.1) % SPANS])
                + i32::from(fourth.0[(place + fourth.1) % SPANS]);
            let sum = absent
                + moves
                + of(fixed::NEIGHBOURS + u32::from(self.cells.four[at]))
                + of(fixed::COUNTS + counts)
                + of(fixed::PLACE + u32::from(self.place(at).sides) * STAGES as u32 + self.stage)
                + of(fixed::STRAIGHT + u32::from(self.cells.straight[at]))
                + of(fixed::REPLY + u32::from(reply[(place + last.1) % SPANS]) * REPLIED + counts / 4)
                + of(fixed::AROUND + u32::from(self.cells.around[at]) + self.stage.min(7) / 2)
                + of(fixed::DIAGONALS + u32::from(self.cells.diagonal[at]));
            take(index, at, sum);
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
