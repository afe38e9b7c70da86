//! Training against their definition in f64, and against each other.

use std::ops::Range;

use testing::Noise;

use super::{Convolution, TrainingUnit, UnitApplied, UnitGradients, UnitInput, UnitOutput};
use crate::{CpuError, EPSILON, InstructionSet};

/// A convolution, its input and the gradient of its output.
struct Case {
    side: usize,
    positions: usize,
    channels: (usize, usize),
    weight: Vec<f32>,
    input: Vec<f32>,
    of_output: Vec<f32>,
}

/// Output, and gradients of the input and of the weights.
type Results<T> = [Vec<T>; 3];

impl Case {
    fn new(side: usize, positions: usize, (inputs, outputs): (usize, usize)) -> Case {
        let points = positions * side * side;
        Case {
            side,
            positions,
            channels: (inputs, outputs),
            weight: Noise(1).numbers(9 * inputs * outputs),
            input: Noise(2).numbers(points * inputs),
            of_output: Noise(3).numbers(points * outputs),
        }
    }

    /// Points, numbers of kernels, and the points of the input that they see.
    fn products(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let side = self.side;
        let place = move |point: usize, kernel: usize| {
            let (row, column) = (point / side % side + kernel / 3, point % side + kernel % 3);
            let inside = (1..=side).contains(&row) && (1..=side).contains(&column);
            inside.then(|| point / (side * side) * side * side + (row - 1) * side + column - 1)
        };
        let of_point = move |point| (0..9).filter_map(move |kernel| Some((point, kernel, place(point, kernel)?)));
        (0..self.positions * side * side).flat_map(of_point)
    }

    /// By the definition. The second results are sums of magnitudes, which bound the error of rounding.
    fn direct(&self) -> [Results<f64>; 2] {
        let (inputs, outputs) = self.channels;
        let lens = [self.of_output.len(), self.input.len(), self.weight.len()];
        let [mut results, mut magnitudes] = [0; 2].map(|_| lens.map(|len| vec![0.0; len]));
        for (point, kernel, seen) in self.products() {
            for (output, input) in (0..outputs).flat_map(|output| (0..inputs).map(move |input| (output, input))) {
                let at = [point * outputs + output, seen * inputs + input, (output * 9 + kernel) * inputs + input];
                let [of_output, x, w] = [self.of_output[at[0]], self.input[at[1]], self.weight[at[2]]].map(f64::from);
                for (which, product) in [w * x, w * of_output, x * of_output].into_iter().enumerate() {
                    results[which][at[which]] += product;
                    magnitudes[which][at[which]] += product.abs();
                }
            }
        }
        [results, magnitudes]
    }

    /// Writes the gradient of the output.
    fn gradient(&self) -> impl FnMut(Range<usize>, &mut [f32]) {
        let position = self.side * self.side * self.channels.1;
        move |positions, out| out.copy_from_slice(&self.of_output[positions.start * position..positions.end * position])
    }

    fn convolution(&self, set: InstructionSet) -> Convolution {
        Convolution::new(self.side, self.channels.0, self.channels.1, set).unwrap()
    }

    /// What a convolution makes of it, with numbers in its results that are to be overwritten.
    fn results(&self, convolution: &mut Convolution) -> Results<f32> {
        let [mut output, mut of_input, mut of_weight] =
            [&self.of_output, &self.input, &self.weight].map(|like| vec![7.0; like.len()]);
        convolution.forward(&self.weight, &self.input, &mut output, |_| {});
        convolution.backward(&self.weight, &self.input, self.gradient(), Some(&mut of_input), &mut of_weight);
        [output, of_input, of_weight]
    }
}

/// A unit, its residual and what it makes.
struct UnitCase {
    case: Case,
    scale: Vec<f32>,
    shift: Vec<f32>,
    residual: Option<Vec<f32>>,
    relu: bool,
}

/// Output, mean and variance; gradients of weights, scale, shift, input and residual.
type UnitResults = [Vec<f32>; 8];

impl UnitCase {
    fn new(case: Case, residual: bool, relu: bool) -> UnitCase {
        let outputs = case.channels.1;
        let residual = residual.then(|| Noise(6).numbers(case.of_output.len()));
        UnitCase { scale: Noise(4).numbers(outputs), shift: Noise(5).numbers(outputs), residual, relu, case }
    }

