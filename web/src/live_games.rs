//! Live games, which are read once for all pages that show them.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use config::RunName;
use lru::LruCache;
use record::GameRecord;
use store::{Run, Stem, StoreError};

use crate::watch::MOST_RUNS;

/// Runs whose games are kept: as many as are watched.
const MOST_KEPT: NonZeroUsize = NonZeroUsize::new(MOST_RUNS).expect("above 0");
/// Games of a page.
pub(crate) const MOST: usize = 12;
/// States are listed again after this time.
pub(crate) const FRESH: Duration = Duration::from_secs(1);
/// While they are read, other requests show what was read so long ago at most.
const STALE: Duration = Duration::from_secs(60);
/// A state that is older was left by a process that was killed, in milliseconds.
const OLDEST: u64 = 600_000;

/// The live games of the runs whose pages were opened last.
pub(crate) struct LiveGames(Mutex<LruCache<RunName, Arc<Known>>>);

/// The live games of a run. The request that reads them holds `reading`; others show what was read before, rather than that
/// all threads of pages wait.
#[derive(Default)]
struct Known {
    reading: Mutex<()>,
    last: Mutex<Last>,
}

/// What was read last, and when.
#[derive(Clone, Default)]
struct Last {
    listed: Option<Instant>,
    shown: Arc<Shown>,
}

impl Last {
    fn is_younger(&self, than: Duration) -> bool {
        self.listed.is_some_and(|listed| listed.elapsed() < than)
    }
}

/// What a page shows.
#[derive(Default)]
pub(crate) struct Shown {
    /// Another when a state is replaced, or ends.
    pub(crate) version: u64,
    /// Workers that play.
    pub(crate) workers: usize,
    /// The games of some of them.
    pub(crate) games: Vec<(Stem, Arc<GameRecord>)>,
}

impl Default for LiveGames {
    fn default() -> LiveGames {
        LiveGames(Mutex::new(LruCache::new(MOST_KEPT)))
    }
}

impl LiveGames {
    /// The games of a run, as they were a moment ago. One request at a time reads them, and of those the new ones.
    pub(crate) fn of(&self, run: &Run) -> Result<Arc<Shown>, StoreError> {
        let known = self.known(run.name());
        let last = || known.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let before = last();
        if before.is_younger(FRESH) {
            return Ok(before.shown);
        }
        let _reading = match known.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) if before.is_younger(STALE) => return Ok(before.shown),
            Err(TryLockError::WouldBlock) => known.reading.lock().unwrap_or_else(PoisonError::into_inner),
        };
        // Another request may have read them meanwhile.
        let before = last();
        if before.is_younger(FRESH) {
            return Ok(before.shown);
        }
        let shown = Arc::new(before.shown.next(run)?);
        let next = Last { listed: Some(Instant::now()), shown: Arc::clone(&shown) };
        *known.last.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(shown)
    }

    fn known(&self, run: &RunName) -> Arc<Known> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(runs.get_or_insert(run.clone(), Arc::default))
    }
}

impl Shown {
    /// The present games; those of states that are shown are not read again.
    fn next(&self, run: &Run) -> Result<Shown, StoreError> {
        let states = present(run)?;
        let mut games = Vec::new();
        for state in states.iter().take(MOST) {
            let game = match self.games.iter().find(|(shown, _)| shown == state) {
                Some((_, game)) => Some(Arc::clone(game)),
                None => run.live().read(state)?.map(Arc::new),
            };
            games.extend(game.map(|game| (state.clone(), game)));
        }
        let version = states.iter().map(Stem::time).fold(states.len() as u64, u64::wrapping_add);
        Ok(Shown { version, workers: states.len(), games })
    }
}

/// The states of workers that play.
fn present(run: &Run) -> Result<Vec<Stem>, StoreError> {
    let now = runtime::unix_millis();
    let mut states = run.live().list()?;
    states.retain(|state| now.saturating_sub(state.time()) < OLDEST);
    Ok(states)
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;
    use store::Store;

    use super::*;

    #[test]
    fn games_are_read_once_for_all_pages() {
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        let publish = |worker: &str, index: u64, before: Option<&Stem>| {
            let game = synthetic::game("r-1", worker, index, Size::new(5).unwrap(), 8);
            run.live().publish(worker, &game, before).unwrap().unwrap()
        };
        let live = LiveGames::default();
        let later = || {
            let known = live.known(run.name());
            known.last.lock().unwrap().listed = None;
            live.of(&run).unwrap()
        };
        let state = publish("one", 0, None);
        publish("two", 1, None);
        let first = live.of(&run).unwrap();
        assert_eq!((first.workers, first.games.len()), (2, 2));
        let newer = publish("one", 2, Some(&state));
        assert!(Arc::ptr_eq(&live.of(&run).unwrap(), &first));
        let second = later();
        assert_ne!(second.version, first.version);
        let played: Vec<u64> = second.games.iter().map(|(_, game)| game.index).collect();
        assert_eq!(played, [2, 1]);
        assert!(Arc::ptr_eq(&second.games[1].1, &first.games[1].1), "its state is the same");
        run.live().end(&newer);
        assert_eq!(later().workers, 1);
    }
}
