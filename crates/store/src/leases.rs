//! Leases: one process at a time works under a name, without a coordinator and without clocks.
//!
//! ```text
//! leases/selfplay/0/000003.toml          the third process that works as worker "0", and where it runs
//! leases/selfplay/0/000003.asked.toml    another process probes whether the third is alive
//! ```
//!
//! The highest number holds the lease. Its process polls every [`POLL`] for the probe, which is one small request, and
//! responds by deleting it. A process that finds a lease decides whether its holder is alive:
//!
//! - The holder ran on this machine: the process table knows. A killed process is followed at once, a living one is
//!   named in the error.
//! - The holder ran elsewhere: the newcomer publishes the probe. When the probe disappears, the holder is alive, and
//!   has [`DRAIN`] to exit: a pod starts while its predecessor drains. It may also have died after its response, so the
//!   newcomer publishes the probe again; a second response means that the name is in use, which is an error. When the
//!   probe is still there after [`RESPONSE`], the holder is dead, and the newcomer publishes the next number. One of
//!   several gets it.
//!
//! A holder that was out of reach for so long, and comes back, finds the probe and the next number, and stops. The
//! newcomer checks for the probe again after it has published its number, so that of the two one always sees the other.
//!
//! A clean exit deletes the lease, which the newcomer polls for too. A probe without a response stays for a day, for a
//! holder that comes back.

mod holder;
mod observe;

pub use observe::{HeldLease, LeaseHolder};

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use crate::backoff::jittered;
use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::lookup::Lookup;
use crate::names::{Stem, TOML, number_name, parse_number};
use holder::{Holder, State};
use object_store::path::Path;

const LEASES: &str = "leases";
/// How the name of a probe ends. Processes of earlier versions share it.
const PROBE: &str = ".asked.toml";

/// How often a holder polls for a probe, plus or minus a quarter.
const POLL: Duration = Duration::from_secs(20);
/// How long a newcomer waits for the response of a holder on another machine.
const RESPONSE: Duration = Duration::from_secs(60);
/// How long it then waits for the lease of a holder that has responded, before it publishes the probe again: twice the
/// drain of a worker, which is up to 9 seconds.
const DRAIN: Duration = Duration::from_secs(20);
/// How often the newcomer polls for either.
const LOOK: Duration = Duration::from_secs(2);
/// Probes without a response are deleted after this time, in milliseconds by the clock of the place.
const FORGOTTEN: i64 = 24 * 3600 * 1000;

/// A name that one process at a time works under.
#[derive(Clone, Debug)]
pub struct LeaseName {
    /// The program.
    pub stage: &'static str,
    /// The name, which must be one of a worker.
    pub name: String,
    /// The remedy when another process has it.
    pub remedy: &'static str,
}

/// The right to work under a name, until it ends or is dropped.
#[derive(Debug)]
pub struct Lease {
    leases: Leases,
    name: LeaseName,
    number: u32,
    lost: Arc<OnceLock<Lost>>,
    _watch: Sender<()>,
}

/// Another process has taken a lease over.
#[derive(Debug)]
struct Lost {
    /// That process, if it is known.
    by: Option<Holder>,
}

/// The leases of a run.
#[derive(Clone, Debug)]
pub struct Leases {
    pub(crate) at: RunFolder,
}

impl Leases {
    /// Acquires the lease of a name. `sleep` breaks when the process is to stop: then there is none. `lost` is called
    /// when another process has taken the lease over since this one was out of reach.
    ///
    /// # Errors
    /// [`StoreError::Held`] while another process works under the name, [`StoreError::OtherVersion`] while one of a
    /// later version has the lease; a store that cannot be used.
    pub fn acquire(
        &self,
        name: LeaseName,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
        lost: impl Fn() + Send + 'static,
    ) -> Result<Option<Lease>, StoreError> {
        // Refuses names that cannot be those of files.
        Stem::new(&name.name, 0)?;
        let me = Holder::this(self.at.store.now());
        let Some(number) = self.acquire_number(&name, &me, sleep)? else { return Ok(None) };
        let (watch, ended) = mpsc::channel();
        let lease = Lease { leases: self.clone(), name, number, lost: Arc::default(), _watch: watch };
        let watcher = Watcher {
            leases: self.clone(),
            folder: lease.folder(),
            number,
            me,
            lost: lease.lost.clone(),
            unseen: Cell::new(false),
        };
        let watched = thread::Builder::new().name("lease".to_owned()).spawn(move || {
            while ended.recv_timeout(jittered(POLL)) == Err(RecvTimeoutError::Timeout) {
                if watcher.is_lost() {
                    lost();
                    return;
                }
            }
        });
        if let Err(error) = watched {
            tracing::warn!(%error, "lease is not renewed; another process may acquire it");
        }
        Ok(Some(lease))
    }

