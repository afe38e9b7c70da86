//! The command line: what was typed, and what is served because of it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use config::MOST_BATCH;
use exit_class::{Classifier, classify};
use models::{ModelError, Models};
use net::{Backend, Devices, NetError, Precision};
use remote::ServerIdentity;
use runtime::{Classify, Stop, within};
use store::Store;

use crate::{Limits, Listen, Options, Server, ServerError, StoreProvider};

/// Time between two reports of metrics, and adaptations of the credit.
const TICK: Duration = Duration::from_millis(100);
/// Batches that a GPU has in flight: one is evaluated while the planes of the other are unpacked.
const IN_FLIGHT: usize = 2;
/// Positions in a batch, of a CPU and of a GPU.
const BATCHES: [usize; 2] = [Limits::DEFAULT.batch, 1024];
/// Microseconds that a GPU waits for a full batch. A CPU takes as long for each position of a batch of any size.
const GPU_WAIT: u64 = 1000;
/// Memory for models of a GPU, two of 19x19 with 128 filters, or of the CPU, which takes less for each.
const MODEL_MIB: u64 = Limits::DEFAULT.memory >> 20;
/// A minute, in microseconds.
const MOST_WAIT: u64 = 60_000_000;
/// 16 TiB.
const MOST_MIB: u64 = 1 << 24;

/// Evaluate positions for selfplay, evaluator and tengen processes, which take --inference.
///
/// Models of the store are loaded when a client requests them. The address also serves the Open Inference Protocol
/// (KServe v2), gRPC health checks and reflection.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes())]
pub struct Args {
    /// Address for clients: HOST:PORT, or unix:/path for a socket of this user alone. Other addresses than loopback
    /// need --tls-cert, --tls-key, and --client-ca or --token-file
    #[arg(long, env = "TENGEN_LISTEN", default_value = "127.0.0.1:9470", value_name = "ADDRESS")]
    listen: Listen,
    /// Certificate of the server, PEM [default: none]
    #[arg(long, env = "TENGEN_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of that certificate, PEM [default: none]
    #[arg(long, env = "TENGEN_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Certificate authority of clients, PEM; clients without a certificate of it are refused [default: none]
    #[arg(long, env = "TENGEN_CLIENT_CA", value_name = "FILE")]
    client_ca: Option<PathBuf>,
    /// File whose first line is the token that clients must send: 16 to 4096 printable ASCII characters without blanks
    /// [default: none]
    #[arg(long, env = "TENGEN_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    devices: runtime::DeviceArgs,
    /// Threads that talk to clients
    #[arg(long, env = "TENGEN_IO_THREADS", default_value = "1", value_name = "N", allow_negative_numbers = true, value_parser = within(1..=64_usize))]
    io_threads: usize,
    /// Positions per batch of the device [default: 64 on a CPU, 1024 on a GPU]
    #[arg(long, env = "TENGEN_BATCH", value_name = "N", allow_negative_numbers = true, value_parser = within(1..=MOST_BATCH))]
    batch: Option<usize>,
    /// Time that positions wait for a full batch, in microseconds [default: 0 on a CPU, 1000 on a GPU]
    #[arg(long, env = "TENGEN_BATCH_WAIT", value_name = "MICROSECONDS", allow_negative_numbers = true, value_parser = within(0..=MOST_WAIT))]
    batch_wait: Option<u64>,
    /// Memory for models, in MiB, of all devices together, estimated from weights and batches; the least recently used
    /// models are evicted [default: 4096; with several GPUs, 4096 for each]
    #[arg(long, env = "TENGEN_MODEL_MIB", value_name = "N", allow_negative_numbers = true, value_parser = within(1..=MOST_MIB))]
    model_mib: Option<u64>,
    /// Positions that wait, of all clients; more are rejected
    #[arg(long, env = "TENGEN_QUEUE", default_value_t = Limits::DEFAULT.queue, value_name = "N", allow_negative_numbers = true, value_parser = within(1..=16_777_216_usize))]
    queue: usize,
    /// Outstanding positions of a client
    #[arg(long, env = "TENGEN_CREDIT", default_value_t = Limits::DEFAULT.credit, value_name = "N", allow_negative_numbers = true, value_parser = within(1..=1_048_576_usize))]
    credit: usize,
    /// Connections at the same time; others wait
    #[arg(long, env = "TENGEN_CONNECTIONS", default_value_t = Limits::DEFAULT.connections, value_name = "N", allow_negative_numbers = true, value_parser = within(1..=65_536_usize))]
    connections: usize,
    #[command(flatten)]
    store: runtime::StoreArgs,
    #[command(flatten)]
    service: runtime::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: runtime::LogArgs,
}

