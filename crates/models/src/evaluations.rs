//! Evaluations of a model that outlive the process: segments of a store, and what was added since the last.
//!
//! New evaluations are in memory first. They are published as a segment when there are many, with the first that is
//! added a while after the last publication, and when the program ends. So an idle process has those of a minute in
//! memory, until it adds another. Many small segments are merged into one. A process that is killed loses what was in
//! memory.
//!
//! The cast: an [`EvaluationCache`] is what a program has; [`Shared`] is what its threads know, those in the background
//! included. One of these publishes, and opens the segments of other processes; one merges. So a search waits for
//! lookups alone, whatever the store does, and the end of a program for the last publication, but for no merge.
//!
//! A lookup and a new evaluation allocate nothing, once the buffers have grown to the largest block and to the
//! evaluations of a segment. Reads from a bucket do: a response each, or a copy of a part of the segment.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use evalcache::{Key, KomiCoding, ReadError, Set, Symmetries, Tables, View};
use play::EvaluationStore;
use store::{Evaluations, Store};

use crate::first::is_first;

mod background;
mod error;
mod measured;
mod merge;
mod mergeable;
mod options;
mod publish;
mod recent;
mod refresh;
mod segments;
mod shared;

pub use error::EvaluationCacheError;
use measured::{Held, Metrics};
use mergeable::Mergeable;
pub use mergeable::MergedSegments;
pub use options::EvaluationCacheOptions;
pub use segments::SegmentSource;
use segments::{is_gone, open_segment};
use shared::Shared;

/// Number of lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Evaluations that were there.
    pub hits: u64,
    /// Evaluations that were not.
    pub misses: u64,
}

impl Lookups {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.hits + self.misses
    }
}

impl fmt::Display for Lookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hits, all) = (self.hits, self.all());
        let share = 100.0 * hits as f64 / all.max(1) as f64;
        write!(f, "{hits} of {all} lookups found, {share:.1} %")
    }
}

/// The evaluations of one set, for all threads of a process.
pub struct EvaluationCache {
    shared: Arc<Shared>,
}

