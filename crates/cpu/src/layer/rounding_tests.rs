//! The error of a layer in int16 against the bound that its scales imply.

use testing::Noise;

use super::*;
use crate::kernels::LARGEST_INPUT;
use crate::pack::{Weights, transform};

/// Bᵀ and Aᵀ of F(3x3, 3x3) with the points 0, 1, -1, 2 and infinity.
const BT: [[f64; 5]; 5] = [
    [2.0, -1.0, -2.0, 1.0, 0.0],
    [0.0, -2.0, -1.0, 1.0, 0.0],
    [0.0, 2.0, -3.0, 1.0, 0.0],
    [0.0, -1.0, 0.0, 1.0, 0.0],
    [0.0, 2.0, -1.0, -2.0, 1.0],
];
const AT: [[f64; 5]; 3] = [[1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 1.0, -1.0, 2.0, 0.0], [0.0, 1.0, 1.0, 4.0, 1.0]];

/// What f32 loses in the transforms, relative to the magnitudes that are added: 40 roundings.
const ROUNDINGS: f64 = 40.0 * (f32::EPSILON / 2.0) as f64;

/// From 0 to 1, with all bits of f64.
fn share(noise: &mut Noise) -> f64 {
    (noise.bits() >> 11) as f64 / (1u64 << 53) as f64
}

fn below(noise: &mut Noise, most: usize) -> usize {
    (share(noise) * most as f64) as usize
}

fn numbers(noise: &mut Noise, count: usize) -> Vec<f32> {
    (0..count).map(|_| (2.0 * share(noise) - 1.0) as f32).collect()
}

/// A layer and what goes into it.
struct Case {
    conv: Convolution,
    side: usize,
    positions: usize,
    input: Vec<f32>,
}

impl Case {
    /// Weights that are normal, zero by channels, dominated by an input or by an output, very large or very small.
    fn new(noise: &mut Noise) -> Case {
        let (side, positions) = (2 + below(noise, 18), 1 + below(noise, 2));
        let [inputs, outputs] = [0; 2].map(|_| {
            let most = [3, 20, 40][below(noise, 3)];
            1 + below(noise, most)
        });
        let mut weight = numbers(noise, inputs * outputs * 9);
        let mut input = numbers(noise, positions * inputs * side * side);
        let all = weight.as_chunks_mut::<9>().0.iter_mut().enumerate();
        match below(noise, 6) {
            0 => all.filter(|(index, _)| index / inputs % 2 == 0).for_each(|(_, kernel)| kernel.fill(0.0)),
            1 => all.filter(|(index, _)| index / inputs == 0).flat_map(|(_, kernel)| kernel).for_each(|w| *w *= 1e4),
            2 => all.filter(|(index, _)| index % inputs == 0).flat_map(|(_, kernel)| kernel).for_each(|w| *w *= 1e4),
            3 => weight.iter_mut().for_each(|weight| *weight *= 1e25),
            4 => weight.iter_mut().for_each(|weight| *weight *= 1e-25),
            _ => input.iter_mut().for_each(|number| *number *= 1e8),
        }
        let largest = weight.iter().fold(0.0, |most: f32, weight| most.max(weight.abs()));
        let bias = numbers(noise, outputs).into_iter().map(|bias| bias * largest).collect();
        Case { conv: Convolution { inputs, outputs, weight, bias }, side, positions, input }
    }

    /// A number of the input, 0 beside the board.
    fn at(&self, position: usize, channel: usize, row: usize, column: usize) -> f64 {
        let plane = (position * self.conv.inputs + channel) * self.side * self.side;
        let on_board = (1..=self.side).contains(&row) && (1..=self.side).contains(&column);
        if on_board { f64::from(self.input[plane + (row - 1) * self.side + column - 1]) } else { 0.0 }
    }

