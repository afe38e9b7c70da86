//! `trainer label-noise`: what wrong results do to a network of a run.

use std::fmt;

use config::RunConfig;
use net::TrainDevice;
use runtime::{Reporter, Stop};
use store::Run;

use crate::report::count_step;
use crate::{LabelNoise, LabelNoiseOptions, Trial, TrialEvent};

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
    let options = LabelNoiseOptions { shares: args.shares.clone(), steps: args.steps.map(|steps| steps as usize) };
    stop.health().set_ready();
    let mut table =
        Table { stop, batch: config.train.batch, json: args.json, bar: None, has_head: false, printed: Ok(()) };
    let reporter = |event| table.report(event);
    runtime::drive(&mut LabelNoise::new(run, config, options, train_device, stop, reporter)?, stop)?;
    table.printed
}

/// Prints the rows, and reports to the metrics and the health of this process.
struct Table<'a> {
    stop: &'a Stop,
    batch: usize,
    json: bool,
    bar: Option<runtime::Progress>,
    has_head: bool,
    /// Why a row could not be printed, after which nothing more is done.
    printed: anyhow::Result<()>,
}

impl Table<'_> {
    fn print(&mut self, trial: &Trial) -> anyhow::Result<()> {
        if self.json {
            return runtime::print(serde_json::to_string(trial)?);
        }
        if !std::mem::replace(&mut self.has_head, true) {
            runtime::print(HEAD)?;
        }
        runtime::print(Row(trial))
    }
}

impl Reporter<TrialEvent> for Table<'_> {
    fn report(&mut self, event: TrialEvent) {
        self.stop.health().heartbeat();
        match event {
            TrialEvent::Step { share, done, steps, losses } => {
                let name = || format!("{:.1} % of outcomes flipped", 100.0 * share);
                self.bar.get_or_insert_with(|| runtime::Progress::new(name(), Some(steps))).set(done);
                count_step(self.batch, &losses);
            }
            TrialEvent::Measured(trial) => {
                self.bar.take().into_iter().for_each(runtime::Progress::finish);
                self.printed = self.print(&trial);
                if self.printed.is_err() {
                    self.stop.request();
                }
            }
        }
    }
}
