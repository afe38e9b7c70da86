//! Whole networks against libtorch, and against each other.
//!
//! `data/NAME.safetensors` are weights as training writes them, `data/NAME.answers.safetensors` the planes of positions
//! and the outputs of libtorch's folded network in f32; a test of crate `net` checks and rewrites them. Weights are
//! `net::Weights::synthetic` with seed 5, those of the last layers smaller, so that policies are not all on one move.
//! Together the networks have everything that a shape may have.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cpu::{Auxiliary, CpuError, Dense, Description, InstructionSet, Model, Precision, Prediction, Scales};
use safetensors::SafeTensors;

const NETWORKS: [&str; 4] = ["plain", "pooled", "features", "all"];

/// Those that this machine has; the others are listed as skipped.
fn instruction_sets() -> Vec<InstructionSet> {
    testing::supported(InstructionSet::ALL, InstructionSet::is_available)
}

struct Fixture {
    name: &'static str,
    description: Description,
    planes: Vec<u8>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

fn read(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)).unwrap()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn fixtures() -> impl Iterator<Item = Fixture> {
    NETWORKS.into_iter().map(|name| {
        let bytes = read(&format!("{name}.answers.safetensors"));
        let answers = SafeTensors::deserialize(&bytes).unwrap();
        let tensor = |name: &str| answers.tensor(name).unwrap().data().to_vec();
        Fixture {
            name,
            description: Description::from_safetensors(&read(&format!("{name}.safetensors"))).unwrap(),
            planes: tensor("planes"),
            policies: floats(&tensor("policies")),
            values: floats(&tensor("values")),
        }
    })
}

impl Fixture {
    fn len(&self) -> usize {
        self.planes.len() / self.values.len()
    }

    /// Scales from all positions.
    fn scales(&self) -> Scales {
        Model::calibrate(&self.description, &self.planes).unwrap()
    }

    /// Policies and values, in batches of this size.
    fn answers(&self, model: &Arc<Model>, batch: usize) -> (Vec<f32>, Vec<f32>) {
        let mut session = model.session();
        let (mut policies, mut values) = (vec![0.0; self.policies.len()], vec![0.0; self.values.len()]);
        let batches = self.planes.chunks(batch * self.len());
        let answers = policies.chunks_mut(batch * model.moves()).zip(values.chunks_mut(batch));
        for (planes, (policies, values)) in batches.zip(answers) {
            session.evaluate(planes, policies, values);
        }
        (policies, values)
    }
}

fn bits((policies, values): &(Vec<f32>, Vec<f32>)) -> Vec<u32> {
    policies.iter().chain(values).map(|number| number.to_bits()).collect()
}

fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn exact_network_agrees_with_libtorch() {
    for fixture in fixtures() {
        let model = Model::new(&fixture.description, Precision::F32, InstructionSet::best()).unwrap();
        let (policies, values) = fixture.answers(&model, 12);
        // The outputs differ from position to position, so an equality here means something.
        let others = policies.chunks_exact(26).skip(1).map(|policy| difference(policy, &policies[..26]));
        assert!(others.fold(0.0, f32::max) > 0.001, "{}", fixture.name);
        let apart = [difference(&policies, &fixture.policies), difference(&values, &fixture.values)];
        // An error of logits is relative to their spread, which probabilities tell.
        let [least, most] = [f32::min, f32::max].map(|nearer| fixture.policies.iter().copied().reduce(nearer).unwrap());
        let bound = 1e-5 * (1.0 + (most / least).ln());
        assert!(apart.iter().all(|&apart| apart < bound), "{}: {apart:?} of {bound}", fixture.name);
    }
}

#[test]
fn rounded_network_approximates_libtorch() {
    for fixture in fixtures() {
        let scales = fixture.scales();
        let model = Model::new(&fixture.description, Precision::Int16(&scales), InstructionSet::best()).unwrap();
        let (policies, values) = fixture.answers(&model, 12);
        let apart = [difference(&policies, &fixture.policies), difference(&values, &fixture.values)];
        assert!(apart.iter().all(|&apart| apart < 0.002), "{}: {apart:?}", fixture.name);
    }
}

