//! The list of runs, with what takes few requests of each.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use config::RunName;
use facts::{Facts, Reader};
use store::{Store, StoreError};

use crate::watch::first_version;

/// The list is read again after this time.
const FRESH: Duration = Duration::from_secs(2);
/// Runs that are read at the same time.
const AT_ONCE: usize = 8;

/// All runs of a store, as they were a moment ago.
#[derive(Default)]
pub(crate) struct Catalogue(Mutex<Known>);

#[derive(Default)]
struct Known {
    read: Option<Instant>,
    /// Grows with every change.
    version: u64,
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
    pub(crate) fn list(&self, store: &Store) -> Result<(Vec<Entry>, u64), StoreError> {
        let known = self.fresh(store)?;
        Ok((known.entries(), known.version))
    }

    /// The version of the list: another one when a run is new, gone, or has another model or other ratings.
    pub(crate) fn version(&self, store: &Store) -> Result<u64, StoreError> {
        Ok(self.fresh(store)?.version)
    }

    fn fresh(&self, store: &Store) -> Result<MutexGuard<'_, Known>, StoreError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.read.is_none_or(|read| read.elapsed() > FRESH) {
            known.refresh(store)?;
        }
        Ok(known)
    }
}

impl Known {
    fn refresh(&mut self, store: &Store) -> Result<(), StoreError> {
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
        self.version = if self.read.is_none() { first_version() } else { self.version + u64::from(is_new) };
        self.read = Some(Instant::now());
        Ok(())
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

    #[test]
    fn version_is_another_when_a_run_is_new_or_has_another_model() {
        let (store, config) = (Store::in_memory().unwrap(), Preset::Tiny.config());
        let catalogue = Catalogue::default();
        let version = || {
            let mut known = catalogue.0.lock().unwrap();
            known.read = known.read.map(|read| read - 2 * FRESH);
            drop(known);
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
