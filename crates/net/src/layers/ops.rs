//! The pieces that layers in play consist of, and the two ways in which numbers are laid out.

use cpu::Convolution;
use tch::{Kind, Tensor};

use crate::tensor_options::TensorOptions;
use crate::{NetError, OnednnIsa};

/// A convolution with a bias.
pub(super) struct Conv {
    weight: Tensor,
    bias: Tensor,
    padding: i64,
    /// Channels that its input is filled up to with zeros, on a GPU; `None`: it takes the planes as they are.
    padded_inputs: Option<i64>,
    way: Way,
}

/// How a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By itself.
    Plain,
    /// With the sum and the ReLU after it in one pass, on a GPU. Channels are multiples of [`EIGHT`].
    Fused,
    /// As a matrix product of the points, on a GPU: kernels of one point. So many of the outputs are wanted, and the
    /// others fill them up to a multiple of [`EIGHT`].
    Points(i64),
}

/// Tensor cores read channels of 16-bit numbers in groups of so many.
const EIGHT: usize = 8;

/// A dense layer.
pub(super) enum Dense {
    /// A product of matrices. On a CPU the output of a row is the same at every place, and may be another in a batch of
    /// another size.
    Product { weight: Tensor, bias: Tensor },
    /// A convolution of boards of one point, each row being one: row by row, whatever others there are.
    Rows(Conv),
}

/// A dense layer with so few outputs that a matrix product is too much ado: a sum of products for each.
pub(super) struct Few {
    /// Outputs, inputs.
    weight: Tensor,
    bias: Tensor,
}

/// Into the layout that the tensor's device likes best.
pub(super) fn to_fast(x: &Tensor) -> Result<Tensor, NetError> {
    if x.device().is_cuda() { channels_last(x) } else { Ok(x.f_to_mkldnn(x.kind())?) }
}

/// Into plain rows of f32.
pub(super) fn to_plain(x: &Tensor) -> Result<Tensor, NetError> {
    let x = if x.is_mkldnn() { x.f_to_dense(None, false)? } else { x.f_contiguous()? };
    Ok(x.f_to_kind(Kind::Float)?)
}

