//! The list of runs, with what takes few requests of each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use config::RunName;
use facts::{Facts, Reader};
use store::{Store, StoreError};

use crate::watch::first_version;

/// The list is read again after this time.
const FRESH: Duration = Duration::from_secs(2);
/// While the list is read, other requests have one that is so old at most.
const STALE: Duration = Duration::from_secs(60);
/// Runs that are read at the same time.
const AT_ONCE: usize = 8;

/// All runs of a store, as they were a moment ago.
#[derive(Default)]
pub(crate) struct Catalogue {
    shown: Mutex<Shown>,
    /// Who reads the runs holds it. Others have what was read before, rather than that all threads of pages wait.
    known: Mutex<Known>,
}

/// The list as pages have it.
#[derive(Clone, Default)]
struct Shown {
    read: Option<Instant>,
    /// Grows with every change.
    version: u64,
    runs: Arc<Vec<Entry>>,
}

#[derive(Default)]
struct Known {
    readers: BTreeMap<RunName, Reader>,
    broken: BTreeMap<RunName, String>,
}

/// A run of the list.
pub(crate) struct Entry {
    pub(crate) name: RunName,
    /// What is known of it, or why nothing is.
    pub(crate) facts: Result<Facts, String>,
}

impl Catalogue {
    /// All runs, in order of name, and the version of the list. One request at a time reads them.
    pub(crate) fn list(&self, store: &Store) -> Result<(Arc<Vec<Entry>>, u64), StoreError> {
        let shown = self.fresh(store)?;
        Ok((shown.runs, shown.version))
    }

    /// The version of the list: another one when a run is new, gone, or has another model or other ratings.
    pub(crate) fn version(&self, store: &Store) -> Result<u64, StoreError> {
        Ok(self.fresh(store)?.version)
    }

    fn fresh(&self, store: &Store) -> Result<Shown, StoreError> {
        let before = self.shown().clone();
        if before.is_fresh() {
            return Ok(before);
        }
        let mut known = match self.known.try_lock() {
            Ok(known) => known,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) if before.read.is_some_and(|read| read.elapsed() < STALE) => {
                return Ok(before);
            }
            Err(TryLockError::WouldBlock) => self.known.lock().unwrap_or_else(PoisonError::into_inner),
        };
        // Another request may have read it meanwhile.
        let before = self.shown().clone();
        if before.is_fresh() {
            return Ok(before);
        }
        let is_new = known.refresh(store)?;
        let version = if before.read.is_none() { first_version() } else { before.version + u64::from(is_new) };
        let shown = Shown { read: Some(Instant::now()), version, runs: Arc::new(known.entries()) };
        self.shown().clone_from(&shown);
        Ok(shown)
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn is_fresh(&self) -> bool {
        self.read.is_some_and(|read| read.elapsed() <= FRESH)
    }
}

impl Known {
    /// Reads what is new, and returns whether something is.
    fn refresh(&mut self, store: &Store) -> Result<bool, StoreError> {
        let names = store.runs()?;
        let mut before = std::mem::take(&mut self.readers);
        let mut work: Vec<(RunName, Option<Reader>)> = names
            .into_iter()
            .map(|name| {
                let reader = before.remove(&name);
                (name, reader)
            })
            .collect();
        let broken_before = std::mem::take(&mut self.broken);
        let mut is_new = !before.is_empty();
        for some in chunks(&mut work) {
            let done: Vec<_> = thread::scope(|scope| {
                let threads: Vec<_> = some
                    .into_iter()
                    .map(|(name, reader)| scope.spawn(move || (name.clone(), current(store, &name, reader))))
                    .collect();
                threads.into_iter().map(|thread| thread.join().expect("reading does not panic")).collect()
            });
            for (name, reader) in done {
                match reader {
                    Ok((reader, has_new)) => {
                        is_new |= has_new;
                        self.readers.insert(name, reader);
                    }
                    Err(error) => drop(self.broken.insert(name, error.to_string())),
                }
            }
        }
        is_new |= self.broken != broken_before;
        Ok(is_new)
    }

    fn entries(&self) -> Vec<Entry> {
        let read = self.readers.iter().map(|(name, reader)| Entry { name: name.clone(), facts: Ok(reader.facts()) });
        let broken = self.broken.iter().map(|(name, error)| Entry { name: name.clone(), facts: Err(error.clone()) });
        let mut entries: Vec<Entry> = read.chain(broken).collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries
    }
}

/// The run as it is now, and whether that is new.
fn current(store: &Store, name: &RunName, reader: Option<Reader>) -> Result<(Reader, bool), StoreError> {
    let is_known = reader.is_some();
    let mut reader = reader.map_or_else(|| Reader::open(store.run(name)), Ok)?;
    let has_new = reader.refresh()?;
    Ok((reader, has_new || !is_known))
}

fn chunks<T>(all: &mut Vec<T>) -> impl Iterator<Item = Vec<T>> + '_ {
    std::iter::from_fn(|| (!all.is_empty()).then(|| all.drain(..AT_ONCE.min(all.len())).collect()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use config::Preset;
    use store::ModelMetadata;

    use super::*;

    /// The list is to be read again.
    fn age(catalogue: &Catalogue) {
        let mut shown = catalogue.shown();
        shown.read = shown.read.map(|read| read - 2 * FRESH);
    }

    #[test]
    fn list_is_there_while_another_request_reads_it() {
        let (store, config) = (Store::in_memory().unwrap(), Preset::Tiny.config());
        let catalogue = Catalogue::default();
        let names = || {
            let (runs, _) = catalogue.list(&store).unwrap();
            runs.iter().map(|run| run.name.to_string()).collect::<Vec<_>>()
        };
        store.run(&"one".parse().unwrap()).create(&config).unwrap();
        assert_eq!(names(), ["one"]);
        store.run(&"two".parse().unwrap()).create(&config).unwrap();
        age(&catalogue);
        let reading = catalogue.known.lock().unwrap();
        assert_eq!(names(), ["one"]);
        drop(reading);
        assert_eq!(names(), ["one", "two"]);
    }

    #[test]
    fn version_is_another_when_a_run_is_new_or_has_another_model() {
        let (store, config) = (Store::in_memory().unwrap(), Preset::Tiny.config());
        let catalogue = Catalogue::default();
        let version = || {
            age(&catalogue);
            catalogue.version(&store).unwrap()
        };
        let empty = version();
        assert_eq!(version(), empty);
        let run = store.run(&"one".parse().unwrap());
        run.create(&config).unwrap();
        let created = version();
        assert_ne!(created, empty);
        assert_eq!(version(), created);
        run.models().publish(&ModelMetadata::new(run.name(), 1, 10, &config), Bytes::from_static(b"weights")).unwrap();
        let trained = version();
        assert_ne!(trained, created);
        assert_eq!((version(), catalogue.list(&store).unwrap().1), (trained, trained));
    }
}