    /// The transformed tile of an input channel.
    fn tile(&self, position: usize, channel: usize, corner: (usize, usize)) -> [f64; FREQUENCIES] {
        std::array::from_fn(|frequency| {
            let term = |index: usize| {
                let factor = BT[frequency / 5][index / 5] * BT[frequency % 5][index % 5];
                factor * self.at(position, channel, corner.0 + index / 5, corner.1 + index % 5)
            };
            (0..25).map(term).sum()
        })
    }

    /// Exact outputs of a tile, each with the bound of its error, for one output channel.
    fn outputs(&self, layer: &Layer, position: usize, output: usize, corner: (usize, usize)) -> [(f64, f64); 9] {
        let Weights::Rounded { scales, .. } = &layer.conv.weights else { panic!("the layer is in int16") };
        let factors = layer.scales.unwrap();
        let (mut sums, mut errors, mut sizes) = ([0.0; FREQUENCIES], [0.0; FREQUENCIES], [0.0; FREQUENCIES]);
        for input in 0..self.conv.inputs {
            let tile = self.tile(position, input, corner);
            let kernel = transform(&self.conv.weight.as_chunks::<9>().0[output * self.conv.inputs + input]);
            for frequency in 0..FREQUENCIES {
                let (x, w) = (tile[frequency], kernel[frequency]);
                // Halves of a step of each scale.
                let step = 0.5 / f64::from(factors[frequency]);
                let scale = f64::from(scales[frequency * layer.conv.outputs + output]);
                let weight_step = 0.5 * scale * f64::from(factors[frequency]);
                sums[frequency] += x * w;
                errors[frequency] += x.abs() * weight_step + w.abs() * step + step * weight_step;
                // Roundings of f32 are relative to what is largest in the layer.
                sizes[frequency] += f64::from(LARGEST_INPUT) / f64::from(factors[frequency]) * w.abs();
            }
        }
        std::array::from_fn(|point| {
            let factor = |frequency: usize| AT[point / 3][frequency / 5] * AT[point % 3][frequency % 5];
            let total = |numbers: &[f64; FREQUENCIES], magnitude: bool| -> f64 {
                let factor = |index| if magnitude { f64::abs(factor(index)) } else { factor(index) };
                numbers.iter().enumerate().map(|(index, number)| factor(index) * number).sum()
            };
            let bias = f64::from(self.conv.bias[output]);
            let exact = (total(&sums, false) + bias).max(0.0);
            (exact, total(&errors, true) + ROUNDINGS * (total(&sizes, true) + bias.abs()))
        })
    }

    /// Checks every output, and gives the largest share of the bound that an error has.
    fn check(&self) -> f64 {
        let mut layer =
            Layer::rounded(&self.conv, self.side, &self.input, &self.input, InstructionSet::best()).unwrap();
        layer.run();
        let (found, side, mut most) = (layer.output(), self.side, 0.0f64);
        for (plane, found) in found.chunks_exact(side * side).enumerate() {
            let (position, output) = (plane / self.conv.outputs, plane % self.conv.outputs);
            for tile in 0..layer.board.columns() {
                let corner = (3 * (tile / layer.board.tiles), 3 * (tile % layer.board.tiles));
                for (point, (exact, bound)) in self.outputs(&layer, position, output, corner).into_iter().enumerate() {
                    let (row, column) = (corner.0 + point / 3, corner.1 + point % 3);
                    if row < side && column < side {
                        let error = (f64::from(found[row * side + column]) - exact).abs();
                        assert!(error <= bound, "{side}x{side}, plane {plane}, {row} {column}: {error:e} of {bound:e}");
                        most = most.max(error / bound.max(f64::MIN_POSITIVE));
                    }
                }
            }
        }
        assert_eq!(found.len(), self.positions * self.conv.outputs * side * side);
        most
    }
}

#[test]
fn error_of_any_layer_is_below_the_bound_of_its_scales() {
    let mut noise = Noise(1);
    let shares: Vec<f64> = (0..60).map(|_| Case::new(&mut noise).check()).collect();
    // The bound is one: with few inputs errors come near it.
    let most = shares.iter().copied().fold(0.0, f64::max);
    assert!(most > 0.3, "{most}");
}
