//! Symmetric matrices, as much of them as a rating needs.

mod cholesky;
mod tiles;

pub(crate) use cholesky::Cholesky;
pub(crate) use tiles::dot;
use tiles::{BLOCK, products};

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

    /// Σ x·xᵀ over the given vectors.
    pub(crate) fn sum_of_squares(side: usize, vectors: &[Vec<f64>]) -> Matrix {
        // Vectors on end: a row of `wide` is one entry of all of them.
        let wide: Vec<f64> = (0..side).flat_map(|entry| vectors.iter().map(move |vector| vector[entry])).collect();
        let row = |entry: usize| &wide[entry * vectors.len()..][..vectors.len()];
        let mut sum = Matrix::zero(side);
        for top in (0..side).step_by(BLOCK) {
            let rows = top..(top + BLOCK).min(side);
            for start in (0..=top).step_by(BLOCK) {
                let columns = start..(start + BLOCK).min(side);
                let entries = products(row, rows.clone(), row, columns.clone(), 0..vectors.len());
                let places = rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
                for ((row, column), entry) in places.zip(entries) {
                    sum.set(row, column, entry);
                    sum.set(column, row, entry);
                }
            }
        }
        sum
    }

    /// Rows, and columns.
    pub(crate) fn side(&self) -> usize {
        self.side
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
            let share = weight * a;
            for (entry, &b) in self.row_mut(row).iter_mut().zip(x) {
                *entry -= share * b;
            }
        }
    }

    /// Subtracts x·yᵀ + y·xᵀ.
    pub(crate) fn subtract_both(&mut self, x: &[f64], y: &[f64]) {
        for row in 0..self.side {
            let (a, b) = (x[row], y[row]);
            for ((entry, &x), &y) in self.row_mut(row).iter_mut().zip(x).zip(y) {
                *entry -= a * y + b * x;
            }
        }
    }

    /// M·x.
    pub(crate) fn times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.side).map(|row| dot(self.row(row), x)).collect()
    }

    /// xᵀ·M·x.
    pub(crate) fn form(&self, x: &[f64]) -> f64 {
        dot(&self.times(x), x)
    }
}

#[cfg(test)]
mod tests;