    /// Does some work under a lease, as [`Leases::acquire`] says; `None` when the process is to stop before it has the
    /// lease.
    ///
    /// # Errors
    /// As [`Leases::acquire`] and [`Lease::release`], and those of the work.
    pub fn hold<T, E: From<StoreError>>(
        &self,
        name: LeaseName,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
        lost: impl Fn() + Send + 'static,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let Some(lease) = self.acquire(name, sleep, lost)? else { return Ok(None) };
        match work() {
            Ok(done) => lease.release().map(|()| Some(done)).map_err(E::from),
            Err(error) if lease.lost.get().is_none() => {
                // Where the store is out of reach the next process finds this one dead.
                self.at.store.delete_if_reachable(&lease_path(&lease.folder(), lease.number));
                Err(error)
            }
            Err(_) => lease.release().map(|()| None).map_err(E::from),
        }
    }

    /// The number of the lease that was acquired.
    fn acquire_number(
        &self,
        name: &LeaseName,
        me: &Holder,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
    ) -> Result<Option<u32>, StoreError> {
        let folder = self.folder(name);
        loop {
            let files = self.at.store.dated_files(&folder)?;
            let numbers =
                |suffix: &'static str| files.keys().filter_map(move |file| parse_number(file.strip_suffix(suffix)?));
            let highest = numbers(TOML).chain(numbers(PROBE)).max().unwrap_or(0);
            let predecessor = match numbers(TOML).max() {
                None => Predecessor::None,
                Some(held) => match self.follow(&folder, held, name, sleep)? {
                    Attempt::Done(predecessor) => predecessor,
                    Attempt::Retry => continue,
                    Attempt::Stop => return Ok(None),
                },
            };
            match self.commit(&folder, highest + 1, predecessor, me, sleep)? {
                Attempt::Done(number) => {
                    self.delete_old_probes(&folder, &files, number)?;
                    return Ok(Some(number));
                }
                Attempt::Retry => {}
                Attempt::Stop => return Ok(None),
            }
        }
    }

    /// Finds whether a lease may be followed: its holder is dead, or silent.
    fn follow(
        &self,
        folder: &Path,
        held: u32,
        name: &LeaseName,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
    ) -> Result<Attempt<Predecessor>, StoreError> {
        let holder = match self.holder(folder, held)? {
            // Released since the listing. Where caches of a network file system differ, it is listed for a while.
            Lookup::Gone => return Ok(Attempt::after(sleep(LOOK))),
            there => there.found(),
        };
        match holder.as_ref().map_or(State::Unknown, Holder::state) {
            State::Alive => Err(self.held(name, holder.as_ref())),
            State::Dead => {
                tracing::info!(
                    stage = name.stage,
                    name = name.name,
                    process = holder.map(|holder| holder.process),
                    "the process that had this name is dead; taking over"
                );
                Ok(Attempt::Done(Predecessor::Dead(held)))
            }
            State::Unknown => match self.probe(folder, held, name, holder.as_ref(), sleep)? {
                Probed::Stop => Ok(Attempt::Stop),
                Probed::Released => Ok(Attempt::Retry),
                Probed::Alive => Err(self.held(name, holder.as_ref())),
                Probed::None => Ok(Attempt::Done(Predecessor::Silent(held))),
            },
        }
    }

