//! Products of many rows with many rows, in an order that keeps the operands near the processor.

use std::ops::Range;

/// Rows of either side of a block, and entries of each that are multiplied before the next rows are taken: 2 × 64 rows
/// of 256 numbers are a quarter of a MiB, which fits a second-level cache.
pub(super) const BLOCK: usize = 64;
const DEPTH: usize = 256;

/// The sum of products. Two sums side by side let the compiler use both halves of a register.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let [[sum]] = tile([a], [b]);
    sum
}

/// All products of rows `rows` of `a` with rows `columns` of `b`, both with their entries `within`, row by row.
pub(super) fn products<'a>(
    a: impl Fn(usize) -> &'a [f64],
    rows: Range<usize>,
    b: impl Fn(usize) -> &'a [f64],
    columns: Range<usize>,
    within: Range<usize>,
) -> Vec<f64> {
    let width = columns.len();
    let mut sums = vec![0.0; rows.len() * width];
    let mut from = within.start;
    while from < within.end {
        let to = (from + DEPTH).min(within.end);
        let left = |i: usize| &a(rows.start + i)[from..to];
        let right = |j: usize| &b(columns.start + j)[from..to];
        for i in (0..rows.len()).step_by(2) {
            for j in (0..width).step_by(4) {
                if i + 2 <= rows.len() && j + 4 <= width {
                    let found = tile([left(i), left(i + 1)], [right(j), right(j + 1), right(j + 2), right(j + 3)]);
                    for (row, found) in found.iter().enumerate() {
                        let at = (i + row) * width + j;
                        sums[at..at + 4].iter_mut().zip(found).for_each(|(sum, more)| *sum += more);
                    }
                } else {
                    for row in i..(i + 2).min(rows.len()) {
                        for column in j..(j + 4).min(width) {
                            sums[row * width + column] += dot(left(row), right(column));
                        }
                    }
                }
            }
        }
        from = to;
    }
    sums
}

/// The products of A rows with B rows. All sums stay in registers while the rows are read once.
fn tile<const A: usize, const B: usize>(left: [&[f64]; A], right: [&[f64]; B]) -> [[f64; B]; A] {
    const LANES: usize = 2;
    let mut sums = [[[0.0; LANES]; B]; A];
    let length = right[0].len();
    let whole = length - length % LANES;
    let (left, right) = (left.map(|row| &row[..length]), right.map(|row| &row[..length]));
    let mut at = 0;
    while at < whole {
        for (a, sums) in left.iter().zip(&mut sums) {
            for (b, sum) in right.iter().zip(sums) {
                for (lane, sum) in sum.iter_mut().enumerate() {
                    *sum += a[at + lane] * b[at + lane];
                }
            }
        }
        at += LANES;
    }
    let mut totals = sums.map(|row| row.map(|lanes| lanes.iter().sum::<f64>()));
    for at in whole..length {
        for (a, totals) in left.iter().zip(&mut totals) {
            for (b, total) in right.iter().zip(totals) {
                *total += a[at] * b[at];
            }
        }
    }
    totals
}
