//! From four bytes a number to a few bits a move: what each step of the compression is worth, on one sample.
//!
//! The first steps are those of a series on compressing evaluations of Leela Zero (cbaduk.net, "Compressing the NN
//! evaluation results", 2019): a variable number of bytes, runs of zeros, and a fixed prefix code for values and runs.

use std::fmt;

use crate::fit::{fit, fit_parts};
use crate::parts::Parts;
use crate::sample::Sample;
use crate::steps::{moves, quantise};
use crate::view::View;
use crate::{Steps, Tables};

mod prefix_code;
mod run_length;
mod variable_length;

/// Bytes of policies at one step of the compression.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressionStep {
    /// How policies are written.
    pub name: &'static str,
    /// Bytes for a policy on average.
    pub bytes: f64,
}

impl fmt::Display for CompressionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<36} {:>8.2} B", self.name, self.bytes)
    }
}

/// The policies of samples in steps; those that have none are omitted.
struct Policies<'a>(Vec<(&'a Sample, Vec<u16>)>);

impl<'a> Policies<'a> {
    fn new(samples: &'a [Sample], count: u32) -> Policies<'a> {
        let of = |sample: &'a Sample| {
            let mut steps = vec![0; sample.policy.len()];
            quantise(&sample.view, &sample.policy, count, &mut steps).map(|()| (sample, steps))
        };
        Policies(samples.iter().filter_map(of).collect())
    }

    fn written(&self, name: &'static str, bytes: impl Fn(&Sample, &[u16]) -> f64) -> CompressionStep {
        let sum: f64 = self.0.iter().map(|(sample, steps)| bytes(sample, steps)).sum();
        CompressionStep { name, bytes: sum / self.0.len().max(1) as f64 }
    }

    fn coded(&self, name: &'static str, tables: &Tables) -> CompressionStep {
        self.written(name, |sample, steps| {
            let mut code = Vec::new();
            tables.encode_steps(&sample.view, &mut steps.to_vec(), None, &mut code);
            code.len() as f64
        })
    }
}

/// Measures all steps at 2048 or 256 steps to 1. `measured` is written with tables that are fitted to `fitted`, which
/// shares no game with it, and with `tables`, if there are any.
pub fn measure(fitted: &[Sample], measured: &[Sample], steps: Steps, tables: Option<&Tables>) -> Vec<CompressionStep> {
    let Some(count) = steps.count() else { return Vec::new() };
    let policies = Policies::new(measured, count);
    let mut all = vec![
        policies.written("f32", |sample, _| 4.0 * sample.policy.len() as f64),
        policies.written("variable length", |_, steps| variable_length::encode(steps).len() as f64),
        policies.written("run length", |_, steps| run_length::encode(steps).len() as f64),
        policies.written("prefix code", |_, steps| prefix_code::bits(&prefix_code::symbols(steps)) as f64 / 8.0),
    ];
    let shared: Vec<Vec<u16>> = policies.0.iter().map(|(_, steps)| steps.clone()).collect();
    all.push(CompressionStep { name: "order 0 (entropy)", bytes: entropy(&shared) });
    let legal: Vec<Vec<u16>> = policies.0.iter().map(|(s, steps)| moves(&s.view).map(|i| steps[i]).collect()).collect();
    all.push(CompressionStep { name: "+ empty points only (entropy)", bytes: entropy(&legal) });
    if !fitted.is_empty() {
        for (name, neighbours) in [("+ features of the position", false), ("+ coded neighbours", true)] {
            let parts = Parts { neighbours, rest: false };
            all.push(policies.coded(name, &fit_parts(fitted, steps, parts)));
        }
        all.push(policies.coded("+ steps that remain", &fit(fitted, steps)));
    }
    all.extend(tables.map(|tables| policies.coded("with built-in tables", tables)));
    all
}

