//! The first and last step of a convolution: to transform tiles, and to transform products back.
//!
//! F(3x3, 3x3) (Winograd 1980; Lavin and Gray 2016) with the points 0, 1, -1, 2 and infinity: with g a kernel, d a tile
//! of 5x5 inputs and 3x3 outputs y, y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, summed over input channels before the outer
//! transform.

// An index goes through several arrays at once, and iterators over arrays of vectors are not always inlined.
#![allow(clippy::needless_range_loop)]

use super::simd::{Element, Floats, Round, Simd};
use super::slice::{at, product, room};
use crate::board::{Board, FREQUENCIES, LANES, PANEL, STEP};

/// Side of a transformed tile.
pub(super) const SIDE: usize = 5;

/// Tiles to be transformed.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a> {
    pub(crate) board: Board,
    pub(crate) positions: usize,
    /// Padded channels.
    pub(crate) channels: usize,
    pub(crate) from: &'a [f32],
    /// Factors of the numbers of each frequency if they are rounded.
    pub(crate) scales: &'a [f32; FREQUENCIES],
}

/// What a panel of products becomes when it is transformed back.
#[derive(Clone, Copy)]
pub(crate) struct Scatter<'a> {
    pub(crate) board: Board,
    pub(crate) positions: usize,
    /// Channels of the panel.
    pub(crate) width: usize,
    /// Where the panel begins among the padded channels of the output.
    pub(crate) first: usize,
    pub(crate) channels: usize,
    /// The bias of each output channel, for each position if it is longer.
    pub(crate) bias: &'a [f32],
    /// Whether the output is added to the present content.
    pub(crate) add: bool,
    pub(crate) relu: bool,
    /// Whether ReLU makes NaN of numbers that are not finite. Without it they have to be impossible.
    pub(crate) strict: bool,
}

/// Numbers of so many positions.
fn numbers(board: Board, positions: usize, channels: usize) -> usize {
    product([positions, board.padded(), board.padded(), channels])
}

impl Gather<'_> {
    pub(super) fn check(&self, out: usize) {
        let transformed = product([FREQUENCIES, self.positions, self.board.columns(), self.channels]);
        assert!(self.channels.is_multiple_of(LANES), "channels are padded");
        assert!(self.from.len() >= numbers(self.board, self.positions, self.channels), "the inputs are there");
        assert!(out >= transformed, "the output has the transformed inputs");
    }
}

impl Scatter<'_> {
    /// From the biases of one position to those of the next.
    fn bias_stride(&self) -> usize {
        if self.bias.len() > self.channels { self.channels } else { 0 }
    }

    pub(super) fn check(&self, out: usize) {
        let biases = product([self.positions, self.bias_stride()]);
        assert!([LANES, PANEL].contains(&self.width), "panels are padded");
        assert!(self.first.saturating_add(self.width) <= self.channels, "the panel is one of the output");
        assert!(self.bias.len() >= self.channels.max(biases), "the biases are there");
        assert!(out >= numbers(self.board, self.positions, self.channels), "the output has every position");
    }
}

/// Bᵀ times a column.
#[inline(always)]
unsafe fn bt<S: Floats>([a, b, c, d, e]: [S::Vector; SIDE]) -> [S::Vector; SIDE] {
    // SAFETY: the caller's promise that the processor has the instruction set.
    unsafe {
        let (two, minus_two) = (S::splat(2.0), S::splat(-2.0));
        let (outer, inner) = (S::sub(d, b), S::sub(b, c));
        [
            S::exact(two, S::sub(a, c), outer),
            S::sub(outer, S::add(b, c)),
            S::exact(two, inner, S::add(outer, inner)),
            outer,
            S::exact(minus_two, outer, S::sub(e, c)),
        ]
    }
}

/// Aᵀ times a column.
#[inline(always)]
unsafe fn at_transposed<S: Floats>([a, b, c, d, e]: [S::Vector; SIDE]) -> [S::Vector; STEP] {
    // SAFETY: the caller's promise that the processor has the instruction set.
    unsafe {
        let (sum, difference) = (S::add(b, c), S::sub(b, c));
        [S::add(S::add(a, sum), d), S::exact(S::splat(2.0), d, difference), S::add(S::exact(S::splat(4.0), d, sum), e)]
    }
}