#[test]
fn outputs_of_all_instruction_sets_batches_and_threads_have_the_same_bits() {
    for fixture in fixtures() {
        let scales = fixture.scales();
        for precision in [Precision::F32, Precision::Int16(&scales)] {
            let model = |set| Model::new(&fixture.description, precision, set).unwrap();
            let expected = bits(&fixture.answers(&model(InstructionSet::Portable), 12));
            for set in instruction_sets() {
                let model = model(set);
                let check = |batch| {
                    let found = bits(&fixture.answers(&model, batch));
                    assert!(found == expected, "{}, {set}, batches of {batch}", fixture.name);
                };
                std::thread::scope(|scope| [1, 2, 5, 12].map(|batch| scope.spawn(move || check(batch))).len());
            }
        }
    }
}

/// FNV-1a of the bits.
fn hash(answers: &(Vec<f32>, Vec<f32>)) -> u64 {
    testing::fnv(bits(answers).into_iter().flat_map(u32::to_le_bytes))
}

/// Outputs that must be the same on every x86-64 CPU and after every change that is not meant to change them.
#[test]
fn golden_outputs_have_not_changed() {
    for set in instruction_sets() {
        let hashes = |fixture: Fixture| {
            let scales = fixture.scales();
            let of = |precision| {
                let model = Model::new(&fixture.description, precision, set).unwrap();
                hash(&fixture.answers(&model, 7))
            };
            let [exact, rounded] = [Precision::F32, Precision::Int16(&scales)].map(of);
            format!("{} {exact:016x} {rounded:016x}", fixture.name)
        };
        let found: Vec<String> = fixtures().map(hashes).collect();
        assert_eq!(found.join("\n"), include_str!("data/golden.txt").trim_end(), "{set}");
    }
}

/// Sets one weight of the stem so large that a byte of 255 in plane 0 overflows f32.
fn overflowing(fixture: &Fixture, weight: f32) -> Description {
    let mut description = fixture.description.clone();
    description.stem.weight[4] = weight;
    description
}

#[test]
fn overflow_of_f32_makes_its_row_nan_and_no_other() {
    let without_gates = |mut fixture: Fixture| {
        fixture.description.blocks.iter_mut().for_each(|block| block.squeeze = None);
        fixture
    };
    for fixture in fixtures().chain(fixtures().map(without_gates)) {
        let (len, moves) = (fixture.len(), fixture.description.moves());
        let area = fixture.description.area();
        let mut planes = fixture.planes[..3 * len].to_vec();
        planes.chunks_exact_mut(len).for_each(|planes| planes[..area].fill(0));
        for weight in [1e37, -1e37] {
            let description = overflowing(&fixture, weight);
            let mut expected = None;
            for set in instruction_sets() {
                let model = Model::new(&description, Precision::F32, set).unwrap();
                let mut session = model.session();
                let mut answers = |planes: &[u8]| {
                    let (mut policies, mut values) = (vec![0.0; 3 * moves], vec![0.0; 3]);
                    session.evaluate(planes, &mut policies, &mut values);
                    bits(&(policies, values))
                };
                let clean = answers(&planes);
                assert!(clean.iter().all(|&bits| f32::from_bits(bits).is_finite()), "{}, {set}", fixture.name);
                let mut overflow = planes.clone();
                overflow[len + area / 2] = 255;
                let found = answers(&overflow);
                for (index, (&found, &clean)) in found.iter().zip(&clean).enumerate() {
                    let row = if index < 3 * moves { index / moves } else { index - 3 * moves };
                    let right = if row == 1 { f32::NAN.to_bits() } else { clean };
                    assert_eq!(found, right, "{}, {set}, {weight}: number {index}", fixture.name);
                }
                assert!(answers(&planes) == clean, "{}, {set}: NaN stays in the session", fixture.name);
                assert!(*expected.get_or_insert_with(|| clean.clone()) == clean, "{}, {set}", fixture.name);
            }
        }
    }
}

#[test]
fn network_that_could_overflow_in_int16_is_refused() {
    for fixture in fixtures() {
        let scales = fixture.scales();
        let refusal = |description: &Description| {
            let found = Model::new(description, Precision::Int16(&scales), InstructionSet::Portable);
            found.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refusal(&fixture.description), "");
        assert!(refusal(&overflowing(&fixture, 1e37)).starts_with("stem could be as large as "), "{}", fixture.name);
        let mut description = fixture.description.clone();
        description.value.out.weight[0] = 1e38;
        assert!(refusal(&description).starts_with("value.out could be as large as "), "{}", fixture.name);
        if let Some((_, dense)) = &mut description.blocks[1].pooled {
            dense.weight[0] = 1e38;
            assert!(refusal(&description).starts_with("blocks.1.second: inputs could be "), "{}", fixture.name);
        }
    }
}

