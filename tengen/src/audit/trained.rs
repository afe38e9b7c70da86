//! Which examples were trained on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use record::{Example, GameId};

/// The examples in shards, by game and turn, as fingerprints: a shard may hold millions. Those of a game are together.
#[derive(Debug, Default)]
pub(super) struct Trained(BTreeMap<(GameId, u16), Row>);

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

    /// Forgets the rows of a game. Of a damaged file that is done for each of its games, so it visits no others.
    pub(super) fn forget(&mut self, game: GameId) {
        let rows: Vec<(GameId, u16)> = self.0.range((game, 0)..=(game, u16::MAX)).map(|(&row, _)| row).collect();
        for row in rows {
            self.0.remove(&row);
        }
    }
}

/// A hash of all that an example says.
fn fingerprint(example: &Example) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{example:?}").hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{GameRecord, synthetic};

    use super::*;

    fn games(count: u64) -> Vec<GameRecord> {
        (0..count).map(|index| synthetic::game("r-1", "w", index, Size::new(5).unwrap(), 8)).collect()
    }

    fn trained(games: &[GameRecord]) -> Trained {
        let mut trained = Trained::default();
        for example in games.iter().flat_map(|game| game.examples().unwrap()) {
            assert!(trained.put(&example, 2));
        }
        trained
    }

    #[test]
    fn rows_of_a_game_are_forgotten_and_no_others() {
        let games = games(3);
        let mut trained = trained(&games);
        trained.forget(games[1].id);
        let rest: usize = [0, 2].iter().map(|&place| games[place].positions()).sum();
        assert_eq!(trained.left().count(), rest);
        assert!(trained.left().all(|(generation, game)| generation == 2 && game != games[1].id));
    }
}