/// Bytes that a policy takes when each number costs the logarithm of its frequency.
fn entropy(all: &[Vec<u16>]) -> f64 {
    let mut counts = vec![0_u64; usize::from(u16::MAX) + 1];
    all.iter().flatten().for_each(|&steps| counts[usize::from(steps)] += 1);
    let total = counts.iter().sum::<u64>() as f64;
    let bits: f64 =
        counts.iter().filter(|&&count| count > 0).map(|&count| -(count as f64) * (count as f64 / total).log2()).sum();
    bits / 8.0 / all.len().max(1) as f64
}

/// How far decoded evaluations are from the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fidelity {
    /// Samples compared.
    pub samples: usize,
    /// Mean Kullback–Leibler divergence of the decoded policy from the network's over the moves that there is room for,
    /// in nats.
    pub kl: f64,
    /// The same if moves without steps had what the network gave them: what is due to rounding alone.
    pub kl_of_rounding: f64,
    /// Mean probability of all moves without steps together.
    pub below: f64,
    /// Share of samples whose most likely move stays the same.
    pub top_1: f64,
    /// Root of the mean squared difference of values.
    pub value_rms: f64,
    /// Mean bytes of an evaluation, policy and value.
    pub bytes: f64,
}

/// Encodes and decodes all samples.
pub fn fidelity(samples: &[Sample], tables: &Tables) -> Fidelity {
    let mut sum = Fidelity::default();
    let (mut code, mut decoded) = (Vec::new(), Vec::new());
    for Sample { view, policy, value } in samples {
        code.clear();
        if tables.encode(view, policy, *value, &mut code).is_none() {
            continue;
        }
        decoded.resize(policy.len(), 0.0);
        let found = tables.decode(view, &code, &mut decoded);
        let room: f64 = moves(view).map(|index| f64::from(policy[index])).sum();
        let kept: f64 = moves(view).map(|index| f64::from(decoded[index])).sum();
        sum.kl += moves(view)
            .map(|index| (f64::from(policy[index]) / room, f64::from(decoded[index]) / kept))
            .filter(|&(p, _)| p > 0.0)
            .map(|(p, q)| p * (p / q.max(1e-12)).ln())
            .sum::<f64>();
        let (kl_of_rounding, below) = rounding(view, policy, tables);
        sum.kl_of_rounding += kl_of_rounding;
        sum.below += below;
        let best = |policy: &[f32]| {
            moves(view).fold(policy.len() - 1, |best, i| if policy[i] > policy[best] { i } else { best })
        };
        sum.top_1 += f64::from(u8::from(best(policy) == best(&decoded)));
        sum.value_rms += f64::from(found - value).powi(2);
        sum.bytes += code.len() as f64;
        sum.samples += 1;
    }
    let number = sum.samples.max(1) as f64;
    Fidelity {
        kl: sum.kl / number,
        kl_of_rounding: sum.kl_of_rounding / number,
        below: sum.below / number,
        top_1: sum.top_1 / number,
        value_rms: (sum.value_rms / number).sqrt(),
        bytes: sum.bytes / number,
        ..sum
    }
}

/// The divergence that is due to rounding moves with steps, and the probability of all others.
fn rounding(view: &View, policy: &[f32], tables: &Tables) -> (f64, f64) {
    let Some(count) = tables.steps().count() else { return (0.0, 0.0) };
    let mut steps = vec![0; policy.len()];
    quantise(view, policy, count, &mut steps).expect("it was encoded");
    let share = |index: usize| f64::from(policy[index]);
    let room: f64 = moves(view).map(share).sum();
    let with: f64 = moves(view).filter(|&index| steps[index] > 0).map(share).sum();
    // Of the moves with steps; what the others have is theirs.
    let of_steps = |index: usize| f64::from(steps[index]) / f64::from(count) * with;
    let kl = moves(view)
        .filter(|&index| steps[index] > 0 && share(index) > 0.0)
        .map(|index| share(index) / room * (share(index) / of_steps(index)).ln())
        .sum();
    (kl, 1.0 - with / room)
}
