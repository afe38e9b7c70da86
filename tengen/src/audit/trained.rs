//! Which examples were trained on.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
        let fingerprint = example.fingerprint();
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
        Some((row.generation, row.fingerprint == example.fingerprint()))
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
    fn row_that_differs_in_one_number_is_not_the_same() {
        let example = games(1)[0].examples().unwrap().into_iter().next().unwrap();
        let others = [
            Example { weight: example.weight + 1.0, ..example.clone() },
            Example { komi: example.komi + 0.5, ..example.clone() },
            Example { score: Some(99.0), ..example.clone() },
            Example { model: "r-9".to_owned(), ..example.clone() },
        ];
        let mut trained = Trained::default();
        assert!(trained.put(&example, 2) && trained.put(&example, 3));
        assert!(others.iter().all(|other| !trained.put(other, 2)));
        assert_eq!(trained.take(&example), Some((2, true)));
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
