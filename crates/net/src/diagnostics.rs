//! How the tensors of a network in training are.

use std::ops::Range;

use go::Symmetry;
use record::Example;
use tch::Tensor;

use crate::micro_batch::{each, parts_in_play};
use crate::optimizer::update;
use crate::schedule::{StepSize, rate};
use crate::shim::unpanicked_on;
use crate::step::values;
use crate::threads::single;
use crate::tower::Tower;
use crate::{NetError, Trainer};

/// How one trained tensor is.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorDiagnostics {
    /// Its name, as in the file of weights.
    pub tensor: String,
    /// √ of the mean square of its numbers.
    pub size: f32,
    /// How far a step of the size of the last one takes it, by its own length; 0 for a tensor of zeros.
    pub update_ratio: f32,
}

impl Trainer {
    /// How every trained tensor is after the last step.
    ///
    /// # Errors
    /// The device fails.
    pub fn diagnostics(&self) -> Result<Vec<TensorDiagnostics>, NetError> {
        unpanicked_on(self.tower.device(), || self.tensor_diagnostics())
    }

    fn tensor_diagnostics(&self) -> Result<Vec<TensorDiagnostics>, NetError> {
        let _no_gradients = tch::no_grad_guard();
        let train = &self.train_config.train;
        let size = StepSize::new(train, rate(train, self.step.saturating_sub(1)));
        let of = |(place, named): (usize, &(crate::layout::TensorSpec, Tensor))| {
            let (spec, tensor) = named;
            let length = norm(tensor)?;
            let moved = norm(&update(&self.optimizer, place, named, size))?;
            Ok(TensorDiagnostics {
                tensor: spec.name.clone(),
                size: (length / (spec.count() as f64).sqrt()) as f32,
                update_ratio: if length > 0.0 { (moved / length) as f32 } else { 0.0 },
            })
        };
        self.tower.trainable().enumerate().map(of).collect()
    }

    /// By how much the values of some examples differ between the eight symmetries through which each can be seen: the
    /// root of the mean variance. It is 0 for a network that has understood that they are the same.
    ///
    /// # Errors
    /// Examples that make no batch.
    pub fn symmetry_spread(&self, examples: &[Example]) -> Result<f32, NetError> {
        unpanicked_on(self.tower.device(), || self.spread_in_parts(examples))
    }

    /// Each part is evaluated under one symmetry, and the threads share the parts.
    fn spread_in_parts(&self, examples: &[Example]) -> Result<f32, NetError> {
        single();
        let network = self.averaged.as_ref().unwrap_or(&self.tower);
        let device = network.device();
        let under = |symmetry| parts_in_play(examples.len(), device).into_iter().map(move |rows| (symmetry, rows));
        let parts: Vec<(Symmetry, Range<usize>)> = Symmetry::ALL.into_iter().flat_map(under).collect();
        let (train_config, encoding) = (&self.train_config, self.encoding_threads(parts.len()));
        let work = |tower: &Tower, (symmetry, rows): (Symmetry, Range<usize>)| {
            values(tower, train_config, encoding, &examples[rows], symmetry)
        };
        let values = each(network, self.train_device.threads, parts, work)?.concat();
        let values = Tensor::f_from_slice(&values)?.f_view([Symmetry::ALL.len() as i64, -1])?;
        let variances = values.f_var_dim(&[0i64][..], false, false)?;
        Ok(variances.f_mean(tch::Kind::Float)?.f_sqrt()?.f_double_value(&[])? as f32)
    }
}

/// The length of a tensor, as a vector.
fn norm(tensor: &Tensor) -> Result<f64, NetError> {
    Ok(tensor.f_square()?.f_sum(tch::Kind::Double)?.f_sqrt()?.f_double_value(&[])?)
}
