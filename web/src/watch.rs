//! Runs with open pages: a thread for each reads what is new in the store, as long as pages of the run are open.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use config::RunName;
use facts::{Facts, Reader, Strength};
use store::{Backoff, Run, StoreError};
use tokio::sync::watch;

use crate::PageError;

/// Shortest time between two events of a page: one that is being read changes many times a second.
pub(crate) const SHORTEST: Duration = Duration::from_millis(500);
/// How often a run is polled that has been read. A page shows what is new after this time and that of the requests.
const POLL: Duration = Duration::from_secs(3);
/// Longest pause after errors.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A run whose pages were not opened for so long is forgotten.
pub(crate) const IDLE: Duration = Duration::from_secs(600);
/// Runs that are watched at the same time. Another one takes the place of the least recently opened of those that no
/// open page follows.
pub(crate) const MOST_RUNS: NonZeroUsize = NonZeroUsize::new(32).expect("above 0");
/// Files that are read between two polls of what readers wait for.
const STEP: usize = 32;
/// A page waits so long for facts that are being read, and then shows those that are there.
const PATIENCE: Duration = Duration::from_millis(100);

/// What was known of a run at some time.
pub(crate) struct Snapshot {
    /// Grows with every change.
    pub(crate) version: u64,
    pub(crate) facts: Facts,
    pub(crate) strength: Strength,
    pub(crate) run: Run,
}

/// Share of its time that the server spends on new versions of a page at most: one part in so many.
const SHARE: u32 = 20;

impl Snapshot {
    /// Whether files are left to be read.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.facts.unread > 0
    }

    /// The address of events of all that is published, for a page that takes so long to make: the longer, the fewer
    /// events.
    pub(crate) fn events_for(&self, took: Duration) -> String {
        format!("/runs/{}/events?version={}&pause={}", self.run.name(), self.version, pause(took))
    }

    /// The address of events of new models.
    pub(crate) fn model_events(&self) -> String {
        format!("/runs/{}/events?of=models&version={}", self.run.name(), self.models())
    }

    /// The number of the newest model, 0 without one.
    pub(crate) fn models(&self) -> u64 {
        self.facts.newest_model.unwrap_or_default().into()
    }
}

/// Milliseconds between two events of a page that takes so long to make. Pages compare them, and need not know the
/// shortest.
pub(crate) fn pause(took: Duration) -> u128 {
    (took * SHARE).max(SHORTEST).as_millis()
}

/// The newest snapshot, or why there is none; nothing before the first.
pub(crate) type WatchState = Option<Result<Arc<Snapshot>, Arc<StoreError>>>;

/// All runs that are watched.
#[derive(Default)]
pub(crate) struct Watches(Mutex<BTreeMap<RunName, Watch>>);

struct Watch {
    state: watch::Receiver<WatchState>,
    opened: Opened,
    followers: Followers,
}

/// A run that is watched, at least as long as this is held.
pub(crate) struct OpenRun {
    pub(crate) state: watch::Receiver<WatchState>,
    _follower: Follower,
}

/// Counts the pages that follow a run. Clones have one count.
#[derive(Clone, Default)]
struct Followers(Arc<AtomicUsize>);

/// A page that follows a run, as long as this is held.
struct Follower(Followers);

impl Followers {
    fn enter(&self) -> Follower {
        self.0.fetch_add(1, Ordering::SeqCst);
        Follower(self.clone())
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let Followers(count) = &self.0;
        count.fetch_sub(1, Ordering::SeqCst);
    }
}

/// When a page of the run was opened last; nothing once the run is forgotten.
type Opened = Arc<Mutex<Option<Instant>>>;

