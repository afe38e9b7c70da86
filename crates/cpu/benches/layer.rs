//! Speed of a 3x3 convolution with each instruction set: effective Gflop/s, which count the operations of a direct
//! convolution. Paths take turns, and the best of several rounds counts. Results: `experiments/0063-integer-winograd`.
//!
//! ```text
//! cargo bench -p cpu --bench layer
//! ```

use std::time::{Duration, Instant};

use cpu::{Convolution, InstructionSet, Layer};

const ROUNDS: usize = 200;
const ROUND: Duration = Duration::from_millis(2);

/// Numbers from -1 to 1.
fn noise(count: usize) -> Vec<f32> {
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| draw()).collect()
}

/// Seconds of a run.
fn time(layer: &mut Layer) -> f64 {
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed() < ROUND {
        layer.run();
        runs += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(runs)
}

fn main() -> Result<(), cpu::CpuError> {
    for (side, channels, positions) in [(9, 32, 8), (9, 64, 4), (9, 96, 4), (19, 128, 4)] {
        let weight =
            noise(channels * channels * 9).iter().map(|w| w * (2.0 / (3.0 * channels as f32)).sqrt()).collect();
        let conv = Convolution { inputs: channels, outputs: channels, weight, bias: vec![0.1; channels] };
        let input: Vec<f32> = noise(positions * channels * side * side).iter().map(|x| x.max(0.0)).collect();
        let mut layers = Vec::new();
        for set in InstructionSet::available() {
            layers.push((format!("int16 {set}"), Layer::rounded(&conv, side, &input, &input, set)?));
            if set != InstructionSet::Portable {
                layers.push((format!("f32 {set}"), Layer::exact(&conv, side, &input, set)?));
            }
        }
        let mut best = vec![f64::INFINITY; layers.len()];
        for _ in 0..ROUNDS {
            for ((_, layer), best) in layers.iter_mut().zip(&mut best) {
                *best = best.min(time(layer));
            }
        }
        println!("{side}x{side}, {channels} channels, {positions} positions");
        for ((name, layer), seconds) in layers.iter().zip(best) {
            println!("  {name:<18} {:>5.0} Gflop/s", layer.operations() as f64 / seconds / 1e9);
        }
    }
    Ok(())
}
