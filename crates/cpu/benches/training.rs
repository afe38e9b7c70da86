//! Speed of a convolution with batch norm and ReLU in training, forward and backward, with each instruction set.
//! Multiply-adds are those of direct convolutions. The best of several rounds counts.
//!
//! ```text
//! cargo bench -p cpu --bench training [-- --csv]
//! ```

use std::time::Instant;

use cpu::{CpuError, InstructionSet, TrainingUnit, UnitApplied, UnitGradients, UnitInput, UnitOutput};

const ROUNDS: usize = 100;
/// Side, channels and positions.
const SHAPES: [(usize, usize, usize); 4] = [(9, 32, 64), (9, 64, 64), (9, 128, 64), (19, 128, 16)];

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|index| (index * index % 1009) as f32 / 1009.0 - 0.5).collect()
}

/// Seconds of the best round, forward and backward.
fn time((side, channels, positions): (usize, usize, usize), set: InstructionSet) -> Result<[f64; 2], CpuError> {
    let points = positions * side * side;
    let mut unit = TrainingUnit::new(side, channels, channels, set)?;
    let (weight, input, of_output) =
        (numbers(9 * channels * channels), numbers(points * channels), numbers(points * channels));
    let [mut convolved, mut output, mut of_input] = [0; 3].map(|_| vec![0.0; points * channels]);
    let [mut mean, mut variance, mut of_scale, mut of_shift] = [0; 4].map(|_| vec![0.0; channels]);
    let (scale, shift, mut of_weight) = (vec![1.0; channels], vec![0.0; channels], weight.clone());
    let applied =
        UnitInput { weight: &weight, scale: &scale, shift: &shift, input: &input, residual: None, relu: true };
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let out =
            UnitOutput { convolved: &mut convolved, mean: &mut mean, variance: &mut variance, output: &mut output };
        unit.forward(applied, out);
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let of = UnitApplied {
            input: applied,
            convolved: &convolved,
            mean: &mean,
            variance: &variance,
            output: &output,
            of_output: &of_output,
        };
        let gradients = UnitGradients {
            weight: &mut of_weight,
            scale: &mut of_scale,
            shift: &mut of_shift,
            input: Some(&mut of_input),
            residual: None,
        };
        unit.backward(of, gradients);
        best[1] = best[1].min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn main() -> Result<(), CpuError> {
    let csv = std::env::args().any(|argument| argument == "--csv");
    if csv {
        println!("side,channels,positions,instructions,pass,ms,multiply_adds_per_ns");
    }
    for (side, channels, positions) in SHAPES {
        for set in InstructionSet::available().filter(|&set| set != InstructionSet::Portable) {
            let convolutions = [("forward", 1), ("backward", 2)];
            for ((pass, count), seconds) in convolutions.into_iter().zip(time((side, channels, positions), set)?) {
                let products = (count * 9 * positions * side * side * channels * channels) as f64 / seconds / 1e9;
                let ms = seconds * 1e3;
                if csv {
                    println!("{side},{channels},{positions},{set},{pass},{ms:.3},{products:.1}");
                } else {
                    println!(
                        "{side}x{side}, {channels} channels, {positions} positions, {set}, {pass}: {ms:.2} ms, \
                         {products:.0} multiply-adds/ns"
                    );
                }
            }
        }
    }
    Ok(())
}
