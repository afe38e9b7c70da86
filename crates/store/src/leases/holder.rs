//! A process that holds a lease.

use std::fs;
use std::hash::{BuildHasher, RandomState};

use serde::{Deserialize, Serialize};

/// A process, as others can find out whether it is alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Holder {
    pub(super) host: String,
    pub(super) process: u32,
    /// When the process began, in ticks since the machine started: process numbers are used again.
    pub(super) started: u64,
    /// The start of the machine, which only that has.
    pub(super) boot: String,
    /// The namespace of process numbers: containers have their own.
    pub(super) namespace: String,
    /// When it took the lease, in milliseconds since 1970 by its clock: for messages.
    pub(super) time: u64,
    /// Chance, so that no two leases are the same.
    pub(super) token: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Alive,
    Dead,
    /// It ran on another machine.
    Unknown,
}

impl Holder {
    /// This process.
    pub(super) fn this(time: u64) -> Holder {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let process = std::process::id();
        Holder {
            host: text("/proc/sys/kernel/hostname"),
            process,
            started: started(process).unwrap_or_default(),
            boot: text("/proc/sys/kernel/random/boot_id"),
            namespace: namespace(),
            time,
            token: format!("{:016x}", RandomState::new().hash_one(process)),
        }
    }

    /// Whether the process is alive, as far as this one can see.
    pub(super) fn state(&self) -> State {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        if self.boot.is_empty() || self.boot != boot.trim() || self.namespace != namespace() {
            return State::Unknown;
        }
        if started(self.process) == Some(self.started) { State::Alive } else { State::Dead }
    }

    pub(super) fn describe(&self) -> String {
        format!("process {} on {}", self.process, if self.host.is_empty() { "another machine" } else { &self.host })
    }
}

fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map(|path| path.display().to_string()).unwrap_or_default()
}

/// When a process began, in ticks since the machine started (proc(5), field 22); `None` when it is gone, or ended and
/// not waited for.
pub(super) fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !is_over)
}
