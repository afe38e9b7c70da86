//! How many games of one model are of use, and whether they are there.
//!
//! The next model is trained on a window of the newest games. Games of one model beyond the size of that window push
//! out games of the same model, so a worker that follows a run stops there and waits for the next model.
//!
//! A worker counts its own games. Those of others are listed, when they may be enough at the rate seen so far: after 10
//! seconds at the earliest and every five minutes at least. Files are read only when their number says that there may
//! be enough games.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use config::{RunConfig, WindowLimit};
use record::GameId;
use store::{FileRef, Run, StoreError};

use crate::JobProgress;

/// Between two listings.
const POLL: Duration = Duration::from_secs(10);
const LONGEST_POLL: Duration = Duration::from_secs(300);
/// Files that one listing has read, at most.
const READ: usize = 64;

/// The games of a model, as far as they are counted.
#[derive(Debug)]
pub(crate) struct Bound {
    model: u32,
    /// The shuffler waits for so many games.
    wanted: u64,
    /// Games of use, or positions.
    limit: WindowLimit,
    games_per_file: u64,
    /// The games of each file, and their positions. A game may be in two files, and the shuffler counts it once.
    known: BTreeMap<FileRef, Vec<(GameId, u32)>>,
    began: Instant,
    next: Instant,
    /// What was counted at last.
    counted: Count,
}

/// What some games hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    games: u64,
    positions: u64,
}

impl Bound {
    /// The bound for a model: the window of the next one, or `most` games, and never fewer than the next model waits
    /// for. `None` when `most` is 0. A window by the power law counts with its largest size, since all games of the run
    /// would have to be counted for the present one.
    pub(crate) fn new(config: &RunConfig, model: u32, most: Option<u64>) -> Option<Bound> {
        let limit = match most {
            Some(0) => return None,
            Some(most) => WindowLimit::Games(most as usize),
            None => config.window.limit(model),
        };
        Some(Bound {
            model,
            wanted: config.selfplay.games_of(model) as u64,
            limit,
            games_per_file: config.selfplay.games_per_file as u64,
            known: BTreeMap::new(),
            began: Instant::now(),
            next: Instant::now() + POLL,
            counted: Count::default(),
        })
    }

    /// Notes the games of this process. Returns whether they alone are enough.
    pub(crate) fn note_own(&mut self, progress: JobProgress) -> bool {
        // A position is a move, and not every move is a position for training.
        let positions = progress.moves / progress.finished.max(1) * progress.games;
        let own = Count { games: progress.games, positions };
        match self.limit {
            _ if !self.is_enough(own) => false,
            WindowLimit::Games(_) => {
                self.counted = own;
                true
            }
            WindowLimit::Positions(_) => {
                self.next = self.next.min(Instant::now() + POLL);
                false
            }
        }
    }

    /// Counts the published games, if it is time to, and returns whether they are enough.
    pub(crate) fn poll(&mut self, run: &Run) -> Result<bool, StoreError> {
        if Instant::now() < self.next {
            return Ok(false);
        }
        self.count(run)
    }

    /// Counts the published games of all files, and returns whether they are enough.
    pub(crate) fn count_all(&mut self, run: &Run) -> Result<bool, StoreError> {
        loop {
            let known = self.known.len();
            let enough = self.count(run)?;
            if enough || self.known.len() == known {
                return Ok(enough);
            }
        }
    }

    /// Counts the published games, after reading `READ` new files at most, and returns whether they are enough.
    fn count(&mut self, run: &Run) -> Result<bool, StoreError> {
        let files = run.games().files(self.model)?;
        let may_hold = (files.len() as u64).saturating_mul(self.games_per_file);
        if may_hold >= self.least() {
            let new = files.iter().filter(|file| !self.known.contains_key(file)).take(READ);
            let new: Vec<FileRef> = new.cloned().collect();
            let read = run.games().read_each(&new, |file| run.games().summaries(file));
            for (file, games) in new.into_iter().zip(read) {
                let games = match games {
                    Ok(games) => games.iter().map(|game| (game.id, game.positions)).collect(),
                    // No reader of this version can use it.
                    Err(error) if error.is_skippable() => Vec::new(),
                    Err(error) => return Err(error),
                };
                self.known.insert(file, games);
            }
        }
        let mut seen = HashSet::new();
        self.counted = Count::default();
        for &(id, positions) in files.iter().filter_map(|file| self.known.get(file)).flatten() {
            if seen.insert(id) {
                self.counted.games += 1;
                self.counted.positions += u64::from(positions);
            }
        }
        self.next = Instant::now() + self.pause(may_hold);
        Ok(self.is_enough(self.counted))
    }

    /// Games counted at last.
    pub(crate) fn games(&self) -> u64 {
        self.counted.games
    }

    fn is_enough(&self, there: Count) -> bool {
        let size = self.limit.of(there.games, there.positions);
        there.games >= self.wanted && size >= self.limit.size() as u64
    }

    /// Fewer games are never enough, whatever their positions.
    fn least(&self) -> u64 {
        match self.limit {
            WindowLimit::Games(most) => self.wanted.max(most as u64),
            WindowLimit::Positions(_) => self.wanted,
        }
    }

