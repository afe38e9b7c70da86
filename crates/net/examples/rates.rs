//! Evaluations a second of this machine, by tower and precision, beside a plain network:
//! `cargo run --release -p net --example rates [SIZE BLOCKS FILTERS BATCH]`.

use std::time::Duration;

use net::{Device, Model, NetError, Precision, Shape, Weights, rates};

const TIME: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<usize>, _>>()?;
    match numbers[..] {
        [size, blocks, filters, batch] => compare(size, blocks, filters, batch)?,
        [] => {
            compare(9, 4, 32, 64)?;
            compare(9, 6, 64, 64)?;
        }
        _ => return Err("expected no numbers, or size, blocks, filters and batch".into()),
    }
    Ok(())
}

fn compare(size: usize, blocks: usize, filters: usize, batch: usize) -> Result<(), Box<dyn std::error::Error>> {
    let shape =
        Shape { size: go::Size::new(size)?, blocks, filters, policy_planes: 2, value_planes: 1, value_hidden: 64 };
    let weights = Weights::synthetic(shape, 1);
    println!("{shape}, batches of {batch}");
    let plain = rates::plain(&weights, batch, TIME)?;
    let say = |name: &str, rate: f64| {
        let gflops = rate * shape.operations() as f64 / 1e9;
        println!("  {name:16} {rate:8.0} evaluations/s  {:5.2} of plain  {gflops:5.0} Gflop/s", rate / plain);
    };
    say("plain", plain);
    let fast = |precision, threads| -> Result<f64, NetError> {
        rates::network(&Model::new(&weights, Device::Cpu, precision, batch)?, threads, TIME)
    };
    say("f32", fast(Precision::F32, 1)?);
    say("bf16", fast(Precision::Bf16, 1)?);
    say("bf16, 2 threads", fast(Precision::Bf16, 2)?);
    Ok(())
}
