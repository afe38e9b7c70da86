//! `trainer label-noise`: what wrong results do to a network of a run.

use std::fmt;

use config::RunConfig;
use net::TrainDevice;
use runtime::Stop;
use store::Run;

use crate::label_noise::{LabelNoise, Trial};

/// Arguments of `trainer label-noise`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Fractions of games whose outcome is inverted
    #[arg(long, value_delimiter = ',', default_value = "0,0.05,0.1,0.2", value_name = "SHARES", allow_negative_numbers = true, value_parser = runtime::within(0.0..=1.0))]
    shares: Vec<f64>,
    /// Steps per fraction [default: one pass over the shards]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    steps: Option<u32>,
    /// Print one JSON object per fraction
    #[arg(long)]
    json: bool,
}

/// A row of the table.
struct Row<'a>(&'a Trial);

const HEAD: &str = "     flipped  of positions  value error  confidence  calibration error  top move";

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trial { share, flipped_positions, value_error, confidence, calibration_error, accuracy, .. } = self.0;
        let [share, flipped, top] = [share, flipped_positions, accuracy].map(|share| 100.0 * share);
        write!(f, "{share:>10.1} %  {flipped:>10.1} %  {value_error:>11.4}  {confidence:>10.4}  ")?;
        write!(f, "{calibration_error:>17.4}  {top:>6.1} %")
    }
}

/// Trains with each share and prints what came of it.
pub(crate) fn run(
    (run, config): (&Run, &RunConfig),
    args: &Args,
    train_device: TrainDevice,
    stop: &Stop,
) -> anyhow::Result<()> {
    let noise = LabelNoise::new(run, config, train_device)?;
    let steps = args.steps.map_or(noise.batches(), |steps| steps as usize);
    let (generation, seed) = (noise.generation(), config.seed);
    tracing::info!(generation, steps, seed, "training anew with wrong results; nothing is published");
    let mut is_first = true;
    for &share in &args.shares {
        let bar = runtime::Progress::new(format!("{:.1} % of outcomes flipped", 100.0 * share), Some(steps as u64));
        let Some(trial) = noise.trial(share, steps, stop, &mut |step| bar.set(step as u64))? else { break };
        bar.finish();
        if args.json {
            runtime::print(serde_json::to_string(&trial)?)?;
        } else {
            if is_first {
                runtime::print(HEAD)?;
            }
            runtime::print(Row(&trial))?;
        }
        is_first = false;
    }
    Ok(())
}