/// The program: reads its arguments, and runs until it has finished or is stopped.
pub fn main() -> ExitCode {
    let args = Args::parse();
    args.log.start();
    runtime::main("inference", ERRORS, |stop| run(&args, stop))
}

/// The errors of libraries that the command may end with, beside those of every program; for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[classify::<ServerError>, classify::<ModelError>, classify::<NetError>];

/// Serves until the process is to stop.
///
/// # Errors
/// An address, a certificate, a token, a store or a device that cannot be used.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    args.service.start("inference", None, stop)?;
    let devices: Devices = args.devices.device.parse().misconfigured()?;
    let backend = Backend::open_all(&devices, Precision::Auto)?;
    let gpus = if backend.is_cpu() { 0 } else { devices.all().len() };
    let options = Options { precision: backend.precision.clone(), ..options(args, gpus) };
    backend.log("inference", options.threads);
    runtime::metrics::DEVICE.inform(&backend.labels());
    let models = Models::new(Store::open_existing(&args.store.store)?);
    let provider = StoreProvider::new(models, devices, options.limits.batch, options.threads);
    let Limits { batch, wait, .. } = options.limits;
    let server = Server::start(options, Arc::new(provider), stop.health().clone())?;
    let wait = wait.as_micros();
    tracing::info!(address = server.address(), batch, wait_micros = wait, "serving inference");
    stop.health().set_ready();
    loop {
        server.tick();
        if stop.wait(TICK) {
            break;
        }
    }
    let drained = server.drain(args.service.drain_time());
    tracing::info!(drained, "inference server stopped");
    Ok(())
}

/// What was typed, with the defaults of so many GPUs, or of the CPU.
fn options(args: &Args, gpus: usize) -> Options {
    let is_cpu = gpus == 0;
    let batch = args.batch.unwrap_or(BATCHES[usize::from(!is_cpu)]);
    let wait = Duration::from_micros(args.batch_wait.unwrap_or(if is_cpu { 0 } else { GPU_WAIT }));
    let identity = args.tls_cert.clone().zip(args.tls_key.clone());
    Options {
        listen: args.listen.clone(),
        identity: identity.map(|(cert, key)| ServerIdentity { cert, key }),
        client_ca: args.client_ca.clone(),
        token: args.token_file.clone(),
        threads: if is_cpu { args.devices.threads() } else { args.devices.threads.unwrap_or(IN_FLIGHT * gpus) },
        io_threads: args.io_threads,
        limits: Limits {
            batch,
            wait,
            queue: args.queue,
            credit: args.credit,
            connections: args.connections,
            memory: args.model_mib.unwrap_or(MODEL_MIB * gpus.max(1) as u64) << 20,
            stalled_after: Duration::from_secs(args.service.stalled_after),
            ..Limits::default()
        },
        precision: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each GPU has the weights and batches of each model.
    #[test]
    fn memory_for_models_is_that_of_all_gpus() {
        let memory = |typed: &[&str], gpus| {
            let args = Args::parse_from(["inference"].iter().chain(typed));
            options(&args, gpus).limits.memory >> 20
        };
        assert_eq!([0, 1, 3].map(|gpus| memory(&[], gpus)), [4096, 4096, 3 * 4096]);
        assert_eq!(memory(&["--model-mib", "100"], 3), 100);
    }

    #[test]
    fn device_hangs_after_the_time_that_was_typed() {
        let args = Args::parse_from(["inference", "--stalled-after", "700"]);
        assert_eq!(options(&args, 1).limits.stalled_after, Duration::from_secs(700));
    }
}
