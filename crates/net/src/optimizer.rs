//! From gradients to steps.

use config::Optimizer as Method;
use tch::{Kind, Tensor};

use crate::NetError;
use crate::flat::Flat;
use crate::layout::TensorSpec;
use crate::muon;
use crate::schedule::StepSize;
use crate::tower::Tower;

/// What an optimiser remembers of every trained tensor.
pub(crate) struct Optimizer {
    /// Velocities of gradient descent.
    pub(crate) momentum: Flat,
}

impl Optimizer {
    /// At rest.
    pub(crate) fn new(tower: &Tower) -> Result<Optimizer, NetError> {
        Ok(Optimizer { momentum: tower.trained().zeros(tower.arrangement())? })
    }

    /// Changes the trained tensors by their gradients, which are arranged.
    pub(crate) fn step(&mut self, tower: &Tower, gradients: &Tensor, size: StepSize) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        match size.kind {
            Method::Sgd | Method::Nesterov => descend(tower, gradients, &self.momentum, size),
            Method::Muon => muon::step(tower, gradients, &self.momentum, size),
        }
    }
}

/// g' = g + λ·w, v ← μ·v + g', and w ← w − rate·v; or with Nesterov's momentum w ← w − rate·(g' + μ·v).
///
/// λ is 0 except for weights of convolutions and dense layers: decay of biases and batch norms would limit the outputs.
fn descend(tower: &Tower, gradients: &Tensor, velocity: &Flat, size: StepSize) -> Result<(), NetError> {
    let [rate, momentum, l2] = [size.rate, size.momentum, size.l2].map(f64::from);
    let mut numbers = tower.trained().numbers.shallow_clone();
    let weights = tower.arrangement().weights_of(&numbers)?;
    let _ = tower.arrangement().weights_of(gradients)?.f_add_(&(weights * l2))?;
    let mut velocity = velocity.numbers.shallow_clone();
    let _ = velocity.f_mul_scalar_(momentum)?.f_add_(gradients)?;
    let direction = if size.kind == Method::Sgd { velocity } else { gradients + &velocity * momentum };
    let _ = numbers.f_sub_(&direction.f_mul_scalar(rate)?)?;
    Ok(())
}

/// How a step like the last one changes the tensor in that place, without its decay, and with Nesterov's momentum
/// without the gradient that is added to it. Of a kernel that Muon trains only the length is known.
pub(crate) fn update(
    optimizer: &Optimizer,
    place: usize,
    (spec, tensor): &(TensorSpec, Tensor),
    size: StepSize,
) -> Tensor {
    let rate = f64::from(size.rate);
    match size.kind {
        Method::Muon if muon::is_kernel(spec) => tensor * (muon::SHARE * rate),
        _ => &optimizer.momentum[place] * rate,
    }
}

/// λ‖w‖²/2 over the weights of convolutions and dense layers: one number, on the device.
pub(crate) fn penalty(tower: &Tower, l2: f32) -> Result<Tensor, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let sum = sum_of_squares(&tower.arrangement().weights_of(&tower.trained().numbers)?)?;
    Ok(sum * f64::from(l2) / 2.0)
}

/// Shortens gradients that are together longer than `longest`, unless that is 0; returns how long they were, as a
/// number on the device, for which only shortening waits.
pub(crate) fn clip(gradients: &mut Tensor, longest: f32) -> Result<Tensor, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let length = sum_of_squares(gradients)?.f_sqrt()?;
    if longest > 0.0 {
        let length = length.f_double_value(&[])?;
        if length > f64::from(longest) {
            let _ = gradients.f_mul_scalar_(f64::from(longest) / length)?;
        }
    }
    Ok(length)
}

fn sum_of_squares(numbers: &Tensor) -> Result<Tensor, NetError> {
    Ok(numbers.f_square()?.f_sum(Kind::Double)?)
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::flat::Format;
    use crate::layout::Role;
    use crate::tensor_options::TensorOptions;
    use crate::{Shape, Weights};

    fn shape() -> Shape {
        let plain = Shape::plain(Size::new(2).unwrap());
        Shape { blocks: 1, filters: 2, value_hidden: 2, ownership: true, score: true, ..plain }
    }

    /// Takes steps with gradients that are `gradient` everywhere, and compares each number with `expected` of what it
    /// was and of its decay.
    fn compare(kind: Method, gradients: &[f64], expected: impl Fn(f64, f64) -> f64) {
        let start = Weights::synthetic(shape(), 1);
        let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
        let tower = Tower::new(&start, options, Format::Points).unwrap();
        let mut optimizer = Optimizer::new(&tower).unwrap();
        for &gradient in gradients {
            let gradients: Vec<Tensor> = tower.trainable().map(|(_, tensor)| tensor.full_like(gradient)).collect();
            let gradients = tower.arrangement().gather(&gradients).unwrap();
            let size = StepSize { kind, rate: 0.1, momentum: 0.5, l2: 0.2 };
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
    fn clipping_shortens_long_gradients_only() {
        let gradients = || Tensor::from_slice(&[3.0f32, 0.0, -4.0f32]);
        for (longest, expected) in [(0.0, -4.0), (6.0, -4.0), (2.5, -2.0)] {
            let mut gradients = gradients();
            assert_eq!(clip(&mut gradients, longest).unwrap().double_value(&[]), 5.0);
            assert!((gradients.double_value(&[2]) - expected).abs() < 1e-6, "{longest}");
        }
    }
}
