//! Live games, which are read once for all pages that show them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use config::RunName;
use lru::LruCache;
use record::GameRecord;
use store::{Run, Stem, StoreError};

use crate::latest::Latest;
use crate::watch::MOST_RUNS;

/// Games of a page.
pub(crate) const MOST: usize = 12;
/// States are listed again after this time.
pub(crate) const FRESH: Duration = Duration::from_secs(1);
/// A state that is older was left by a process that was killed, in milliseconds.
const OLDEST: u64 = 600_000;

/// The live games of the runs whose pages were opened last: as many runs as are watched.
pub(crate) struct LiveGames(Mutex<LruCache<RunName, Arc<Latest<Arc<Shown>>>>>);

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
        LiveGames(Mutex::new(LruCache::new(MOST_RUNS)))
    }
}

impl LiveGames {
    /// The games of a run, as they were a moment ago. One request at a time reads them, and of those the new ones.
    pub(crate) fn of(&self, run: &Run) -> Result<Arc<Shown>, StoreError> {
        self.younger(run, FRESH)
    }

    /// The games of a run, as they were so long ago at most.
    fn younger(&self, run: &Run, than: Duration) -> Result<Arc<Shown>, StoreError> {
        self.known(run.name()).get(than, |(), before: Option<Arc<Shown>>| {
            before.as_deref().unwrap_or(&Shown::default()).next(run).map(Arc::new)
        })
    }

    fn known(&self, run: &RunName) -> Arc<Latest<Arc<Shown>>> {
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
    use testing::PATIENCE;

    use super::*;

    #[test]
    fn games_are_read_once_for_all_pages() {
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        let publish = |worker: &str, index: u64, before: Option<&Stem>| {
            let game = synthetic::game("r-1", worker, index, Size::new(5).unwrap(), 8);
            run.live().publish(worker, &game, before).unwrap().unwrap()
        };
        let live = LiveGames::default();
        let shown = || live.younger(&run, PATIENCE).unwrap();
        let later = || {
            live.known(run.name()).age(PATIENCE);
            shown()
        };
        let state = publish("one", 0, None);
        publish("two", 1, None);
        let first = shown();
        assert_eq!((first.workers, first.games.len()), (2, 2));
        let newer = publish("one", 2, Some(&state));
        assert!(Arc::ptr_eq(&shown(), &first));
        let second = later();
        assert_ne!(second.version, first.version);
        let played: Vec<u64> = second.games.iter().map(|(_, game)| game.index).collect();
        assert_eq!(played, [2, 1]);
        assert!(Arc::ptr_eq(&second.games[1].1, &first.games[1].1), "its state is the same");
        run.live().end(&newer);
        assert_eq!(later().workers, 1);
    }
}
