//! Evaluations of a model that outlive the process: segments of a store, and what was added since the last.
//!
//! New evaluations are in memory until there are many, or the last were published a while ago, and when the program ends; then they
//! are published as a segment. Many small segments are merged into one. A process that is killed loses what was in memory.
//!
//! A lookup and a new evaluation allocate nothing, once the buffers have grown to the largest block and to the evaluations of a
//! segment. Reads from a bucket do: a response each, or a copy of a part of the segment.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use evalcache::segment::{self, Merged};
use evalcache::{
    Codec, Key, KomiCoding, ReadError, Segment, SegmentError, Set, Source, SourceError, Steps, Symmetries, Tables, View,
};
use exit_class::{Classified, ExitClass};
use metrics::{Counter, counter};
use play::EvaluationStore;
use runtime::EvalcacheArgs;
use store::{Evaluations, SegmentFile, Store, StoreError};

mod recent;

use recent::Recent;

/// Evaluations in memory that make a segment.
const MOST_IN_MEMORY: usize = 200_000;
/// How long evaluations are in memory at most, when others are added.
const PUBLISH_AFTER: Duration = Duration::from_secs(60);
/// A segment of more evaluations is not merged any more.
const MOST_MERGED: u64 = 4_000_000;
/// So many segments that can be merged are.
const MERGE: usize = 8;
/// Of their own accord, segments are merged with others that are at most so many times as large as those before together, so that
/// evaluations are written again only a few times.
const SIMILAR: u64 = 2;

/// How evaluations are kept, and where.
#[derive(Clone, Debug)]
pub struct EvaluationCacheOptions {
    /// The store.
    pub store: Store,
    /// How exactly.
    pub steps: Steps,
    /// In which symmetry positions are evaluated.
    pub symmetries: Symmetries,
    /// Folder for copies of segments from a bucket.
    pub copies: Option<PathBuf>,
}

impl EvaluationCacheOptions {
    /// The options of a command line; `None` without a store.
    ///
    /// # Errors
    /// As [`EvaluationCacheOptions::parse`].
    pub fn of(args: &EvalcacheArgs) -> Result<Option<EvaluationCacheOptions>, EvaluationCacheError> {
        let EvalcacheArgs { evalcache, evalcache_steps, evalcache_symmetry, evalcache_copies } = args;
        let Some(store) = evalcache else { return Ok(None) };
        Self::parse(store, evalcache_steps, evalcache_symmetry, evalcache_copies.clone()).map(Some)
    }

    /// Options as typed: a store, steps, a symmetry, and a folder for copies.
    ///
    /// # Errors
    /// A store that cannot be opened, or words that are none of these.
    pub fn parse(
        store: &str,
        steps: &str,
        symmetries: &str,
        copies: Option<PathBuf>,
    ) -> Result<EvaluationCacheOptions, EvaluationCacheError> {
        let steps = steps.parse().map_err(EvaluationCacheError::Option)?;
        let symmetries = symmetries.parse().map_err(EvaluationCacheError::Option)?;
        Ok(EvaluationCacheOptions { store: Store::open(store)?, steps, symmetries, copies })
    }
}

/// An evaluation cache that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationCacheError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A segment cannot be read.
    #[error("{path}: {source}")]
    Segment {
        /// The segment.
        path: String,
        /// The problem with it.
        source: ReadError,
    },
    /// An option that means nothing.
    #[error("{0}")]
    Option(String),
    /// Evaluations that make no segment: a bug.
    #[error("cannot write a segment: {0}")]
    Write(#[from] SegmentError),
}

impl Classified for EvaluationCacheError {
    fn class(&self) -> ExitClass {
        match self {
            EvaluationCacheError::Store(error) => error.class(),
            EvaluationCacheError::Option(_) => ExitClass::Configuration,
            EvaluationCacheError::Segment { .. } | EvaluationCacheError::Write(_) => ExitClass::Failure,
        }
    }
}

/// The result of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergedSegments {
    /// Segments that were merged.
    pub merged: usize,
    /// Evaluations in the segments that were written.
    pub evaluations: u64,
    /// Segments deleted, those that another one stood for already included.
    pub deleted: usize,
    /// Blocks that could not be read, whose evaluations are lost.
    pub damaged: usize,
}

/// Number of lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Evaluations that were there.
    pub hits: u64,
    /// Evaluations that were not.
    pub misses: u64,
}

/// The evaluations of one set, for all threads of a process.
pub struct EvaluationCache {
    segments: Evaluations,
    set: Set,
    tables: Tables,
    open: RwLock<Vec<OpenSegment>>,
    recent: RwLock<Recent>,
    /// When the last evaluations were published; the thread that publishes holds it.
    published: Mutex<Instant>,
    /// Whether a failure of the store was logged.
    failed: AtomicBool,
    hits: AtomicU64,
    misses: AtomicU64,
    counters: Counters,
}

