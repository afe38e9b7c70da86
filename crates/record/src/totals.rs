//! What many games have in common.

use go::Color;

use crate::GameRecord;

/// Sums over games, and their means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    games: u64,
    moves: u64,
    /// Games that Black won, a draw being half of one.
    black_won: f64,
    /// Root values of all searches, for Black.
    value: f64,
    searches: u64,
    /// Mean depths of the games that have one.
    depth: f64,
    deep_games: u64,
}

impl Totals {
    /// Counts a game.
    pub fn add(&mut self, game: &GameRecord) {
        self.games += 1;
        self.moves += game.turns.len() as u64;
        self.black_won += game.outcome.points(Color::Black);
        for turn in game.turns.iter().filter(|turn| turn.is_searched()) {
            self.value += f64::from(turn.root_value);
            self.searches += 1;
        }
        if let Some(depth) = game.mean_depth {
            self.depth += f64::from(depth);
            self.deep_games += 1;
        }
    }

    /// Games counted.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Moves of a game; `None` without games, as for the other means.
    pub fn mean_length(&self) -> Option<f64> {
        mean(self.moves as f64, self.games)
    }

    /// Root value of a search, for Black.
    pub fn mean_value(&self) -> Option<f64> {
        mean(self.value, self.searches)
    }

    /// Depth of the leaves of a game's searches, in moves from the root.
    pub fn mean_depth(&self) -> Option<f64> {
        mean(self.depth, self.deep_games)
    }

    /// Share of the games that Black won, draws counting half.
    pub fn black_share(&self) -> Option<f64> {
        mean(self.black_won, self.games)
    }
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, SearchKind, Turn, synthetic};
    use go::Size;

    #[test]
    fn means_are_over_what_there_is() {
        assert_eq!(Totals::default().mean_depth(), None);
        let game = |outcome, depth, values: &[f32]| {
            let mut game = synthetic::game("a-1", "w", 0, Size::new(5).expect("a size"), 8);
            game.turns.truncate(values.len());
            for (turn, &value) in game.turns.iter_mut().zip(values) {
                *turn = Turn { root_value: value, ..Turn::unsearched(SearchKind::Fast, turn.mv) };
            }
            game.turns.push(Turn::unsearched(SearchKind::Policy, game.turns[0].mv));
            GameRecord { outcome, mean_depth: depth, ..game }
        };
        let mut totals = Totals::default();
        totals.add(&game(Outcome::Black, Some(2.0), &[0.5, -0.25, 0.25]));
        totals.add(&game(Outcome::Draw, None, &[0.5]));
        assert_eq!(totals.games(), 2);
        assert_eq!((totals.mean_length(), totals.mean_value()), (Some(3.0), Some(0.25)));
        assert_eq!((totals.mean_depth(), totals.black_share()), (Some(2.0), Some(0.75)));
    }
}
