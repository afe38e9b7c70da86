//! What ran on the nodes, for tests that count it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A process of a container.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    stage: String,
    /// Which of the journal's it is.
    number: usize,
    began: Instant,
    /// When it ended, and with which code.
    end: Option<(Instant, i32)>,
}

impl Entry {
    pub(crate) fn new(stage: &str) -> Entry {
        Entry { stage: stage.to_owned(), number: 0, began: Instant::now(), end: None }
    }
}

/// All processes of an agent, in the order of their starts.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Vec<Entry>>);

impl Journal {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn started(&self, entry: Entry) -> Entry {
        let mut entries = self.entries();
        let entry = Entry { number: entries.len(), began: Instant::now(), ..entry };
        entries.push(entry.clone());
        entry
    }

    pub(crate) fn ended(&self, entry: &Entry, code: i32) {
        self.entries()[entry.number].end = Some((Instant::now(), code));
    }

    /// The processes of a stage so far.
    pub(crate) fn of(&self, stage: &str) -> Vec<Entry> {
        self.entries().iter().filter(|entry| entry.stage == stage).cloned().collect()
    }

    /// How many processes of a stage have exited with each code.
    pub(crate) fn exits(&self, stage: &str) -> BTreeMap<i32, usize> {
        let mut exits = BTreeMap::new();
        for (_, code) in self.of(stage).iter().filter_map(|entry| entry.end) {
            *exits.entry(code).or_default() += 1;
        }
        exits
    }

    /// The largest number of processes of a stage that ran at the same time.
    pub(crate) fn most_at_once(&self, stage: &str) -> usize {
        let entries = self.of(stage);
        let runs_at =
            |time: Instant, entry: &&Entry| entry.began <= time && entry.end.is_none_or(|(ended, _)| time < ended);
        entries
            .iter()
            .map(|at| entries.iter().filter(|entry| runs_at(at.began, entry)).count())
            .max()
            .unwrap_or_default()
    }
}
