//! What the page shows.

use std::fmt;

use facts::{Facts, Strength};
use ratings::Estimate;

use super::games::Game;

/// What the page shows.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// What is in the store.
    pub facts: Facts,
    /// Every player of a match, strongest first. Hidden models are omitted.
    pub strength: Strength,
    /// What Black's first move is worth, fitted together with the ratings.
    pub first_move: Estimate,
    /// What the ratings do not say.
    pub notes: Vec<String>,
    /// Games to display.
    pub games: Vec<Game>,
    /// When the page was written, in milliseconds since 1970.
    pub written: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let played: u64 = self.facts.games.values().map(|games| games.counts.games()).sum();
        write!(
            f,
            "{} players in {} games, and {} models in {played} games of self-play",
            self.strength.players.len(),
            self.facts.pool.counts.games(),
            self.facts.games.len()
        )
    }
}