/// Columns in memory at most: a board of 19 points has 7 tiles and the zeros around it.
const WIDEST: usize = 7 * STEP + 2;

/// # Safety
/// [`Gather::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn gather<S: Round, T: Element>(job: Gather<'_>, out: &mut [T]) {
    // SAFETY: the caller's promise.
    let mut tall = [[unsafe { S::splat(0.0) }; WIDEST]; SIDE];
    for row in 0..job.positions * job.board.tiles {
        let place = (row / job.board.tiles, row % job.board.tiles);
        let mut channel = 0;
        while channel < job.channels {
            // SAFETY: the caller's promise; position, row and channels are ones of the job.
            unsafe {
                if S::HOLDS_TILE {
                    row_in_registers::<S, T>(&job, place, channel, out);
                } else {
                    row_of_tiles::<S, T>(&job, place, channel, &mut tall, out);
                }
            }
            channel += S::LANES;
        }
    }
}

/// Transforms a row of tiles, each down its columns and then along its rows, all 25 numbers in registers. Its first two
/// columns are the last of the tile before.
///
/// # Safety
/// As for [`row_of_tiles`].
#[inline(always)]
unsafe fn row_in_registers<S: Round, T: Element>(
    job: &Gather<'_>,
    (position, row): (usize, usize),
    channel: usize,
    out: &mut [T],
) {
    let &Gather { board, channels, from, scales, .. } = job;
    let below = board.padded() * channels;
    let corner = (position * board.padded() + STEP * row) * below + channel;
    let first = (position * board.tiles + row) * board.tiles * FREQUENCIES * channels + channel;
    // SAFETY: by `check` a position has rows and columns for every tile, and `out` has space for every frequency,
    // column and channel. Pointers that go on need fewer registers than indices.
    unsafe {
        let mut from = at(from, corner, (SIDE - 1) * below + (board.padded() - 1) * channels + S::LANES);
        let mut to = room(out, first, (board.tiles * FREQUENCIES - 1) * channels + S::LANES);
        let mut columns = [[S::splat(0.0); SIDE]; SIDE];
        for x in 0..SIDE - STEP {
            columns[x] = column_of_inputs::<S>(from, below);
            from = from.wrapping_add(channels);
        }
        for _ in 0..board.tiles {
            for x in SIDE - STEP..SIDE {
                columns[x] = column_of_inputs::<S>(from, below);
                from = from.wrapping_add(channels);
            }
            for y in 0..SIDE {
                let wide = bt::<S>([columns[0][y], columns[1][y], columns[2][y], columns[3][y], columns[4][y]]);
                for x in 0..SIDE {
                    T::store::<S>(to, wide[x], scales[y * SIDE + x]);
                    to = to.wrapping_add(channels);
                }
            }
            (columns[0], columns[1]) = (columns[STEP], columns[STEP + 1]);
        }
    }
}

/// Transforms a column of inputs that are `below` each other.
///
/// # Safety
/// A vector of all five is there, and the processor has the instruction set.
#[inline(always)]
unsafe fn column_of_inputs<S: Floats>(from: *const f32, below: usize) -> [S::Vector; SIDE] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut column = [S::splat(0.0); SIDE];
        for y in 0..SIDE {
            column[y] = S::load(from.wrapping_add(y * below));
        }
        bt::<S>(column)
    }
}

