//! How a process starts, logs, reports and stops.
//!
//! A stage's `main` parses its arguments, starts the log and hands its work to [`main`]:
//!
//! ```no_run
//! use clap::Parser;
//!
//! #[derive(Parser)]
//! struct Args {
//!     #[command(flatten)]
//!     store: runtime::StoreArgs,
//!     #[command(flatten)]
//!     service: runtime::ServiceArgs,
//!     #[command(flatten)]
//!     log: runtime::LogArgs,
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     let args = Args::parse();
//!     args.log.start();
//!     runtime::main("shuffler", &[], |stop| {
//!         args.service.start("shuffler", Some("v15"), stop)?;
//!         while !stop.requested() {
//!             // one step of work on args.store.store
//!         }
//!         Ok(())
//!     })
//! }
//! ```
//!
//! Standard output carries only what was requested ([`print()`]); logs, progress and errors go to standard error.

mod args;
mod classify;
mod configuration;
mod console;
mod drive;
mod exit;
pub mod format;
mod health;
mod lines;
mod log;
pub mod metrics;
mod output;
mod pem;
mod progress;
mod range;
mod service;
mod signals;
mod stop;
mod thread_time;
mod token;
mod unix_time;
mod whole;

pub use args::{
    DeviceArgs, EvalcacheArgs, EvalcacheStoreArgs, INFERENCE_DEADLINE_MS, InferenceArgs, LiveArgs, ResourceArgs,
    StoreArgs, TimesArgs,
};
pub use classify::{Classify, class_of};
pub use configuration::{ConfigArgs, RunError, begin, configuration, named_run, run_config};
pub use console::LogFormat;
pub use drive::{Driver, Reporter, Silent, Step, Waiting, drive, with_lease};
pub use exit::main;
pub use exit_class::exit_codes;
pub use health::Health;
pub use lines::{Line, Lines};
pub use log::LogArgs;
pub use output::{Notes, StdoutClosed, print, print_anew};
pub use pem::{PemError, TlsIdentity, read_authorities, read_identity};
pub use progress::Progress;
pub use range::within;
pub use service::{STALLED_AFTER, ServiceArgs};
pub use stop::Stop;
pub use thread_time::thread_time;
pub use token::{TokenError, is_token, read_token, reread_token, warn_of_readers};
pub use unix_time::unix_millis;
pub use whole::{check_distinct, check_input, check_output, renamed_place, write_whole};
