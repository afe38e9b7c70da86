//! The exponential moving average of the weights, which is published instead of them where that is configured.
//!
//! A mean of weights is better than the last of them, which jumps about with every batch. Batch-norm statistics do not match
//! averaged weights, so they are re-estimated.

use tch::Tensor;

use crate::NetError;
use crate::tower::Tower;

/// The mean of every trained tensor, in the order of [`Tower::trainable`].
pub(crate) struct Ema {
    pub(crate) tensors: Vec<Tensor>,
}

impl Ema {
    /// The weights as they are.
    pub(crate) fn new(tower: &Tower) -> Result<Ema, NetError> {
        let tensors = tower.trainable().map(|(_, tensor)| Ok(tensor.f_detach()?.f_mul_scalar(1)?));
        Ok(Ema { tensors: tensors.collect::<Result<_, NetError>>()? })
    }

    /// Follows the weights after a step, counted from 0: a ← d·a + (1 − d)·w. In the first steps d is (1 + t)/(10 + t) if
    /// that is less, so that the beginning is soon forgotten.
    pub(crate) fn follow(&mut self, tower: &Tower, decay: f32, step: u64) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        let decay = f64::from(decay).min((1 + step) as f64 / (10 + step) as f64);
        for (average, (_, tensor)) in self.tensors.iter_mut().zip(tower.trainable()) {
            let _ = average.f_lerp_(tensor, 1.0 - decay)?;
        }
        Ok(())
    }

    /// Puts the mean into a tower.
    pub(crate) fn put(&self, tower: &Tower) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        for ((_, tensor), average) in tower.trainable().zip(&self.tensors) {
            tensor.shallow_clone().f_copy_(average)?;
        }
        Ok(())
    }
}
