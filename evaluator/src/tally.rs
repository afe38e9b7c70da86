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

/// The results of a pool of players. A player is known here by its place in [`Tally::players`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    players: Vec<String>,
    /// By (Black, White).
    scores: BTreeMap<(usize, usize), Score>,
}

impl Tally {
    /// A pool of these players, none of whom has played. A name given twice is one player.
    pub fn new(players: impl IntoIterator<Item = impl Into<String>>) -> Tally {
        let mut tally = Tally::default();
        for player in players {
            tally.enter(&player.into());
        }
        tally
    }

    /// The place of a player, who joins the pool if not yet in it.
    pub fn enter(&mut self, name: &str) -> usize {
        self.place(name).unwrap_or_else(|| {
            self.players.push(name.to_owned());
            self.players.len() - 1
        })
    }

    /// The place of a player in the pool.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.players.iter().position(|player| player == name)
    }

    /// Counts one game. A game of a player against itself says nothing and is left out.
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

    /// The players, in the order in which they joined.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Every pairing that was played, by (Black, White).
    pub fn scores(&self) -> impl Iterator<Item = (usize, usize, Score)> + '_ {
        self.scores.iter().map(|(&(black, white), &score)| (black, white, score))
    }

    /// Games of a player, and the points it made in them; a draw is half a point.
    pub fn record(&self, player: usize) -> (u32, f64) {
        self.scores().fold((0, 0.0), |(games, points), (black, white, score)| {
            let wins = match player {
                _ if player == black => score.black,
                _ if player == white => score.white,
                _ => return (games, points),
            };
            (games + score.games(), points + f64::from(wins) + 0.5 * f64::from(score.draws))
        })
    }

    /// Points of `first` against `second` over both colours, and their games.
    pub fn between(&self, first: usize, second: usize) -> (u32, f64) {
        let as_black = self.scores.get(&(first, second)).copied().unwrap_or_default();
        let as_white = self.scores.get(&(second, first)).copied().unwrap_or_default();
        let points = f64::from(as_black.black + as_white.white) + 0.5 * f64::from(as_black.draws + as_white.draws);
        (as_black.games() + as_white.games(), points)
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
        let mut tally = Tally::new(["c", "a", "c"]);
        assert_eq!(tally.players(), ["c", "a"]);
        for (black, white, outcome) in [
            ("a", "b", Outcome::Black),
            ("b", "a", Outcome::Black),
            ("b", "a", Outcome::Draw),
            ("a", "b", Outcome::Black),
        ] {
            tally.add(black, white, outcome);
        }
        tally.add("a", "a", Outcome::Black);
        let (a, b, c) = (tally.place("a").unwrap(), tally.place("b").unwrap(), tally.place("c").unwrap());
        assert_eq!(tally.total(), Score { black: 3, white: 0, draws: 1 });
        assert_eq!((tally.record(a), tally.record(b), tally.record(c)), ((4, 2.5), (4, 1.5), (0, 0.0)));
        assert_eq!((tally.between(a, b), tally.between(b, a), tally.between(a, c)), ((4, 2.5), (4, 1.5), (0, 0.0)));
    }
}
