//! `tengen plan`: the time, strength, memory and disk to expect of a run on this machine.
//!
//! `spans` divides a run into models that play and are trained alike, `measure` has the drivers of `tengen bench`
//! measure each, `forecast` adds up, and `strength` has what experiments measured.

mod forecast;
mod measure;
mod report;
mod spans;
mod strength;

use std::path::PathBuf;
use std::time::Duration;

use config::{Preset, RunConfig};
use net::{Backend, Device, Precision};
use runtime::{Classify, Progress, ResourceArgs, Stop};

use crate::doctor::host::Host;
use forecast::Forecast;
use report::Report;

/// Configurations that are forecast without `--config`, the smallest first.
const PRESETS: [Preset; 4] = [Preset::Tiny, Preset::NineByNine, Preset::NineByNineGpu, Preset::NineteenByNineteenGpu];

/// Time of the measurements of one span, in the time of its self-play: bare network before and after, start of the
/// games, play, training, and preparations.
const PARTS: f64 = 4.0;

/// Arguments of `tengen plan`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Configuration of the run, such as configs/9x9.toml [default: the presets tiny, 9x9, 9x9-gpu and 19x19-gpu]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Override a key of the configuration, such as loop.models=50; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Hours that the run may take
    #[arg(long, default_value = "24", value_name = "H", allow_negative_numbers = true, value_parser = hours)]
    hours: Duration,
    /// Seconds of measurement; large networks on a CPU take longer
    #[arg(long, default_value = "120", value_name = "S", allow_negative_numbers = true, value_parser = seconds)]
    seconds: Duration,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    resources: ResourceArgs,
}

fn hours(text: &str) -> Result<Duration, String> {
    runtime::within(0.01..=100_000.0)(text).map(|hours: f64| Duration::from_secs_f64(3600.0 * hours))
}

fn seconds(text: &str) -> Result<Duration, String> {
    runtime::within(0.1..=3600.0)(text).map(Duration::from_secs_f64)
}

/// Measures this machine and prints what runs take on it.
///
/// # Errors
/// A configuration, device or store that cannot be used.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let configs = configurations(args)?;
    let device: Device = args.resources.device().parse().misconfigured()?;
    let backend = Backend::open(device, Precision::Auto)?;
    // Each thread that searches has a cache, and a GPU has more of them.
    let cache = args.resources.search_threads(!backend.is_cpu()) * args.resources.cache();
    let Backend { device, precision, .. } = backend;
    let request_s = measure::request_s(store)?;
    let measurements: usize = configs.iter().map(|(_, config)| measure::measurements(config)).sum();
    let time = args.seconds.div_f64(PARTS * measurements as f64);
    let threads = args.resources.threads();
    let progress = Progress::new("measurements", Some(measurements as u64));
    let mut done = 0;
    let mut noted = || {
        done += 1;
        progress.set(done);
    };
    let mut forecasts = Vec::new();
    for (name, config) in &configs {
        let measured = match measure::measure(config, &args.resources, time, stop, &mut noted) {
            // Without the rest there is no forecast, and no error either.
            Err(reason) if stop.requested() => {
                tracing::info!(%reason, "no forecast");
                return Ok(());
            }
            measured => measured?,
        };
        let requests = request_s.unwrap_or(0.0);
        forecasts.push(Forecast::new(name, config, &measured, cache, requests));
    }
    drop(progress);
    let host = Host::find();
    let report = Report {
        cpu: host.cpu,
        threads,
        device,
        precision,
        memory_bytes: host.memory,
        store: store.to_owned(),
        store_request_seconds: request_s,
        hours: args.hours.as_secs_f64() / 3600.0,
        fits: Report::fitting(&forecasts, args.hours, host.memory),
        forecasts,
        strength_source: strength::SOURCE,
    };
    if args.json { runtime::print(serde_json::to_string_pretty(&report)?) } else { runtime::print(&report) }
}

/// The configurations to forecast, by name.
fn configurations(args: &Args) -> anyhow::Result<Vec<(String, RunConfig)>> {
    if let Some(path) = &args.config {
        return Ok(vec![(path.display().to_string(), runtime::configuration(path, &args.overrides)?)]);
    }
    let named = |preset: &Preset| Ok((format!("configs/{}", preset.path()), preset.with(&args.overrides)?));
    PRESETS.iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn plan_that_is_stopped_is_no_error() {
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/tiny.toml");
        let program = Program::parse_from(["plan", "--config", config, "--device", "cpu", "--threads", "1"]);
        let stop = Stop::never();
        stop.request();
        assert!(run("/absent/store", &program.args, &stop).is_ok());
    }
}