/// Transforms a row of tiles: each column of inputs once, though neighbours share two, and then tile by tile along its
/// rows.
///
/// # Safety
/// [`Gather::check`] holds, the row and the lanes are ones of the job, and the processor has the instruction set.
#[inline(always)]
unsafe fn row_of_tiles<S: Round, T: Element>(
    job: &Gather<'_>,
    (position, row): (usize, usize),
    channel: usize,
    tall: &mut [[S::Vector; WIDEST]; SIDE],
    out: &mut [T],
) {
    let &Gather { board, channels, from, scales, .. } = job;
    let padded = board.padded();
    let corner = (position * padded + STEP * row) * padded * channels + channel;
    // SAFETY: by `check` a position has rows and columns for every tile, and `out` has space for every frequency,
    // column and channel.
    unsafe {
        for x in 0..padded {
            let mut column = [S::splat(0.0); SIDE];
            for y in 0..SIDE {
                column[y] = S::load(at(from, corner + (y * padded + x) * channels, S::LANES));
            }
            let column = bt::<S>(column);
            for y in 0..SIDE {
                tall[y][x] = column[y];
            }
        }
        let first = (position * board.tiles + row) * board.tiles;
        for tile in 0..board.tiles {
            for y in 0..SIDE {
                let mut wide = [S::splat(0.0); SIDE];
                for x in 0..SIDE {
                    wide[x] = tall[y][STEP * tile + x];
                }
                let wide = bt::<S>(wide);
                for x in 0..SIDE {
                    let frequency = y * SIDE + x;
                    let index = ((first + tile) * FREQUENCIES + frequency) * channels + channel;
                    T::store::<S>(room(out, index, S::LANES), wide[x], scales[frequency]);
                }
            }
        }
    }
}

/// A tile of the output.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    position: usize,
    row: usize,
    column: usize,
}

impl Tile {
    pub(super) const FIRST: Tile = Tile { position: 0, row: 0, column: 0 };

    /// The one after it.
    #[inline(always)]
    pub(super) fn next(self, board: Board) -> Tile {
        let Tile { position, row, column } = self;
        match (row + 1 == board.tiles, column + 1 == board.tiles) {
            (_, false) => Tile { column: column + 1, ..self },
            (false, true) => Tile { row: row + 1, column: 0, position },
            (true, true) => Tile { position: position + 1, row: 0, column: 0 },
        }
    }
}

/// Transforms a block of products back, by tile, frequency and channel, and gives the tile after it.
///
/// # Safety
/// [`Scatter::check`] holds, the tiles are ones of the job, their products are there, and the processor has the
/// instruction set.
#[inline(always)]
pub(super) unsafe fn scatter<S: Simd>(
    job: &Scatter<'_>,
    products: &[f32],
    tiles: (Tile, usize),
    out: &mut [f32],
) -> Tile {
    // SAFETY: the caller's promise.
    unsafe {
        match (job.width == PANEL, job.add, job.relu && !job.strict) {
            (true, false, true) => tiles_back::<S, PANEL, false, true>(job, products, tiles, out),
            (true, true, true) => tiles_back::<S, PANEL, true, true>(job, products, tiles, out),
            (true, _, _) => tiles_back::<S, PANEL, false, false>(job, products, tiles, out),
            (false, _, _) => tiles_back::<S, LANES, false, false>(job, products, tiles, out),
        }
    }
}

/// A panel of `WIDTH` channels. `QUICK`: with ReLU, not strict, and added if `ADD`, as nearly all are; else as the job
/// says.
///
/// # Safety
/// As for [`scatter`], and the job is as the parameters say.
#[inline(always)]
unsafe fn tiles_back<S: Simd, const WIDTH: usize, const ADD: bool, const QUICK: bool>(
    job: &Scatter<'_>,
    products: &[f32],
    (mut tile, count): (Tile, usize),
    out: &mut [f32],
) -> Tile {
    for place in 0..count {
        let mut lane = 0;
        while lane < WIDTH {
            let index = place * FREQUENCIES * WIDTH + lane;
            // SAFETY: the caller's promise; the lane is one of the job.
            unsafe { tile_back::<S, WIDTH, ADD, QUICK>(job, (products, index), tile, lane, out) };
            lane += S::LANES;
        }
        tile = tile.next(job.board);
    }
    tile
}

