//! Fits tables to samples: logistic regression over contexts, with a rate for each that falls as it is seen (AdaGrad).
//!
//! This is done once, with floats; what it results in are integers that go into files.

use go::MAX_MOVES;

use crate::Steps;
use crate::codec::{code_steps, quantise_value};
use crate::exact;
use crate::fixed::Fixed;
use crate::layout::{CLASSES, FOUND, given as places, halves};
use crate::parts::Parts;
use crate::sample::Sample;
use crate::squash::ONE;
use crate::steps::{moves, quantise};
use crate::tables::{Floors, MAX_FLOOR, Tables, no_floors};
use crate::walk::{Candidate, Candidates, Coder, Model};

/// How many times the samples are gone through; the rate halves each time.
const EPOCHS: u32 = 4;
const RATE: f32 = 0.2;
/// No log-odds of one context are beyond this.
const LIMIT: f32 = 12.0;

struct Weights {
    weights: Vec<f32>,
    squares: Vec<f32>,
    rate: f32,
}

impl Weights {
    fn new(len: usize) -> Weights {
        Weights { weights: vec![0.0; len], squares: vec![1.0; len], rate: RATE }
    }

    fn update(&mut self, contexts: &[u32], bit: bool) {
        let sum: f32 = contexts.iter().map(|&context| self.weights[context as usize]).sum();
        let gradient = 1.0 / (1.0 + (-sum).exp()) - f32::from(u8::from(bit));
        for &context in contexts {
            let at = context as usize;
            self.squares[at] += gradient * gradient;
            let weight = self.weights[at] - self.rate * gradient / self.squares[at].sqrt();
            self.weights[at] = weight.clamp(-LIMIT, LIMIT);
        }
    }

    fn rounded(&self) -> Vec<i16> {
        self.weights.iter().map(|weight| (weight * ONE as f32).round() as i16).collect()
    }
}

/// The encoder's decisions, which the tables are fitted to.
struct Fitter<'a> {
    fixed: &'a [i16],
    weights: Weights,
    parts: Parts,
}

impl Coder for Fitter<'_> {
    fn bit<const N: usize>(&mut self, contexts: [u32; N], bit: bool) -> bool {
        let mut some = [0; N];
        let mut len = 0;
        for context in contexts.into_iter().filter(|&context| self.parts.have(context)) {
            some[len] = context;
            len += 1;
        }
        self.weights.update(&some[..len], bit);
        bit
    }

    fn raw(&mut self, _: u32, bits: u32) -> u32 {
        bits
    }
}

impl Model for Fitter<'_> {
    fn sum<const N: usize>(&self, contexts: [u32; N]) -> i32 {
        contexts.iter().map(|&context| i32::from(self.fixed[context as usize])).sum()
    }
}

/// Tables for evaluations like these, with all parts of the models.
pub fn fit(samples: &[Sample], steps: Steps) -> Tables {
    fit_parts(samples, steps, Parts::ALL)
}

/// Tables with some parts of the models.
pub(crate) fn fit_parts(samples: &[Sample], steps: Steps, parts: Parts) -> Tables {
    // A move that is likely to have steps is likely to have a large exponent, too.
    let quantised = quantised(samples, steps.count().unwrap_or(2048));
    let fixed = fit_fixed(samples, &quantised);
    let mut weights = Weights::new(Tables::len(steps));
    for (weight, &number) in weights.weights.iter_mut().zip(&fixed) {
        *weight = f32::from(number) / ONE as f32;
    }
    let mut learner = Fitter { fixed: &fixed, weights, parts };
    let count = steps.count();
    for epoch in 0..EPOCHS {
        learner.weights.rate = RATE / (1 << epoch) as f32;
        for (sample, shares) in samples.iter().zip(&quantised) {
            let Some((steps, value)) = shares else { continue };
            let candidates = Candidates::new(&learner, &sample.view);
            if let Some(count) = count {
                code_steps(&mut learner, &candidates, count, &mut steps.clone(), Some(*value));
            } else {
                let (mut policy, mut value) = (sample.policy.clone(), sample.value);
                exact::code(&mut learner, &sample.view, &candidates, &mut policy, &mut value);
            }
        }
    }
    // Exact evaluations have no use for them.
    let floors = count.map_or_else(no_floors, |count| floors(samples, &quantised, &fixed, count));
    Tables::new(steps, learner.weights.rounded(), floors)
}

type Quantised = Vec<Option<(Vec<u16>, u32)>>;

fn quantised(samples: &[Sample], count: u32) -> Quantised {
    let of = |sample: &Sample| {
        let mut steps = vec![0; sample.policy.len()];
        quantise(&sample.view, &sample.policy, count, &mut steps)?;
        Some((steps, quantise_value(sample.value, count)?))
    };
    samples.iter().map(of).collect()
}

/// The log-odds that a move has steps, from features of the position.
fn fit_fixed(samples: &[Sample], quantised: &Quantised) -> Vec<i16> {
    let mut weights = Weights::new(places::END);
    for epoch in 0..EPOCHS {
        weights.rate = RATE / (1 << epoch) as f32;
        for (Sample { view, .. }, shares) in samples.iter().zip(quantised) {
            let Some((steps, _)) = shares else { continue };
            let (side, fixed) = (view.size().side(), Fixed::new(view));
            for index in moves(view) {
                let has = steps[index] > 0;
                if index == view.size().area() {
                    weights.update(&fixed.pass(), has);
                } else {
                    weights.update(&fixed.contexts(index / side, index % side), has);
                }
            }
        }
    }
    weights.rounded()
}

/// How many moves the mean of the floor before counts for.
const PRIOR: f64 = 8.0;

/// What moves without steps had on average, by how many moves have steps and by class. Few moves are averaged with what
/// the class has where fewer moves have steps, and, for the fewest, with all of the class.
fn floors(samples: &[Sample], quantised: &Quantised, fixed: &[i16], count: u32) -> Box<Floors> {
    let learner = Fitter { fixed, weights: Weights::new(0), parts: Parts::ALL };
    let mut sums = [[(0.0_f64, 0.0_f64); CLASSES]; FOUND];
    for (sample, shares) in samples.iter().zip(quantised) {
        let Some((steps, _)) = shares else { continue };
        let candidates = Candidates::new(&learner, &sample.view);
        let share = |index: usize| f64::from(sample.policy[index]);
        let (with, without): (Vec<Candidate>, Vec<Candidate>) =
            candidates.list().iter().copied().partition(|c: &Candidate| steps[c.index()] > 0);
        let sums = &mut sums[halves(with.len() as u32)];
        let with: f64 = with.iter().map(|c| share(c.index())).sum();
        for candidate in without {
            let (sum, number) = &mut sums[usize::from(candidate.class())];
            *sum += share(candidate.index()) * f64::from(count) / with;
            *number += 1.0;
        }
    }
    let mut floors = no_floors();
    for class in 0..CLASSES {
        let (sum, number) =
            sums.iter().fold((0.0, 0.0), |(sum, number), row| (sum + row[class].0, number + row[class].1));
        let mut mean = sum / f64::max(number, 1.0);
        for (row, floors) in sums.iter().zip(floors.iter_mut()) {
            let (sum, number) = row[class];
            mean = (sum + PRIOR * mean) / (number + PRIOR);
            floors[class] = (mean * 65536.0).round().min(MAX_FLOOR.into()) as u16;
        }
    }
    floors
}

const _: () = assert!(MAX_MOVES < u16::MAX as usize);