impl Watches {
    /// The snapshots of a run. The first call begins to read it.
    ///
    /// # Errors
    /// Open pages follow as many runs as are watched.
    pub(crate) fn open(&self, run: &Run) -> Result<OpenRun, PageError> {
        let mut watches = self.lock();
        // Those whose threads have ended are forgotten: each keeps what was known of its run.
        watches.retain(|_, watch| watch.state.has_changed().is_ok());
        if let Some(watch) = watches.get(run.name()) {
            *lock(&watch.opened) = Some(Instant::now());
            return Ok(OpenRun { state: watch.state.clone(), _follower: watch.followers.enter() });
        }
        if watches.len() >= MOST_RUNS.get() {
            let idle = watches.iter().filter(|(_, watch)| watch.followers.is_empty());
            let oldest = idle.min_by_key(|(_, watch)| *lock(&watch.opened)).map(|(name, _)| name.clone());
            let watch = oldest.and_then(|name| watches.remove(&name)).ok_or(PageError::Busy)?;
            *lock(&watch.opened) = None;
        }
        let (sender, state) = watch::channel(None);
        let (opened, followers) = (Arc::new(Mutex::new(Some(Instant::now()))), Followers::default());
        let (follower, version) = (followers.enter(), first_version());
        let watched =
            Watched { run: run.clone(), sender, opened: Arc::clone(&opened), followers: followers.clone(), version };
        if let Err(error) = thread::Builder::new().name(format!("run {}", run.name())).spawn(move || watched.work()) {
            tracing::error!(%error, run = %run.name(), "cannot start a thread to read the run");
        }
        watches.insert(run.name().clone(), Watch { state: state.clone(), opened, followers });
        Ok(OpenRun { state, _follower: follower })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunName, Watch>> {
        lock(&self.0)
    }
}

/// Where versions begin: a thousand for each millisecond since 1970, so that a page of an earlier server or watch has
/// another version.
pub(crate) fn first_version() -> u64 {
    1000 * runtime::unix_millis()
}

/// A snapshot of a run for a page: a complete one if that is there soon.
pub(crate) async fn snapshot(run: OpenRun) -> Result<Arc<Snapshot>, PageError> {
    let mut state = run.state;
    let first = state.wait_for(Option::is_some).await.map(|state| state.clone());
    let _first = first.map_err(|_| PageError::Busy)?;
    let is_complete = |state: &WatchState| matches!(state, Some(Ok(snapshot)) if !snapshot.is_incomplete());
    drop(tokio::time::timeout(PATIENCE, state.wait_for(is_complete)).await);
    let now = state.borrow().clone();
    match now {
        Some(Ok(snapshot)) => Ok(snapshot),
        Some(Err(error)) => Err(PageError::Unreadable(error)),
        None => Err(PageError::Busy),
    }
}

/// The work of a thread.
struct Watched {
    run: Run,
    sender: watch::Sender<WatchState>,
    opened: Opened,
    followers: Followers,
    version: u64,
}

impl Watched {
    fn work(mut self) {
        let mut pause = Backoff::new(POLL, LONGEST_PAUSE);
        let mut reader = None;
        while self.is_wanted() {
            let begin = Instant::now();
            match self.read(&mut reader) {
                Ok(()) => return,
                Err(error) => {
                    if begin.elapsed() > LONGEST_PAUSE {
                        // It was read until now: the errors before are over.
                        pause.reset();
                    }
                    tracing::warn!(run = %self.run.name(), %error, "cannot read the run");
                    // Pages keep what was read before.
                    let error = Arc::new(error);
                    self.sender.send_if_modified(|state| {
                        let is_first = !matches!(state, Some(Ok(_)));
                        if is_first {
                            *state = Some(Err(Arc::clone(&error)));
                        }
                        is_first
                    });
                }
            }
            thread::sleep(pause.pause());
        }
    }

