//! Arguments that several programs share: what belongs to the place, not to the run.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::within;

/// Milliseconds that clients of inference servers wait by default before they ask another server.
pub const INFERENCE_DEADLINE_MS: u64 = 250;
/// 1 TiB.
const MOST_CACHE_MIB: usize = 1 << 20;

/// Where the runs are.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Store of all runs: a folder, or a URL (file:///path, s3://bucket/prefix, gs://bucket/prefix)
    #[arg(long, env = "TENGEN_STORE", default_value = "store", value_name = "URL", global = true)]
    pub store: String,
}

/// What computes.
#[derive(Args, Clone, Debug)]
pub struct DeviceArgs {
    /// Device of the network: auto (a GPU if there is one), cpu, cuda or cuda:N. Self-play, matches, play and inference
    /// servers take several GPUs, with commas
    // The crate that knows devices reads it; a program without a network needs none of that.
    #[arg(long, env = "TENGEN_DEVICE", default_value = "auto", value_name = "DEVICE", global = true)]
    pub device: String,

    /// Worker threads [default: one per core; with a GPU, two per core for self-play and matches, and two per GPU for
    /// inference servers]
    #[arg(long, env = "TENGEN_THREADS", value_name = "N", global = true, allow_negative_numbers = true, value_parser = within(1..=1024_usize))]
    pub threads: Option<usize>,
}

impl DeviceArgs {
    /// Worker threads to use: as given, or one for each core this process may use.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }
}

/// What this machine lends to the work.
#[derive(Args, Clone, Debug)]
pub struct ResourceArgs {
    /// Device and threads.
    #[command(flatten)]
    pub devices: DeviceArgs,

    /// Evaluation cache per worker thread, in MiB
    #[arg(long, env = "TENGEN_CACHE_MIB", default_value = "64", value_name = "N", global = true, allow_negative_numbers = true, value_parser = within(0..=MOST_CACHE_MIB))]
    pub cache_mib: usize,
}

impl ResourceArgs {
    /// Bytes for evaluations that are needed again, for each worker thread.
    pub fn cache(&self) -> usize {
        self.cache_mib.saturating_mul(1 << 20)
    }

    /// Threads that search: as given, or one for each core this process may use; two where a GPU evaluates, since half
    /// of them wait for it.
    pub fn search_threads(&self, gpu: bool) -> usize {
        self.devices.threads.unwrap_or_else(|| self.threads() * if gpu { 2 } else { 1 })
    }

    /// Worker threads to use: as given, or one for each core this process may use.
    pub fn threads(&self) -> usize {
        self.devices.threads()
    }

    /// The device, as typed.
    pub fn device(&self) -> &str {
        &self.devices.device
    }
}

/// Inference servers of a process, as typed: crate `remote` reads them.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Inference servers")]
pub struct InferenceArgs {
    /// Inference servers to use instead of a network in this process: URLs (http://HOST:PORT, https://HOST:PORT,
    /// unix:///PATH), separated by commas, and by semicolons between tiers. A later tier is used while the earlier ones
    /// are down; the last may be the word local [default: none]
    #[arg(long, env = "TENGEN_INFERENCE", global = true, value_name = "URL,...;URL,...")]
    pub inference: Option<String>,

    /// Milliseconds within which another inference server evaluates a batch when the first one fails; slow servers have
    /// longer. Connections have twice the time, and 500 ms at least
    #[arg(long, env = "TENGEN_INFERENCE_DEADLINE", default_value_t = INFERENCE_DEADLINE_MS, global = true, value_name = "MILLISECONDS", allow_negative_numbers = true, value_parser = within(1..=600_000_u64))]
    pub inference_deadline: u64,

    /// Number format of responses: f32, or f16 for half of the bytes, rounded, so that games differ from local ones
    // The crate that knows the protocol reads it.
    #[arg(long, env = "TENGEN_INFERENCE_ENCODING", default_value = "f32", global = true, value_name = "ENCODING", value_parser = ["f32", "f16"])]
    pub inference_encoding: String,

    /// Certificates (PEM) of the authorities that may sign those of https servers [default: the system's]
    #[arg(long, env = "TENGEN_INFERENCE_CA", global = true, value_name = "FILE")]
    pub inference_ca: Option<PathBuf>,

