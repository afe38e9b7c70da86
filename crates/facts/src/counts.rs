//! What many games have in common.

use config::MOST_MOVES;
use record::{EndReason, GameOutline, Outcome};

/// Wins of either colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Games that Black won.
    pub black_won: u64,
    /// Games that White won.
    pub white_won: u64,
    /// Games without a winner.
    pub drawn: u64,
}

impl Results {
    /// Counts a game.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Black => self.black_won += 1,
            Outcome::White => self.white_won += 1,
            Outcome::Draw => self.drawn += 1,
        }
    }

    /// All games.
    pub fn games(&self) -> u64 {
        self.black_won + self.white_won + self.drawn
    }

    /// Points of Black; a draw is half a point.
    pub fn black_points(&self) -> f64 {
        self.black_won as f64 + self.drawn as f64 / 2.0
    }
}

/// Games by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Two passes in a row.
    pub passes: u64,
    /// Every point was pass-alive.
    pub pass_alive: u64,
    /// A player resigned.
    pub resignation: u64,
    /// The move limit was reached.
    pub move_limit: u64,
    /// A player broke the rules.
    pub forfeit: u64,
}

/// Counts of games that grow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Who won.
    pub results: Results,
    /// How the games ended.
    pub ends: Ends,
    /// Calibration games.
    pub calibration: u64,
    /// Calibration games with a would-be resignation.
    pub would_resign: u64,
    /// Calibration games with a winner and a threshold in force.
    pub in_force: u64,
    /// Those of them whose winner would have resigned.
    pub would_resign_wrongly: u64,
    /// Positions with an example. Fast searches have none.
    pub positions: u64,
    /// Games by their number of moves.
    lengths: Vec<u32>,
    /// The sum of the games' mean depths of search, and the games that have one.
    depth: (f64, u64),
}

impl Counts {
    /// Counts a game.
    pub fn add(&mut self, game: &GameOutline) {
        let summary = &game.summary;
        self.results.add(summary.outcome);
        *match summary.end {
            EndReason::Passes => &mut self.ends.passes,
            EndReason::PassAlive => &mut self.ends.pass_alive,
            EndReason::Resignation => &mut self.ends.resignation,
            EndReason::MoveLimit => &mut self.ends.move_limit,
            EndReason::Forfeit => &mut self.ends.forfeit,
        } += 1;
        if summary.calibration {
            let wrongly = summary.would_resign_wrongly();
            self.calibration += 1;
            self.would_resign += u64::from(summary.would_resign_turn.is_some());
            self.in_force += u64::from(wrongly.is_some());
            self.would_resign_wrongly += u64::from(wrongly == Some(true));
        }
        self.positions += u64::from(summary.positions);
        // A longer game, as a record may have it, counts as one of so many moves.
        let length = (game.moves as usize).min(MOST_MOVES);
        if self.lengths.len() <= length {
            self.lengths.resize(length + 1, 0);
        }
        self.lengths[length] += 1;
        if let Some(depth) = game.mean_depth {
            self.depth = (self.depth.0 + f64::from(depth), self.depth.1 + 1);
        }
    }

    /// All games.
    pub fn games(&self) -> u64 {
        self.results.games()
    }

    /// Mean of the games' mean depths of search, in moves; `None` without any.
    pub fn mean_depth(&self) -> Option<f64> {
        let (depth, games) = self.depth;
        (games > 0).then(|| depth / games as f64)
    }

    /// Moves of all games.
    pub fn moves(&self) -> u64 {
        self.lengths.iter().enumerate().map(|(moves, &games)| moves as u64 * u64::from(games)).sum()
    }

    /// How long games are; `None` without games.
    pub fn lengths(&self) -> Option<Lengths> {
        let games: u64 = self.lengths.iter().map(|&games| u64::from(games)).sum();
        let last = games.checked_sub(1)?;
        let at = |share: f64| self.nth((share * last as f64).round() as u64);
        let counted = self.lengths.iter().enumerate();
        let mean = counted.map(|(moves, &games)| moves as f64 * f64::from(games)).sum::<f64>() / games as f64;
        Some(Lengths { mean, shortest: at(0.0), tenth: at(0.1), median: at(0.5), ninetieth: at(0.9), longest: at(1.0) })
    }