/// The folder of a set and of tables.
fn name(set: &Set, tables: &Tables) -> String {
    let model: String = set.model[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    let komi = match set.komi {
        KomiCoding::Seen => "komi",
        KomiCoding::Unseen => "nokomi",
    };
    let Set { size, symmetries, steps, .. } = set;
    format!("{model}-{size}x{size}-{komi}-{symmetries}-{steps}-{:08x}", tables.digest() >> 32)
}

impl EvaluationCache {
    /// Opens the evaluations of a set. Segments that cannot be used are left out and logged.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn open(options: &EvaluationCacheOptions, set: Set) -> Result<EvaluationCache, EvaluationCacheError> {
        let tables = Tables::built_in(set.size, set.steps).clone();
        let segments = options.store.evaluations(&name(&set, &tables), options.copies.as_deref())?;
        if segments.reads_are_requests() && is_first("no copies") {
            let set = segments.set();
            tracing::warn!(
                set,
                "each cached evaluation is a request to the bucket; set --evalcache-copies to a folder"
            );
        }
        // No lookup needs it.
        let unused = segments.sweep_unused_copies();
        let swept = segments.sweep_copies().and(unused);
        if let Err(error) = swept
            && is_first(error.to_string())
        {
            tracing::warn!(%error, "local copies that are not used cannot be deleted");
        }
        let cache = EvaluationCache::of(segments, set, tables)?;
        // Programs that are over soon publish a segment at their end, and merge nothing then.
        let last = cache.shared.opened().first().map(|one| one.number);
        cache.shared.merge_when_due(last, Mergeable::SMALL);
        Ok(cache)
    }

    /// Opens the evaluations in a folder of a store, whatever their tables: those of the set that has the name of the
    /// folder, or else of the first segment.
    ///
    /// # Errors
    /// A store that cannot be reached; [`EvaluationCacheError::Unreadable`] when the set has no segment that can be
    /// read.
    pub fn open_named(store: &Store, folder: &str) -> Result<EvaluationCache, EvaluationCacheError> {
        let segments = store.evaluations(folder, None)?;
        let (mut first, mut problems) = (None, Vec::new());
        for number in segments.numbers()? {
            match open_segment(&segments, number) {
                Ok(Some(segment)) => {
                    let (set, tables) = (segment.head().set, segment.head().tables.clone());
                    if name(&set, &tables) == folder {
                        return EvaluationCache::of(segments, set, tables);
                    }
                    first.get_or_insert((set, tables));
                }
                Ok(None) => {}
                Err(error @ EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => {
                    problems.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        match first {
            Some((set, tables)) => EvaluationCache::of(segments, set, tables),
            None => Err(EvaluationCacheError::Unreadable { set: folder.to_owned(), problems }),
        }
    }

    fn of(segments: Evaluations, set: Set, tables: Arc<Tables>) -> Result<EvaluationCache, EvaluationCacheError> {
        let cache = EvaluationCache { shared: Arc::new(Shared::new(segments, set, tables)) };
        cache.refresh()?;
        Ok(cache)
    }

    /// Opens the segments that others have published, and forgets those that are gone.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn refresh(&self) -> Result<(), EvaluationCacheError> {
        self.shared.refresh()
    }

    /// The origin of the evaluations.
    pub fn set(&self) -> &Set {
        &self.shared.set
    }

    /// Evaluations in the open segments, those that several of them have counted several times.
    pub fn evaluations(&self) -> u64 {
        Held::of(&self.shared.opened()).evaluations
    }

    /// Bytes of the open segments.
    pub fn bytes(&self) -> u64 {
        Held::of(&self.shared.opened()).bytes
    }

    /// Lookups since it was opened.
    pub fn lookups(&self) -> Lookups {
        let Metrics { hits, misses, .. } = &self.shared.metrics;
        Lookups { hits: hits.count(), misses: misses.count() }
    }

    /// The name of the set in its store.
    pub fn name(&self) -> &str {
        self.shared.segments.set()
    }

    /// Segments that are open.
    pub fn segments(&self) -> usize {
        self.shared.opened().len()
    }

    /// Publishes the evaluations in memory. A merge that is due then is left to the background.
    ///
    /// # Errors
    /// A store that refuses it; the evaluations stay in memory.
    pub fn publish(&self) -> Result<(), EvaluationCacheError> {
        let published = self.shared.publish()?;
        self.shared.merge_when_due(published, Mergeable::SIMILAR);
        Ok(())
    }

    /// Merges segments into larger ones, and deletes those that another one stands for.
    ///
    /// Before each merge, of which a large set takes many, `progress` sees what was done, and ends the compaction where
    /// it breaks.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn compact(
        &self,
        progress: &dyn Fn(&MergedSegments) -> ControlFlow<()>,
    ) -> Result<MergedSegments, EvaluationCacheError> {
        self.shared.merge_all(Mergeable::ALL, progress)
    }

    /// Reads all segments and returns the damage, each with the name of its segment, and the segments of other sets
    /// than that of which the folder has the name. `progress` is called before each segment, and ends the check where
    /// it breaks.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn check(
        &self,
        progress: &dyn Fn() -> ControlFlow<()>,
    ) -> Result<Vec<EvaluationCacheError>, EvaluationCacheError> {
        let mut found = Vec::new();
        for number in self.shared.segments.numbers()?.into_iter().take_while(|_| progress().is_continue()) {
            match open_segment(&self.shared.segments, number) {
                // Not by the set of this cache: that may be one of a foreign segment, where the folder has no others.
                Ok(Some(segment)) if name(&segment.head().set, &segment.head().tables) != self.name() => {
                    found.push(EvaluationCacheError::OtherSet { path: self.shared.segments.name(number) });
                }
                Ok(Some(segment)) => match segment.check() {
                    Err(error) if is_gone(&error) => {}
                    damage => {
                        let damage = damage.map_err(|source| self.shared.segment_error(number, source))?;
                        found.extend(damage.into_iter().map(|source| self.shared.segment_error(number, source)));
                    }
                },
                Ok(None) => {}
                Err(error @ EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => found.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

impl EvaluationStore for EvaluationCache {
    fn symmetries(&self) -> Symmetries {
        self.shared.set.symmetries
    }

    fn komi(&self) -> KomiCoding {
        self.shared.set.komi
    }

    fn get(&self, key: Key, view: &View, policy: &mut [f32], buffer: &mut Vec<u8>) -> Option<f32> {
        let shared = &self.shared;
        let mut found = shared.find(key, buffer);
        // What is found needs no newer segments.
        let wanting = found.is_none() || shared.outdated.load(Ordering::Relaxed);
        if wanting && shared.refresh_when_due() && found.is_none() {
            found = shared.find(key, buffer);
        }
        let Some(code) = found else {
            shared.metrics.misses.note();
            return None;
        };
        shared.metrics.hits.note();
        Some(shared.tables.decode(view, &buffer[code], policy))
    }

    fn put(&self, key: Key, view: &View, policy: &mut [f32], value: f32, buffer: &mut Vec<u8>) -> f32 {
        let tables = &self.shared.tables;
        buffer.clear();
        // Invalid evaluations are not kept, and stay as they are.
        if tables.encode(view, policy, value, buffer).is_none() {
            return value;
        }
        self.shared.keep(key, buffer);
        tables.decode(view, buffer, policy)
    }
}

impl fmt::Debug for EvaluationCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EvaluationCache({})", self.name())
    }
}

impl Drop for EvaluationCache {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        let Metrics { hits, misses, .. } = &self.shared.metrics;
        hits.close();
        misses.close();
        // Every program that has one says at its end what it was good for.
        let lookups = self.lookups();
        if lookups.all() > 0 {
            tracing::info!(set = self.name(), hits = %lookups, "evaluation cache closed");
        }
        // Not with the last part of the cache: a merge in the background may have that, which the end of the program
        // does not wait for.
        self.shared.publish_or_log();
    }
}

#[cfg(test)]
mod tests;