    /// Certificate chain (PEM) that this client shows to https servers [default: none]
    #[arg(long, env = "TENGEN_INFERENCE_CERT", global = true, value_name = "FILE")]
    pub inference_cert: Option<PathBuf>,

    /// Private key (PEM) of --inference-cert [default: none]
    #[arg(long, env = "TENGEN_INFERENCE_KEY", global = true, value_name = "FILE")]
    pub inference_key: Option<PathBuf>,

    /// File with the token that this client shows to servers [default: none]
    #[arg(long, env = "TENGEN_INFERENCE_TOKEN_FILE", global = true, value_name = "FILE")]
    pub inference_token_file: Option<PathBuf>,
}

/// Where evaluations outlive the process.
#[derive(Args, Clone, Debug)]
pub struct EvalcacheStoreArgs {
    /// Evaluation cache on disk or in a bucket: a folder or a URL, as for --store [default: none]
    #[arg(long, env = "TENGEN_EVALCACHE", value_name = "URL", global = true)]
    pub evalcache: Option<String>,

    /// Folder for local copies of segments in a bucket; those of sets that no process has opened for 30 days are
    /// deleted [default: none, so that every lookup reads the bucket]
    #[arg(long, env = "TENGEN_EVALCACHE_COPIES", value_name = "FOLDER", global = true)]
    pub evalcache_copies: Option<PathBuf>,
}

/// Evaluations that outlive the process.
#[derive(Args, Clone, Debug)]
pub struct EvalcacheArgs {
    /// The store, and the copies of its segments.
    #[command(flatten)]
    pub store: EvalcacheStoreArgs,

    /// Precision of the evaluations in it: probabilities in 1/256 or 1/2048, or exact
    // The crate that knows evaluations reads it, and the next.
    #[arg(long, env = "TENGEN_EVALCACHE_STEPS", default_value = "2048", value_name = "STEPS", global = true, value_parser = ["256", "2048", "exact"])]
    pub evalcache_steps: String,

    /// Symmetry of the evaluations in it: the canonical one, the mean of all eight, or the one that the search requests
    #[arg(long, env = "TENGEN_EVALCACHE_SYMMETRY", default_value = "canonical", value_name = "SYMMETRY", global = true, value_parser = ["canonical", "mean8", "requested"])]
    pub evalcache_symmetry: String,
}

/// Whether games say when they were played.
#[derive(Args, Clone, Debug)]
pub struct TimesArgs {
    /// Record start and end times of games: true or false [default: true; false in tengen run, for reproducible files]
    #[arg(long, env = "TENGEN_TIMES", value_name = "BOOL", global = true, action = clap::ArgAction::Set)]
    pub times: Option<bool>,
}

/// Whether one of the games in progress is published for viewers.
#[derive(Args, Clone, Copy, Debug)]
pub struct LiveArgs {
    /// Publish the state of a game in progress every so many seconds at most, for the page of live games; 0: never
    /// [default: 0; 1 in tengen run --serve]
    #[arg(long, env = "TENGEN_LIVE_INTERVAL", value_name = "SECONDS", allow_negative_numbers = true, value_parser = within(0..=3600_u64))]
    pub live_interval: Option<u64>,
}

impl LiveArgs {
    /// The interval, `default` seconds if none was given; `None`: no game is published.
    pub fn interval(self, default: u64) -> Option<Duration> {
        Some(self.live_interval.unwrap_or(default)).filter(|&seconds| seconds > 0).map(Duration::from_secs)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        resources: ResourceArgs,
        #[command(flatten)]
        times: TimesArgs,
    }

    #[test]
    fn flags_win_over_defaults() {
        let program = Program::parse_from(["program", "--store", "s3://bucket/x", "--threads", "3", "--device", "cpu"]);
        assert_eq!(program.store.store, "s3://bucket/x");
        assert_eq!((program.resources.threads(), program.resources.device()), (3, "cpu"));
        assert!(Program::try_parse_from(["program", "--threads", "0"]).is_err());
        assert!(Program::parse_from(["program"]).resources.threads() >= 1);
        assert_eq!(Program::parse_from(["program", "--times", "false"]).times.times, Some(false));
        assert_eq!(Program::parse_from(["program"]).times.times, None);
    }
}
