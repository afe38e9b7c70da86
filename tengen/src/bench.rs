//! `tengen bench`: how fast this machine is, a readable line or a JSON object for each case.
//!
//! Rates for each core are by the time a thread was on a core, so that other work on the machine disturbs them little;
//! compared cases are measured in turns in one run.

mod clock;
mod data;
mod gpu;
mod inference;
pub(crate) mod machine;
mod network;
mod null_network;
mod peers;
mod played;
mod search;
mod selfplay;
mod settings;
mod subject;
mod train;

use std::time::Duration;

use clap::Subcommand;
use runtime::Stop;

use settings::Bench;

/// Arguments of `tengen bench`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    /// Print one JSON object per case
    #[arg(long, global = true)]
    json: bool,
    /// Seconds of measurement per number
    #[arg(long, global = true, default_value = "2", value_name = "S", allow_negative_numbers = true, value_parser = seconds)]
    seconds: Duration,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Search speed: visits/s on one core with the model `uniform`
    Search(search::Args),
    /// Inference speed: evaluations/s by batch size, in the precision of play, in f32, unfolded, and of other libraries
    ///
    /// Compares the outputs of other precisions with those of f32.
    Network(network::Args),
    /// Inference server: positions/s without a network, share of the bare network, added latency, bytes, and failures
    ///
    /// Servers that are killed and stopped are processes of this program.
    Inference(inference::Args),
    /// Self-play speed: games/s, positions/s and evaluations/s, relative to inference alone
    Selfplay(selfplay::Args),
    /// GPU speed: bare matrix products, the bare network by batch size, and self-play with its shares of time
    ///
    /// Utilisation is that of `nvidia-smi` for the GPU of the same number, where it tells.
    Gpu(gpu::Args),
    /// Training speed: examples/s, relative to forward, backward and step alone
    Train(train::Args),
    /// Data speed: rows/s from games to shards and to tensors, memory, and bytes per position
    ///
    /// Uses synthetic games in a temporary folder, or the games of a run if --run names one.
    Data(data::Args),
}

fn seconds(text: &str) -> Result<Duration, String> {
    runtime::within(0.01..=3600.0)(text).map(Duration::from_secs_f64)
}

/// Runs the benchmark.
///
/// # Errors
/// A model or a configuration that cannot be used, or a device that fails.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let bench = Bench { store, json: args.json, time: args.seconds, stop };
    match &args.what {
        What::Search(args) => search::run(&bench, args),
        What::Network(args) => network::run(&bench, args),
        What::Inference(args) => inference::run(&bench, args),
        What::Selfplay(args) => selfplay::run(&bench, args),
        What::Gpu(args) => gpu::run(&bench, args),
        What::Train(args) => train::run(&bench, args),
        What::Data(args) => data::run(&bench, args),
    }
}
