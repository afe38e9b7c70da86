//! Evaluations of a model that outlive the process: segments of a store, and what was added since the last.
//!
//! New evaluations are in memory first. They are published as a segment when there are many, with the first that is added a while
//! after the last publication, and when the program ends. So an idle process has those of a minute in memory, until it adds another.
//! Many small segments are merged into one. A process that is killed loses what was in memory.
//!
//! A lookup and a new evaluation allocate nothing, once the buffers have grown to the largest block and to the evaluations of a
//! segment. Reads from a bucket do: a response each, or a copy of a part of the segment.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use evalcache::{Key, KomiCoding, ReadError, Segment, Set, Symmetries, Tables, View, segment};
use metrics::counter;
use play::EvaluationStore;
use store::{Evaluations, Store};

use crate::first::is_first;

mod error;
mod measured;
mod merge;
mod mergeable;
mod options;
mod recent;
mod segments;

pub use error::EvaluationCacheError;
use measured::{Held, Metrics};
pub use mergeable::MergedSegments;
use mergeable::{Mergeable, is_merge_due, replaced_by};
pub use options::EvaluationCacheOptions;
use recent::Recent;
pub use segments::SegmentSource;
use segments::{OpenSegment, is_gone, open_segment};

/// Evaluations in memory that make a segment.
const MOST_IN_MEMORY: usize = 200_000;
/// How long evaluations are in memory at most while others are added.
const PUBLISH_AFTER: Duration = Duration::from_secs(60);
/// How long segments of other processes are not seen.
const REFRESH_AFTER: Duration = Duration::from_secs(60);
/// Lists of a refresh at most. Each after the first means that a compaction deleted segments since the one before.
const LISTS: u32 = 3;
/// The writer of every eighth segment merges, if that is worth it. Of hundreds of processes that share a set, most would merge the
/// same segments at the same time otherwise.
const MERGE: u32 = 8;

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
    segments: Evaluations,
    set: Set,
    tables: Arc<Tables>,
    open: RwLock<Vec<Arc<OpenSegment>>>,
    recent: RwLock<Recent>,
    /// When the last evaluations were published; the thread that publishes holds it.
    published: Mutex<Instant>,
    /// Evaluations in memory with which they are published next.
    due: AtomicUsize,
    /// The thread that looks for segments holds it.
    refreshed: Mutex<Refreshed>,
    /// Whether a segment is gone since.
    outdated: AtomicBool,
    /// Whether a failure of the store was logged.
    failed: AtomicBool,
    hits: AtomicU64,
    misses: AtomicU64,
    metrics: Metrics,
}

/// What is known of segments that are not open.
struct Refreshed {
    /// When they were last looked for.
    at: Instant,
    /// Those that are not used: unreadable ones, and those of other sets. They are not opened again while they are listed.
    omitted: Vec<u32>,
}

