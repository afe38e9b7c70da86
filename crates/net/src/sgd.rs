//! Stochastic gradient descent with momentum.

use config::LearningRate;
use tch::{Kind, Tensor};

use crate::NetError;
use crate::shape::{Role, TensorSpec};
use crate::tower::Tower;

/// The momentum of every learned tensor, in the order of [`Tower::learned`].
pub(crate) struct Sgd {
    velocities: Vec<Tensor>,
}

/// The constants of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSize {
    pub(crate) rate: f32,
    pub(crate) momentum: f32,
    pub(crate) l2: f32,
}

impl Sgd {
    /// At rest.
    pub(crate) fn new(tower: &Tower) -> Result<Sgd, NetError> {
        let velocities = tower.learned().map(|(_, tensor)| Ok(tensor.f_zeros_like()?.f_detach()?));
        Ok(Sgd { velocities: velocities.collect::<Result<_, NetError>>()? })
    }

    /// In motion: one velocity for each learned tensor.
    pub(crate) fn restored(velocities: Vec<Tensor>) -> Sgd {
        Sgd { velocities }
    }

    pub(crate) fn velocities(&self) -> &[Tensor] {
        &self.velocities
    }

    /// v ← μ·v + (g + λ·w), w ← w − rate·v. Momentum is not Nesterov's; λ is 0 for all but the weights of
    /// convolutions and dense layers, for to pull biases and batch norms to 0 would change what the network can say.
    pub(crate) fn step(&mut self, tower: &Tower, gradients: &[Tensor], size: StepSize) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        let StepSize { rate, momentum, l2 } = size;
        for (((spec, tensor), gradient), velocity) in tower.learned().zip(gradients).zip(&mut self.velocities) {
            let _ = velocity.f_mul_scalar_(f64::from(momentum))?.f_add_(gradient)?;
            if spec.role == Role::Weight {
                let _ = velocity.f_add_(&tensor.f_mul_scalar(f64::from(l2))?)?;
            }
            let _ = tensor.shallow_clone().f_sub_(&velocity.f_mul_scalar(f64::from(rate))?)?;
        }
        Ok(())
    }
}

/// λ‖w‖²/2 over the weights of convolutions and dense layers.
pub(crate) fn penalty(tower: &Tower, l2: f32) -> Result<f32, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let weights = tower.learned().filter(|(spec, _)| spec.role == Role::Weight);
    let square = |(_, tensor): &(TensorSpec, Tensor)| Ok(tensor.f_square()?.f_sum(Kind::Double)?);
    let squares = weights.map(square).collect::<Result<Vec<Tensor>, NetError>>()?;
    let sum = Tensor::f_stack(&squares, 0)?.f_sum(Kind::Double)?.f_double_value(&[])?;
    Ok((f64::from(l2) * sum / 2.0) as f32)
}

/// The rate in force at a step: that of the last piece which has begun.
pub(crate) fn rate(schedule: &[LearningRate], step: u64) -> f32 {
    schedule.iter().rev().find(|piece| piece.from_step <= step).map_or(0.0, |piece| piece.rate)
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::layers::Place;
    use crate::tower::Format;
    use crate::{Shape, Weights};

    #[test]
    fn velocities_gather_and_weights_follow() {
        let shape = Shape {
            size: Size::new(2).unwrap(),
            blocks: 1,
            filters: 2,
            policy_planes: 2,
            value_planes: 1,
            value_hidden: 2,
            turn_planes: crate::TurnPlanes::One,
        };
        let start = Weights::random(shape, 1);
        let place = Place { device: tch::Device::Cpu, kind: Kind::Float };
        let tower = Tower::new(&start, place, Format::Points).unwrap();
        let mut sgd = Sgd::new(&tower).unwrap();
        let ones: Vec<Tensor> = tower.learned().map(|(_, tensor)| tensor.ones_like()).collect();
        let (rate, momentum, l2) = (0.1, 0.5, 0.2);
        for _ in 0..2 {
            sgd.step(&tower, &ones, StepSize { rate, momentum, l2 }).unwrap();
        }
        let end = tower.weights().unwrap();
        for spec in shape.tensors() {
            let decay = if spec.role == Role::Weight { l2 } else { 0.0 };
            let expected = |w: f32| {
                let v = 1.0 + decay * w;
                let after = w - rate * v;
                after - rate * (momentum * v + 1.0 + decay * after)
            };
            let (old, new) = (start.tensor(&spec.name).unwrap(), end.tensor(&spec.name).unwrap());
            if spec.role.is_learned() {
                assert!(old.iter().zip(new).all(|(&old, &new)| (expected(old) - new).abs() < 1e-6), "{}", spec.name);
            } else {
                assert_eq!(old, new, "{}", spec.name);
            }
        }
    }

    #[test]
    fn the_rate_is_constant_between_its_steps() {
        let piece = |from_step, rate| LearningRate { from_step, rate };
        let schedule = [piece(0, 0.1), piece(100, 0.01), piece(200, 0.001)];
        assert_eq!(
            [0, 99, 100, 199, 200, 9999].map(|step| rate(&schedule, step)),
            [0.1, 0.1, 0.01, 0.01, 0.001, 0.001]
        );
    }
}
