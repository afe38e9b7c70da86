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
        let played = &self.facts.games;
        let by_random = played.get(&0).map_or(0, |games| games.counts.games());
        let by_models = || played.range(1_u32..).map(|(_, games)| games.counts.games()).filter(|&games| games > 0);
        write!(
            f,
            "{} players in {} games, and {} games of self-play by {} models and {by_random} by random",
            self.strength.players.len(),
            self.facts.pool.counts.games(),
            by_models().sum::<u64>(),
            by_models().count()
        )
    }
}
