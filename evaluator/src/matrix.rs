//! Symmetric matrices, as much of them as a rating needs.

/// A dense symmetric matrix, stored whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    side: usize,
    entries: Vec<f64>,
}

impl Matrix {
    /// The zero matrix.
    pub(crate) fn zero(side: usize) -> Matrix {
        Matrix { side, entries: vec![0.0; side * side] }
    }

    /// One entry.
    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.side + column]
    }

    /// One row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.side..][..self.side]
    }

    fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.side..][..self.side]
    }

    /// Sets one entry; the caller sets its mirror image too.
    pub(crate) fn set(&mut self, row: usize, column: usize, entry: f64) {
        self.row_mut(row)[column] = entry;
    }

    /// Adds `weight`·(x·eᵀ + e·xᵀ), where e is 1 at `index` and x, zero there, has the given entries.
    pub(crate) fn add_cross(&mut self, weight: f64, x: &[(usize, f64)], index: usize) {
        for &(row, a) in x {
            self.row_mut(row)[index] += weight * a;
            self.row_mut(index)[row] += weight * a;
        }
    }

    /// Adds `weight`·x·xᵀ, where x is zero but for the given entries.
    pub(crate) fn add_outer(&mut self, weight: f64, x: &[(usize, f64)]) {
        for &(row, a) in x {
            for &(column, b) in x {
                self.row_mut(row)[column] += weight * a * b;
            }
        }
    }

    /// Adds `weight` times another matrix of the same size.
    pub(crate) fn add(&mut self, weight: f64, other: &Matrix) {
        for (entry, more) in self.entries.iter_mut().zip(&other.entries) {
            *entry += weight * more;
        }
    }

    /// Subtracts `weight`·x·xᵀ.
    pub(crate) fn subtract_outer(&mut self, weight: f64, x: &[f64]) {
        for (row, &a) in x.iter().enumerate() {
            for (entry, &b) in self.row_mut(row).iter_mut().zip(x) {
                *entry -= weight * a * b;
            }
        }
    }

    /// xᵀ·M·x.
    pub(crate) fn form(&self, x: &[f64]) -> f64 {
        (0..self.side).map(|row| x[row] * dot(self.row(row), x)).sum()
    }
}

/// The lower triangle L of a positive definite matrix M = L·Lᵀ.
#[derive(Clone, Debug)]
pub(crate) struct Cholesky(Matrix);

impl Cholesky {
    /// `None` when the matrix is not positive definite, to the precision of the arithmetic.
    pub(crate) fn of(matrix: &Matrix) -> Option<Cholesky> {
        let mut lower = Matrix::zero(matrix.side);
        for row in 0..matrix.side {
            for column in 0..=row {
                let known = dot(&lower.row(row)[..column], &lower.row(column)[..column]);
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
        Some(Cholesky(lower))
    }

    /// ln |M|.
    pub(crate) fn log_determinant(&self) -> f64 {
        (0..self.0.side).map(|i| 2.0 * self.0.at(i, i).ln()).sum()
    }

    /// x with M·x = b.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.forward(&mut x, 0);
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
        let side = self.0.side;
        // Row i holds column i of L⁻¹, which is zero before its i-th entry.
        let mut columns = Matrix::zero(side);
        for i in 0..side {
            columns.row_mut(i)[i] = 1.0;
            self.forward(columns.row_mut(i), i);
        }
        let mut inverse = Matrix::zero(side);
        for row in 0..side {
            for column in 0..=row {
                let entry = dot(&columns.row(row)[row..], &columns.row(column)[row..]);
                inverse.row_mut(row)[column] = entry;
                inverse.row_mut(column)[row] = entry;
            }
        }
        inverse
    }

    /// Turns b into x with L·x = b, where the first `zeros` entries of b are zero.
    fn forward(&self, b: &mut [f64], zeros: usize) {
        for row in zeros..b.len() {
            let known = dot(&self.0.row(row)[zeros..row], &b[zeros..row]);
            b[row] = (b[row] - known) / self.0.at(row, row);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A well-conditioned matrix with no structure to hide behind.
    fn example(side: usize) -> Matrix {
        let mut matrix = Matrix::zero(side);
        for i in 0..side {
            let x: Vec<(usize, f64)> = (0..side).map(|j| (j, ((i * 7 + j * 3) % 11) as f64 - 4.0)).collect();
            matrix.add_outer(0.1, &x);
            matrix.add_outer(1.0, &[(i, 1.0)]);
        }
        matrix
    }

    #[test]
    fn solving_and_inverting_undo_the_product() {
        for side in [1, 2, 7, 20] {
            let matrix = example(side);
            let cholesky = Cholesky::of(&matrix).expect("the example is positive definite");
            let inverse = cholesky.inverse();
            let b: Vec<f64> = (0..side).map(|i| i as f64 - 2.0).collect();
            let x = cholesky.solve(&b);
            for (row, known) in b.iter().enumerate() {
                assert!((dot(matrix.row(row), &x) - known).abs() < 1e-9);
                for column in 0..side {
                    let identity = if row == column { 1.0 } else { 0.0 };
                    assert!((dot(matrix.row(row), inverse.row(column)) - identity).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn knows_the_determinant_and_the_form() {
        let mut matrix = Matrix::zero(2);
        matrix.add_outer(1.0, &[(0, 2.0), (1, 1.0)]);
        matrix.add_outer(3.0, &[(1, 1.0)]);
        let cholesky = Cholesky::of(&matrix).expect("the matrix is positive definite");
        assert!((cholesky.log_determinant() - 12.0_f64.ln()).abs() < 1e-12);
        assert!((matrix.form(&[1.0, -1.0]) - 4.0).abs() < 1e-12);
        matrix.subtract_outer(1.0, &[2.0, 1.0]);
        assert_eq!((matrix.at(0, 0), matrix.at(1, 1)), (0.0, 3.0));
    }

    #[test]
    fn refuses_a_matrix_with_a_free_direction() {
        let mut matrix = Matrix::zero(3);
        matrix.add_outer(0.3, &[(0, 1.0), (1, -1.0)]);
        matrix.add_outer(0.7, &[(1, 1.0), (2, -1.0)]);
        assert!(Cholesky::of(&matrix).is_none());
    }
}
