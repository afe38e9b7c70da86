//! The leases of a run, for observers: no probe is published, and nothing is written.

use std::collections::BTreeMap;

use super::holder::{Holder, State};
use super::{LEASES, Leases, PROBE};
use crate::error::StoreError;
use crate::names::{TOML, parse_number};

/// A lease that a process holds, or held when it was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLease {
    /// The program.
    pub stage: String,
    /// The name it works under.
    pub name: String,
    /// When the process took it by the clock of the place, in milliseconds since 1970.
    pub since: i64,
    /// Since when a probe of another process has had no response, in the same way; the holder responds within half a
    /// minute.
    pub probed_since: Option<i64>,
    number: u32,
}

/// A process that holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// `process 7 on host`.
    pub process: String,
    /// Whether it is alive; `None` for one of another machine or container.
    pub alive: Option<bool>,
}

impl Leases {
    /// All leases that are held, by stage and name, from a single listing.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn observe(&self) -> Result<Vec<HeldLease>, StoreError> {
        let mut held: BTreeMap<(String, String), HeldLease> = BTreeMap::new();
        let mut probes = BTreeMap::new();
        for found in self.at.store.files_below(&self.at.path([LEASES]))? {
            let parts: Vec<String> = found.path.parts().rev().take(3).map(|part| part.as_ref().to_owned()).collect();
            let [file, name, stage] = &parts[..] else { continue };
            let key = (stage.clone(), name.clone());
            if let Some(number) = file.strip_suffix(PROBE).and_then(parse_number) {
                probes.insert((key, number), found.written);
            } else if let Some(number) = file.strip_suffix(TOML).and_then(parse_number) {
                let (stage, name) = key.clone();
                // Paths come in order, so the last is the highest.
                held.insert(key, HeldLease { stage, name, since: found.written, probed_since: None, number });
            }
        }
        let with_probe = |(key, lease): ((String, String), HeldLease)| HeldLease {
            probed_since: probes.get(&(key, lease.number)).copied(),
            ..lease
        };
        Ok(held.into_iter().map(with_probe).collect())
    }

    /// The process that holds a lease; `None` when it was released since, or its file is damaged.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn holder_of(&self, lease: &HeldLease) -> Result<Option<LeaseHolder>, StoreError> {
        let folder = self.at.path([LEASES, lease.stage.as_str()]).join(lease.name.as_str());
        let found = self.holder(&folder, lease.number)?.found();
        let described = |holder: Holder| {
            let alive = match holder.state() {
                State::Alive => Some(true),
                State::Dead => Some(false),
                State::Unknown => None,
            };
            LeaseHolder { process: holder.describe(), alive }
        };
        Ok(found.map(described))
    }
}
