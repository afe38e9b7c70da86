//! The exponential moving average of the weights, which is published instead of them where that is configured.
//!
//! A mean of weights is better than the last of them, which jumps about with every batch. Batch-norm statistics do not
//! match averaged weights, so they are re-estimated.

use crate::flat::Flat;
use crate::tower::Tower;
use crate::{NetError, TrainConfig};

/// The mean of every trained tensor.
pub(crate) struct Ema {
    pub(crate) tensors: Flat,
}

impl Ema {
    /// The weights as they are.
    pub(crate) fn new(tower: &Tower) -> Result<Ema, NetError> {
        Ok(Ema { tensors: tower.arrangement().of_numbers(tower.trained().numbers.f_mul_scalar(1)?)? })
    }

    /// Follows the weights after a step of the run, counted from 0: a ← d·a + (1 − d)·w. In the first steps of a run
    /// from random weights d is (1 + t)/(10 + t) if that is less, so that they are soon forgotten. A network that has
    /// grown begins with weights that are a mean already.
    pub(crate) fn follow(&mut self, tower: &Tower, train_config: &TrainConfig, step: u64) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        let warm_up = if train_config.ema_warm_up { (1 + step) as f64 / (10 + step) as f64 } else { 1.0 };
        let decay = f64::from(train_config.train.ema_decay).min(warm_up);
        let _ = self.tensors.numbers.f_lerp_(&tower.trained().numbers, 1.0 - decay)?;
        Ok(())
    }

    /// Puts the mean into a tower.
    pub(crate) fn put(&self, tower: &Tower) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        tower.trained().numbers.shallow_clone().f_copy_(&self.tensors.numbers)?;
        Ok(())
    }
}
