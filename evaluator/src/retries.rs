//! The next game, and the retries of void games.

use std::collections::{BTreeMap, VecDeque};

use play::{Finish, Void};

/// Times that a game is begun before it is void.
const TRIES: u64 = 3;
/// Maximum consecutive void games.
const VOIDS: u32 = 6;

/// The games that are still to be played.
#[derive(Debug)]
pub(crate) struct Retries {
    waiting: VecDeque<u64>,
    /// By game: how often it was void.
    failed: BTreeMap<u64, u64>,
    /// Number of consecutive void games, and the reason of the last one.
    in_a_row: u32,
    reason: String,
}

impl Retries {
    pub(crate) fn new(games: VecDeque<u64>) -> Retries {
        Retries { waiting: games, failed: BTreeMap::new(), in_a_row: 0, reason: String::new() }
    }

    /// The next game, and how often it was tried before.
    pub(crate) fn next(&mut self) -> Option<(u64, u64)> {
        let index = self.waiting.pop_front()?;
        Some((index, self.failed.get(&index).copied().unwrap_or(0)))
    }

    pub(crate) fn finished(&mut self, game: &Result<Finish, Void>) {
        let Err(void) = game else {
            self.in_a_row = 0;
            return;
        };
        self.in_a_row += 1;
        void.reason.clone_into(&mut self.reason);
        let failed = self.failed.entry(void.index).or_default();
        *failed += 1;
        if *failed < TRIES {
            self.waiting.push_back(void.index);
        }
    }

    /// Whether so many games in a row were void that the next ones will too.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.in_a_row >= VOIDS
    }

    /// How many those were, and why.
    pub(crate) fn hopeless(self) -> Option<(u32, String)> {
        self.is_hopeless().then_some((self.in_a_row, self.reason))
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
        let mut retries = Retries::new(VecDeque::from([7, 8]));
        let mut played = Vec::new();
        while let Some((index, attempt)) = retries.next() {
            played.push((index, attempt));
            retries.finished(&if index == 7 { void(7) } else { good() });
        }
        assert_eq!(played, [(7, 0), (8, 0), (7, 1), (7, 2)]);
        assert!(!retries.is_hopeless());
    }

    #[test]
    fn tries_after_six_void_games_in_a_row_are_hopeless() {
        let mut retries = Retries::new(VecDeque::new());
        for index in 0..10 {
            retries.finished(&void(index % 5));
            if index == 4 {
                retries.finished(&good());
            }
            assert!(!retries.is_hopeless());
        }
        retries.finished(&void(99));
        assert_eq!(retries.hopeless(), Some((6, "game 99 broke".to_owned())));
    }
}