    /// Publishes the lease of a number, and deletes that of the predecessor, which may have responded at the last
    /// moment.
    fn commit(
        &self,
        folder: &Path,
        number: u32,
        predecessor: Predecessor,
        me: &Holder,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
    ) -> Result<Attempt<u32>, StoreError> {
        match self.at.store.publish_toml(&lease_path(folder, number), me) {
            // Another process was quicker. Where caches differ, its lease is not listed for a while.
            Err(StoreError::AlreadyExists { .. }) => return Ok(Attempt::after(sleep(LOOK))),
            published => published?,
        }
        if let Predecessor::Silent(held) = predecessor
            && !self.at.store.exists(&probe_path(folder, held))?
        {
            self.at.store.delete(&lease_path(folder, number))?;
            return Ok(Attempt::Retry);
        }
        if let Predecessor::Dead(held) | Predecessor::Silent(held) = predecessor {
            self.at.store.delete(&lease_path(folder, held))?;
        }
        Ok(Attempt::Done(number))
    }

    /// Probes whether a holder on another machine is alive. One that responds may be about to exit, or may die: it gets
    /// a little time, and is probed again.
    fn probe(
        &self,
        folder: &Path,
        held: u32,
        name: &LeaseName,
        holder: Option<&Holder>,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
    ) -> Result<Probed, StoreError> {
        tracing::warn!(
            stage = name.stage,
            name = name.name,
            host = holder.map(|holder| holder.host.as_str()),
            process = holder.map(|holder| holder.process),
            seconds = RESPONSE.as_secs(),
            "another process has this name; waiting whether it is alive"
        );
        let (lease, probe) = (lease_path(folder, held), probe_path(folder, held));
        self.publish_probe(&probe)?;
        match self.poll(&lease, Some(&probe), RESPONSE, sleep)? {
            Probed::Alive => {}
            probed => return Ok(probed),
        }
        // A holder that drains responds too.
        match self.poll(&lease, None, DRAIN, sleep)? {
            Probed::None => {}
            probed => return Ok(probed),
        }
        self.publish_probe(&probe)?;
        self.poll(&lease, Some(&probe), RESPONSE, sleep)
    }

    fn publish_probe(&self, probe: &Path) -> Result<(), StoreError> {
        match self.at.store.publish(probe, bytes::Bytes::from_static(b"format = 1\n")) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Polls for the release of a lease, and for the response to its probe if there is one, for so long.
    fn poll(
        &self,
        lease: &Path,
        probe: Option<&Path>,
        time: Duration,
        sleep: &dyn Fn(Duration) -> ControlFlow<()>,
    ) -> Result<Probed, StoreError> {
        let mut waited = Duration::ZERO;
        while waited < time {
            if sleep(LOOK).is_break() {
                return Ok(Probed::Stop);
            }
            waited += LOOK;
            if !self.at.store.exists(lease)? {
                return Ok(Probed::Released);
            }
            if let Some(probe) = probe
                && !self.at.store.exists(probe)?
            {
                return Ok(Probed::Alive);
            }
        }
        Ok(Probed::None)
    }

    /// Deletes probes that no holder will see any more. The lease with this number was just written, which says how
    /// late it is at the place: by a wrong clock of this machine a holder that comes back could miss its probe.
    fn delete_old_probes(&self, folder: &Path, files: &BTreeMap<String, i64>, number: u32) -> Result<(), StoreError> {
        let probes: Vec<(&String, &i64)> = files.iter().filter(|(file, _)| file.ends_with(PROBE)).collect();
        if probes.is_empty() {
            return Ok(());
        }
        let Some(now) = self.at.store.written_at(&lease_path(folder, number))? else { return Ok(()) };
        let old = probes.into_iter().filter(|(_, time)| now - **time > FORGOTTEN);
        old.map(|(file, _)| folder.clone().join(file.as_str())).try_for_each(|path| self.at.store.delete(&path))
    }

    /// The holder of a lease, which is gone when it was released.
    fn holder(&self, folder: &Path, number: u32) -> Result<Lookup<Holder>, StoreError> {
        match self.at.store.find_toml::<Holder>(&lease_path(folder, number)) {
            Err(StoreError::Damaged { .. }) => Ok(Lookup::Unreadable),
            found => Ok(found?.into()),
        }
    }

    fn held(&self, name: &LeaseName, holder: Option<&Holder>) -> StoreError {
        let run = &self.at.name;
        let what = match name.name == name.stage {
            true => format!("the {} of run {run}", name.stage),
            false => format!("{} \"{}\" of run {run}", name.stage, name.name),
        };
        StoreError::Held {
            what,
            holder: holder.map_or_else(|| "another process".to_owned(), Holder::describe),
            remedy: name.remedy,
        }
    }

    fn folder(&self, name: &LeaseName) -> Path {
        self.at.path([LEASES, name.stage]).join(name.name.as_str())
    }
}

/// A step towards a lease.
enum Attempt<T> {
    Done(T),
    /// The leases may have changed: from the start.
    Retry,
    /// The process is to stop.
    Stop,
}

impl<T> Attempt<T> {
    /// Another attempt after a sleep, unless that was broken off.
    fn after(slept: ControlFlow<()>) -> Attempt<T> {
        if slept.is_break() { Attempt::Stop } else { Attempt::Retry }
    }
}

/// Who had a lease before, and the number of it.
#[derive(Clone, Copy)]
enum Predecessor {
    None,
    /// A process of this machine that was killed.
    Dead(u32),
    /// A process elsewhere that did not respond to its probe.
    Silent(u32),
}

/// The result of a probe.
enum Probed {
    Alive,
    Released,
    None,
    Stop,
}

impl Lease {
    /// Releases the lease, so that the next process need not wait.
    ///
    /// # Errors
    /// [`StoreError::Held`] when another process has taken it over; a store that cannot be used.
    pub fn release(self) -> Result<(), StoreError> {
        if let Some(lost) = self.lost.get() {
            return Err(self.leases.held(&self.name, lost.by.as_ref()));
        }
        self.leases.at.store.delete(&lease_path(&self.folder(), self.number))
    }