/// The metrics of lookups. To find one by its name allocates.
struct Counters {
    hits: Counter,
    misses: Counter,
    errors: Counter,
}

/// A segment of the store.
struct OpenSegment {
    number: u32,
    segment: Segment<SegmentSource>,
}

/// The bytes of a segment in a store.
pub struct SegmentSource(pub SegmentFile);

impl Source for SegmentSource {
    fn len(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SourceError> {
        Ok(self.0.read(at, into)?)
    }
}

/// The folder of a set and of tables.
fn name(set: &Set, tables: &Tables) -> String {
    let model: String = set.model[..8].iter().map(|byte| format!("{byte:02x}")).collect();
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
        EvaluationCache::of(segments, set, tables)
    }

    /// Opens the evaluations in a folder of a store, whatever their tables; `None` when it has no segment that can be read.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn open_named(
        store: &Store,
        name: &str,
        copies: Option<&Path>,
    ) -> Result<Option<EvaluationCache>, EvaluationCacheError> {
        let segments = store.evaluations(name, copies)?;
        for number in segments.numbers()? {
            if let Ok(segment) = Segment::open(SegmentSource(segments.open(number)?)) {
                let head = segment.head();
                return EvaluationCache::of(segments, head.set, head.tables.clone()).map(Some);
            }
        }
        Ok(None)
    }

    fn of(segments: Evaluations, set: Set, tables: Tables) -> Result<EvaluationCache, EvaluationCacheError> {
        let cache = EvaluationCache {
            segments,
            set,
            tables,
            open: RwLock::default(),
            recent: RwLock::default(),
            published: Mutex::new(Instant::now()),
            failed: AtomicBool::new(false),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            counters: Counters {
                hits: counter!("tengen_evalcache_hits_total"),
                misses: counter!("tengen_evalcache_misses_total"),
                errors: counter!("tengen_evalcache_errors_total"),
            },
        };
        cache.refresh()?;
        Ok(cache)
    }

    /// Opens the segments that others have published, and forgets those that are gone.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn refresh(&self) -> Result<(), EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.retain(|old| numbers.contains(&old.number));
        for number in numbers {
            if open.iter().any(|old| old.number == number) {
                continue;
            }
            match self.open_segment(number) {
                Ok(Some(segment)) => open.push(OpenSegment { number, segment }),
                Ok(None) => {}
                Err(error @ EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => {
                    tracing::warn!(%error, "segment of the evaluation cache omitted");
                }
                Err(error) => return Err(error),
            }
        }
        let replaced: Vec<u32> = open.iter().flat_map(|one| one.segment.head().replaces.clone()).collect();
        open.retain(|one| !replaced.contains(&one.number));
        // The newest first.
        open.sort_by_key(|one| std::cmp::Reverse(one.number));
        Ok(())
    }

    /// A segment; `None` when it is gone or of another set.
    fn open_segment(&self, number: u32) -> Result<Option<Segment<SegmentSource>>, EvaluationCacheError> {
        let file = match self.segments.open(number) {
            Err(StoreError::NotFound { .. }) => return Ok(None),
            file => file?,
        };
        let opened = Segment::open(SegmentSource(file));
        let segment =
            opened.map_err(|source| EvaluationCacheError::Segment { path: self.segments.name(number), source })?;
        let fits = segment.head().set == self.set && segment.head().tables.digest() == self.tables.digest();
        if !fits {
            tracing::warn!(segment = self.segments.name(number), "segment of another set omitted");
        }
        Ok(fits.then_some(segment))
    }

    /// The origin of the evaluations.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Evaluations in the open segments, those that several of them have counted several times.
    pub fn evaluations(&self) -> u64 {
        self.open.read().unwrap_or_else(PoisonError::into_inner).iter().map(|one| one.segment.head().entries).sum()
    }

    /// Bytes of the open segments.
    pub fn bytes(&self) -> u64 {
        self.open.read().unwrap_or_else(PoisonError::into_inner).iter().map(|one| one.segment.source().len()).sum()
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
        self.open.read().unwrap_or_else(PoisonError::into_inner).len()
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
        counter!("tengen_evalcache_written_bytes_total").increment(bytes.len() as u64);
        let number = self.segments.publish(&bytes.into())?;
        *published = Instant::now();
        self.refresh()?;
        self.recent.write().unwrap_or_else(PoisonError::into_inner).forget(written);
        tracing::debug!(segment = number, "published evaluations");
        if self.segments() >= MERGE {
            self.merge(SIMILAR)?;
        }
        Ok(())
    }

    /// Merges segments into larger ones, and deletes those that another one stands for.
    ///
    /// The merged segment names those that it stands for and is published first, so that a process that is killed leaves
    /// everything in one segment at least; the next compaction deletes what was left over.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn compact(&self) -> Result<MergedSegments, EvaluationCacheError> {
        self.merge(u64::MAX)
    }

    /// Merges segments from the smallest on, as long as the next is at most `ratio` times as large as those before together.
    fn merge(&self, ratio: u64) -> Result<MergedSegments, EvaluationCacheError> {
        let mut done = MergedSegments { deleted: self.delete_replaced()?, ..MergedSegments::default() };
        self.refresh()?;
        let (mut merged, mut numbers) = (Merged::default(), Vec::new());
        {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            let mut small: Vec<&OpenSegment> =
                open.iter().filter(|one| one.segment.head().entries < MOST_MERGED).collect();
            small.sort_by_key(|one| (one.segment.head().entries, one.number));
            for one in small {
                let (before, more) = (merged.len() as u64, one.segment.head().entries);
                let dissimilar = before > 0 && more > ratio.saturating_mul(before);
                if dissimilar || (before + more > MOST_MERGED && numbers.len() > 1) {
                    break;
                }
                let added = merged.add(&one.segment);
                added
                    .map_err(|source| EvaluationCacheError::Segment { path: self.segments.name(one.number), source })?;
                numbers.push(one.number);
            }
        }
        if numbers.len() < 2 {
            return Ok(done);
        }
        done.damaged = merged.damaged.len();
        for damage in &merged.damaged {
            tracing::warn!(error = %damage, "block of the evaluation cache omitted");
        }
        done.merged = numbers.len();
        let bytes = merged.write(self.set, &self.tables, &numbers)?;
        done.evaluations = merged.len() as u64;
        counter!("tengen_evalcache_written_bytes_total").increment(bytes.len() as u64);
        self.segments.publish(&bytes.into())?;
        done.deleted += self.delete_replaced()?;
        self.refresh()?;
        Ok(done)
    }

    /// Deletes segments that a readable one stands for.
    fn delete_replaced(&self) -> Result<usize, EvaluationCacheError> {
        let numbers = self.segments.numbers()?;
        let mut replaced = Vec::new();
        for &number in &numbers {
            match self.open_segment(number) {
                Ok(segment) => replaced.extend(segment.into_iter().flat_map(|segment| segment.head().replaces.clone())),
                Err(EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let mut deleted = 0;
        for &number in numbers.iter().filter(|number| replaced.contains(number)) {
            self.segments.delete(number)?;
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Reads all segments and returns the damage, each with the name of its segment.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn check(&self) -> Result<Vec<EvaluationCacheError>, EvaluationCacheError> {
        let mut found = Vec::new();
        for number in self.segments.numbers()? {
            let path = self.segments.name(number);
            match self.open_segment(number) {
                Ok(None) => {}
                Ok(Some(segment)) => {
                    let damage = segment.check();
                    let damage =
                        damage.map_err(|source| EvaluationCacheError::Segment { path: path.clone(), source })?;
                    found.extend(
                        damage.into_iter().map(|source| EvaluationCacheError::Segment { path: path.clone(), source }),
                    );
                }
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
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        for one in open.iter() {
            match one.segment.get(key, buffer) {
                Ok(Some(code)) => return Some(code),
                Ok(None) => {}
                Err(error) => self.log(one, &error),
            }
        }
        None
    }

    /// Logs damage once a block, and a store that cannot be read once.
    fn log(&self, one: &OpenSegment, error: &ReadError) {
        self.counters.errors.increment(1);
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
        let Some(code) = self.find(key, buffer) else {
            self.counters.misses.increment(1);
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.counters.hits.increment(1);
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(Codec::new(&self.tables).decode(view, &buffer[code], policy))
    }

    fn put(&self, key: Key, view: &View, policy: &mut [f32], value: &mut f32, buffer: &mut Vec<u8>) {
        buffer.clear();
        let codec = Codec::new(&self.tables);
        // Invalid evaluations are not kept, and stay as they are.
        if codec.encode(view, policy, *value, buffer).is_none() {
            return;
        }
        *value = codec.decode(view, buffer, policy);
        let many = {
            let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
            recent.put(key, buffer);
            recent.len() >= MOST_IN_MEMORY
        };
        // One thread publishes; the others go on.
        if let Ok(published) = self.published.try_lock()
            && (many || published.elapsed() > PUBLISH_AFTER)
            && let Err(error) = self.publish_locked(published)
        {
            self.give_up(&error);
        }
    }
}

impl EvaluationCache {
    /// Evaluations that cannot be published are dropped when there are too many; games do not need them.
    fn give_up(&self, error: &EvaluationCacheError) {
        self.counters.errors.increment(1);
        tracing::warn!(%error, "evaluations cannot be published");
        // No other thread publishes meanwhile: it would forget what is added after this.
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        *published = Instant::now();
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= 2 * MOST_IN_MEMORY {
            let all = recent.bytes();
            recent.forget(all);
        }
    }
}

impl Drop for EvaluationCache {
    fn drop(&mut self) {
        if let Err(error) = self.publish() {
            tracing::warn!(%error, "evaluations cannot be published");
        }
    }
}

/// The cache of a model, which several evaluators share.
pub(crate) type SharedCache = Arc<EvaluationCache>;

#[cfg(test)]
mod tests;
