//! Which examples were trained on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use record::{Example, GameId};

/// The examples in shards, by game and turn, as fingerprints: a shard may hold millions.
#[derive(Debug, Default)]
pub(super) struct Trained(HashMap<(GameId, u16), Row>);

#[derive(Debug)]
struct Row {
    fingerprint: u64,
    generation: u32,
}

impl Trained {
    /// Notes a row; returns whether it is the same as every row of this game and turn before.
    pub(super) fn put(&mut self, example: &Example, generation: u32) -> bool {
        let fingerprint = fingerprint(example);
        match self.0.entry((example.game, example.turn)) {
            Entry::Occupied(row) => row.get().fingerprint == fingerprint,
            Entry::Vacant(place) => {
                place.insert(Row { fingerprint, generation });
                true
            }
        }
    }

    /// Takes the row that `example` should have become, if it was sampled: the generation that sampled it, and whether
    /// it is the same.
    pub(super) fn take(&mut self, example: &Example) -> Option<(u32, bool)> {
        let row = self.0.remove(&(example.game, example.turn))?;
        Some((row.generation, row.fingerprint == fingerprint(example)))
    }

    /// The generation and the game of every row that was not taken.
    pub(super) fn left(&self) -> impl Iterator<Item = (u32, GameId)> {
        self.0.iter().map(|(&(game, _), row)| (row.generation, game))
    }

    /// Forgets the rows of a game.
    pub(super) fn forget(&mut self, game: GameId) {
        self.0.retain(|(of, _), _| *of != game);
    }
}

/// A hash of all that an example says.
fn fingerprint(example: &Example) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{example:?}").hash(&mut hasher);
    hasher.finish()
}
