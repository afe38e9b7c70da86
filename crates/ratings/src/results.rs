//! Who beat whom, as Black and as White.

use std::collections::BTreeMap;

use record::Outcome;

/// The games of one pairing with fixed colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games that Black won.
    pub black: u32,
    /// Games that White won.
    pub white: u32,
    /// Drawn games.
    pub draws: u32,
}

impl Score {
    /// All games of the pairing.
    pub fn games(self) -> u32 {
        self.black + self.white + self.draws
    }
}

/// Games and points of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayerScore {
    /// Games played.
    pub games: u32,
    /// Points made in them; a draw is half a point.
    pub points: f64,
}

/// The results of a pool of players. A player is known here by its place in [`PairResults::players`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairResults {
    players: Vec<String>,
    places: BTreeMap<String, usize>,
    /// By (Black, White).
    scores: BTreeMap<(usize, usize), Score>,
}

impl PairResults {
    /// A pool of these players, none of whom has played. A name given twice is one player.
    pub fn new(players: impl IntoIterator<Item = impl Into<String>>) -> PairResults {
        let mut results = PairResults::default();
        for player in players {
            results.enter(&player.into());
        }
        results
    }

    /// The place of a player, who joins the pool if not yet in it.
    pub fn enter(&mut self, name: &str) -> usize {
        self.place(name).unwrap_or_else(|| {
            self.players.push(name.to_owned());
            self.places.insert(name.to_owned(), self.players.len() - 1);
            self.players.len() - 1
        })
    }

    /// The place of a player in the pool.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Counts one game. A game of a player against itself says nothing and is omitted.
    pub fn add(&mut self, black: &str, white: &str, outcome: Outcome) {
        if black == white {
            return;
        }
        let pairing = (self.enter(black), self.enter(white));
        let score = self.scores.entry(pairing).or_default();
        match outcome {
            Outcome::Black => score.black += 1,
            Outcome::White => score.white += 1,
            Outcome::Draw => score.draws += 1,
        }
    }

    /// Counts the games of another pool too.
    pub fn extend(&mut self, other: &PairResults) {
        let places: Vec<usize> = other.players.iter().map(|name| self.enter(name)).collect();
        for (black, white, score) in other.scores() {
            let sum = self.scores.entry((places[black], places[white])).or_default();
            sum.black += score.black;
            sum.white += score.white;
            sum.draws += score.draws;
        }
    }

    /// The players, in the order in which they joined.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Every pairing that was played, by (Black, White).
    pub fn scores(&self) -> impl Iterator<Item = (usize, usize, Score)> + '_ {
        self.scores.iter().map(|(&(black, white), &score)| (black, white, score))
    }

    /// What every player has done, in the order of the players.
    pub fn player_scores(&self) -> Vec<PlayerScore> {
        let mut scores = vec![PlayerScore::default(); self.players.len()];
        for (black, white, score) in self.scores() {
            for (player, wins) in [(black, score.black), (white, score.white)] {
                scores[player].games += score.games();
                scores[player].points += f64::from(wins) + 0.5 * f64::from(score.draws);
            }
        }
        scores
    }

    /// The same players with only the games that `kept` says.
    pub fn filtered(&self, kept: impl Fn(usize, usize) -> bool) -> PairResults {
        let scores = self.scores.iter().filter(|&(&(black, white), _)| kept(black, white));
        PairResults {
            players: self.players.clone(),
            places: self.places.clone(),
            scores: scores.map(|(&pairing, &score)| (pairing, score)).collect(),
        }
    }

    /// How `first` has done against `second` over both colours.
    pub fn between(&self, first: usize, second: usize) -> PlayerScore {
        let as_black = self.scores.get(&(first, second)).copied().unwrap_or_default();
        let as_white = self.scores.get(&(second, first)).copied().unwrap_or_default();
        let points = f64::from(as_black.black + as_white.white) + 0.5 * f64::from(as_black.draws + as_white.draws);
        PlayerScore { games: as_black.games() + as_white.games(), points }
    }

    /// All games of the pool together, as Black and White saw them.
    pub fn total(&self) -> Score {
        self.scores().fold(Score::default(), |sum, (_, _, score)| Score {
            black: sum.black + score.black,
            white: sum.white + score.white,
            draws: sum.draws + score.draws,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_colour_and_adds_up() {
        let mut results = PairResults::new(["c", "a", "c"]);
        assert_eq!(results.players(), ["c", "a"]);
        for (black, white, outcome) in [
            ("a", "b", Outcome::Black),
            ("b", "a", Outcome::Black),
            ("b", "a", Outcome::Draw),
            ("a", "b", Outcome::Black),
        ] {
            results.add(black, white, outcome);
        }
        results.add("a", "a", Outcome::Black);
        let (c, a, b) = (0, 1, 2);
        assert_eq!((results.place("b"), results.place("d")), (Some(b), None));
        assert_eq!(results.total(), Score { black: 3, white: 0, draws: 1 });
        let score = |games, points| PlayerScore { games, points };
        assert_eq!(results.player_scores(), [score(0, 0.0), score(4, 2.5), score(4, 1.5)]);
        assert_eq!(
            (results.between(a, b), results.between(b, a), results.between(a, c)),
            (score(4, 2.5), score(4, 1.5), score(0, 0.0))
        );
        let mut twice = PairResults::new(["a"]);
        twice.extend(&results);
        twice.extend(&results);
        assert_eq!(twice.players(), ["a", "c", "b"]);
        assert_eq!(twice.between(0, 2), score(8, 5.0));
        let without = results.filtered(|black, _| black != a);
        assert_eq!((without.players(), without.total().games()), (results.players(), 2));
    }
}
