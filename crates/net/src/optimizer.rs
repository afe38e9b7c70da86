//! From gradients to steps.

use config::{Optimizer as Method, Train};
use tch::{Kind, Tensor};

use crate::NetError;
use crate::layout::{Role, TensorSpec};
use crate::tower::Tower;

/// Added to the root of Adam's second moment, as in its paper.
const EPSILON: f64 = 1e-8;

/// What an optimiser remembers of every trained tensor, in the order of [`Tower::trainable`].
pub(crate) struct Optimizer {
    /// Velocities of gradient descent, or Adam's means of gradients.
    pub(crate) momentum: Vec<Tensor>,
    /// Adam's means of squared gradients; empty for others.
    pub(crate) squares: Vec<Tensor>,
}

/// The constants of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSize {
    pub(crate) kind: Method,
    pub(crate) rate: f32,
    pub(crate) momentum: f32,
    pub(crate) second_momentum: f32,
    pub(crate) l2: f32,
    /// Steps taken before with the same optimiser.
    pub(crate) step: u64,
}

impl StepSize {
    pub(crate) fn new(train: &Train, rate: f32, step: u64) -> StepSize {
        let Train { optimizer, momentum, second_momentum, l2, .. } = *train;
        StepSize { kind: optimizer, rate, momentum, second_momentum, l2, step }
    }
}

impl Optimizer {
    /// At rest.
    pub(crate) fn new(tower: &Tower, kind: Method) -> Result<Optimizer, NetError> {
        let zeros = || tower.trainable().map(|(_, tensor)| Ok(tensor.f_zeros_like()?.f_detach()?));
        let momentum = zeros().collect::<Result<_, NetError>>()?;
        let squares = if has_squares(kind) { zeros().collect::<Result<_, NetError>>()? } else { Vec::new() };
        Ok(Optimizer { momentum, squares })
    }

