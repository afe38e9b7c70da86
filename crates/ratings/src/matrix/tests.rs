use super::*;

/// A well-conditioned matrix with no structure to hide behind.
fn example(side: usize) -> Matrix {
    let mut matrix = Matrix::zero(side);
    for i in 0..side.min(40) {
        let x: Vec<(usize, f64)> = (0..side).map(|j| (j, ((i * 7 + j * 3 + i * j) % 11) as f64 - 4.0)).collect();
        matrix.add_outer(0.1, &x);
    }
    (0..side).for_each(|i| matrix.add_outer(1.0, &[(i, 1.0)]));
    matrix
}

/// Sizes on both sides of those of a block and a tile.
#[test]
fn solving_and_inverting_undo_the_product() {
    for side in [1, 2, 7, 20, 63, 64, 65, 130] {
        let matrix = example(side);
        let cholesky = Cholesky::of(&matrix).expect("the example is positive definite");
        let inverse = cholesky.inverse();
        let b: Vec<f64> = (0..side).map(|i| i as f64 - 2.0).collect();
        let x = cholesky.solve(&b);
        for (row, known) in b.iter().enumerate() {
            assert!((dot(matrix.row(row), &x) - known).abs() < 1e-8);
            for column in 0..side {
                let identity = if row == column { 1.0 } else { 0.0 };
                assert!((dot(matrix.row(row), inverse.row(column)) - identity).abs() < 1e-9, "{side}: {row} {column}");
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
    matrix.subtract_both(&[1.0, 0.0], &[0.0, 2.0]);
    assert_eq!((matrix.at(0, 0), matrix.at(0, 1), matrix.at(1, 0)), (0.0, -2.0, -2.0));
}

#[test]
fn refuses_a_matrix_with_a_free_direction() {
    let mut matrix = Matrix::zero(3);
    matrix.add_outer(0.3, &[(0, 1.0), (1, -1.0)]);
    matrix.add_outer(0.7, &[(1, 1.0), (2, -1.0)]);
    assert!(Cholesky::of(&matrix).is_none());
}