    fn input(&self) -> UnitInput<'_> {
        let (Case { weight, input, .. }, residual) = (&self.case, self.residual.as_deref());
        UnitInput { weight, scale: &self.scale, shift: &self.shift, input, residual, relu: self.relu }
    }

    fn results(&self, set: InstructionSet) -> UnitResults {
        let Case { side, channels: (inputs, outputs), weight, input, of_output, .. } = &self.case;
        let mut unit = TrainingUnit::new(*side, *inputs, *outputs, set).unwrap();
        let [mut convolved, mut output, mut of_residual] = [0; 3].map(|_| vec![7.0; of_output.len()]);
        let [mut mean, mut variance, mut of_scale, mut of_shift] = [0; 4].map(|_| vec![7.0; *outputs]);
        let [mut of_weight, mut of_input] = [weight, input].map(|like| vec![7.0; like.len()]);
        unit.forward(
            self.input(),
            UnitOutput { convolved: &mut convolved, mean: &mut mean, variance: &mut variance, output: &mut output },
        );
        unit.backward(
            UnitApplied {
                input: self.input(),
                convolved: &convolved,
                mean: &mean,
                variance: &variance,
                output: &output,
                of_output,
            },
            UnitGradients {
                weight: &mut of_weight,
                scale: &mut of_scale,
                shift: &mut of_shift,
                input: Some(&mut of_input),
                residual: self.residual.is_some().then_some(&mut of_residual),
            },
        );
        [output, mean, variance, of_weight, of_scale, of_shift, of_input, of_residual]
    }
}

/// Those that this machine has; the others are listed as skipped.
fn instruction_sets() -> Vec<InstructionSet> {
    testing::supported(InstructionSet::ALL, InstructionSet::is_available)
}

fn bits(results: &Results<f32>) -> Vec<u32> {
    results.iter().flatten().map(|number| number.to_bits()).collect()
}

#[test]
fn results_are_those_of_the_definition_on_boards_and_channels_of_any_size() {
    let shapes =
        [(9, 5, (64, 64)), (9, 17, (31, 32)), (2, 3, (1, 1)), (5, 2, (16, 48)), (19, 3, (33, 17)), (13, 1, (7, 90))];
    for (side, positions, channels) in shapes {
        let case = Case::new(side, positions, channels);
        let [expected, magnitudes] = case.direct();
        let found = case.results(&mut case.convolution(InstructionSet::best()));
        for which in 0..3 {
            for (index, &number) in found[which].iter().enumerate() {
                let error = (f64::from(number) - expected[which][index]).abs();
                // Numbers grow in the transforms and cancel again; magnitudes of the neighbours count, too.
                let bound = 2e-5 * magnitudes[which].iter().copied().fold(1.0, f64::max);
                assert!(error < bound, "{side} {channels:?}, {which} {index}: {number}, {}", expected[which][index]);
            }
        }
    }
}

#[test]
fn results_have_the_same_bits_with_every_instruction_set_and_used_memory() {
    let case = Case::new(9, 20, (40, 64));
    let expected = bits(&case.results(&mut case.convolution(InstructionSet::Portable)));
    for set in instruction_sets() {
        let mut convolution = case.convolution(set);
        for time in 0..2 {
            assert!(bits(&case.results(&mut convolution)) == expected, "{set}, time {time}");
        }
    }
}

#[test]
fn output_and_gradient_of_the_input_do_not_depend_on_the_other_positions() {
    let (all, area) = (Case::new(9, 20, (32, 64)), 81);
    let mut convolution = all.convolution(InstructionSet::best());
    let [output, of_input, _] = all.results(&mut convolution);
    let alone = Case {
        positions: 1,
        input: all.input[13 * area * 32..][..area * 32].to_vec(),
        of_output: all.of_output[13 * area * 64..][..area * 64].to_vec(),
        ..Case::new(9, 0, (32, 64))
    };
    let [found_output, found_of_input, _] = alone.results(&mut convolution);
    assert!(found_output == output[13 * area * 64..][..area * 64]);
    assert!(found_of_input == of_input[13 * area * 32..][..area * 32]);
}

#[test]
fn gradient_of_the_weights_needs_no_gradient_of_the_input() {
    let case = Case::new(9, 3, (31, 32));
    let mut convolution = case.convolution(InstructionSet::best());
    let [_, _, expected] = case.results(&mut convolution);
    let mut of_weight = vec![0.0; expected.len()];
    convolution.backward(&case.weight, &case.input, case.gradient(), None, &mut of_weight);
    assert!(of_weight == expected);
}