    /// Changes the trained tensors by their gradients.
    pub(crate) fn step(&mut self, tower: &Tower, gradients: &[Tensor], size: StepSize) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        let trainable = tower.trainable().zip(gradients).zip(&mut self.momentum);
        match size.kind {
            Method::Sgd | Method::Nesterov => {
                for (((spec, tensor), gradient), velocity) in trainable {
                    descend(spec, tensor, gradient, velocity, size)?;
                }
            }
            Method::Adamw => {
                for ((((spec, tensor), gradient), mean), square) in trainable.zip(&mut self.squares) {
                    adam(spec, tensor, gradient, [mean, square], size)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether an optimiser keeps squared gradients.
pub(crate) fn has_squares(kind: Method) -> bool {
    kind == Method::Adamw
}

/// g' = g + λ·w, v ← μ·v + g', and w ← w − rate·v; or with Nesterov's momentum w ← w − rate·(g' + μ·v).
///
/// λ is 0 except for weights of convolutions and dense layers: decay of biases and batch norms would limit the outputs.
fn descend(
    spec: &TensorSpec,
    tensor: &Tensor,
    gradient: &Tensor,
    velocity: &mut Tensor,
    size: StepSize,
) -> Result<(), NetError> {
    let StepSize { rate, momentum, l2, .. } = size;
    let (rate, momentum) = (f64::from(rate), f64::from(momentum));
    let pulled = spec.role == Role::Weight;
    let gradient = if pulled { gradient + tensor * f64::from(l2) } else { gradient.shallow_clone() };
    let _ = velocity.f_mul_scalar_(momentum)?.f_add_(&gradient)?;
    let direction = match size.kind {
        Method::Nesterov => gradient + &*velocity * momentum,
        _ => velocity.shallow_clone(),
    };
    let _ = tensor.shallow_clone().f_sub_(&direction.f_mul_scalar(rate)?)?;
    Ok(())
}

/// m ← β₁·m + (1 − β₁)·g, s ← β₂·s + (1 − β₂)·g², and w ← w − rate·(m̂/(√ŝ + ε) + λ·w), where m̂ = m/(1 − β₁ᵗ) and
/// ŝ = s/(1 − β₂ᵗ) at step t, counted from 1 (Loshchilov and Hutter 2019, algorithm 2).
fn adam(
    spec: &TensorSpec,
    tensor: &Tensor,
    gradient: &Tensor,
    [mean, square]: [&mut Tensor; 2],
    size: StepSize,
) -> Result<(), NetError> {
    let [rate, first, second, l2] = [size.rate, size.momentum, size.second_momentum, size.l2].map(f64::from);
    let time = (size.step + 1) as f64;
    let _ = mean.f_mul_scalar_(first)?.f_add_(&(gradient * (1.0 - first)))?;
    let _ = square.f_mul_scalar_(second)?.f_add_(&(gradient.f_square()? * (1.0 - second)))?;
    let root = (&*square / (1.0 - second.powf(time))).f_sqrt()? + EPSILON;
    let step = (&*mean / (1.0 - first.powf(time))).f_div(&root)? * rate;
    let mut tensor = tensor.shallow_clone();
    if spec.role == Role::Weight {
        let _ = tensor.f_mul_scalar_(1.0 - rate * l2)?;
    }
    let _ = tensor.f_sub_(&step)?;
    Ok(())
}

/// The way of the tensor in that place in a step like the last one, without its decay.
pub(crate) fn update(optimizer: &Optimizer, place: usize, size: StepSize) -> Result<Tensor, NetError> {
    let (mean, rate) = (&optimizer.momentum[place], f64::from(size.rate));
    match size.kind {
        Method::Sgd | Method::Nesterov => Ok(mean * rate),
        Method::Adamw => {
            let [first, second] = [size.momentum, size.second_momentum].map(f64::from);
            let time = size.step.max(1) as f64;
            let root = (&optimizer.squares[place] / (1.0 - second.powf(time))).f_sqrt()? + EPSILON;
            Ok((mean / (1.0 - first.powf(time))).f_div(&root)? * rate)
        }
    }
}

/// λ‖w‖²/2 over the weights of convolutions and dense layers.
pub(crate) fn penalty(tower: &Tower, l2: f32) -> Result<f32, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let weights = tower.trainable().filter(|(spec, _)| spec.role == Role::Weight);
    let sum = sum_of_squares(weights.map(|(_, tensor)| tensor))?;
    Ok((f64::from(l2) * sum / 2.0) as f32)
}

/// Shortens gradients that are together longer than `longest`, unless that is 0; returns how long they were.
pub(crate) fn clip(gradients: &mut [Tensor], longest: f32) -> Result<f32, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let length = sum_of_squares(gradients.iter())?.sqrt();
    if longest > 0.0 && length > f64::from(longest) {
        for gradient in gradients {
            let _ = gradient.f_mul_scalar_(f64::from(longest) / length)?;
        }
    }
    Ok(length as f32)
}

fn sum_of_squares<'a>(tensors: impl Iterator<Item = &'a Tensor>) -> Result<f64, NetError> {
    let square = |tensor: &Tensor| Ok(tensor.f_square()?.f_sum(Kind::Double)?);
    let squares = tensors.map(square).collect::<Result<Vec<Tensor>, NetError>>()?;
    Ok(Tensor::f_stack(&squares, 0)?.f_sum(Kind::Double)?.f_double_value(&[])?)
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::tensor_options::TensorOptions;
    use crate::tower::Format;
    use crate::{Shape, Weights};

    fn shape() -> Shape {
        let plain = Shape::plain(Size::new(2).unwrap());
        Shape { blocks: 1, filters: 2, value_hidden: 2, ownership: true, score: true, ..plain }
    }

    /// Takes steps with gradients that are `gradient` everywhere, and compares each number with `expected` of what it was
    /// and of its decay.
    fn compare(kind: Method, gradients: &[f64], expected: impl Fn(f64, f64) -> f64) {
        let start = Weights::synthetic(shape(), 1);
        let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
        let tower = Tower::new(&start, options, Format::Points).unwrap();
        let mut optimizer = Optimizer::new(&tower, kind).unwrap();
        for (step, &gradient) in gradients.iter().enumerate() {
            let gradients: Vec<Tensor> = tower.trainable().map(|(_, tensor)| tensor.full_like(gradient)).collect();
            let step = step as u64;
            let size = StepSize { kind, rate: 0.1, momentum: 0.5, second_momentum: 0.75, l2: 0.2, step };
            optimizer.step(&tower, &gradients, size).unwrap();
        }
        let end = tower.weights().unwrap();
        for spec in shape().tensors() {
            let decay = if spec.role == Role::Weight { 0.2 } else { 0.0 };
            let (old, new) = (start.tensor(&spec.name).unwrap(), end.tensor(&spec.name).unwrap());
            for (&old, &new) in old.iter().zip(new) {
                let expected = if spec.role.is_trainable() { expected(old.into(), decay) } else { old.into() };
                assert!((expected - f64::from(new)).abs() < 1e-6, "{}: {new}, expected {expected}", spec.name);
            }
        }
    }

    #[test]
    fn velocities_gather_and_weights_follow() {
        compare(Method::Sgd, &[1.0, 1.0], |w, decay| {
            let v = 1.0 + decay * w;
            let after = w - 0.1 * v;
            after - 0.1 * (0.5 * v + 1.0 + decay * after)
        });
    }

    #[test]
    fn nesterov_uses_gradient_at_next_step() {
        compare(Method::Nesterov, &[1.0, -2.0], |w, decay| {
            let g = 1.0 + decay * w;
            let after = w - 0.1 * (g + 0.5 * g);
            let h = -2.0 + decay * after;
            after - 0.1 * (h + 0.5 * (0.5 * g + h))
        });
    }

    #[test]
    fn adam_divides_by_the_size_of_gradients_and_weights_decay() {
        compare(Method::Adamw, &[3.0, -1.0], |w, decay| {
            // At the first step the moments, corrected, are g and g², so that the step has the length of the rate.
            let after = w * (1.0 - 0.1 * decay) - 0.1;
            let (mean, square) = (0.5 * 1.5 - 0.5, 0.75 * 0.25 * 9.0 + 0.25);
            let (mean, square): (f64, f64) = (mean / (1.0 - 0.25), square / (1.0 - 0.5625));
            after * (1.0 - 0.1 * decay) - 0.1 * mean / square.sqrt()
        });
    }

    #[test]
    fn clipping_shortens_long_gradients_only() {
        let gradients = || vec![Tensor::from_slice(&[3.0f32, 0.0]), Tensor::from_slice(&[-4.0f32])];
        for (longest, expected) in [(0.0, -4.0), (6.0, -4.0), (2.5, -2.0)] {
            let mut gradients = gradients();
            assert_eq!(clip(&mut gradients, longest).unwrap(), 5.0);
            assert!((gradients[1].double_value(&[0]) - expected).abs() < 1e-6, "{longest}");
        }
    }
}