/// The same numbers with those of one point side by side in memory.
pub(crate) fn channels_last(x: &Tensor) -> Result<Tensor, NetError> {
    Ok(x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}

impl Conv {
    pub(super) fn new(
        folded: &Convolution,
        options: TensorOptions,
        side: usize,
        batch: usize,
    ) -> Result<Conv, NetError> {
        if options.device.is_cuda() {
            return Conv::on_gpu(folded, options);
        }
        let dimensions = dimensions(folded);
        let [_, inputs, kernel, _] = dimensions;
        let padding = kernel / 2;
        let weight = Tensor::f_from_slice(&folded.weight)?.f_view(dimensions)?;
        let weight = to_fast(&weight.f_to_device(options.device)?.f_to_kind(options.kind)?)?;
        let bias = Tensor::f_from_slice(&folded.bias)?.f_to_device(options.device)?.f_to_kind(options.kind)?;
        let input = [batch as i64, inputs, side as i64, side as i64];
        let (pad, one) = ([padding, padding], [1, 1]);
        let weight = weight.f_mkldnn_reorder_conv2d_weight(pad, one, one, 1, Some(&input[..]))?;
        Ok(Conv { weight, bias: bias.f_to_mkldnn(options.kind)?, padding, padded_inputs: None, way: Way::Plain })
    }

    /// With zeros for further inputs, which are zeros, or for further outputs, which are not read.
    fn on_gpu(folded: &Convolution, options: TensorOptions) -> Result<Conv, NetError> {
        let &Convolution { outputs, inputs, .. } = folded;
        let dimensions = dimensions(folded);
        let kernel = dimensions[2];
        let missing = |channels: usize| (channels.next_multiple_of(EIGHT) - channels) as i64;
        let weight = Tensor::f_from_slice(&folded.weight)?.f_view(dimensions)?;
        let bias = Tensor::f_from_slice(&folded.bias)?;
        let there = |tensor: Tensor| tensor.f_to_device(options.device)?.f_to_kind(options.kind);
        if kernel == 1 {
            let rows = weight.f_flatten(1, -1)?.f_constant_pad_nd([0, 0, 0, missing(outputs)])?;
            let bias = there(bias.f_constant_pad_nd([0, missing(outputs)])?)?;
            let way = Way::Points(outputs as i64);
            return Ok(Conv { weight: there(rows)?, bias, padding: 0, padded_inputs: None, way });
        }
        let weight = channels_last(&there(weight.f_constant_pad_nd([0, 0, 0, 0, 0, missing(inputs)])?)?)?;
        let is_fused = outputs.is_multiple_of(EIGHT) && options.kind != Kind::Float;
        let way = if is_fused { Way::Fused } else { Way::Plain };
        let padded_inputs = Some(inputs.next_multiple_of(EIGHT) as i64);
        Ok(Conv { weight, bias: there(bias)?, padding: kernel / 2, padded_inputs, way })
    }

    pub(super) fn share(&self) -> Conv {
        Conv { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone(), ..*self }
    }

    /// Planes with as many further ones, of zeros, as the convolution has inputs for.
    pub(super) fn with_padding(&self, x: &Tensor) -> Result<Tensor, NetError> {
        match self.missing(x) {
            0 => Ok(x.shallow_clone()),
            missing => Ok(x.f_constant_pad_nd([0, 0, 0, 0, 0, missing])?),
        }
    }

    /// Inputs that the planes lack.
    fn missing(&self, x: &Tensor) -> i64 {
        self.padded_inputs.map_or(0, |inputs| inputs - x.size()[1])
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        if self.missing(x) > 0 {
            return self.forward(&channels_last(&self.with_padding(x)?)?);
        }
        if let Way::Points(outputs) = self.way {
            let points = x.f_permute([0, 2, 3, 1])?.f_linear(&self.weight, Some(&self.bias))?;
            return Ok(points.f_narrow(3, 0, outputs)?.f_permute([0, 3, 1, 2])?);
        }
        let (pad, one) = ([self.padding, self.padding], [1, 1]);
        Ok(x.f_conv2d(&self.weight, Some(&self.bias), one, pad, one, 1)?)
    }

    /// ReLU of the convolution.
    pub(super) fn forward_relu(&self, x: &Tensor) -> Result<Tensor, NetError> {
        if self.way != Way::Fused || self.missing(x) > 0 {
            return Ok(self.forward(x)?.f_relu_()?);
        }
        let (pad, one) = ([self.padding, self.padding], [1, 1]);
        Ok(x.f_cudnn_convolution_relu(&self.weight, Some(&self.bias), one, pad, one, 1)?)
    }

    /// ReLU of the sum of the convolution and `added`.
    pub(super) fn forward_add_relu(&self, x: &Tensor, added: &Tensor) -> Result<Tensor, NetError> {
        if self.way != Way::Fused || self.missing(x) > 0 {
            return Ok(self.forward(x)?.f_add_(added)?.f_relu_()?);
        }
        let (pad, one) = ([self.padding, self.padding], [1, 1]);
        Ok(x.f_cudnn_convolution_add_relu(&self.weight, added, 1.0, Some(&self.bias), one, pad, one, 1)?)
    }
}

impl Dense {
    /// On a CPU without AVX-512 oneDNN multiplies matrices by kernels of several rows and columns, and a row at the
    /// edge of a batch may be summed in another order than one in the middle: on AVX2 that was seen with 243 inputs in
    /// batches of 7. There every row is a convolution.
    pub(super) fn new(layer: &cpu::Dense, device: tch::Device, batch: usize) -> Result<Dense, NetError> {
        if device.is_cuda() || OnednnIsa::in_use() >= OnednnIsa::Avx512Core {
            let (weight, bias) = linear(layer, device)?;
            return Ok(Dense::Product { weight, bias });
        }
        let cpu::Dense { weight, bias } = layer.clone();
        let (inputs, outputs) = (weight.len() / bias.len(), bias.len());
        let options = TensorOptions { device, kind: Kind::Float };
        Ok(Dense::Rows(Conv::new(&Convolution { inputs, outputs, weight, bias }, options, 1, batch)?))
    }

    pub(super) fn share(&self) -> Dense {
        match self {
            Dense::Product { weight, bias } => {
                Dense::Product { weight: weight.shallow_clone(), bias: bias.shallow_clone() }
            }
            Dense::Rows(conv) => Dense::Rows(conv.share()),
        }
    }

    /// Whether a row may have another output in a batch of another size.
    pub(super) fn sees_the_batch(&self) -> bool {
        matches!(self, Dense::Product { weight, .. } if !weight.device().is_cuda())
    }

    /// On a CPU by oneDNN, for `linear` is MKL's: it sums a row in another order when the row is one of the last few of
    /// a batch that is no multiple of four, and the output would depend on the place.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        match self {
            Dense::Product { weight, bias } if x.device().is_cuda() => Ok(x.f_linear(weight, Some(bias))?),
            Dense::Product { weight, bias } => {
                let x = x.f_to_mkldnn(Kind::Float)?;
                Ok(x.f_mkldnn_linear(weight, Some(bias))?.f_to_dense(None, false)?)
            }
            Dense::Rows(conv) => {
                let points = to_fast(&x.f_unsqueeze(-1)?.f_unsqueeze(-1)?)?;
                Ok(to_plain(&conv.forward(&points)?)?.f_flatten(1, -1)?)
            }
        }
    }
}

