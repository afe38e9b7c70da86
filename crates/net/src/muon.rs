//! Muon: steps of kernels that are equally long in every direction (Jordan and others 2024).
//!
//! The momentum of a kernel, as a matrix of a row for each output channel, has a few large singular values: a step
//! along it changes what these stand for, and little else. Muon takes a step whose singular values are nearly equal
//! instead. Every kernel of 3x3 is followed by a batch norm, so that its length has no effect on the outputs. Therefore
//! steps are relative to it, and it stays.

use tch::Tensor;

use crate::NetError;
use crate::flat::Flat;
use crate::layout::{Role, TensorSpec};
use crate::schedule::StepSize;
use crate::tower::Tower;

/// Iterations, and coefficients of each, which take singular values from 0.005 to 1 to between 0.7 and 1.2: those of
/// the source. Those of Newton and Schulz converge to 1 and need more iterations.
const ITERATIONS: usize = 5;
const COEFFICIENTS: [f64; 3] = [3.4445, -4.775, 2.0315];

/// Against division by 0 where a gradient is 0.
const EPSILON: f64 = 1e-12;

/// Length of a kernel's step at a rate of 1, by the length of the kernel: with it the rates of Nesterov momentum fit.
/// With 0.67 values were worse (`experiments/0125-values-on-stored-games`).
pub(crate) const SHARE: f64 = 0.2;

/// Whether a tensor is trained by Muon.
pub(crate) fn is_kernel(spec: &TensorSpec) -> bool {
    matches!(spec.dimensions[..], [_, _, rows, _] if rows > 1)
}

/// v ← μ·v + g. For kernels w ← w − 0.2·rate·‖w‖·u/‖u‖, where u is g + μ·v with nearly equal singular values; then w
/// gets its length back. The L2 penalty, which is in the g of other weights, would only change that length. All tensors
/// but kernels are trained with Nesterov momentum.
pub(crate) fn step(tower: &Tower, gradients: &Tensor, velocity: &Flat, size: StepSize) -> Result<(), NetError> {
    let [rate, momentum, l2] = [size.rate, size.momentum, size.l2].map(f64::from);
    let arrangement = tower.arrangement();
    for ((spec, tensor), gradient) in tower.trainable().zip(&*arrangement.of_numbers(gradients.shallow_clone())?) {
        if spec.role == Role::Weight && !is_kernel(spec) {
            let _ = gradient.shallow_clone().f_add_(&(tensor * l2))?;
        }
    }
    let mut velocity = velocity.numbers.shallow_clone();
    let _ = velocity.f_mul_scalar_(momentum)?.f_add_(gradients)?;
    let steps = arrangement.of_numbers((gradients + &velocity * momentum).f_mul_scalar(rate)?)?;
    let kernels = || tower.trainable().zip(&*steps).filter(|((spec, _), _)| is_kernel(spec));
    let lengths: Vec<Tensor> = kernels().map(|((_, kernel), _)| kernel.f_norm()).collect::<Result<_, _>>()?;
    for ((_, step), length) in kernels().zip(&lengths) {
        let even = equalised(&step.f_flatten(1, -1)?)?;
        let even = &even * (length * (SHARE * rate) / (even.f_norm()? + EPSILON));
        step.shallow_clone().f_copy_(&even.f_view_as(step)?)?;
    }
    let _ = tower.trained().numbers.shallow_clone().f_sub_(&steps.numbers)?;
    for (((_, kernel), _), length) in kernels().zip(&lengths) {
        let _ = kernel.shallow_clone().f_mul_(&(length / (kernel.f_norm()? + EPSILON)))?;
    }
    Ok(())
}

/// A matrix with the same singular vectors, whose singular values are nearly equal.
fn equalised(matrix: &Tensor) -> Result<Tensor, NetError> {
    let is_tall = matrix.size()[0] > matrix.size()[1];
    let mut x = if is_tall { matrix.f_transpose(0, 1)? } else { matrix.shallow_clone() };
    x = &x / (x.f_norm()? + EPSILON);
    let [first, third, fifth] = COEFFICIENTS;
    for _ in 0..ITERATIONS {
        let square = x.f_matmul(&x.f_transpose(0, 1)?)?;
        let factor = &square * third + square.f_matmul(&square)? * fifth;
        x = &x * first + factor.f_matmul(&x)?;
    }
    Ok(if is_tall { x.f_transpose(0, 1)? } else { x })
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;

    #[test]
    fn singular_values_become_nearly_equal_and_vectors_stay() {
        let numbers = |count: i64| Tensor::arange(count, (Kind::Float, Device::Cpu)).sin();
        for (rows, columns) in [(3, 12), (12, 3), (8, 8)] {
            let matrix = numbers(rows * columns).view([rows, columns]);
            let [(u, before, v), (_, after, _)] = [&matrix, &equalised(&matrix).unwrap()].map(|m| m.svd(true, true));
            let seen = &before / before.norm();
            for (before, after) in
                Vec::<f32>::try_from(seen).unwrap().into_iter().zip(Vec::<f32>::try_from(&after).unwrap())
            {
                assert!(before < 0.005 || (0.6..1.3).contains(&after), "{rows}x{columns}: {before} became {after}");
            }
            let turned = u.transpose(0, 1).matmul(&equalised(&matrix).unwrap()).matmul(&v);
            let beside = (&turned - turned.diag(0).diag(0)).abs().max();
            assert!(f64::try_from(beside).unwrap() < 1e-3, "{rows}x{columns}");
        }
        let zeros = Tensor::zeros([2, 18], (Kind::Float, Device::Cpu));
        assert_eq!(equalised(&zeros).unwrap(), zeros);
    }
}
