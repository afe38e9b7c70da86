//! `tengen doctor`: facts of a machine for a bug report, and whether Tengen works on it.

pub(crate) mod host;
mod ports;
mod store;
mod trial;

use std::fmt;

use anyhow::anyhow;
use net::{Backend, Device, Installation, OnednnIsa, Precision};
use runtime::{Classify, DeviceArgs, format};
use serde::Serialize;

use host::Host;
use ports::Port;
use store::StoreState;
use trial::Trial;

/// Commit that this program was built from; releases know it where they are built from a git checkout.
const COMMIT: Option<&str> = option_env!("TENGEN_COMMIT");

/// Arguments of `tengen doctor`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    devices: DeviceArgs,
}

/// The report.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    commit: Option<&'static str>,
    host: Host,
    cpu_instruction_set: String,
    instruction_set: String,
    libtorch: Installation,
    /// What `--device` and precision `auto` resolve to, or why they cannot be used.
    backend: Result<Backend, String>,
    threads: usize,
    trials: Vec<Trial>,
    store: StoreState,
    ports: Vec<Port>,
    /// Versions of what programs write.
    formats: Vec<String>,
}

/// Prints the report. Problems are part of it; the last is the error.
///
/// # Errors
/// A device that cannot be used, inference or training that fails, or a store that cannot be used.
pub(crate) fn run(store: &str, args: &Args) -> anyhow::Result<()> {
    let device: Device = args.devices.device.parse().misconfigured()?;
    let backend = Backend::open(device, Precision::Auto);
    let trials = match &backend {
        Ok(_) => {
            [Precision::Auto, Precision::F32, Precision::Bf16].map(|precision| trial::of(device, precision)).into()
        }
        Err(_) => Vec::new(),
    };
    let (found, stored) = store::examine(store);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        commit: COMMIT,
        host: Host::find(),
        cpu_instruction_set: OnednnIsa::of_cpu().to_string(),
        instruction_set: OnednnIsa::in_use().to_string(),
        libtorch: Installation::find(),
        backend: backend.as_ref().map(Clone::clone).map_err(ToString::to_string),
        threads: args.devices.threads(),
        trials,
        store: found,
        ports: ports::look(),
        formats: formats(),
    };
    if args.json {
        runtime::print(serde_json::to_string_pretty(&report)?)?;
    } else {
        runtime::print(&report)?;
    }
    backend?;
    if let Some(trial) = report.trials.iter().find(|trial| trial.failed()) {
        return Err(anyhow!("{} on this machine fails", trial.precision));
    }
    Ok(stored?)
}

/// The formats of what programs write, each with its version.
fn formats() -> Vec<String> {
    let numbered = [
        ("configuration", config::SCHEMA),
        ("evaluation-cache", u32::from(evalcache::segment::VERSION)),
        (analysis::FORMAT, analysis::VERSION),
        (analysis::book::FORMAT, analysis::book::VERSION),
    ];
    let tables = [
        record::games::VERSION,
        record::games::unfinished::VERSION,
        record::examples::VERSION,
        record::ratings::VERSION,
        cpu::WEIGHTS,
        cpu::FOLDED,
        net::CHECKPOINT,
    ];
    let numbered = numbered.into_iter().map(|(name, version)| format!("{name}/{version}"));
    numbered.chain(tables.into_iter().map(str::to_owned)).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { host, libtorch, .. } = self;
        let none = || "none".to_owned();
        let size = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), format::bytes);
        let path = |path: &std::path::PathBuf| path.display().to_string();
        let device = match &self.backend {
            Ok(backend) => format!("{}, {} with {}", backend.device, backend.precision, backend.instruction_set),
            Err(error) => error.clone(),
        };
        let fault = if libtorch.fault { " (FAULT: CUDA or a driver is installed)" } else { "" };
        let lines = [
            ("version", self.version.to_owned()),
            ("commit", self.commit.unwrap_or("unknown").to_owned()),
            ("system", host.system.clone()),
            ("cpu", format!("{}, {} cores", host.cpu, host.cores)),
            ("memory", format!("{}, {} available", size(host.memory), size(host.memory_available))),
            (
                "instruction set",
                format!("{} in libtorch, of {} in the CPU", self.instruction_set, self.cpu_instruction_set),
            ),
            ("libtorch", libtorch.version.clone().unwrap_or_else(|| "unknown".to_owned())),
            ("libtorch folder", libtorch.folder.as_ref().map_or_else(none, path)),
            ("cuda library", libtorch.cuda_library.clone()),
            ("gpu driver", libtorch.driver.clone().unwrap_or_else(none)),
            ("gpus", libtorch.gpus.to_string()),
            ("gpu in use", libtorch.no_gpu.as_ref().map_or("yes".to_owned(), |why| format!("no: {why}{fault}"))),
            ("device", device),
            ("threads", self.threads.to_string()),
            ("store", self.store.to_string()),
            ("ports", self.ports.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
            ("formats", self.formats.join(" ")),
        ];
        let trials = self.trials.iter().map(|trial| (trial.precision.as_str(), trial.to_string()));
        for (name, value) in lines.iter().map(|(name, value)| (*name, value.clone())).chain(trials) {
            writeln!(f, "{name:16} {value}")?;
        }
        let variables = host.variables.iter().map(|(name, value)| format!("{name}={value}"));
        write!(f, "{:16} {}", "environment", variables.collect::<Vec<_>>().join(" "))
    }
}
