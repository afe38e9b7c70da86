//! The next game, and the retries of void games.

use std::collections::{BTreeMap, VecDeque};

use play::Void;

/// Times that a game is begun before it is exhausted.
pub(crate) const TRIES: u64 = 3;
/// Void games in a row, beyond those that were in progress at once, that are too many.
const VOIDS: usize = 6;

/// The consecutive void games of a match, of all its threads.
#[derive(Debug)]
pub(crate) struct VoidStreak {
    limit: usize,
    /// Whether the two players have results, those of earlier matches included.
    has_results: bool,
    in_a_row: usize,
    /// Why the last game was void.
    reason: Option<String>,
}

impl VoidStreak {
    /// That of a match with so many games in progress at once: what ends one of them may end all, as a full GPU does.
    pub(crate) fn new(at_once: usize, has_results: bool) -> VoidStreak {
        VoidStreak { limit: VOIDS + at_once, has_results, in_a_row: 0, reason: None }
    }

    /// A game has counted. One that was in progress changes nothing once the match is hopeless.
    pub(crate) fn finished(&mut self) {
        if !self.is_hopeless() {
            self.has_results = true;
            self.in_a_row = 0;
        }
    }

    /// A game was void. The retries of a match come last, where none of the other games interrupts them: once a game
    /// has counted, a game that was void before says nothing of the next ones.
    pub(crate) fn void(&mut self, failure: &Failure) {
        if failure.times == 1 || !self.has_results {
            self.in_a_row += 1;
        }
        self.reason = Some(failure.void.reason.clone());
    }

    /// Whether so many games in a row were void that the next ones will too.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.in_a_row >= self.limit
    }

    /// How many games in a row were void, and why, where the match is hopeless or the players are still without
    /// results: a script would take them for players who have met.
    pub(crate) fn failure(self) -> Option<(usize, String)> {
        let games = self.in_a_row;
        let has_failed = self.is_hopeless() || !self.has_results;
        self.reason.filter(|_| has_failed).map(|reason| (games, reason))
    }
}

/// A void game.
#[derive(Debug)]
pub(crate) struct Failure {
    pub void: Void,
    /// How often it was void.
    pub times: u64,
}

/// The games that a thread still has to play.
#[derive(Debug)]
pub(crate) struct Retries {
    waiting: VecDeque<u64>,
    /// By game: how often it was void.
    failed: BTreeMap<u64, u64>,
}

impl Retries {
    pub(crate) fn new(games: VecDeque<u64>) -> Retries {
        Retries { waiting: games, failed: BTreeMap::new() }
    }

    /// The next game, and how often it was tried before.
    pub(crate) fn next(&mut self) -> Option<(u64, u64)> {
        let index = self.waiting.pop_front()?;
        Some((index, self.failed.get(&index).copied().unwrap_or(0)))
    }

    /// A game was void: it is played again, unless it is exhausted.
    pub(crate) fn void(&mut self, void: Void) -> Failure {
        let times = self.failed.entry(void.index).or_default();
        *times += 1;
        if *times < TRIES {
            self.waiting.push_back(void.index);
        }
        Failure { times: *times, void }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn void(index: u64) -> Void {
        Void { index, reason: format!("game {index} broke") }
    }

    fn failure(index: u64, times: u64) -> Failure {
        Failure { void: void(index), times }
    }

    #[test]
    fn void_game_is_replayed_up_to_three_times() {
        let mut retries = Retries::new(VecDeque::from([7, 8]));
        let (mut played, mut times) = (Vec::new(), Vec::new());
        while let Some((index, attempt)) = retries.next() {
            played.push((index, attempt));
            if index == 7 {
                times.push(retries.void(void(7)).times);
            }
        }
        assert_eq!(played, [(7, 0), (8, 0), (7, 1), (7, 2)]);
        assert_eq!(times, [1, 2, TRIES]);
    }

    #[test]
    fn games_after_too_many_void_ones_in_a_row_are_hopeless() {
        for at_once in [0, 16] {
            let mut streak = VoidStreak::new(at_once, false);
            for index in 0..10 {
                streak.void(&failure(index, 1));
                if index == 4 {
                    streak.finished();
                }
                assert!(!streak.is_hopeless());
            }
            for index in 0..=at_once as u64 {
                assert!(!streak.is_hopeless());
                streak.void(&failure(index, 1));
            }
            assert!(streak.is_hopeless());
            streak.finished();
            let expected = (VOIDS + at_once, format!("game {at_once} broke"));
            assert_eq!(streak.failure(), Some(expected), "a game that was in progress is no hope");
        }
    }

    #[test]
    fn retries_count_where_the_players_have_no_results() {
        for (has_results, expected) in [(true, None), (false, Some((3, "game 1 broke".to_owned())))] {
            let mut streak = VoidStreak::new(8, has_results);
            (1..=TRIES).for_each(|times| streak.void(&failure(1, times)));
            assert!(!streak.is_hopeless());
            assert_eq!(streak.failure(), expected);
        }
        let mut streak = VoidStreak::new(0, false);
        streak.finished();
        (0..3).for_each(|index| (1..=TRIES).for_each(|times| streak.void(&failure(index, times))));
        assert!(!streak.is_hopeless(), "a game has counted");
        assert_eq!(streak.failure(), None);
    }
}
