//! The machine.

use std::collections::BTreeMap;
use std::env;
use std::fs;

use serde::Serialize;

/// Environment variables that change which kernels, GPUs and threads are used. None of them is a secret.
const VARIABLES: [&str; 9] = [
    "ATEN_CPU_CAPABILITY",
    "CUDA_VISIBLE_DEVICES",
    "DNNL_MAX_CPU_ISA",
    "LD_LIBRARY_PATH",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
];

/// Facts of the machine.
#[derive(Debug, Serialize)]
pub(crate) struct Host {
    /// Kernel and distribution.
    pub(crate) system: String,
    /// Model of the CPU.
    pub(crate) cpu: String,
    /// Cores that this process may use.
    pub(crate) cores: usize,
    /// Bytes of memory.
    pub(crate) memory: Option<u64>,
    /// Bytes that could be used now.
    pub(crate) memory_available: Option<u64>,
    /// Those of [`VARIABLES`] that are set.
    pub(crate) variables: BTreeMap<&'static str, String>,
}

impl Host {
    pub(crate) fn find() -> Host {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let [memory, memory_available] = memory(&read("/proc/meminfo"));
        let release = read("/etc/os-release");
        let distribution =
            release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).map(|n| n.trim_matches('"'));
        let kernel = read("/proc/sys/kernel/osrelease");
        let parts = [env::consts::OS, env::consts::ARCH, kernel.trim(), distribution.unwrap_or_default()];
        Host {
            system: parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
            cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory,
            memory_available,
            variables: VARIABLES.into_iter().filter_map(|name| Some((name, env::var(name).ok()?))).collect(),
        }
    }
}

/// Bytes of memory, and those that could be used now, by `/proc/meminfo`.
fn memory(text: &str) -> [Option<u64>; 2] {
    let bytes = |key| Some(field(text, key)?.strip_suffix(" kB")?.parse::<u64>().ok()? << 10);
    ["MemTotal", "MemAvailable"].map(bytes)
}

/// The first value of a key in lines of `key: value`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_with_tabs_and_spaces_around() {
        let text = "processor\t: 0\nmodel name\t: AMD EPYC\nmodel name\t: other\nMemTotal:   16 kB\n";
        assert_eq!(field(text, "model name"), Some("AMD EPYC"));
        assert_eq!((field(text, "MemTotal"), field(text, "Mem")), (Some("16 kB"), None));
    }

    #[test]
    fn memory_is_in_bytes() {
        let text = "MemTotal:          32768 kB\nMemFree:            1024 kB\nMemAvailable:       4096 kB\n";
        assert_eq!(memory(text), [Some(32 << 20), Some(4 << 20)]);
        assert_eq!(memory("MemTotal: 7\n"), [None, None]);
    }

    /// Of how much is available a container may say anything.
    #[test]
    fn this_machine_has_a_cpu_and_memory() {
        let host = Host::find();
        assert!(host.cores > 0 && host.memory > Some(0) && host.memory_available.is_some(), "{host:?}");
        assert!(host.system.starts_with("linux "), "{host:?}");
    }
}