/// What the last of several lists of the store has.
#[derive(Default)]
struct Listed {
    numbers: Vec<u32>,
    /// Those that were not open before the first list.
    found: Vec<Arc<OpenSegment>>,
    /// Whether a segment was gone before it was opened: it was merged into one that the next list has.
    gone: bool,
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
        if let Err(error) = segments.sweep_copies()
            && is_first(error.to_string())
        {
            tracing::warn!(%error, "copies of killed processes cannot be deleted");
        }
        EvaluationCache::of(segments, set, tables)
    }

    /// Opens the evaluations in a folder of a store, whatever their tables: those of the set that has the name of the folder, or
    /// else of the first segment.
    ///
    /// # Errors
    /// A store that cannot be reached; [`EvaluationCacheError::Unreadable`] when the set has no segment that can be read.
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
        let cache = EvaluationCache {
            segments,
            set,
            tables,
            open: RwLock::default(),
            recent: RwLock::default(),
            published: Mutex::new(Instant::now()),
            due: AtomicUsize::new(MOST_IN_MEMORY),
            refreshed: Mutex::new(Refreshed { at: Instant::now(), omitted: Vec::new() }),
            outdated: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            metrics: Metrics::new(),
        };
        cache.refresh()?;
        Ok(cache)
    }

    /// Opens the segments that others have published, and forgets those that are gone.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn refresh(&self) -> Result<(), EvaluationCacheError> {
        self.refresh_locked(self.refreshed.lock().unwrap_or_else(PoisonError::into_inner), None)
    }

    /// The same after a while, or when a segment is gone, unless another thread does it. Returns whether it was done.
    fn refresh_when_due(&self) -> bool {
        let Ok(refreshed) = self.refreshed.try_lock() else { return false };
        if !self.outdated.load(Ordering::Relaxed) && refreshed.at.elapsed() < REFRESH_AFTER {
            return false;
        }
        let done = self.refresh_locked(refreshed, None);
        if let Err(error) = &done {
            self.metrics.errors.increment(1);
            tracing::warn!(%error, "segments of the evaluation cache cannot be listed");
        }
        done.is_ok()
    }

    /// Lookups go on meanwhile. If the number of the segment just `published` is known, that one was deleted by hand.
    fn refresh_locked(
        &self,
        mut refreshed: MutexGuard<'_, Refreshed>,
        published: Option<u32>,
    ) -> Result<(), EvaluationCacheError> {
        refreshed.at = Instant::now();
        self.outdated.store(false, Ordering::Relaxed);
        let is_other = |number: &u32| Some(*number) != published;
        refreshed.omitted.retain(is_other);
        let known: Vec<u32> = self.opened().iter().map(|one| one.number).filter(is_other).collect();
        let mut listed = Listed::default();
        for _ in 0..LISTS {
            self.list(&known, &mut refreshed.omitted, &mut listed)?;
            if !listed.gone {
                break;
            }
        }
        if listed.gone {
            self.outdated.store(true, Ordering::Relaxed);
        }
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let before = Held::of(&open);
        open.retain(|old| is_other(&old.number) && listed.numbers.contains(&old.number));
        open.extend(listed.found);
        // The newest first. One that is replaced itself stands for nothing: see `delete_replaced`.
        open.sort_by_key(|one| std::cmp::Reverse(one.number));
        let mut replaced: Vec<u32> = Vec::new();
        open.retain(|one| {
            let stays = !replaced.contains(&one.number);
            if stays {
                replaced.extend(replaced_by(one.number, &one.segment));
            }
            stays
        });
        self.metrics.hold(before, Held::of(&open));
        Ok(())
    }

    /// Lists the segments, and opens those that are neither known nor opened by the list before.
    fn list(&self, known: &[u32], omitted: &mut Vec<u32>, listed: &mut Listed) -> Result<(), EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        self.segments.keep_copies(&numbers);
        omitted.retain(|number| numbers.contains(number));
        listed.found.retain(|one| numbers.contains(&one.number));
        listed.gone = false;
        for &number in numbers.iter().filter(|number| !known.contains(number)) {
            if omitted.contains(&number) || listed.found.iter().any(|one| one.number == number) {
                continue;
            }
            match open_segment(&self.segments, number) {
                Ok(None) => listed.gone = true,
                Ok(Some(mut segment)) if self.fits(number, &segment) => {
                    segment.share_tables(&self.tables);
                    self.log_opened(number, &segment);
                    listed.found.push(Arc::new(OpenSegment { number, segment }));
                }
                Ok(Some(_)) => omitted.push(number),
                Err(error @ EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => {
                    if is_first(error.to_string()) {
                        tracing::warn!(%error, "segment of the evaluation cache omitted");
                    }
                    omitted.push(number);
                }
                Err(error) => return Err(error),
            }
        }
        listed.numbers = numbers;
        Ok(())
    }

    fn opened(&self) -> RwLockReadGuard<'_, Vec<Arc<OpenSegment>>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a segment is of this set; others are logged.
    fn fits(&self, number: u32, segment: &Segment<SegmentSource>) -> bool {
        let fits = segment.head().set == self.set && segment.head().tables.digest() == self.tables.digest();
        let segment = self.segments.name(number);
        if !fits && is_first(format!("set of {segment}")) {
            tracing::warn!(segment, "segment of another set omitted");
        }
        fits
    }

    /// The origin of the evaluations.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Evaluations in the open segments, those that several of them have counted several times.
    pub fn evaluations(&self) -> u64 {
        Held::of(&self.opened()).evaluations
    }

    /// Bytes of the open segments.
    pub fn bytes(&self) -> u64 {
        Held::of(&self.opened()).bytes
    }

    /// Lookups since it was opened.
    pub fn lookups(&self) -> Lookups {
        Lookups { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) }
    }

    /// The name of the set in its store.
    pub fn name(&self) -> &str {
        self.segments.set()
    }

    /// Segments that are open.
    pub fn segments(&self) -> usize {
        self.opened().len()
    }

    /// Publishes the evaluations in memory.
    ///
    /// # Errors
    /// A store that refuses it; the evaluations stay in memory.
    pub fn publish(&self) -> Result<(), EvaluationCacheError> {
        let published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        self.publish_locked(published)
    }

    fn publish_locked(&self, mut published: MutexGuard<'_, Instant>) -> Result<(), EvaluationCacheError> {
        let (bytes, written) = {
            let recent = self.recent.read().unwrap_or_else(PoisonError::into_inner);
            if recent.len() == 0 {
                return Ok(());
            }
            (segment::write(self.set, &self.tables, &[], &recent.sorted())?, recent.bytes())
        };
        let number = self.publish_segment(&bytes.into())?;
        *published = Instant::now();
        self.recent.write().unwrap_or_else(PoisonError::into_inner).forget(written);
        self.due.store(MOST_IN_MEMORY, Ordering::Relaxed);
        tracing::debug!(segment = number, "published evaluations");
        let is_due = number.is_multiple_of(MERGE) && is_merge_due(&self.opened());
        // The evaluations are published, and a later merge takes the same segments.
        if is_due && let Err(error) = self.merge(Mergeable::SIMILAR) {
            self.metrics.errors.increment(1);
            tracing::warn!(%error, "segments of the evaluation cache cannot be merged; no evaluations are lost");
        }
        Ok(())
    }

    /// Publishes a segment under a number that none has had before, opens it, and returns the number.
    ///
    /// A number is free again when its segment was merged and deleted. A writer that listed the segments before that number was
    /// taken, and is late with its put, then gets it, and others take its segment for the one that was merged: they ignore and
    /// delete it. So the segments are listed again after the put, and the segment is published again if the number was used.
    ///
    /// How that shows: the highest number of all times is always in use, since only a segment with a higher number replaces one.
    /// So this number is new if the list has no higher one. Otherwise, if it was used, a segment that names it was there before
    /// the put. It is there still, or one that names it, and so on; in any case one that names this number or a higher one.
    /// If there is none, no process has a reason to delete this number.
    ///
    /// A new number counts as used, too, where others publish and merge later segments before that list. Its segment is then
    /// published twice, and the next merge has each evaluation once. Numbers that are never used again, such as random ones, would
    /// need another format.
    fn publish_segment(&self, bytes: &Bytes) -> Result<u32, EvaluationCacheError> {
        loop {
            let number = self.segments.publish(bytes)?;
            counter!("tengen_evalcache_written_bytes_total").increment(bytes.len() as u64);
            match self.open_published(number) {
                Ok(true) => return Ok(number),
                Ok(false) => tracing::debug!(segment = number, "segment published again: its number was used before"),
                // If its number was used, which is rare, its evaluations are made again. The next miss opens it.
                Err(error) => {
                    self.metrics.errors.increment(1);
                    self.outdated.store(true, Ordering::Relaxed);
                    tracing::warn!(%error, segment = number, "segment of the evaluation cache published, but not opened");
                    return Ok(number);
                }
            }
        }
    }

    /// Opens a segment that was just published, and returns whether none has had its number before.
    fn open_published(&self, number: u32) -> Result<bool, EvaluationCacheError> {
        let is_last = self.segments.numbers()?.last() == Some(&number);
        self.refresh_locked(self.refreshed.lock().unwrap_or_else(PoisonError::into_inner), Some(number))?;
        if is_last {
            return Ok(true);
        }
        if self.outdated.load(Ordering::Relaxed) {
            self.refresh()?;
        }
        let is_used = |one: &Arc<OpenSegment>| replaced_by(one.number, &one.segment).any(|other| other >= number);
        Ok(!self.opened().iter().any(is_used))
    }

    fn segment_error(&self, number: u32, source: ReadError) -> EvaluationCacheError {
        EvaluationCacheError::Segment { path: self.segments.name(number), source }
    }

    /// Reads all segments and returns the damage, each with the name of its segment, and the segments of other sets than that of
    /// which the folder has the name.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn check(&self) -> Result<Vec<EvaluationCacheError>, EvaluationCacheError> {
        let mut found = Vec::new();
        for number in self.segments.numbers()? {
            match open_segment(&self.segments, number) {
                // Not by the set of this cache: that may be one of a foreign segment, where the folder has no others.
                Ok(Some(segment)) if name(&segment.head().set, &segment.head().tables) != self.name() => {
                    found.push(EvaluationCacheError::OtherSet { path: self.segments.name(number) });
                }
                Ok(Some(segment)) => match segment.check() {
                    Err(error) if is_gone(&error) => {}
                    damage => {
                        let damage = damage.map_err(|source| self.segment_error(number, source))?;
                        found.extend(damage.into_iter().map(|source| self.segment_error(number, source)));
                    }
                },
                Ok(None) => {}
                Err(error @ EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => found.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Reads the code of a key from the new evaluations or from a segment into `buffer`, and returns where it is there.
    fn find(&self, key: Key, buffer: &mut Vec<u8>) -> Option<Range<usize>> {
        if let Some(found) = self.recent.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            buffer.clear();
            buffer.extend_from_slice(found);
            return Some(0..found.len());
        }
        let open = self.opened();
        for one in open.iter() {
            match one.segment.get(key, buffer) {
                Ok(Some(code)) => return Some(code),
                Ok(None) => {}
                Err(error) => self.log(one, &error),
            }
        }
        None
    }

    /// Logs the damage that a segment shows when it is opened, once a process: matches open their players often. No lookup reports
    /// it: those in blocks with damaged filters are misses.
    fn log_opened(&self, number: u32, opened: &Segment<SegmentSource>) {
        let segment = self.segments.name(number);
        if let Some(error) = opened.head_damage()
            && is_first(format!("head of {segment}"))
        {
            tracing::warn!(segment, %error, "segment of the evaluation cache is damaged, and in use");
        }
        let blocks = opened.damaged_blocks();
        if blocks > 0 && is_first(format!("filters of {segment}")) {
            tracing::warn!(segment, blocks, "blocks of the evaluation cache have damaged filters, and are not used");
        }
    }

    /// Logs damage once a block, and a store that cannot be read once. Notes a segment that is gone.
    fn log(&self, one: &OpenSegment, error: &ReadError) {
        if is_gone(error) {
            self.outdated.store(true, Ordering::Relaxed);
            return;
        }
        self.metrics.errors.increment(1);
        match error {
            ReadError::Damaged { reason: segment::KNOWN, .. } => {}
            ReadError::Source(_) if self.failed.swap(true, Ordering::Relaxed) => {}
            _ => {
                let segment = self.segments.name(one.number);
                tracing::warn!(segment, %error, "evaluations cannot be read from the cache");
            }
        }
    }
}

impl EvaluationStore for EvaluationCache {
    fn symmetries(&self) -> Symmetries {
        self.set.symmetries
    }

    fn komi(&self) -> KomiCoding {
        self.set.komi
    }

    fn get(&self, key: Key, view: &View, policy: &mut [f32], buffer: &mut Vec<u8>) -> Option<f32> {
        let mut found = self.find(key, buffer);
        // What is found needs no newer segments.
        let wanting = found.is_none() || self.outdated.load(Ordering::Relaxed);
        if wanting && self.refresh_when_due() && found.is_none() {
            found = self.find(key, buffer);
        }
        let Some(code) = found else {
            self.metrics.misses.increment(1);
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.metrics.hits.increment(1);
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(self.tables.decode(view, &buffer[code], policy))
    }

    fn put(&self, key: Key, view: &View, policy: &mut [f32], value: f32, buffer: &mut Vec<u8>) -> f32 {
        buffer.clear();
        // Invalid evaluations are not kept, and stay as they are.
        if self.tables.encode(view, policy, value, buffer).is_none() {
            return value;
        }
        let value = self.tables.decode(view, buffer, policy);
        let many = {
            let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
            recent.put(key, buffer);
            recent.len() >= self.due.load(Ordering::Relaxed)
        };
        // One thread publishes; the others go on.
        if let Ok(published) = self.published.try_lock()
            && (many || published.elapsed() > PUBLISH_AFTER)
            && let Err(error) = self.publish_locked(published)
        {
            self.give_up(&error);
        }
        value
    }
}

impl EvaluationCache {
    /// Evaluations that cannot be published are dropped when there are too many; games do not need them.
    fn give_up(&self, error: &EvaluationCacheError) {
        self.metrics.errors.increment(1);
        tracing::warn!(%error, "evaluations cannot be published");
        // No other thread publishes meanwhile: it would forget what is added after this.
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        *published = Instant::now();
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= 2 * MOST_IN_MEMORY {
            let all = recent.bytes();
            recent.forget(all);
        }
        // Not with the next evaluation: a try takes long, and a store that refuses writes refuses all. But before there are too
        // many, so that the one that fails then drops them.
        self.due.store((recent.len() + MOST_IN_MEMORY).min(2 * MOST_IN_MEMORY), Ordering::Relaxed);
    }
}

impl fmt::Debug for EvaluationCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EvaluationCache({})", self.name())
    }
}

impl Drop for EvaluationCache {
    fn drop(&mut self) {
        // Every program that has one says at its end what it was good for.
        let lookups = self.lookups();
        if lookups.all() > 0 {
            tracing::info!(set = self.name(), hits = %lookups, "evaluation cache closed");
        }
        if let Err(error) = self.publish() {
            self.metrics.errors.increment(1);
            tracing::warn!(%error, "evaluations cannot be published");
        }
        self.metrics.hold(Held::of(&self.opened()), Held::default());
    }
}

#[cfg(test)]
mod tests;