    fn folder(&self) -> Path {
        self.leases.folder(&self.name)
    }
}

/// Renews a lease while its process works.
struct Watcher {
    leases: Leases,
    folder: Path,
    number: u32,
    me: Holder,
    lost: Arc<OnceLock<Lost>>,
    /// Whether it has responded to a probe and not seen yet who has the lease.
    unseen: Cell<bool>,
}

impl Watcher {
    /// Responds to a probe, if there is one, and whether the lease is lost.
    fn is_lost(&self) -> bool {
        match self.respond() {
            Ok(Some(lost)) => {
                let host = lost.by.as_ref().map(|by| by.host.clone());
                tracing::error!(host, "another process holds the lease of this name; stopping");
                drop(self.lost.set(lost));
                true
            }
            Ok(None) => false,
            // The work meets the same store and reports its error.
            Err(error) => {
                tracing::debug!(%error, "cannot renew the lease");
                false
            }
        }
    }

    /// Responds to a probe; whether another process has taken the lease over.
    fn respond(&self) -> Result<Option<Lost>, StoreError> {
        let probe = probe_path(&self.folder, self.number);
        if self.leases.at.store.exists(&probe)? {
            // No later poll finds the probe: where the store fails from here on, the next one looks who has the lease.
            self.unseen.set(true);
            self.leases.at.store.delete(&probe)?;
        }
        if !self.unseen.get() {
            return Ok(None);
        }
        match self.leases.holder(&self.folder, self.number + 1) {
            Ok(Lookup::Gone) => {}
            Ok(next) => return Ok(Some(Lost { by: next.found() })),
            // Only the process that has the lease is of a later version.
            Err(StoreError::OtherVersion { .. }) => return Ok(Some(Lost { by: None })),
            Err(error) => return Err(error),
        }
        // The next one may have released its lease again. This one is gone then.
        let own = self.leases.holder(&self.folder, self.number)?.found();
        self.unseen.set(false);
        Ok(if own.as_ref() == Some(&self.me) { None } else { Some(Lost { by: None }) })
    }
}

fn lease_path(folder: &Path, number: u32) -> Path {
    folder.clone().join(format!("{}{TOML}", number_name(number)))
}

fn probe_path(folder: &Path, number: u32) -> Path {
    folder.clone().join(format!("{}{PROBE}", number_name(number)))
}

#[cfg(test)]
mod tests;