    /// Half of the time until there are enough at the rate seen so far.
    fn pause(&self, games: u64) -> Duration {
        if games == 0 {
            return LONGEST_POLL / 5;
        }
        let left = (self.least() as f64 / games as f64 - 1.0).max(0.0) / 2.0;
        Duration::from_secs_f64(
            (self.began.elapsed().as_secs_f64() * left).clamp(POLL.as_secs_f64(), LONGEST_POLL.as_secs_f64()),
        )
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;
    use store::Store;

    use super::*;

    fn config(changes: &[&str]) -> RunConfig {
        config::Preset::Tiny.with(changes).expect("the overrides are good")
    }

    fn size(changes: &[&str], model: u32, most: Option<u64>) -> Option<(u64, WindowLimit)> {
        Bound::new(&config(changes), model, most).map(|bound| (bound.wanted, bound.limit))
    }

    #[test]
    fn bound_is_the_window_of_the_next_model() {
        assert_eq!(size(&["window.games=200"], 3, None), Some((40, WindowLimit::Games(200))));
        assert_eq!(size(&["selfplay.first_games=70"], 0, None), Some((70, WindowLimit::Games(200))));
        assert_eq!(size(&["window.positions=900"], 3, None), Some((40, WindowLimit::Positions(900))));
        let slow = ["window.games=100000", "window.growth=slow"];
        assert_eq!(size(&slow, 3, None), Some((40, WindowLimit::Games(80_000))));
        assert_eq!(size(&slow, 30, None), Some((40, WindowLimit::Games(100_000))));
        assert_eq!(size(&[], 3, Some(90)), Some((40, WindowLimit::Games(90))));
        assert_eq!(size(&[], 3, Some(0)), None);
    }

    #[test]
    fn bound_is_never_below_what_the_next_model_waits_for() {
        let mut bound = Bound::new(&config(&[]), 3, Some(1)).expect("there is one");
        let own = |games| JobProgress { games, ..JobProgress::default() };
        assert!(!bound.note_own(own(39)));
        assert!(bound.note_own(own(40)));
        assert_eq!(bound.games(), 40);
    }

    #[test]
    fn bound_counts_the_games_of_all_workers_and_no_damaged_ones() {
        let run = Store::in_memory().expect("memory").run(&"r".parse().expect("a name"));
        let mut bound = Bound::new(&config(&["window.games=45"]), 1, None).expect("there is one");
        let board = Size::new(5).expect("a size");
        let publish = |worker: &str, games: u64| {
            let games: Vec<_> = (0..games).map(|index| synthetic::game("r-1", worker, index, board, 8)).collect();
            run.games().publish(1, worker, &games).expect("memory can be written");
        };
        for worker in ["a", "b", "c", "d"] {
            publish(worker, 10);
        }
        assert!(!bound.count(&run).expect("memory can be read"));
        assert_eq!(bound.known.len(), 0, "so few files are not read");
        publish("e", 4);
        assert!(!bound.count(&run).expect("memory can be read"));
        assert_eq!((bound.known.len(), bound.games()), (5, 44));
        publish("f", 1);
        assert!(bound.count(&run).expect("memory can be read"));
    }

    #[test]
    fn bound_in_positions_counts_those_of_all_workers() {
        let run = Store::in_memory().expect("memory").run(&"r".parse().expect("a name"));
        let (board, mut positions) = (Size::new(5).expect("a size"), 0);
        for worker in ["a", "b", "c", "d"] {
            let games: Vec<_> = (0..10).map(|index| synthetic::game("r-1", worker, index, board, 8)).collect();
            positions += games.iter().map(|game| game.positions()).sum::<usize>();
            run.games().publish(1, worker, &games).expect("memory can be written");
        }
        for (limit, enough) in [(positions, true), (positions + 1, false)] {
            let limit = format!("window.positions={limit}");
            let mut bound = Bound::new(&config(&[&limit]), 1, None).expect("there is one");
            assert_eq!(bound.count(&run).expect("memory can be read"), enough, "{limit} of {positions}");
        }
    }

    #[test]
    fn bound_counts_files_of_any_number_of_games() {
        let run = Store::in_memory().expect("memory").run(&"r".parse().expect("a name"));
        let per_file = format!("selfplay.games_per_file={}", i64::MAX);
        let mut bound = Bound::new(&config(&[&per_file]), 1, Some(40)).expect("there is one");
        let board = Size::new(5).expect("a size");
        for worker in ["a", "b", "c"] {
            let games: Vec<_> = (0..10).map(|index| synthetic::game("r-1", worker, index, board, 8)).collect();
            run.games().publish(1, worker, &games).expect("memory can be written");
        }
        assert!(!bound.count(&run).expect("memory can be read"));
        assert_eq!(bound.games(), 30);
    }

    #[test]
    fn bound_counts_a_game_of_two_files_once() {
        let run = Store::in_memory().expect("memory").run(&"r".parse().expect("a name"));
        let mut bound = Bound::new(&config(&[]), 1, Some(40)).expect("there is one");
        let board = Size::new(5).expect("a size");
        for indices in [0..10, 0..10, 10..20, 20..30, 30..39, 39..40] {
            assert!(!bound.count(&run).expect("memory can be read"), "{} games", bound.games());
            let games: Vec<_> = indices.map(|index| synthetic::game("r-1", "w", index, board, 8)).collect();
            run.games().publish(1, "w", &games).expect("memory can be written");
        }
        assert!(bound.count(&run).expect("memory can be read"));
        assert_eq!(bound.games(), 40);
    }

    #[test]
    fn count_of_all_files_reads_more_than_one_count() {
        let run = Store::in_memory().expect("memory").run(&"r".parse().expect("a name"));
        let board = Size::new(5).expect("a size");
        let files = READ as u64 + 6;
        for worker in 0..files {
            let worker = format!("w{worker}");
            let games = [synthetic::game("r-1", &worker, 0, board, 8)];
            run.games().publish(1, &worker, &games).expect("memory can be written");
        }
        let mut bound = Bound::new(&config(&[]), 1, Some(files)).expect("there is one");
        assert!(!bound.count(&run).expect("memory can be read"));
        assert_eq!(bound.games(), READ as u64);
        assert!(bound.count_all(&run).expect("memory can be read"));
        assert_eq!(bound.games(), files);
    }
}
