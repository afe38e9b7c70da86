//! Batch norm (Ioffe and Szegedy 2015), with its running statistics kept apart from its calculation.
//!
//! A batch may be calculated in several parts at once, on several threads. Each part is normalised by its own mean and
//! variance; afterwards the running statistics follow those of the whole batch, which are put together from the parts.

use tch::Tensor;

use crate::NetError;
use crate::layout::EPSILON;
use crate::tensor_options::TensorOptions;

/// How fast running statistics follow the batches: 5 % a batch. Minigo's decay of 0.95, which it found better than
/// 0.997, is this number counted from the other end.
const MOMENTUM: f64 = 0.05;

/// A batch norm: one number a channel each.
pub(crate) struct Norm {
    pub(crate) scale: Tensor,
    pub(crate) shift: Tensor,
    pub(crate) mean: Tensor,
    pub(crate) variance: Tensor,
}

/// Mean and variance of every channel over part of a batch.
pub(crate) struct Statistics {
    mean: Tensor,
    variance: Tensor,
    /// Numbers of each channel that they were taken of.
    count: usize,
}

impl Statistics {
    /// Of the channels of such planes.
    pub(crate) fn new(mean: Tensor, variance: Tensor, planes: &Tensor) -> Statistics {
        let count = planes.numel() / mean.numel();
        Statistics { mean, variance, count }
    }
}

impl Norm {
    /// Normalises by the running statistics.
    pub(crate) fn play(&self, x: &Tensor) -> Result<Tensor, NetError> {
        let (mean, variance) = (Some(&self.mean), Some(&self.variance));
        Ok(x.f_batch_norm(Some(&self.scale), Some(&self.shift), mean, variance, false, MOMENTUM, EPSILON, true)?)
    }

    /// Normalises by the statistics of `x` itself, and returns them.
    pub(crate) fn train(&self, x: &Tensor) -> Result<(Tensor, Statistics), NetError> {
        let (scale, shift) = (Some(&self.scale), Some(&self.shift));
        let (y, mean, inverse) = x.f_native_batch_norm(scale, shift, None, None, true, MOMENTUM, EPSILON)?;
        // It saves 1/√(variance + ε).
        let variance = (inverse.f_detach()?.f_pow_tensor_scalar(-2)? - EPSILON).f_clamp_min(0)?;
        Ok((y, Statistics::new(mean.f_detach()?, variance, x)))
    }

    /// Lets the running statistics follow those of a batch, given by its parts.
    pub(crate) fn follow(&self, parts: &[&Statistics]) -> Result<(), NetError> {
        self.approach(parts, MOMENTUM)
    }

    /// Makes the running statistics those of some positions, given by their parts.
    pub(crate) fn become_those(&self, parts: &[&Statistics]) -> Result<(), NetError> {
        self.approach(parts, 1.0)
    }

    /// Lets the running statistics go a share of the way to those of all parts together.
    fn approach(&self, parts: &[&Statistics], share: f64) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        let total: usize = parts.iter().map(|part| part.count).sum();
        if let [part] = parts {
            return self.go_to(&part.mean, &part.variance, total, share);
        }
        let weighted = |number: &dyn Fn(&Statistics) -> Tensor| {
            parts.iter().map(|part| number(part) * (part.count as f64 / total as f64)).sum::<Tensor>()
        };
        let mean = weighted(&|part| part.mean.shallow_clone());
        // Of the distances from the mean, and not of squares less the mean's, which would leave roundings of large
        // numbers.
        let variance = weighted(&|part| &part.variance + (&part.mean - &mean).square());
        self.go_to(&mean, &variance, total, share)
    }

    /// … given by the mean and the variance of so many numbers of each channel.
    fn go_to(&self, mean: &Tensor, variance: &Tensor, total: usize, share: f64) -> Result<(), NetError> {
        // The variance of a sample is that of what it was drawn from, less one part in its size.
        let unbiased = total as f64 / (total.max(2) - 1) as f64;
        let variance = variance * unbiased;
        let _ = self.mean.shallow_clone().f_lerp_(mean, share)?;
        let _ = self.variance.shallow_clone().f_lerp_(&variance, share)?;
        Ok(())
    }
}

/// The scale or shift of a norm without one.
pub(crate) fn constant(value: f64, channels: usize, options: TensorOptions) -> Result<Tensor, NetError> {
    Ok(Tensor::f_full(channels as i64, value, (options.exact(), options.device))?)
}

#[cfg(test)]
mod tests {
    use tch::Kind;

    use super::*;
    use crate::tower::numbers;

    fn norm(channels: usize) -> Norm {
        let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
        let full = |value| constant(value, channels, options).unwrap();
        Norm { scale: full(2.0), shift: full(0.5), mean: full(0.0), variance: full(1.0) }
    }

    /// Two channels of quite different numbers.
    fn input(rows: i64) -> Tensor {
        let numbers: Vec<f32> =
            (0..rows * 18).map(|i| ((i * i * 7) % 23) as f32 / 5.0 + (i / 9 % 2) as f32 * 10.0).collect();
        Tensor::from_slice(&numbers).view([rows, 2, 3, 3])
    }

    #[test]
    fn statistics_of_the_parts_make_those_of_the_whole() {
        let (x, parted, whole) = (input(12), norm(2), norm(2));
        let parts = [x.narrow(0, 0, 5), x.narrow(0, 5, 7)].map(|part| parted.train(&part).unwrap().1);
        parted.follow(&parts.each_ref()).unwrap();
        // What libtorch does with a batch in one piece.
        let tensors = [&whole.scale, &whole.shift, &whole.mean, &whole.variance].map(Some);
        let [scale, shift, mean, variance] = tensors;
        let _ = x.batch_norm(scale, shift, mean, variance, true, MOMENTUM, EPSILON, true);
        for (parted, whole) in [(&parted.mean, &whole.mean), (&parted.variance, &whole.variance)] {
            let (parted, whole) = (numbers(parted).unwrap(), numbers(whole).unwrap());
            assert!(parted.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-5), "{parted:?} {whole:?}");
        }
    }

    #[test]
    fn part_is_normalised_by_itself() {
        let y = norm(2).train(&input(12)).unwrap().0;
        for channel in 0..2 {
            let y = y.select(1, channel);
            assert!((f64::try_from(y.mean(Kind::Float)).unwrap() - 0.5).abs() < 1e-5);
            assert!((f64::try_from(y.std(false)).unwrap() - 2.0).abs() < 1e-4);
        }
    }

    #[test]
    fn channel_that_never_changes_has_no_variance() {
        let (norm, x) = (norm(1), Tensor::full([4, 1, 2, 2], 3.0, (Kind::Float, tch::Device::Cpu)));
        let (y, statistics) = norm.train(&x).unwrap();
        assert!(numbers(&y).unwrap().iter().all(|y| (y - 0.5).abs() < 1e-3));
        norm.follow(&[&statistics]).unwrap();
        assert!((numbers(&norm.variance).unwrap()[0] - 0.95).abs() < 1e-6);
        assert!((numbers(&norm.mean).unwrap()[0] - 0.15).abs() < 1e-6);
    }
}
