//! A convolution in training, with its batch norm and what follows.

use std::ops::Range;

use super::Convolution;
use super::norm::{Combined, Gradients, Mask, Mean, Moments, Normalised, Products, Rows, Sums};
use crate::{CpuError, EPSILON, InstructionSet};

/// A 3x3 convolution without a bias, batch norm by the statistics of the positions, a sum with other planes, and ReLU;
/// and memory for the positions that it works on at a time.
///
/// Planes and their gradients are f32 by position, row, column and channel; kernels and their gradient by output
/// channel, row, column and input channel, as libtorch has them in its memory format `channels_last`. Results have the
/// same bits with every [`InstructionSet`]. A number that is not finite makes others NaN.
pub struct TrainingUnit {
    convolution: Convolution,
    constants: Constants,
    sums: Sums,
}

/// Numbers of each channel while a unit is applied or its gradients are computed.
struct Constants {
    /// With `shift`, the batch norm: `factor * number + shift`.
    factor: Vec<f32>,
    shift: Vec<f32>,
    /// The mean of the first position, from which distances are summed.
    pivot: Vec<f32>,
    /// The gradient of the convolution: `of_gradients * gradient + of_numbers * number + summand`.
    of_gradients: Vec<f32>,
    of_numbers: Vec<f32>,
    summand: Vec<f32>,
}

impl Constants {
    fn new(channels: usize) -> Constants {
        let [factor, shift, pivot, of_gradients, of_numbers, summand] = [0; 6].map(|_| vec![0.0; channels]);
        Constants { factor, shift, pivot, of_gradients, of_numbers, summand }
    }
}

/// Parameters of a unit, and what it is applied to.
#[derive(Clone, Copy)]
pub struct UnitInput<'a> {
    /// Kernels.
    pub weight: &'a [f32],
    /// Factor of each channel, after it is normalised.
    pub scale: &'a [f32],
    /// Summand of each channel.
    pub shift: &'a [f32],
    /// The planes.
    pub input: &'a [f32],
    /// Planes to be added before the ReLU.
    pub residual: Option<&'a [f32]>,
    /// Whether there is a ReLU.
    pub relu: bool,
}

/// What a unit makes of it.
pub struct UnitOutput<'a> {
    /// Output of the convolution, which [`TrainingUnit::backward`] needs.
    pub convolved: &'a mut [f32],
    /// Mean and variance of its channels. The variance is that of these positions, not an estimate from them.
    pub mean: &'a mut [f32],
    /// See `mean`.
    pub variance: &'a mut [f32],
    /// The output.
    pub output: &'a mut [f32],
}

/// A unit that was applied, and the gradient of its output.
#[derive(Clone, Copy)]
pub struct UnitApplied<'a> {
    /// What it was applied to. The numbers of `residual` are not read.
    pub input: UnitInput<'a>,
    /// As [`UnitOutput`] has them.
    pub convolved: &'a [f32],
    /// See `convolved`.
    pub mean: &'a [f32],
    /// See `convolved`.
    pub variance: &'a [f32],
    /// See `convolved`.
    pub output: &'a [f32],
    /// The gradient.
    pub of_output: &'a [f32],
}

/// Gradients of what a unit was applied to.
pub struct UnitGradients<'a> {
    /// Of [`UnitInput::weight`].
    pub weight: &'a mut [f32],
    /// Of [`UnitInput::scale`].
    pub scale: &'a mut [f32],
    /// Of [`UnitInput::shift`].
    pub shift: &'a mut [f32],
    /// Of [`UnitInput::input`], if it is wanted.
    pub input: Option<&'a mut [f32]>,
    /// Of [`UnitInput::residual`], if it is wanted.
    pub residual: Option<&'a mut [f32]>,
}

impl TrainingUnit {
    /// Memory for units on boards of `side` points with so many input and output channels, at least one of each.
    ///
    /// # Errors
    /// A board that there is not, or an instruction set that this processor lacks.
    pub fn new(side: usize, inputs: usize, outputs: usize, set: InstructionSet) -> Result<TrainingUnit, CpuError> {
        let convolution = Convolution::new(side, inputs, outputs, set)?;
        Ok(TrainingUnit { convolution, constants: Constants::new(outputs), sums: Sums::default() })
    }

    /// Side of the boards, and input and output channels.
    pub fn shape(&self) -> (usize, usize, usize) {
        self.convolution.shape()
    }