/// # Safety
/// [`Scatter::check`] holds, the tile and the lanes are ones of the job, its products are there, and the processor has
/// the instruction set.
#[inline(always)]
unsafe fn tile_back<S: Simd, const WIDTH: usize, const ADD: bool, const QUICK: bool>(
    job: &Scatter<'_>,
    (products, place): (&[f32], usize),
    Tile { position, row, column }: Tile,
    lane: usize,
    out: &mut [f32],
) {
    let &Scatter { board, first, channels, bias, .. } = job;
    let channel = first + lane;
    // SAFETY: the caller's promise; points beside the board are omitted.
    unsafe {
        let points = points::<S, WIDTH>(products, place);
        let bias = S::load(at(bias, position * job.bias_stride() + channel, S::LANES));
        let index = board.index(position, STEP * row, STEP * column, channels) + channel;
        let (high, wide) = (board.side - STEP * row, board.side - STEP * column);
        // Nearly all tiles are whole, and then no register has to be addressed by a number.
        if high >= STEP && wide >= STEP {
            for y in 0..STEP {
                for x in 0..STEP {
                    finish::<S, ADD, QUICK>(job, points[y][x], bias, index + (y * board.padded() + x) * channels, out);
                }
            }
        } else {
            for y in 0..STEP.min(high) {
                for x in 0..STEP.min(wide) {
                    finish::<S, ADD, QUICK>(job, points[y][x], bias, index + (y * board.padded() + x) * channels, out);
                }
            }
        }
    }
}

/// A column of products, transformed along it. (A closure would not always be inlined.)
///
/// # Safety
/// The products of all frequencies are there from `index` on, and the processor has the instruction set.
#[inline(always)]
unsafe fn tall<S: Floats, const WIDTH: usize>(products: &[f32], x: usize, index: usize) -> [S::Vector; STEP] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut column = [S::splat(0.0); SIDE];
        for y in 0..SIDE {
            column[y] = S::load(at(products, (y * SIDE + x) * WIDTH + index, S::LANES));
        }
        at_transposed::<S>(column)
    }
}

/// The points of a tile. Its columns are added up as they are read, so that no more than nine sums wait in registers.
///
/// # Safety
/// The products of all frequencies are there from `index` on, and the processor has the instruction set.
#[inline(always)]
unsafe fn points<S: Floats, const WIDTH: usize>(products: &[f32], index: usize) -> [[S::Vector; STEP]; STEP] {
    // SAFETY: the caller's promise.
    unsafe {
        let (a, b, c) = (
            tall::<S, WIDTH>(products, 0, index),
            tall::<S, WIDTH>(products, 1, index),
            tall::<S, WIDTH>(products, 2, index),
        );
        let mut points = [[S::splat(0.0); STEP]; STEP];
        for y in 0..STEP {
            let (sum, difference) = (S::add(b[y], c[y]), S::sub(b[y], c[y]));
            points[y] = [S::add(a[y], sum), difference, sum];
        }
        let d = tall::<S, WIDTH>(products, 3, index);
        for y in 0..STEP {
            let [first, second, third] = points[y];
            let (two, four) = (S::splat(2.0), S::splat(4.0));
            points[y] = [S::add(first, d[y]), S::exact(two, d[y], second), S::exact(four, d[y], third)];
        }
        let e = tall::<S, WIDTH>(products, 4, index);
        for y in 0..STEP {
            points[y][2] = S::add(points[y][2], e[y]);
        }
        points
    }
}

/// Writes a point: its bias, what is there already if it is to be added, and ReLU.
///
/// # Safety
/// `index` is that of a point and channel of the job, and the processor has the instruction set.
#[inline(always)]
unsafe fn finish<S: Simd, const ADD: bool, const QUICK: bool>(
    job: &Scatter<'_>,
    point: S::Vector,
    bias: S::Vector,
    index: usize,
    out: &mut [f32],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sum = S::add(point, bias);
        if ADD || !QUICK && job.add {
            sum = S::add(sum, S::load(at(out, index, S::LANES)));
        }
        if QUICK || job.relu {
            let cut = S::max(sum, S::splat(0.0));
            // Of a finite number 0 is added; an infinite one and NaN times 0 are NaN.
            sum = if !QUICK && job.strict { S::exact(sum, S::splat(0.0), cut) } else { cut };
        }
        S::store(room(out, index, S::LANES), sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the inputs are there")]
    fn positions_whose_numbers_wrap_are_refused() {
        let (board, positions) = (Board::new(2), usize::MAX / LANES + 1);
        Gather { board, positions, channels: LANES, from: &[], scales: &[1.0; FREQUENCIES] }.check(0);
    }
}
