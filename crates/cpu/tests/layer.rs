//! Single convolutions against a direct one in f64, and against each other.

use cpu::{Convolution, CpuError, InstructionSet, Layer, Peak};
use testing::Noise;

/// Those that this machine has; the others are listed as skipped.
fn instruction_sets() -> Vec<InstructionSet> {
    testing::supported(InstructionSet::ALL, InstructionSet::is_available)
}

/// A convolution with He's weights.
fn convolution(inputs: usize, outputs: usize, seed: u64) -> Convolution {
    let mut noise = Noise(seed);
    let scale = (6.0 / (9 * inputs) as f32).sqrt();
    let weight = noise.numbers(inputs * outputs * 9).iter().map(|weight| weight * scale).collect();
    Convolution { inputs, outputs, weight, bias: noise.numbers(outputs) }
}

/// The layer by its definition.
fn direct(conv: &Convolution, side: usize, input: &[f32]) -> Vec<f64> {
    let area = side * side;
    let point = |plane: usize, row: usize, column: usize| {
        let on_board = (1..=side).contains(&row) && (1..=side).contains(&column);
        if on_board { f64::from(input[plane * area + (row - 1) * side + column - 1]) } else { 0.0 }
    };
    let mut output = Vec::new();
    for position in 0..input.len() / (conv.inputs * area) {
        for (channel, kernels) in conv.weight.chunks_exact(9 * conv.inputs).enumerate() {
            for index in 0..area {
                let mut sum = f64::from(conv.bias[channel]);
                for (plane, kernel) in kernels.chunks_exact(9).enumerate() {
                    for (tap, &weight) in kernel.iter().enumerate() {
                        let (row, column) = (index / side + tap / 3, index % side + tap % 3);
                        sum += f64::from(weight) * point(position * conv.inputs + plane, row, column);
                    }
                }
                output.push(sum.max(0.0));
            }
        }
    }
    output
}

