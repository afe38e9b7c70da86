//! Crate `cpu` against libtorch, over everything that a network may be.
//!
//! Cases are always the same: [`CASES`] of a fixed seed. `PROPTEST_CASES=2000 PROPTEST_RNG_SEED=7` runs more, and
//! others.

use std::ops::Range;

use config::{PolicyHead, ValueHead};
use cpu::Scales;
use go::Size;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tch::Kind;

use super::*;
use crate::layout::Role;
use crate::{Inputs, Shape, features};

/// Cases without `PROPTEST_CASES`.
const CASES: u32 = 120;
/// Multiplications of direct convolutions in a case, about: batches of large networks are smaller.
const WORK: usize = 40_000_000;
/// Positions that are evaluated with all instruction sets.
const FEW: usize = 3;
/// What f32 differs by from libtorch's, relative to 1 and the largest difference of two logits.
pub(super) const TOLERANCE: f32 = 1e-5;
/// What a probability or value in int16 differs by from f32, with small heads and scales of the same positions.
///
/// The root of the mean square of a layer's error is 0.0007 of that of its outputs, so 0.0025 after 13 layers. Logits
/// of small heads have a standard deviation of 2 at most, and the largest of some thousand errors is four to five times
/// their deviation: 0.02, of which a probability has half. Values of a trained network were 0.024 apart at most, over
/// 4,032 positions with scales of 4,096 (experiment 0067). A plane or channel with a wrong scale makes larger errors.
const ROUNDING: f32 = 0.03;
/// What small heads are multiplied by: the last layers of 6x64 would have logits with a standard deviation of 15.
const SMALL: f32 = 0.125;
/// The weights before policy and value.
const LAST: [&str; 4] = ["policy.dense.weight", "policy.board.weight", "policy.pass.weight", "value.out.weight"];

/// What is done to weights that are as after He's initialisation.
#[derive(Clone, Copy, Debug)]
enum Extreme {
    Nothing,
    /// The last layers are small, as after training: otherwise policies are on one move, and values are 1 and -1.
    SmallHeads,
    /// The inside of each block is scaled by a power of two: the network computes the same function.
    Scaled(i32),
    /// Whole tensors, or single output channels, are 0.
    Zeros,
    /// One channel of the trunk is larger than the others by this factor.
    Dominated(f32),
}

#[derive(Clone, Debug)]
struct Case {
    shape: Shape,
    batch: usize,
    extreme: Extreme,
    seed: u64,
}

fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if let RngSeed::Random = config.rng_seed {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

fn extremes() -> impl Strategy<Value = Extreme> {
    prop_oneof![
        2 => Just(Extreme::Nothing),
        2 => Just(Extreme::SmallHeads),
        2 => prop_oneof![-40..-10, 10..40].prop_map(Extreme::Scaled),
        1 => Just(Extreme::Zeros),
        1 => (2.0f32..100.0).prop_map(Extreme::Dominated),
    ]
}

/// A width, or 0.
fn optional(widths: Range<usize>) -> impl Strategy<Value = usize> {
    prop_oneof![Just(0), widths]
}

fn shapes() -> impl Strategy<Value = Shape> {
    let inputs = [Inputs::History, Inputs::LeelaZero, Inputs::Features, Inputs::Tactics].map(Just).to_vec();
    let filters = prop_oneof![2 => 1..9usize, 3 => 9..34usize, 1 => 34..97usize];
    let tower = (2..=19usize, proptest::sample::select(inputs), 0..4usize, filters);
    let blocks = (optional(1..9), optional(1..21));
    let policy = (1..5usize, prop_oneof![Just(PolicyHead::Dense), Just(PolicyHead::Convolution)]);
    let value_head = prop_oneof![Just(ValueHead::Tanh), Just(ValueHead::WinDrawLoss)];
    let value = (1..4usize, 1..65usize, value_head, any::<bool>());
    (tower, blocks, policy, value).prop_map(|(tower, (se_channels, pooled_filters), policy, value)| {
        let (side, Just(inputs), blocks, filters) = tower;
        let (policy_planes, policy_head) = policy;
        let (value_planes, value_hidden, value_head, value_pooled) = value;
        Shape {
            inputs,
            blocks,
            filters,
            se_channels,
            pooled_filters,
            policy_planes,
            policy_head,
            value_planes,
            value_hidden,
            value_head,
            value_pooled,
            ..Shape::plain(Size::new(side).unwrap())
        }
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let batches = prop_oneof![Just(1), 2..17usize, 17..257usize, Just(256)];
    (shapes(), batches, extremes(), any::<u64>()).prop_map(|(shape, batch, extreme, seed)| {
        let padded = shape.filters.next_multiple_of(16);
        let position = 9 * padded * padded * (2 * shape.blocks + 2) * shape.size.area();
        Case { shape, batch: batch.min((WORK / position).max(1)), extreme, seed }
    })
}

impl Case {
    fn weights(&self) -> Weights {
        let Case { shape, seed, .. } = *self;
        let weights = Weights::synthetic(shape, seed);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let tensors = shape.tensors().into_iter().map(|spec| {
            let mut numbers = weights.tensor(&spec.name).unwrap().to_vec();
            let outputs = spec.dimensions[0];
            match self.extreme {
                Extreme::Nothing => {}
                Extreme::SmallHeads => {
                    let factor = if LAST.contains(&spec.name.as_str()) { SMALL } else { 1.0 };
                    numbers.iter_mut().for_each(|number| *number *= factor);
                }
                Extreme::Scaled(power) => {
                    let factor = scale(&spec.name, spec.role, power);
                    numbers.iter_mut().for_each(|number| *number *= factor);
                }
                Extreme::Zeros if spec.role == Role::Weight => {
                    let rows = if rng.random::<f32>() < 0.2 { 0..outputs } else { 0..outputs / 2 };
                    let width = numbers.len() / outputs;
                    numbers[rows.start * width..rows.end * width].fill(0.0);
                }
                Extreme::Zeros => {}
                Extreme::Dominated(factor) => dominate(&spec.name, outputs, factor, &mut numbers),
            }
            (spec.name, numbers)
        });
        Weights::assemble(shape, tensors.collect()).unwrap()
    }

    fn planes(&self) -> Vec<u8> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(!self.seed);
        let mut planes: Vec<u8> =
            (0..self.batch * self.position()).map(|_| u8::from(rng.random::<f32>() < 0.3)).collect();
        if self.shape.inputs.tell_komi() {
            // As `features` writes it, up to a komi of all points of the board.
            let area = self.shape.size.area();
            let most = (2 * area).min(127) as u8;
            for position in planes.chunks_exact_mut(self.position()) {
                let komi = rng.random_range(128 - most..=128 + most);
                position[features::KOMI * area..][..area].fill(komi);
            }
        }
        planes
    }

    /// Bytes of a position.
    fn position(&self) -> usize {
        self.shape.inputs.len(self.shape.size)
    }
}

/// The factor of a tensor: what ReLU is between is multiplied and divided by the same power of two.
fn scale(name: &str, role: Role, power: i32) -> f32 {
    let factor = 2f32.powi(power);
    let part = name.split('.').skip(2).collect::<Vec<_>>().join(".");
    match part.as_str() {
        "first.norm.weight" | "first.norm.bias" | "pool.dense.weight" | "pool.dense.bias" => factor,
        "second.conv.weight" if role == Role::Weight => 1.0 / factor,
        _ => 1.0,
    }
}

/// Makes the first channel of the trunk large, and the heads, which sum over it, small.
fn dominate(name: &str, outputs: usize, factor: f32, numbers: &mut [f32]) {
    let width = numbers.len() / outputs;
    match name {
        "stem.conv.weight" => numbers[..width].iter_mut().for_each(|number| *number *= factor),
        "policy.conv.weight" | "value.conv.weight" => numbers.iter_mut().for_each(|number| *number /= factor),
        _ => {}
    }
}

/// Policies and values of a batch.
fn answers(engine: &Engine, shape: Shape, planes: &[u8], positions: usize) -> [Vec<f32>; 2] {
    let (mut policies, mut values) = (vec![0.0; positions * shape.size.moves()], vec![0.0; positions]);
    engine.session().evaluate(planes, &mut policies, &mut values).unwrap();
    [policies, values]
}

fn of_torch(weights: &Weights, planes: &[u8], positions: usize) -> [Vec<f32>; 2] {
    let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
    let engine = Engine::Torch(Mutex::new(Box::new(Layers::new(weights, options, positions).unwrap())));
    answers(&engine, weights.shape(), planes, positions)
}

fn largest(one: &[Vec<f32>; 2], other: &[Vec<f32>; 2]) -> f32 {
    let all = one.concat().into_iter().zip(other.concat());
    all.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
}

/// The largest difference of two logits of a position, by its probabilities: an error of logits is relative to that.
pub(super) fn spread(policies: &[f32]) -> f32 {
    let least = policies.iter().copied().fold(1.0, f32::min).max(f32::MIN_POSITIVE);
    (policies.iter().copied().fold(0.0, f32::max) / least).ln()
}

fn bits(numbers: &[Vec<f32>; 2]) -> [Vec<u32>; 2] {
    numbers.each_ref().map(|numbers| numbers.iter().map(|number| number.to_bits()).collect())
}

/// The outputs of the first positions are the same bits with every instruction set, and alone.
fn check_bits(
    case: &Case,
    description: &cpu::Description,
    scales: Option<&Scales>,
    planes: &[u8],
    all: &[Vec<f32>; 2],
) {
    let (few, moves) = (FEW.min(case.batch), case.shape.size.moves());
    let expected = bits(&[all[0][..few * moves].to_vec(), all[1][..few].to_vec()]);
    let precision = scales.map_or(cpu::Precision::F32, cpu::Precision::Int16);
    for set in testing::supported(InstructionSet::ALL, InstructionSet::is_available) {
        let engine = Engine::Cpu(cpu::Model::new(description, precision, set).unwrap());
        let found = answers(&engine, case.shape, &planes[..few * case.position()], few);
        assert!(bits(&found) == expected, "{set}, {precision:?}");
    }
}

/// f32 is within the tolerance of libtorch's, int16 with small heads within [`ROUNDING`] of f32, and both precisions
/// have the same bits with every instruction set.
fn check(case: &Case) {
    let (weights, planes) = (case.weights(), case.planes());
    let description = weights.description().unwrap();
    let torch = of_torch(&weights, &planes, case.batch);
    let engine = |precision| Engine::Cpu(cpu::Model::new(&description, precision, InstructionSet::best()).unwrap());
    let exact = answers(&engine(cpu::Precision::F32), case.shape, &planes, case.batch);
    let bound = TOLERANCE * (1.0 + spread(&torch[0]));
    let apart = largest(&exact, &torch);
    assert!(apart < bound, "{apart} of {bound}");
    check_bits(case, &description, None, &planes, &exact);

    let is_near = matches!(case.extreme, Extreme::SmallHeads);
    let calibrated = if is_near { case.batch } else { case.batch.min(8) };
    let scales = cpu::Model::calibrate(&description, &planes[..calibrated * case.position()]).unwrap();
    let rounded = answers(&engine(cpu::Precision::Int16(&scales)), case.shape, &planes, case.batch);
    assert!(rounded.iter().flatten().all(|number| number.is_finite()));
    let apart = largest(&rounded, &exact);
    assert!(!is_near || apart < ROUNDING, "int16: {apart}");
    check_bits(case, &description, Some(&scales), &planes, &rounded);
}

/// Whole batches of networks as they are trained, which the random cases have no time for.
#[test]
fn large_networks_in_whole_batches_equal_libtorch() {
    for (side, blocks, filters, batch) in [(9, 6, 64, 256), (19, 4, 32, 64)] {
        let plain = Shape::plain(Size::new(side).unwrap());
        let shape = Shape { inputs: Inputs::Tactics, blocks, filters, value_hidden: 64, ..plain };
        check(&Case { shape, batch, extreme: Extreme::SmallHeads, seed: 1 });
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn cpu_f32_equals_libtorch_and_bits_of_instruction_sets_are_equal(case in cases()) {
        check(&case);
    }

    /// ReLU and sums commute with powers of two, and so do scales: the same network in other units.
    #[test]
    fn powers_of_two_inside_of_blocks_change_no_bit(case in cases(), power in -40..40i32) {
        let [one, other] = [Extreme::Nothing, Extreme::Scaled(power)].map(|extreme| {
            let case = Case { extreme, batch: case.batch.min(FEW), ..case.clone() };
            let (description, planes) = (case.weights().description().unwrap(), case.planes());
            let scales = cpu::Model::calibrate(&description, &planes).unwrap();
            [cpu::Precision::F32, cpu::Precision::Int16(&scales)].map(|precision| {
                let engine = Engine::Cpu(cpu::Model::new(&description, precision, InstructionSet::best()).unwrap());
                bits(&answers(&engine, case.shape, &planes, case.batch))
            })
        });
        prop_assert!(one == other);
    }
}

/// The f32 outputs that the tests of crate `cpu` compare with are libtorch's.
///
/// They are no snapshot, which expect-test compares character by character: libtorch's last bits depend on the machine,
/// so a tolerance decides. With `UPDATE_EXPECT=1` this test writes anew the files that are not within it, as after a
/// change of the weights beside them, and no others.
#[test]
fn fixtures_of_crate_cpu_are_outputs_of_libtorch() {
    use safetensors::tensor::{Dtype, SafeTensors, TensorView};
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../cpu/tests/data");
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    let bytes = |floats: &[f32]| -> Vec<u8> { floats.iter().flat_map(|number| number.to_le_bytes()).collect() };
    for name in ["plain", "pooled", "features", "all"] {
        let weights = Weights::from_bytes(&std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap()).unwrap();
        let path = folder.join(format!("{name}.answers.safetensors"));
        let file = std::fs::read(&path).unwrap();
        let stored = SafeTensors::deserialize(&file).unwrap();
        let (planes, values) = (stored.tensor("planes").unwrap(), stored.tensor("values").unwrap());
        let batch = values.shape().iter().product();
        let found = of_torch(&weights, planes.data(), batch);
        let policies = stored.tensor("policies").unwrap();
        let apart = largest(&found, &[floats(policies.data()), floats(values.data())]);
        if apart < TOLERANCE {
            continue;
        }
        assert!(std::env::var_os("UPDATE_EXPECT").is_some(), "{name}: {apart}; UPDATE_EXPECT=1 writes the file anew");
        let [new_policies, new_values] = found.map(|numbers| bytes(&numbers));
        let tensors = [
            ("planes", planes.clone()),
            ("policies", TensorView::new(Dtype::F32, policies.shape().to_vec(), &new_policies).unwrap()),
            ("values", TensorView::new(Dtype::F32, values.shape().to_vec(), &new_values).unwrap()),
        ];
        std::fs::write(path, safetensors::serialize(tensors, None).unwrap()).unwrap();
    }
}
