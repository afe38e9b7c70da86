//! The decomposition M = L·Lᵀ of a positive definite matrix, and what follows from it.

use super::Matrix;
use super::tiles::{BLOCK, dot, products};

/// The lower triangle L of a positive definite matrix M = L·Lᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky(Matrix);

impl Cholesky {
    /// `None` when the matrix is not positive definite, to the precision of the arithmetic.
    ///
    /// Left-looking, a block of columns at a time: the finished part of a block is one product of rows with rows.
    pub(crate) fn of(matrix: &Matrix) -> Option<Cholesky> {
        let side = matrix.side();
        let mut lower = Matrix::zero(side);
        for start in (0..side).step_by(BLOCK) {
            let end = (start + BLOCK).min(side);
            for top in (start..side).step_by(BLOCK) {
                let bottom = (top + BLOCK).min(side);
                let known = products(|i| lower.row(i), top..bottom, |i| lower.row(i), start..end, 0..start);
                for row in top..bottom {
                    for column in start..end.min(row + 1) {
                        let inside = dot(&lower.row(row)[start..column], &lower.row(column)[start..column]);
                        let known = known[(row - top) * (end - start) + column - start] + inside;
                        let rest = matrix.at(row, column) - known;
                        lower.row_mut(row)[column] = if row > column {
                            rest / lower.at(column, column)
                        } else if rest > matrix.at(row, row) * 1e-14 {
                            rest.sqrt()
                        } else {
                            return None;
                        };
                    }
                }
            }
        }
        Some(Cholesky(lower))
    }

    /// ln |M|.
    pub(crate) fn log_determinant(&self) -> f64 {
        (0..self.0.side()).map(|i| 2.0 * self.0.at(i, i).ln()).sum()
    }

    /// x with M·x = b.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for row in 0..x.len() {
            x[row] = (x[row] - dot(&self.0.row(row)[..row], &x[..row])) / self.0.at(row, row);
        }
        for row in (0..x.len()).rev() {
            x[row] /= self.0.at(row, row);
            let (above, known) = x.split_at_mut(row);
            for (entry, factor) in above.iter_mut().zip(self.0.row(row)) {
                *entry -= factor * known[0];
            }
        }
        x
    }

    /// M⁻¹ = L⁻ᵀ·L⁻¹.
    pub(crate) fn inverse(&self) -> Matrix {
        let columns = self.columns_of_inverse();
        let side = self.0.side();
        let mut inverse = Matrix::zero(side);
        for top in (0..side).step_by(BLOCK) {
            let bottom = (top + BLOCK).min(side);
            for start in (0..=top).step_by(BLOCK) {
                let end = (start + BLOCK).min(side);
                // Column i of L⁻¹ is zero before its i-th entry, so the later of two columns says where to begin.
                let entries = products(|i| columns.row(i), top..bottom, |i| columns.row(i), start..end, top..side);
                for row in top..bottom {
                    for column in start..end {
                        let entry = entries[(row - top) * (end - start) + column - start];
                        inverse.row_mut(row)[column] = entry;
                        inverse.row_mut(column)[row] = entry;
                    }
                }
            }
        }
        inverse
    }

    /// L⁻¹ transposed: row i holds its column i, which is zero before its i-th entry.
    fn columns_of_inverse(&self) -> Matrix {
        let lower = &self.0;
        let side = lower.side();
        let mut columns = Matrix::zero(side);
        for start in (0..side).step_by(BLOCK) {
            let end = (start + BLOCK).min(side);
            for top in (0..end).step_by(BLOCK) {
                let bottom = (top + BLOCK).min(end);
                let known =
                    products(|i| columns.row(i), top..bottom, |i| lower.row(i), start..end, top..start.max(top));
                for i in top..bottom {
                    for entry in start.max(i)..end {
                        let inside = dot(&lower.row(entry)[start..entry], &columns.row(i)[start..entry]);
                        let known = known[(i - top) * (end - start) + entry - start] + inside;
                        let unit = if entry == i { 1.0 } else { 0.0 };
                        columns.row_mut(i)[entry] = (unit - known) / lower.at(entry, entry);
                    }
                }
            }
        }
        columns
    }
}
