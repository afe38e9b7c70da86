//! The list of runs, with what takes few requests of each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::RunName;
use facts::{Facts, Reader};
use store::{Store, StoreError};

use crate::latest::Latest;
use crate::watch::first_version;

/// The list is read again after this time.
const FRESH: Duration = Duration::from_secs(2);

/// All runs of a store, as they were a moment ago.
#[derive(Default)]
pub(crate) struct RunList(Latest<Shown, Known>);

/// The list as pages have it.
#[derive(Clone)]
struct Shown {
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

impl RunList {
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
        self.0.get(FRESH, |known, before| {
            let is_new = known.refresh(store)?;
            let version = before.map_or_else(first_version, |before| before.version + u64::from(is_new));
            Ok(Shown { version, runs: Arc::new(known.entries()) })
        })
    }
}

impl Known {
    /// Reads what is new, and returns whether something is.
    fn refresh(&mut self, store: &Store) -> Result<bool, StoreError> {
        let names = store.runs()?;
        let mut before = std::mem::take(&mut self.readers);
        let with_reader = |name: RunName| {
            let reader = Mutex::new(before.remove(&name));
            (name, reader)
        };
        let work: Vec<(RunName, Mutex<Option<Reader>>)> = names.into_iter().map(with_reader).collect();
        let broken_before = std::mem::take(&mut self.broken);
        let mut is_new = !before.is_empty();
        let taken = |reader: &Mutex<Option<Reader>>| reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = store.each(&work, |(name, reader)| current(store, name, taken(reader)));
        for ((name, _), reader) in work.into_iter().zip(done) {
            match reader {
                Ok((reader, has_new)) => {
                    is_new |= has_new;
                    self.readers.insert(name, reader);
                }
                Err(error) => drop(self.broken.insert(name, error.to_string())),
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use config::Preset;
    use store::ModelMetadata;

    use super::*;

    /// The list is to be read again.
    fn age(run_list: &RunList) {
        run_list.0.age(2 * FRESH);
    }

    #[test]
    fn list_is_there_while_another_request_reads_it() {
        let (store, config) = (Store::in_memory().unwrap(), Preset::Tiny.config());
        let run_list = RunList::default();
        let names = || {
            let (runs, _) = run_list.list(&store).unwrap();
            runs.iter().map(|run| run.name.to_string()).collect::<Vec<_>>()
        };
        store.run(&"one".parse().unwrap()).create(&config).unwrap();
        assert_eq!(names(), ["one"]);
        store.run(&"two".parse().unwrap()).create(&config).unwrap();
        age(&run_list);
        let reading = run_list.0.read_by_another();
        assert_eq!(names(), ["one"]);
        drop(reading);
        assert_eq!(names(), ["one", "two"]);
    }

    #[test]
    fn version_is_another_when_a_run_is_new_or_has_another_model() {
        let (store, config) = (Store::in_memory().unwrap(), Preset::Tiny.config());
        let run_list = RunList::default();
        let version = || {
            age(&run_list);
            run_list.version(&store).unwrap()
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
        assert_eq!((version(), run_list.list(&store).unwrap().1), (trained, trained));
    }
}