#[test]
fn numbers_that_are_not_finite_are_not_hidden() {
    for number in [f32::NAN, f32::INFINITY] {
        let mut case = Case::new(5, 2, (16, 16));
        case.input[40] = number;
        case.of_output[40] = number;
        let results = case.results(&mut case.convolution(InstructionSet::best()));
        let all_finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        assert!(results.iter().all(|numbers| !all_finite(numbers)));
        // The second position is not the first one's.
        assert!(all_finite(&results[0][25 * 16..]) && all_finite(&results[1][25 * 16..]));
    }
}

#[test]
fn numbers_that_are_not_finite_are_forgotten() {
    let case = Case::new(5, 9, (7, 8));
    let mut convolution = case.convolution(InstructionSet::best());
    let expected = bits(&case.results(&mut convolution));
    let all_nan = |count: usize| vec![f32::NAN; count];
    let diverged = Case {
        weight: all_nan(case.weight.len()),
        input: all_nan(case.input.len()),
        of_output: all_nan(case.of_output.len()),
        ..Case::new(5, 9, (7, 8))
    };
    assert!(diverged.results(&mut convolution).iter().flatten().all(|number| number.is_nan()));
    assert!(bits(&case.results(&mut convolution)) == expected);
}

#[test]
fn board_that_there_is_not_and_lengths_that_do_not_fit_are_refused() {
    let new = |side| Convolution::new(side, 16, 16, InstructionSet::best());
    assert!(matches!(new(1), Err(CpuError::Side(1))));
    assert!(matches!(new(20), Err(CpuError::Side(20))));
    let mut convolution = new(9).unwrap();
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        convolution.forward(&[0.0; 9 * 256], &[0.0; 81 * 16], &mut [0.0; 2 * 81 * 16], |_| {});
    }));
    assert!(refused.is_err());
}

impl UnitCase {
    /// The output in f64, by its definition: [`Parameters`] are weights, scale, shift, input and residual.
    fn direct(&self, [weight, scale, shift, input, residual]: &Parameters) -> Vec<f64> {
        let Case { side, channels: (inputs, outputs), of_output, .. } = &self.case;
        let mut convolved = vec![0.0; of_output.len()];
        for (point, kernel, seen) in self.case.products() {
            for (output, input_channel) in (0..*outputs).flat_map(|o| (0..*inputs).map(move |i| (o, i))) {
                convolved[point * outputs + output] +=
                    weight[(output * 9 + kernel) * inputs + input_channel] * input[seen * inputs + input_channel];
            }
        }
        let count = (side * side * self.case.positions) as f64;
        for channel in 0..*outputs {
            let of_channel = || (channel..of_output.len()).step_by(*outputs);
            let mean = of_channel().map(|place| convolved[place]).sum::<f64>() / count;
            let variance = of_channel().map(|place| (convolved[place] - mean).powi(2)).sum::<f64>() / count;
            for place in of_channel() {
                let normalised = (convolved[place] - mean) / (variance + EPSILON).sqrt();
                let sum = normalised * scale[channel] + shift[channel] + residual.get(place).unwrap_or(&0.0);
                convolved[place] = if self.relu { sum.max(0.0) } else { sum };
            }
        }
        convolved
    }

    fn parameters(&self) -> Parameters {
        let residual = self.residual.as_deref().unwrap_or(&[]);
        [&self.case.weight, &self.scale, &self.shift, &self.case.input, residual]
            .map(|numbers| numbers.iter().map(|&number| f64::from(number)).collect())
    }

    /// The sum of outputs, each times its gradient.
    fn loss(&self, parameters: &Parameters) -> f64 {
        self.direct(parameters).iter().zip(&self.case.of_output).map(|(a, &b)| a * f64::from(b)).sum()
    }
}

type Parameters = [Vec<f64>; 5];

/// As a parameter changes, so does the loss by its gradient.
#[test]
fn output_and_gradients_of_a_unit_are_those_of_its_definition() {
    const STEP: f64 = 1e-6;
    for (residual, relu) in [(false, false), (false, true), (true, true), (true, false)] {
        let unit = UnitCase::new(Case::new(5, 3, (5, 7)), residual, relu);
        let [output, _, _, gradients @ ..] = unit.results(InstructionSet::best());
        let mut parameters = unit.parameters();
        let all_close = output.iter().zip(unit.direct(&parameters)).all(|(&a, b)| (f64::from(a) - b).abs() < 1e-4);
        assert!(all_close, "residual {residual}, ReLU {relu}");
        for which in (0..5).filter(|&which| residual || which < 4) {
            for index in (0..parameters[which].len()).step_by(parameters[which].len() / 6) {
                let before = parameters[which][index];
                let [high, low] = [STEP, -STEP].map(|step| {
                    parameters[which][index] = before + step;
                    unit.loss(&parameters)
                });
                parameters[which][index] = before;
                let (slope, found) = ((high - low) / (2.0 * STEP), f64::from(gradients[which][index]));
                let close = (slope - found).abs() < 1e-3 * (1.0 + slope.abs());
                assert!(close, "residual {residual}, ReLU {relu}, {which} {index}: {slope}, {found}");
            }
        }
    }
}

