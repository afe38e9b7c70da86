//! Evaluations a second of whole networks with each instruction set, on one thread, and the share of the roof: of the
//! rate at which this core multiplies numbers in registers, if nothing but the 3x3 convolutions is counted. Paths take
//! turns, and the best of several rounds counts. Results: `experiments/0063-integer-winograd`.
//!
//! ```text
//! cargo bench -p cpu --bench network [-- --csv]
//! ```

use std::time::{Duration, Instant};

use cpu::{
    Block, Convolution, CpuError, Dense, Description, Input, InstructionSet, Model, Peak, Policy, PolicyHead,
    Precision, Scales, Session, Value,
};
use testing::Noise;

#[path = "shared/peak.rs"]
mod peak;

use peak::Multiply;

const ROUNDS: usize = 100;
const ROUND: Duration = Duration::from_millis(10);
const PLANES: usize = 31;

/// A type of number, multiplied with an instruction set, and the best of its rounds.
struct Path {
    numbers: &'static str,
    set: InstructionSet,
    session: Session,
    multiply: Multiply,
    /// Evaluations a second in batches and one by one.
    rates: [f64; 2],
    /// Multiply-adds a second in registers.
    peak: f64,
}

/// Weights of variance 2 / inputs.
fn weights(noise: &mut Noise, outputs: usize, inputs: usize) -> Vec<f32> {
    let scale = (6.0 / inputs as f32).sqrt();
    noise.numbers(outputs * inputs).into_iter().map(|number| scale * number).collect()
}

fn conv(noise: &mut Noise, inputs: usize, outputs: usize, side: usize) -> Convolution {
    Convolution { inputs, outputs, weight: weights(noise, outputs, inputs * side * side), bias: vec![0.0; outputs] }
}

fn dense(noise: &mut Noise, inputs: usize, outputs: usize) -> Dense {
    Dense { weight: weights(noise, outputs, inputs), bias: vec![0.0; outputs] }
}

/// A network of AlphaGo Zero's kind.
fn description(side: usize, blocks: usize, filters: usize) -> Description {
    let mut noise = Noise(1);
    let area = side * side;
    let block = |noise: &mut Noise| Block {
        first: conv(noise, filters, filters, 3),
        pooled: None,
        second: conv(noise, filters, filters, 3),
        squeeze: None,
    };
    Description {
        side,
        inputs: (0..PLANES).map(Input::Plane).collect(),
        stem: conv(&mut noise, PLANES, filters, 3),
        blocks: (0..blocks).map(|_| block(&mut noise)).collect(),
        policy: Policy {
            planes: conv(&mut noise, filters, 2, 1),
            head: PolicyHead::Dense(dense(&mut noise, 2 * area, area + 1)),
        },
        value: Value {
            planes: conv(&mut noise, filters, 1, 1),
            pooled: false,
            hidden: dense(&mut noise, area, 64),
            out: dense(&mut noise, 64, 1),
        },
    }
}

/// Evaluations a second in batches of this many positions.
fn rate(session: &mut Session, planes: &[u8], positions: usize) -> f64 {
    let (mut policies, mut values) = (vec![0.0; positions * session.model().moves()], vec![0.0; positions]);
    let planes = &planes[..positions * session.model().position_len()];
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed() < ROUND {
        session.evaluate(planes, &mut policies, &mut values);
        runs += 1;
    }
    (runs * positions) as f64 / start.elapsed().as_secs_f64()
}

fn paths(description: &Description, scales: &Scales) -> Result<Vec<Path>, CpuError> {
    let mut paths = Vec::new();
    for set in InstructionSet::available().skip(1) {
        let int16 = ("int16", Precision::Int16(scales), Peak::rounded as Multiply);
        for (numbers, precision, multiply) in [int16, ("f32", Precision::F32, Peak::exact as Multiply)] {
            let session = Model::new(description, precision, set)?.session();
            paths.push(Path { numbers, set, session, multiply, rates: [0.0; 2], peak: 0.0 });
        }
    }
    Ok(paths)
}

impl Path {
    fn round(&mut self, planes: &[u8], batch: usize) -> Result<(), CpuError> {
        let [many, one] = self.rates;
        self.peak = self.peak.max(peak::rate(self.multiply, self.set)?);
        self.rates = [many.max(rate(&mut self.session, planes, batch)), one.max(rate(&mut self.session, planes, 1))];
        Ok(())
    }

    /// The share of the roof in batches.
    fn share(&self) -> f64 {
        self.rates[0] * self.session.model().multiply_adds() as f64 / self.peak
    }
}

fn main() -> Result<(), CpuError> {
    let is_csv = std::env::args().any(|argument| argument == "--csv");
    if is_csv {
        println!("side,blocks,filters,batch,numbers,instructions,evaluations,evaluations_one,multiply_adds,share");
    }
    for (side, blocks, filters, batch) in [(9, 4, 32, 64), (9, 6, 64, 64), (9, 6, 96, 64), (19, 10, 128, 16)] {
        let description = description(side, blocks, filters);
        let mut noise = Noise(2);
        let planes: Vec<u8> =
            (0..batch * PLANES * side * side).map(|_| u8::from((noise.bits() >> 40).is_multiple_of(8))).collect();
        let scales = Model::calibrate(&description, &planes)?;
        let mut paths = paths(&description, &scales)?;
        for _ in 0..ROUNDS {
            for path in &mut paths {
                path.round(&planes, batch)?;
            }
        }
        if !is_csv {
            println!("{side}x{side}, {blocks} blocks of {filters}: evaluations/s in batches of {batch} and of 1,");
            println!("share of the roof in batches");
        }
        for path in &paths {
            let (Path { numbers, set, rates: [many, one], .. }, share) = (path, path.share());
            if is_csv {
                let multiply_adds = path.session.model().multiply_adds();
                let sizes = format!("{side},{blocks},{filters},{batch}");
                println!("{sizes},{numbers},{set},{many:.0},{one:.0},{multiply_adds},{share:.3}");
            } else {
                let name = format!("{numbers} {set}");
                println!("  {name:<18} {many:>7.0} {one:>7.0} {:>3.0} %", 100.0 * share);
            }
        }
    }
    Ok(())
}