    /// Applies the unit.
    ///
    /// # Panics
    /// When a length does not fit the others, or there are no positions.
    pub fn forward(&mut self, unit: UnitInput<'_>, out: UnitOutput<'_>) {
        let UnitInput { weight, scale, shift, input, residual, relu } = unit;
        let UnitOutput { convolved, mean, variance, output } = out;
        self.check(&[scale, shift, mean, variance], convolved, &[Some(&*output), residual]);
        let (kernels, rows, sums) = (self.convolution.kernels, self.rows(), &mut self.sums);
        let Constants { factor, shift: summand, pivot, .. } = &mut self.constants;
        sums.clear(rows.channels);
        let mut is_first = true;
        self.convolution.forward(weight, input, convolved, |numbers| {
            if std::mem::take(&mut is_first) {
                kernels.plain(Mean { channels: rows.channels, numbers: &numbers[..rows.position()], mean: pivot });
            }
            kernels.plain(Moments { rows, numbers, pivot, sums });
        });
        let count = (convolved.len() / rows.channels) as f64;
        for channel in 0..rows.channels {
            let [distance, square] = [0, 1].map(|which| sums.all[which][channel] / count);
            mean[channel] = (f64::from(pivot[channel]) + distance) as f32;
            // A channel that never changes has none, and rounding must not make it negative; NaN stays NaN.
            let spread = square - distance * distance;
            variance[channel] = if spread < 0.0 { 0.0 } else { spread as f32 };
            [factor[channel], summand[channel]] = line(&unit, mean[channel], variance[channel], channel);
        }
        kernels.plain(Normalised { numbers: convolved, factor, summand, residual, relu, out: output });
    }

    /// Gradients from that of the output.
    ///
    /// # Panics
    /// When a length does not fit the others, or there are no positions.
    pub fn backward(&mut self, unit: UnitApplied<'_>, out: UnitGradients<'_>) {
        let UnitApplied { input: UnitInput { weight, scale, input, relu, .. }, convolved, mean, variance, .. } = unit;
        let has_residual = unit.input.residual.is_some();
        let per_channel = [scale, unit.input.shift, mean, variance, &*out.scale, &*out.shift];
        self.check(&per_channel, convolved, &[Some(unit.output), Some(unit.of_output), out.residual.as_deref()]);
        let (kernels, rows, sums) = (self.convolution.kernels, self.rows(), &mut self.sums);
        let Constants { factor, shift, of_gradients, of_numbers, summand, .. } = &mut self.constants;
        for channel in 0..rows.channels {
            [factor[channel], shift[channel]] = line(&unit.input, mean[channel], variance[channel], channel);
        }
        let mask = match (relu, has_residual) {
            (false, _) => Mask::All,
            (true, true) => Mask::Output(unit.output),
            (true, false) => Mask::Numbers([factor, shift]),
        };
        let gradients = Gradients { of_output: unit.of_output, mask };
        sums.clear(rows.channels);
        kernels.plain(Products { rows, gradients, numbers: convolved, mean, sums, out: out.residual });
        let count = (convolved.len() / rows.channels) as f64;
        for channel in 0..rows.channels {
            let inverse = 1.0 / (f64::from(variance[channel]) + EPSILON).sqrt();
            let [sum, product] = [0, 1].map(|which| sums.all[which][channel]);
            let of_gradient = f64::from(scale[channel]) * inverse;
            let of_number = -of_gradient * inverse * inverse * product / count;
            of_gradients[channel] = of_gradient as f32;
            of_numbers[channel] = of_number as f32;
            // With the rounded factors, so that their rounding is not in all gradients of the channel.
            let [by_sum, by_mean] = [of_gradients[channel], of_numbers[channel]].map(f64::from);
            summand[channel] = (-by_sum * sum / count - by_mean * f64::from(mean[channel])) as f32;
            out.scale[channel] = (product * inverse) as f32;
            out.shift[channel] = sum as f32;
        }
        let factors = [&of_gradients[..], of_numbers];
        let position = rows.area * rows.channels;
        let of_convolved = |positions: Range<usize>, out: &mut [f32]| {
            let range = positions.start * position..positions.end * position;
            let (numbers, gradients) = (&convolved[range.clone()], gradients.part(range));
            kernels.plain(Combined { gradients, numbers, factors, summand, out });
        };
        self.convolution.backward(weight, input, of_convolved, out.input, out.weight);
    }

    fn rows(&self) -> Rows {
        let (side, _, channels) = self.shape();
        Rows { channels, area: side * side }
    }

    /// Checks what the convolution does not.
    fn check(&self, per_channel: &[&[f32]], convolved: &[f32], planes: &[Option<&[f32]>]) {
        assert!(!convolved.is_empty(), "a batch norm needs positions");
        assert!(per_channel.iter().all(|numbers| numbers.len() == self.rows().channels), "numbers of channels");
        assert!(planes.iter().flatten().all(|numbers| numbers.len() == convolved.len()), "planes of the output");
    }
}

/// Factor and summand that normalise a channel, scale and shift it.
fn line(unit: &UnitInput<'_>, mean: f32, variance: f32, channel: usize) -> [f32; 2] {
    let factor = (f64::from(unit.scale[channel]) / (f64::from(variance) + EPSILON).sqrt()) as f32;
    [factor, unit.shift[channel] - mean * factor]
}
