//! Arguments that several programs share: what belongs to the place, not to the run.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::thread;

use clap::Args;

/// Where the runs are.
#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// The store of all runs: a folder, or a URL: file:///path, s3://bucket/prefix or gs://bucket/prefix
    #[arg(long, env = "TENGEN_STORE", default_value = "store", value_name = "URL", global = true)]
    pub store: String,
}

/// What this machine lends to the work.
#[derive(Args, Clone, Debug)]
pub struct PlaceArgs {
    /// Where the network runs: auto (a GPU if there is one), cpu, cuda or cuda:N
    #[arg(long, env = "TENGEN_DEVICE", default_value = "auto", value_name = "DEVICE")]
    pub device: Device,

    /// Worker threads [default: one for each core]
    #[arg(long, env = "TENGEN_THREADS", value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

impl PlaceArgs {
    /// Worker threads to use: as asked, or one for each core this process may use.
    pub fn threads(&self) -> usize {
        let all = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(all).get()
    }
}

/// Where the network runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The first GPU if there is one that works, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU with this number, from 0; having none is an error.
    Cuda(usize),
}

/// A device nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDevice(String);

impl FromStr for Device {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Device, UnknownDevice> {
        match text {
            "auto" => Ok(Device::Auto),
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(Device::Cuda)
                .ok_or_else(|| UnknownDevice(text.to_owned())),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is not auto, cpu, cuda or cuda:N", self.0)
    }
}

impl std::error::Error for UnknownDevice {}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        place: PlaceArgs,
    }

    #[test]
    fn devices_read_and_print() {
        for text in ["auto", "cpu", "cuda:3"] {
            assert_eq!(text.parse::<Device>().unwrap().to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "CPU"] {
            assert!(text.parse::<Device>().is_err(), "{text}");
        }
    }

    #[test]
    fn flags_win_over_defaults() {
        let program = Program::parse_from(["program", "--store", "s3://bucket/x", "--threads", "3", "--device", "cpu"]);
        assert_eq!(program.store.store, "s3://bucket/x");
        assert_eq!((program.place.threads(), program.place.device), (3, Device::Cpu));
        assert!(Program::try_parse_from(["program", "--threads", "0"]).is_err());
        assert!(Program::parse_from(["program"]).place.threads() >= 1);
    }
}