    /// Reads what is there, and then what comes, until no page wants it.
    fn read(&mut self, reader: &mut Option<Reader>) -> Result<(), StoreError> {
        let mut is_first = true;
        while self.is_wanted() {
            self.poll(reader, is_first)?;
            is_first = false;
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Reads what is new, and publishes it; the first time also where nothing is. An error keeps the reader: what it
    /// could not reach stays unread.
    fn poll(&mut self, kept: &mut Option<Reader>, is_first: bool) -> Result<(), StoreError> {
        let reader = match kept {
            Some(reader) => reader,
            None => kept.insert(Reader::open(self.run.clone())?),
        };
        let mut is_new = reader.refresh()? || is_first;
        if is_new {
            // The page is there before the rest is listed.
            self.publish(reader);
        }
        is_new |= reader.list()?;
        while !reader.is_done() && self.is_wanted() {
            reader.read(STEP)?;
            self.publish(reader);
        }
        if is_new {
            self.publish(reader);
        }
        Ok(())
    }

    fn is_wanted(&self) -> bool {
        let is_open = !self.followers.is_empty();
        !self.sender.is_closed() && lock(&self.opened).is_some_and(|opened| is_open || opened.elapsed() < IDLE)
    }

    fn publish(&mut self, reader: &Reader) {
        self.version += 1;
        let facts = reader.facts();
        let strength = Strength::of(&facts);
        let snapshot = Snapshot { version: self.version, facts, strength, run: self.run.clone() };
        self.sender.send_replace(Some(Ok(Arc::new(snapshot))));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use config::Preset;
    use go::Size;
    use record::synthetic;
    use store::{FileRef, Stem, Store};
    use testing::with_guard;

    use super::*;

    fn games(snapshot: &Snapshot) -> u64 {
        snapshot.facts.games.values().map(|games| games.counts.games()).sum()
    }

    #[test]
    fn games_that_were_read_stay_after_an_outage_of_the_store() {
        let (store, name) = (Store::in_memory().unwrap(), "r".parse().unwrap());
        let run = store.run(&name);
        run.create(&Preset::Tiny.config()).unwrap();
        let models = STEP as u32 + 8;
        for model in 1..=models {
            let games = [synthetic::game(&format!("r-{model}"), "w", 0, Size::new(5).unwrap(), 8)];
            let file = FileRef { model, stem: Stem::new("w", 1).unwrap() };
            run.games().publish_as(&file, &games).unwrap();
        }
        let (sender, state) = watch::channel::<WatchState>(None);
        let (is_out, fewest) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(u64::MAX)));
        let (seen, during, least) = (state.clone(), Arc::clone(&is_out), Arc::clone(&fewest));
        // The outage begins when some games are read. After it, requests see what pages have meanwhile.
        let guarded = with_guard(&store, move |_| match &*seen.borrow() {
            Some(Ok(snapshot)) if during.load(Ordering::Relaxed) => !snapshot.is_incomplete(),
            Some(Ok(snapshot)) => {
                least.fetch_min(games(snapshot), Ordering::Relaxed);
                true
            }
            _ => true,
        });
        let (opened, followers) = (Arc::new(Mutex::new(Some(Instant::now()))), Followers::default());
        let mut watched = Watched { run: guarded.run(&name), sender, opened, followers, version: 1 };
        let mut reader = None;
        assert!(watched.poll(&mut reader, true).is_err());
        is_out.store(false, Ordering::Relaxed);
        watched.poll(&mut reader, true).unwrap();
        assert_eq!(fewest.load(Ordering::Relaxed), STEP as u64);
        let last = state.borrow().clone().unwrap().unwrap();
        assert_eq!((games(&last), last.facts.unread), (u64::from(models), 0));
    }

    #[test]
    fn pause_of_a_page_is_one_that_the_server_keeps() {
        assert_eq!([0, 25, 1000].map(|took| pause(Duration::from_millis(took))), [500, 500, 20_000]);
    }

    #[test]
    fn run_that_is_not_read_any_more_is_forgotten_when_another_one_is_opened() {
        let (store, watches) = (Store::in_memory().unwrap(), Watches::default());
        let run = |name: &str| store.run(&name.parse().unwrap());
        let names = || watches.lock().keys().map(ToString::to_string).collect::<Vec<_>>();
        let (sender, state) = watch::channel(None);
        let (opened, followers) = (Arc::default(), Followers::default());
        watches.lock().insert(run("idle").name().clone(), Watch { state, opened, followers });
        let followed = watches.open(&run("one")).unwrap();
        assert_eq!(names(), ["idle", "one"]);
        drop(sender);
        drop(watches.open(&run("two")).unwrap());
        assert_eq!(names(), ["one", "two"]);
        assert!(followed.state.has_changed().is_ok());
    }

    #[test]
    fn run_is_followed_by_pages_and_not_by_who_counts_them() {
        let followers = Followers::default();
        let (other, first, second) = (followers.clone(), followers.enter(), followers.enter());
        drop(first);
        assert!(!followers.is_empty() && !other.is_empty());
        drop(second);
        assert!(followers.is_empty() && other.is_empty());
    }

    #[test]
    fn runs_that_pages_follow_keep_their_places() {
        let (store, watches) = (Store::in_memory().unwrap(), Watches::default());
        let run = |number: usize| {
            let run = store.run(&format!("r{number}").parse().unwrap());
            run.create(&Preset::Tiny.config()).unwrap();
            run
        };
        let most = MOST_RUNS.get();
        let mut followed: Vec<OpenRun> = (0..most).map(|number| watches.open(&run(number)).unwrap()).collect();
        assert!(matches!(watches.open(&run(most)), Err(PageError::Busy)));
        // Another page of a followed run needs no place of its own.
        drop(watches.open(&run(3)).unwrap());
        drop(followed.pop());
        drop(watches.open(&run(most)).unwrap());
        let names: Vec<String> = watches.lock().keys().map(ToString::to_string).collect();
        assert!(names.contains(&format!("r{most}")) && !names.contains(&format!("r{}", most - 1)), "{names:?}");
        assert!(followed.iter().all(|run| run.state.has_changed().is_ok()), "none of them ends");
    }
}