#[test]
fn output_of_a_unit_is_normalised() {
    let unit = UnitCase::new(Case::new(9, 9, (16, 3)), false, false);
    let [output, ..] = unit.results(InstructionSet::best());
    for channel in 0..3 {
        let of_channel = || output.iter().skip(channel).step_by(3).map(|&number| f64::from(number));
        let count = of_channel().count() as f64;
        let mean = of_channel().sum::<f64>() / count;
        let variance = of_channel().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
        assert!((mean - f64::from(unit.shift[channel])).abs() < 1e-5);
        assert!((variance.sqrt() - f64::from(unit.scale[channel]).abs()).abs() < 1e-4);
    }
}

#[test]
fn units_have_the_same_bits_with_every_instruction_set() {
    let unit = UnitCase::new(Case::new(9, 11, (31, 40)), true, true);
    let bits = |set| unit.results(set).map(|numbers| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>());
    let expected = bits(InstructionSet::Portable);
    for set in instruction_sets() {
        assert!(bits(set) == expected, "{set}");
    }
}

#[test]
fn channel_that_never_changes_or_is_far_from_zero_is_normalised() {
    let case = Case { weight: vec![0.0; 9 * 16 * 16], ..Case::new(9, 5, (16, 16)) };
    let [output, mean, variance, ..] = UnitCase::new(case, false, false).results(InstructionSet::best());
    assert!(mean.iter().chain(&variance).all(|&number| number == 0.0));
    assert!(output.iter().all(|number| number.is_finite()));

    let mut case = Case::new(9, 5, (16, 16));
    case.weight.fill(0.0);
    // The centre of each kernel: output channel by input channel, of an input from 999 to 1001.
    (0..16).for_each(|channel| case.weight[(channel * 9 + 4) * 16 + channel] = 1.0);
    case.input.iter_mut().for_each(|number| *number += 1000.0);
    let count = (case.input.len() / 16) as f64;
    let of_channel = |channel: usize| case.input.iter().skip(channel).step_by(16).map(|&number| f64::from(number));
    let expected: Vec<f64> = (0..16)
        .map(|channel| {
            let mean = of_channel(channel).sum::<f64>() / count;
            of_channel(channel).map(|number| (number - mean).powi(2)).sum::<f64>() / count
        })
        .collect();
    let [_, _, variance, ..] = UnitCase::new(case, false, false).results(InstructionSet::best());
    let all_close =
        variance.iter().zip(&expected).all(|(&found, expected)| (f64::from(found) / expected - 1.0).abs() < 0.01);
    assert!(all_close, "{variance:?}, {expected:?}");
}

#[test]
fn first_point_that_is_far_from_all_others_does_not_spoil_the_variance() {
    let mut case = Case::new(19, 300, (1, 1));
    case.weight = (0..9).map(|place| if place == 4 { 1.0 } else { 0.0 }).collect();
    case.input.fill(0.0);
    case.input[0] = 0.7;
    let count = case.input.len() as f64;
    let expected = f64::from(0.7_f32).powi(2) * (1.0 / count - 1.0 / count.powi(2));
    let [_, _, variance, ..] = UnitCase::new(case, false, false).results(InstructionSet::best());
    assert!((f64::from(variance[0]) / expected - 1.0).abs() < 0.01, "{variance:?}, {expected}");
}

#[test]
fn gradient_passes_where_an_output_is_no_number() {
    let mut unit = UnitCase::new(Case::new(5, 2, (16, 16)), true, true);
    unit.residual.as_mut().unwrap()[100] = f32::NAN;
    let [output, .., of_residual] = unit.results(InstructionSet::best());
    assert!(output[100].is_nan() && output.iter().filter(|number| number.is_nan()).count() == 1);
    assert_eq!(of_residual[100], unit.case.of_output[100]);
    unit.shift[3] = f32::NAN;
    let [_, _, _, _, of_scale, of_shift, ..] = unit.results(InstructionSet::best());
    assert!(of_shift[3] != 0.0 && of_scale[3] != 0.0);
}
