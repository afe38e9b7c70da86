//! Folding batch norms into the convolutions before them, in f64, and in the order in which training's own code does
//! it.

use crate::description::Convolution;

/// Added to a variance before its root is taken: PyTorch's.
pub const EPSILON: f64 = 1e-5;

/// A batch norm, one number a channel each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Norm {
    /// Factor of a normalised channel.
    pub(crate) scale: Vec<f32>,
    /// The offset that is added afterwards.
    pub(crate) shift: Vec<f32>,
    /// Running means.
    pub(crate) mean: Vec<f32>,
    /// Running variances.
    pub(crate) variance: Vec<f32>,
}

impl Norm {
    /// What it multiplies by, and what it adds then: k = scale/√(variance + ε) and shift − k·mean.
    fn affine(&self) -> (Vec<f64>, Vec<f64>) {
        let factor = |(&scale, &variance): (&f32, &f32)| f64::from(scale) / (f64::from(variance) + EPSILON).sqrt();
        let factors: Vec<f64> = self.scale.iter().zip(&self.variance).map(factor).collect();
        let rest = |((&shift, &mean), factor): ((&f32, &f32), &f64)| f64::from(shift) - factor * f64::from(mean);
        let shifts = self.shift.iter().zip(&self.mean).zip(&factors).map(rest).collect();
        (factors, shifts)
    }
}

/// A convolution without a bias and the batch norm after it as one convolution.
pub(crate) fn fold(inputs: usize, weight: &[f32], norm: &Norm) -> Convolution {
    let (factors, shifts) = norm.affine();
    let outputs = factors.len();
    let kernels = weight.chunks_exact((weight.len() / outputs).max(1)).zip(&factors);
    let scaled = |(kernel, factor): (&[f32], &f64)| -> Vec<f32> {
        kernel.iter().map(|&weight| (f64::from(weight) * factor) as f32).collect()
    };
    Convolution {
        inputs,
        outputs,
        weight: kernels.flat_map(scaled).collect(),
        bias: shifts.into_iter().map(|shift| shift as f32).collect(),
    }
}