#[test]
fn calibration_that_overflows_is_refused() {
    let fixture = fixtures().next().unwrap();
    let planes = vec![255; 2 * fixture.len()];
    let found = Model::calibrate(&overflowing(&fixture, 1e37), &planes);
    assert!(matches!(found, Err(CpuError::BadScales { layer: 1 })), "{found:?}");
}

#[test]
fn scales_of_another_network_are_refused() {
    let fixture = fixtures().next().unwrap();
    let Scales(mut largest) = fixture.scales();
    assert_eq!(largest.len(), 5);
    largest.pop();
    let found = Model::new(&fixture.description, Precision::Int16(&Scales(largest)), InstructionSet::Portable);
    assert!(matches!(found.err(), Some(CpuError::Scales { expected: 5, found: 4 })));
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let mut description = fixtures().next().unwrap().description;
    description.blocks[1].second.bias.pop();
    let found = Model::new(&description, Precision::F32, InstructionSet::Portable).err().unwrap();
    assert_eq!(found.to_string(), "network description: blocks.1.second.bias has 5 numbers, 6 fit the other parts");
}

#[test]
fn network_that_sees_nothing_is_refused() {
    let mut description = fixtures().next().unwrap().description;
    description.inputs.clear();
    description.stem.weight.clear();
    for inputs in [0, 1] {
        description.stem.inputs = inputs;
        let found = Model::new(&description, Precision::F32, InstructionSet::Portable).err().unwrap();
        assert_eq!(found.to_string(), "network description: inputs has 0 numbers, 1 fit the other parts");
    }
}

#[test]
#[should_panic(expected = "scales of no positions")]
fn calibration_needs_positions() {
    let _ = Model::calibrate(&fixtures().next().unwrap().description, &[]);
}

/// Predicts with heads that see so many channels, and so many numbers of the hidden layer. What they see is never
/// below 0.
fn predict(ownership: usize, score: usize) -> Prediction {
    let fixture = fixtures().next().unwrap();
    let model = Model::new(&fixture.description, Precision::F32, InstructionSet::Portable).unwrap();
    let dense = |inputs| Some(Dense { weight: vec![0.5; inputs], bias: vec![0.0] });
    let heads = Auxiliary { ownership: dense(ownership), score: dense(score) };
    model.session().predict(&fixture.planes[..fixture.len()], &heads)
}

/// The channels of the first network, and the width of its hidden layer.
fn widths() -> [usize; 2] {
    let Fixture { description, .. } = fixtures().next().unwrap();
    [description.filters(), description.value.hidden.bias.len()]
}

#[test]
fn heads_of_the_network_fit() {
    let [filters, hidden] = widths();
    let found = predict(filters, hidden);
    let owners = found.ownership.unwrap();
    assert!(owners.len() == 25 && owners.iter().all(|owner| (0.499..=1.0).contains(owner)), "{owners:?}");
    assert!(found.margin.is_some_and(|margin| margin.is_finite() && margin >= 0.0), "{:?}", found.margin);
}

#[test]
#[should_panic(expected = "the ownership head is that of another network")]
fn ownership_head_of_a_smaller_network_is_refused() {
    let [filters, hidden] = widths();
    predict(filters - 1, hidden);
}

#[test]
#[should_panic(expected = "the score head is that of another network")]
fn score_head_of_a_larger_network_is_refused() {
    let [filters, hidden] = widths();
    predict(filters, hidden + 1);
}

#[test]
fn number_that_is_not_finite_is_refused() {
    let mut bytes = read("plain.safetensors");
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    let found = Description::from_safetensors(&bytes).unwrap_err();
    assert!(matches!(found, CpuError::Number { .. }), "{found}");
}

#[test]
fn multiply_adds_count_every_convolution_with_its_padding() {
    for Fixture { name, description, .. } in fixtures() {
        let model = Model::new(&description, Precision::F32, InstructionSet::Portable).unwrap();
        let blocks = description.blocks.iter();
        let convolutions = blocks.flat_map(|block| {
            let pooled = block.pooled.as_ref().map(|(conv, _)| conv);
            [Some(&block.first), pooled, Some(&block.second)].into_iter().flatten()
        });
        let padded = |channels: usize| channels.next_multiple_of(16);
        let pairs: usize = std::iter::once(&description.stem)
            .chain(convolutions)
            .map(|conv| padded(conv.inputs) * padded(conv.outputs))
            .sum();
        let tiles = description.side.div_ceil(3).pow(2);
        assert_eq!(model.multiply_adds(), (25 * tiles * pairs) as u64, "{name}");
    }
}
