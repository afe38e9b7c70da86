//! The list of runs, with what takes few requests of each.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use config::RunName;
use facts::{Facts, Reader};
use store::{Store, StoreError};

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
    /// All runs, in order of name. One request at a time reads them.
    pub(crate) fn list(&self, store: &Store) -> Result<Vec<Entry>, StoreError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.read.is_none_or(|read| read.elapsed() > FRESH) {
            known.refresh(store)?;
        }
        Ok(known.entries())
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
        self.broken.clear();
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
                    Ok(reader) => drop(self.readers.insert(name, reader)),
                    Err(error) => drop(self.broken.insert(name, error.to_string())),
                }
            }
        }
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

fn current(store: &Store, name: &RunName, reader: Option<Reader>) -> Result<Reader, StoreError> {
    let mut reader = reader.map_or_else(|| Reader::open(store.run(name)), Ok)?;
    reader.refresh()?;
    Ok(reader)
}

fn chunks<T>(all: &mut Vec<T>) -> impl Iterator<Item = Vec<T>> + '_ {
    std::iter::from_fn(|| (!all.is_empty()).then(|| all.drain(..AT_ONCE.min(all.len())).collect()))
}