/// The root mean square of the difference, relative to that of the numbers.
fn error(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square = |sum: f64| sum / expected.len() as f64;
    let difference = found.iter().zip(expected).map(|(&a, &b)| (f64::from(a) - b).powi(2)).sum();
    (square(difference) / square(expected.iter().map(|number| number.powi(2)).sum()).max(1e-12)).sqrt()
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// Sides, input channels, output channels, positions: no side, no width of a vector or panel divides all of them.
const CASES: [(usize, usize, usize, usize); 22] = [
    (2, 1, 1, 1),
    (3, 2, 3, 2),
    (4, 16, 16, 1),
    (5, 17, 32, 3),
    (6, 31, 33, 2),
    (7, 33, 31, 5),
    (8, 48, 16, 1),
    (9, 16, 48, 7),
    (9, 31, 64, 1),
    (9, 64, 64, 9),
    (10, 64, 80, 2),
    (11, 5, 96, 1),
    (12, 96, 5, 1),
    (13, 129, 17, 1),
    (13, 17, 129, 1),
    (14, 8, 8, 4),
    (15, 18, 24, 1),
    (16, 32, 32, 1),
    (17, 12, 40, 2),
    (18, 16, 16, 3),
    (19, 129, 129, 1),
    (19, 64, 32, 3),
];

#[test]
fn exact_layer_any_size_matches_the_direct_convolution() {
    for (side, inputs, outputs, positions) in CASES {
        let conv = convolution(inputs, outputs, 1);
        let input = Noise(2).activations(positions * inputs * side * side);
        let mut layer = Layer::exact(&conv, side, &input, InstructionSet::best()).unwrap();
        layer.run();
        let (found, expected) = (layer.output(), direct(&conv, side, &input));
        let largest = found.iter().zip(&expected).map(|(&a, &b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
        // Outputs are about 1 with these weights.
        assert!(largest < 1e-5, "{side}x{side}, {inputs} to {outputs} channels: {largest}");
        assert!(error(&found, &expected) < 2e-6, "{side}x{side}, {inputs} to {outputs} channels");
    }
}

#[test]
fn rounded_layer_any_size_has_the_error_of_13_bits() {
    for (side, inputs, outputs, positions) in CASES {
        let conv = convolution(inputs, outputs, 3);
        let input = Noise(4).activations(positions * inputs * side * side);
        let mut layer = Layer::rounded(&conv, side, &input, &input, InstructionSet::best()).unwrap();
        layer.run();
        let found = error(&layer.output(), &direct(&conv, side, &input));
        // 0.0007 without headroom at 64 channels; few inputs are rounded less favourably.
        assert!(found < 0.0015, "{side}x{side}, {inputs} to {outputs} channels: {found}");
    }
}

#[test]
fn outputs_of_all_instruction_sets_have_the_same_bits() {
    let sets = instruction_sets();
    assert!(sets.len() > 1 || !cfg!(target_arch = "x86_64"));
    for (side, inputs, outputs, positions) in CASES {
        let conv = convolution(inputs, outputs, 5);
        let mut noise = Noise(6);
        // Inputs of both signs, as no layer after ReLU has, and larger than those of the calibration.
        let count = positions * inputs * side * side;
        let (input, calibration) = (noise.numbers(count), noise.numbers(inputs * side * side));
        let answers = |set| {
            let layers = [
                Layer::exact(&conv, side, &input, set).unwrap(),
                Layer::rounded(&conv, side, &input, &calibration, set).unwrap(),
            ];
            layers.map(|mut layer| {
                layer.run();
                bits(&layer.output())
            })
        };
        let expected = answers(InstructionSet::Portable);
        for &set in &sets[1..] {
            assert!(answers(set) == expected, "{set}: {side}x{side}, {inputs} to {outputs} channels");
        }
    }
}

#[test]
fn outputs_of_all_batches_and_rows_have_the_same_bits() {
    let (side, channels, positions) = (9, 48, 33);
    let conv = convolution(channels, channels, 7);
    let len = channels * side * side;
    let input = Noise(8).activations(positions * len);
    for set in instruction_sets() {
        let run = |input: &[f32]| {
            let mut layer = Layer::rounded(&conv, side, input, &Noise(9).activations(4 * len), set).unwrap();
            layer.run();
            bits(&layer.output())
        };
        let together = run(&input);
        for (first, count) in [(0, 1), (32, 1), (5, 2), (17, 7), (1, 32)] {
            let part = run(&input[first * len..(first + count) * len]);
            assert!(part == together[first * len..(first + count) * len], "{set}: {count} from {first} on");
        }
    }
}

#[test]
fn inputs_beyond_the_calibration_saturate() {
    let conv = Convolution { bias: vec![0.0; 200], ..convolution(200, 200, 10) };
    let small = Noise(11).activations(200 * 25);
    let run = |factor: f32, set| {
        let large: Vec<f32> = small.iter().map(|number| number * factor).collect();
        let mut layer = Layer::rounded(&conv, 5, &large, &small, set).unwrap();
        layer.run();
        layer.output()
    };
    let norm = |numbers: &[f32]| numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    let saturated = bits(&run(1e9, InstructionSet::Portable));
    for set in instruction_sets() {
        let calibrated = norm(&run(1.0, set));
        // Within the headroom nothing is lost; far beyond it every input is the largest there is, so that more makes no
        // difference, and no sum leaves 32 bits (the portable path of a debug build checks each).
        assert!((norm(&run(1.2, set)) / calibrated - 1.2).abs() < 0.002, "{set}");
        for factor in [2.0, 10.0, 1e3, 1e5] {
            assert!(bits(&run(factor, set)) == bits(&run(factor, InstructionSet::Portable)), "{set}, {factor}");
        }
        assert!(bits(&run(1e9, set)) == saturated && bits(&run(1e12, set)) == saturated, "{set}");
        assert!(norm(&run(1e9, set)) < 1000.0 * calibrated, "{set}");
    }
}

#[test]
fn extreme_weights_do_not_overflow() {
    for weight in [1e-30f32, 1e-3, 1e6, 1e30] {
        let conv = Convolution { inputs: 129, outputs: 17, weight: vec![weight; 129 * 17 * 9], bias: vec![0.0; 17] };
        let input = vec![1.0; 129 * 49];
        let mut answers = instruction_sets().into_iter().map(|set| {
            let mut layer = Layer::rounded(&conv, 7, &input, &input, set).unwrap();
            layer.run();
            layer.output()
        });
        let expected = answers.next().unwrap();
        let exact = f64::from(weight) * 129.0 * 9.0;
        assert!((f64::from(expected[24]) / exact - 1.0).abs() < 0.001, "{weight}: {} of {exact}", expected[24]);
        assert!(answers.all(|answer| bits(&answer) == bits(&expected)), "{weight}");
    }
}

#[test]
fn overflow_becomes_nan_and_never_zero() {
    for weight in [1.0f32, -1.0] {
        let conv = Convolution { inputs: 16, outputs: 16, weight: vec![weight; 16 * 16 * 9], bias: vec![0.0; 16] };
        let input = vec![3e38; 16 * 25];
        for set in instruction_sets() {
            let mut layer = Layer::exact(&conv, 5, &input, set).unwrap();
            layer.run();
            assert!(layer.output().iter().all(|number| number.is_nan()), "{set}: {weight}");
            let refused = Layer::rounded(&conv, 5, &input, &input, set).err().unwrap();
            assert!(matches!(refused, CpuError::BadScales { layer: 0 }), "{set}: {refused}");
            let refused = Layer::rounded(&conv, 5, &input, &[1e30; 16 * 25], set).err().unwrap();
            assert!(matches!(refused, CpuError::Overflow { .. }), "{set}: {refused}");
        }
    }
}

/// The transform of these inputs doubles a number to more than f32 holds, and adds one that brings it back.
#[test]
fn inputs_near_the_largest_number_have_the_same_bits() {
    let [rows, columns] = [[0.3, 0.6, 0.5], [0.68, 0.42, 1.0]];
    let numbers = rows.iter().flat_map(|row| columns.iter().map(move |column| row * column * 0.88 * f32::MAX));
    let input: Vec<f32> = numbers.collect();
    let conv = Convolution { inputs: 1, outputs: 1, weight: vec![1e-3; 9], bias: vec![0.0] };
    let expected = direct(&conv, 3, &input);
    for set in instruction_sets() {
        let run = |set| {
            let mut layer = Layer::exact(&conv, 3, &input, set).unwrap();
            layer.run();
            layer.output()
        };
        let found = run(set);
        assert!(error(&found, &expected) < 1e-4, "{set}: {found:?}, expected {expected:?}");
        assert!(bits(&found) == bits(&run(InstructionSet::Portable)), "{set}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut input = vec![0.5; 4 * 81];
        let mut conv = convolution(4, 4, 1);
        input[7] = number;
        let wrong_input = Layer::exact(&conv, 9, &input, InstructionSet::Portable).err().unwrap();
        assert!(matches!(wrong_input, CpuError::Number { index: 7, .. }), "{wrong_input}");
        conv.weight[3] = number;
        let wrong_weight = Layer::exact(&conv, 9, &[0.5; 4 * 81], InstructionSet::Portable).err().unwrap();
        assert!(matches!(wrong_weight, CpuError::Number { index: 3, .. }), "{wrong_weight}");
    }
}

/// FNV-1a of the bits.
fn hash(numbers: &[f32]) -> u64 {
    testing::fnv(numbers.iter().flat_map(|number| number.to_le_bytes()))
}

#[test]
fn golden_layer_has_not_changed() {
    let conv = convolution(31, 40, 12);
    let input = Noise(13).activations(5 * 31 * 81);
    for set in instruction_sets() {
        let mut exact = Layer::exact(&conv, 9, &input, set).unwrap();
        let mut rounded = Layer::rounded(&conv, 9, &input, &input[..3 * 31 * 81], set).unwrap();
        exact.run();
        rounded.run();
        assert_eq!(
            [hash(&exact.output()), hash(&rounded.output())],
            [962_832_735_390_203_458, 13_488_948_995_503_252_873],
            "{set}"
        );
    }
}

#[test]
fn numbers_that_do_not_fit_together_are_refused() {
    let conv = Convolution { bias: vec![0.0; 3], ..convolution(4, 4, 1) };
    let found = Layer::exact(&conv, 9, &[0.0; 4 * 81], InstructionSet::Portable).err().unwrap();
    assert_eq!(found.to_string(), "network description: layer.bias has 3 numbers, 4 fit the other parts");
    assert!(matches!(
        Layer::exact(&convolution(1, 1, 1), 20, &[0.0; 400], InstructionSet::Portable),
        Err(CpuError::Side(20))
    ));
    // The number of weights wraps to 144.
    let conv = Convolution { inputs: (1 << 60) + 1, ..convolution(1, 16, 1) };
    assert!(matches!(
        Layer::exact(&conv, 4, &[0.0; 16], InstructionSet::Portable),
        Err(CpuError::Description { found: 144, .. })
    ));
}

#[test]
fn peak_counts_the_lanes_of_a_vector() {
    for set in instruction_sets() {
        let [exact, rounded] = [Peak::exact(set, 3).unwrap(), Peak::rounded(set, 3).unwrap()];
        let lanes = match set {
            InstructionSet::Portable => 4,
            InstructionSet::Avx2 | InstructionSet::AvxVnni => 8,
            InstructionSet::Avx512 | InstructionSet::Avx512Vnni => 16,
        };
        let vectors = 3 * 2 * 6 * 8;
        assert_eq!(exact, Peak { vectors, multiply_adds: vectors * lanes }, "{set}");
        assert_eq!(rounded, Peak { vectors, multiply_adds: 2 * vectors * lanes }, "{set}");
    }
}

#[test]
fn work_counts_padding_and_blocks_of_tiles() {
    let input = Noise(14).activations(4 * 31 * 81);
    let layer = Layer::rounded(&convolution(31, 40, 15), 9, &input, &input, InstructionSet::Portable).unwrap();
    let work = layer.work();
    // 9 tiles of 25 numbers, 32 channels in, 48 out, in a panel of 32 and one of 16.
    assert_eq!(work.multiply_adds, 9 * 25 * 32 * 48);
    assert_eq!(work.packed, 25 * (2 * 32 * 48 + 4 * 48));
    let tiles = 9 * work.group;
    assert_eq!(work.weights, work.packed * tiles.div_ceil(12));
    assert_eq!(work.planes, 4 * work.group * (11 * 11 * 32 + 9 * 9 * 48));
    assert_eq!(work.tiles, 2 * 25 * tiles * 32 * 3);
    assert_eq!(work.products, 2 * 4 * 25 * tiles * 48);
}