    /// The length of the game at a place, the shortest at place 0.
    fn nth(&self, place: u64) -> u32 {
        let mut before = 0;
        let found = self.lengths.iter().position(|&games| {
            before += u64::from(games);
            before > place
        });
        found.unwrap_or_default() as u32
    }
}

/// How long games are, in moves: each but the mean is that of some game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// The mean.
    pub mean: f64,
    /// The shortest game.
    pub shortest: u32,
    /// One in ten is shorter.
    pub tenth: u32,
    /// Half of them are shorter.
    pub median: u32,
    /// One in ten is longer.
    pub ninetieth: u32,
    /// The longest game.
    pub longest: u32,
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{GameRecord, games, synthetic};

    use super::*;

    #[test]
    fn counts_are_those_of_the_games() {
        let size = Size::new(5).unwrap();
        let played: Vec<_> = (0..200).map(|index| synthetic::game("a-1", "w", index, size, 8)).collect();
        let outlines = GameOutline::from_batch(&games::to_batch(&played)).unwrap();
        let mut counts = Counts::default();
        outlines.iter().for_each(|game| counts.add(game));
        let mut lengths: Vec<usize> = played.iter().map(|game| game.turns.len()).collect();
        lengths.sort_unstable();
        let found = counts.lengths().unwrap();
        let at = |share: f64| lengths[(share * 199.0_f64).round() as usize] as u32;
        assert_eq!((found.shortest, found.tenth, found.median), (at(0.0), at(0.1), at(0.5)));
        assert_eq!((found.ninetieth, found.longest), (at(0.9), at(1.0)));
        assert!((found.mean - lengths.iter().sum::<usize>() as f64 / 200.0).abs() < 1e-9);
        assert_eq!(counts.games(), 200);
        let resigned = played.iter().filter(|game| game.end == EndReason::Resignation).count() as u64;
        assert_eq!(counts.ends.resignation, resigned);
        assert_eq!(counts.positions, played.iter().map(|game| game.positions() as u64).sum::<u64>());
        assert_eq!(Counts::default().lengths(), None);
    }

    /// An imported game may be longer than a move limit.
    #[test]
    fn games_count_with_their_moves_up_to_the_highest_move_limit() {
        let game = synthetic::game("a-1", "w", 0, Size::new(5).unwrap(), 8);
        let mut outline = GameOutline::from_batch(&games::to_batch(&[game])).unwrap().remove(0);
        let mut counts = Counts::default();
        for moves in [9_999, 10_000, 65_535] {
            outline.moves = moves;
            counts.add(&outline);
        }
        let lengths = counts.lengths().unwrap();
        assert_eq!((lengths.shortest, lengths.median, lengths.longest), (9_999, 10_000, 10_000));
        assert_eq!(counts.moves(), 29_999);
    }

    #[test]
    fn winners_who_would_have_resigned_are_counted_where_a_threshold_was_in_force() {
        let size = Size::new(5).unwrap();
        let made_up = synthetic::game("a-1", "w", 0, size, 8);
        // Black is to move at turn 4, White at turn 5.
        let game = |threshold, turn, outcome| GameRecord {
            calibration: true,
            resign_threshold: threshold,
            would_resign_turn: turn,
            outcome,
            ..made_up.clone()
        };
        let threshold = Some(-0.9);
        let played = [
            game(None, None, Outcome::Black),
            game(threshold, None, Outcome::Black),
            game(threshold, Some(4), Outcome::Black),
            game(threshold, Some(5), Outcome::Black),
            game(threshold, Some(5), Outcome::White),
            game(threshold, Some(4), Outcome::Draw),
            GameRecord { calibration: false, ..game(threshold, Some(4), Outcome::Black) },
        ];
        let mut counts = Counts::default();
        GameOutline::from_batch(&games::to_batch(&played)).unwrap().iter().for_each(|game| counts.add(game));
        assert_eq!((counts.calibration, counts.would_resign), (6, 4));
        assert_eq!((counts.in_force, counts.would_resign_wrongly), (4, 2));
    }
}
