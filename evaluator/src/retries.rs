//! The next game, and the retries of void games.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use play::{Finish, Void};

/// Times that a game is begun before it is missing.
pub(crate) const TRIES: u64 = 3;
/// Maximum consecutive void games of a match.
const VOIDS: u32 = 6;

/// The consecutive void games of a match, of all its threads.
#[derive(Debug, Default)]
pub(crate) struct VoidStreak(Mutex<Streak>);

#[derive(Debug, Default)]
struct Streak {
    /// Whether a game has counted.
    has_finished: bool,
    in_a_row: u32,
    /// How many void games in a row were too many, and the reason of the last one. A later game changes nothing.
    hopeless: Option<(u32, String)>,
}

impl VoidStreak {
    fn finished(&self) {
        let mut streak = self.streak();
        streak.has_finished = true;
        streak.in_a_row = 0;
    }

    /// A game was void, which was so often void before. The retries of a match come last, where none of the other games
    /// interrupts them: once a game has counted, a game that was void before says nothing of the next ones.
    fn void(&self, before: u64, reason: &str) {
        let mut streak = self.streak();
        if before > 0 && streak.has_finished {
            return;
        }
        streak.in_a_row += 1;
        if streak.in_a_row >= VOIDS && streak.hopeless.is_none() {
            streak.hopeless = Some((streak.in_a_row, reason.to_owned()));
        }
    }

    /// Whether so many games in a row were void that the next ones will too.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.streak().hopeless.is_some()
    }

    /// How many those were, and why.
    pub(crate) fn hopeless(self) -> Option<(u32, String)> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).hopeless
    }

    fn streak(&self) -> MutexGuard<'_, Streak> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The games that a thread still has to play.
#[derive(Debug)]
pub(crate) struct Retries<'a> {
    waiting: VecDeque<u64>,
    /// By game: how often it was void.
    failed: BTreeMap<u64, u64>,
    streak: &'a VoidStreak,
}

impl<'a> Retries<'a> {
    pub(crate) fn new(games: VecDeque<u64>, streak: &'a VoidStreak) -> Retries<'a> {
        Retries { waiting: games, failed: BTreeMap::new(), streak }
    }

    /// The next game, and how often it was tried before.
    pub(crate) fn next(&mut self) -> Option<(u64, u64)> {
        let index = self.waiting.pop_front()?;
        Some((index, self.failed.get(&index).copied().unwrap_or(0)))
    }

    pub(crate) fn finished(&mut self, game: &Result<Finish, Void>) {
        let Err(void) = game else {
            self.streak.finished();
            return;
        };
        let failed = self.failed.entry(void.index).or_default();
        self.streak.void(*failed, &void.reason);
        *failed += 1;
        if *failed < TRIES {
            self.waiting.push_back(void.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;

    use super::*;

    fn void(index: u64) -> Result<Finish, Void> {
        Err(Void { index, reason: format!("game {index} broke") })
    }

    fn good() -> Result<Finish, Void> {
        Ok(Finish { record: synthetic::game("a", "w", 0, Size::new(5).unwrap(), 1), breach: None })
    }

    #[test]
    fn void_game_is_replayed_up_to_three_times() {
        let streak = VoidStreak::default();
        let mut retries = Retries::new(VecDeque::from([7, 8]), &streak);
        let mut played = Vec::new();
        while let Some((index, attempt)) = retries.next() {
            played.push((index, attempt));
            retries.finished(&if index == 7 { void(7) } else { good() });
        }
        assert_eq!(played, [(7, 0), (8, 0), (7, 1), (7, 2)]);
        assert!(!streak.is_hopeless());
    }

    #[test]
    fn tries_after_six_void_games_in_a_row_are_hopeless() {
        let streak = VoidStreak::default();
        let mut retries = Retries::new(VecDeque::new(), &streak);
        for index in 0..10 {
            retries.finished(&void(index));
            if index == 4 {
                retries.finished(&good());
            }
            assert!(!streak.is_hopeless());
        }
        retries.finished(&void(99));
        retries.finished(&good());
        assert_eq!(streak.hopeless(), Some((6, "game 99 broke".to_owned())), "a game that was in progress is no hope");
    }

    #[test]
    fn void_games_of_all_threads_are_in_a_row() {
        let streak = VoidStreak::default();
        for index in 0..6 {
            assert!(!streak.is_hopeless());
            Retries::new(VecDeque::new(), &streak).finished(&void(index));
        }
        assert!(streak.is_hopeless());
    }

    #[test]
    fn retries_at_the_end_of_a_match_are_hopeless_where_no_game_counted() {
        for (first, expected) in [(good(), false), (void(0), true)] {
            let streak = VoidStreak::default();
            let mut retries = Retries::new(VecDeque::from([1, 2, 3]), &streak);
            retries.finished(&first);
            while let Some((index, _)) = retries.next() {
                retries.finished(&void(index));
            }
            assert_eq!(streak.is_hopeless(), expected);
        }
    }
}