/// Outputs, inputs, rows, columns: a kernel has 3x3 points or one.
fn dimensions(conv: &Convolution) -> [i64; 4] {
    let kernel = if conv.weight.len() == conv.outputs * conv.inputs { 1 } else { 3 };
    [conv.outputs as i64, conv.inputs as i64, kernel, kernel]
}

/// Weights, outputs by inputs, and biases.
fn linear(layer: &cpu::Dense, device: tch::Device) -> Result<(Tensor, Tensor), NetError> {
    let bias = Tensor::f_from_slice(&layer.bias)?.f_to_device(device)?;
    let weight = Tensor::f_from_slice(&layer.weight)?.f_view([bias.size()[0], -1])?.f_to_device(device)?;
    Ok((weight, bias))
}

impl Few {
    pub(super) fn new(layer: &cpu::Dense, device: tch::Device) -> Result<Few, NetError> {
        let (weight, bias) = linear(layer, device)?;
        Ok(Few { weight, bias })
    }

    pub(super) fn share(&self) -> Few {
        Few { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor, NetError> {
        let products = x.f_unsqueeze(1)? * &self.weight;
        Ok(products.f_sum_dim_intlist(-1, false, Kind::Float)?.f_add_(&self.bias)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: TensorOptions = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };

    /// Numbers that differ from place to place, between -1 and 1.
    fn wave(size: &[i64]) -> Tensor {
        let count = size.iter().product::<i64>();
        (Tensor::arange(count, (Kind::Float, tch::Device::Cpu)) * 0.7_f64).sin().view(size)
    }

    fn numbers(tensor: &Tensor) -> Vec<f32> {
        Vec::try_from(tensor.flatten(0, -1)).unwrap()
    }

    fn convolution(dimensions: [usize; 4]) -> Convolution {
        let [outputs, inputs, ..] = dimensions;
        let weight = numbers(&wave(&dimensions.map(|n| n as i64)));
        Convolution { inputs, outputs, weight, bias: numbers(&wave(&[outputs as i64])) }
    }

    /// On the CPU, which has all ways but that of cuDNN.
    #[test]
    fn convolutions_of_gpus_have_the_outputs_of_the_usual_one() {
        for dimensions in [[8, 16, 3, 3], [6, 5, 3, 3], [8, 17, 3, 3], [3, 6, 1, 1], [16, 8, 1, 1]] {
            let [outputs, inputs, kernel, _] = dimensions.map(|n| n as i64);
            let (weight, bias) = (wave(&[outputs, inputs, kernel, kernel]), wave(&[outputs]));
            let (x, pad) = (wave(&[2, inputs, 5, 5]), [kernel / 2, kernel / 2]);
            let expected = x.conv2d(&weight, Some(&bias), [1, 1], pad, [1, 1], 1);
            let added = wave(&expected.size());
            let (conv, x) = (Conv::on_gpu(&convolution(dimensions), OPTIONS).unwrap(), channels_last(&x).unwrap());
            for (found, expected) in [
                (conv.forward(&x), expected.shallow_clone()),
                (conv.forward(&conv.with_padding(&x).unwrap()), expected.shallow_clone()),
                (conv.forward_relu(&x), expected.relu()),
                (conv.forward_add_relu(&x, &added), (&expected + &added).relu()),
            ] {
                let found = found.unwrap();
                assert_eq!(found.size(), expected.size());
                // Up to 153 products of numbers below 1 are summed in another order.
                let differs = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-4;
                assert!(!numbers(&found).iter().zip(&numbers(&expected)).any(differs), "{dimensions:?}");
            }
        }
    }

    #[test]
    fn convolution_of_a_gpu_is_fused_where_cudnn_can() {
        let conv =
            |dimensions, kind| Conv::on_gpu(&convolution(dimensions), TensorOptions { kind, ..OPTIONS }).unwrap();
        assert_eq!(conv([16, 5, 3, 3], Kind::BFloat16).way, Way::Fused);
        assert_eq!(conv([12, 5, 3, 3], Kind::BFloat16).way, Way::Plain);
        assert_eq!(conv([16, 5, 3, 3], Kind::Float).way, Way::Plain);
        assert_eq!(conv([12, 5, 1, 1], Kind::BFloat16).way, Way::Points(12));
        assert_eq!(conv([16, 5, 3, 3], Kind::BFloat16).weight.size(), [16, 8, 3, 3], "whole groups of channels");
        assert_eq!(conv([12, 5, 1, 1], Kind::BFloat16).weight.size(), [16, 5], "whole groups of outputs");
    }
}
