//! Calculating with Leela Zero's numbers in Leela Zero's way: its planes, its order of points, its batch norms.

use tch::{Kind, Tensor};

use super::numbers::{Convolution, Dense, Zero, other_order};
use crate::layout::EPSILON;
use crate::{NetError, planes};

/// Policies and values of some positions, given by their planes in our order; policies in our order too, a row each.
pub(crate) fn answers(zero: &Zero, planes: &[u8]) -> Result<(Vec<f32>, Vec<f32>), NetError> {
    let _no_gradients = tch::no_grad_guard();
    let side = zero.shape.size.side() as i64;
    let rows: Vec<f32> = planes.chunks_exact(planes::len(zero.shape.size)).flat_map(|one| inputs(zero, one)).collect();
    let mut convolutions = zero.convolutions.iter();
    let mut next = |x: &Tensor| convolve(convolutions.next().expect("the network has a convolution for each unit"), x);
    let input = Tensor::f_from_slice(&rows)?.f_view([-1, zero.shape.inputs.count() as i64, side, side])?;
    let mut x = next(&input)?.f_relu()?;
    for _ in 0..zero.shape.blocks {
        let y = next(&x)?.f_relu()?;
        x = (next(&y)? + &x).f_relu()?;
    }
    let [policy_dense, hidden, out] = &zero.dense;
    let policy = dense(policy_dense, &next(&x)?.f_relu()?)?.f_softmax(-1, Kind::Float)?;
    let value = dense(out, &dense(hidden, &next(&x)?.f_relu()?)?.f_relu()?)?.f_tanh()?;
    let policy = crate::tower::numbers(&policy)?;
    let moves = zero.shape.size.moves();
    let turned = policy.chunks_exact(moves).flat_map(|row| (0..moves).map(|mv| row[other_order(zero.shape.size, mv)]));
    Ok((turned.collect(), crate::tower::numbers(&value)?))
}

/// The planes of a position as Leela Zero has them: its rows begin at the bottom.
fn inputs(zero: &Zero, ours: &[u8]) -> Vec<f32> {
    let (side, area) = (zero.shape.size.side(), zero.shape.size.area());
    let mut theirs = Vec::with_capacity(zero.shape.inputs.count() * area);
    let mut add = |plane: &[u8]| theirs.extend(plane.chunks_exact(side).rev().flatten().map(|&x| f32::from(x)));
    let ours: Vec<&[u8]> = ours.chunks_exact(area).collect();
    let (stones, black) = (&ours[..2 * planes::BOARDS], ours[2 * planes::BOARDS]);
    stones.iter().step_by(2).for_each(|mine| add(mine));
    stones.iter().skip(1).step_by(2).for_each(|theirs| add(theirs));
    add(black);
    add(&black.iter().map(|x| 1 - x).collect::<Vec<u8>>());
    theirs
}

fn convolve(convolution: &Convolution, x: &Tensor) -> Result<Tensor, NetError> {
    let outputs = convolution.biases.len() as i64;
    let inputs = x.size()[1];
    let kernel = if convolution.weights.len() as i64 == outputs * inputs { 1 } else { 3 };
    let weights = Tensor::f_from_slice(&convolution.weights)?.f_view([outputs, inputs, kernel, kernel])?;
    let biases = Tensor::f_from_slice(&convolution.biases)?;
    let y = x.f_conv2d(&weights, Some(&biases), [1, 1], [kernel / 2, kernel / 2], [1, 1], 1)?;
    let channel = |numbers: &[f32]| Tensor::f_from_slice(numbers)?.f_view([1, -1, 1, 1]);
    let deviations = (channel(&convolution.variances)? + EPSILON).f_sqrt()?;
    Ok((y - channel(&convolution.means)?).f_div(&deviations)?)
}

fn dense(dense: &Dense, x: &Tensor) -> Result<Tensor, NetError> {
    let biases = Tensor::f_from_slice(&dense.biases)?;
    let weights = Tensor::f_from_slice(&dense.weights)?.f_view([biases.size()[0], -1])?;
    Ok(x.f_flatten(1, -1)?.f_linear(&weights, Some(&biases))?)
}
