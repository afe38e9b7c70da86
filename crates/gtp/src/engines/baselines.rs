//! Players so weak that they need no program: the lowest rungs of a ladder.

use config::EngineName;
use go::{Color, Game, Move, Point, PointSet};
use play::{ExternalPlayer, ExternalPlayerError, GameRng, Response, generator};
use rand::RngExt;

/// A weak player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// Any legal point, all alike, but its own one-point eyes; passes when there is none.
    Random,
    /// Takes what can be taken, the most first; saves its own stones from being taken; otherwise as `Random`, but puts
    /// no stones where they could be taken at once if there is another point.
    Captures,
}

impl Baseline {
    pub(crate) const ALL: [Baseline; 2] = [Baseline::Random, Baseline::Captures];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Baseline::Random => "Random",
            Baseline::Captures => "Captures",
        }
    }

    pub(crate) fn named(name: &EngineName) -> Option<Baseline> {
        Baseline::ALL.into_iter().find(|baseline| baseline.name() == name.as_str())
    }

    fn choose(self, game: &Game, rng: &mut GameRng) -> Move {
        match self {
            Baseline::Random => random_move(game, rng),
            Baseline::Captures => capturing_move(game, rng),
        }
    }
}

/// A baseline in a game.
#[derive(Debug)]
pub(crate) struct BaselinePlayer {
    baseline: Baseline,
    rng: GameRng,
    reply: Option<Response>,
}

impl BaselinePlayer {
    pub(crate) fn new(baseline: Baseline, seed: u64) -> BaselinePlayer {
        BaselinePlayer { baseline, rng: generator(seed), reply: None }
    }
}

impl ExternalPlayer for BaselinePlayer {
    fn ask_move(&mut self, game: &Game) {
        self.reply = Some(Response::Move(self.baseline.choose(game, &mut self.rng)));
    }

    /// It does not count.
    fn ask_score(&mut self, _: &Game) {
        self.reply = Some(Response::Score(None));
    }

    fn answer(&mut self) -> Option<Result<Response, ExternalPlayerError>> {
        self.reply.take().map(Ok)
    }
}

/// A legal point that is no one-point eye of the player to move, all alike; a pass when there is none.
pub(crate) fn random_move(game: &Game, rng: &mut GameRng) -> Move {
    sample_move(sensible(game), rng)
}

fn capturing_move(game: &Game, rng: &mut GameRng) -> Move {
    let mut best = (0, PointSet::default());
    let (mut saving, mut safe) = (PointSet::default(), PointSet::default());
    let endangered = in_atari(game, game.to_move());
    for point in sensible(game).iter() {
        let mut after = game.position().clone();
        let Ok(taken) = after.play(Move::Play(point)) else { continue };
        let at = PointSet::from_iter([point]);
        if taken >= best.0.max(1) {
            best = if taken > best.0 { (taken, at) } else { (taken, best.1 | at) };
        }
        if after.liberties(point) >= 2 {
            safe |= at;
            if !(after.chain(point) & endangered).is_empty() {
                saving |= at;
            }
        }
    }
    let choices = [best.1, saving, safe, sensible(game)];
    sample_move(choices.into_iter().find(|points| !points.is_empty()).unwrap_or_default(), rng)
}

/// The stones of a player whose chains have one liberty.
fn in_atari(game: &Game, color: Color) -> PointSet {
    let position = game.position();
    position.stones().of(color).iter().filter(|&point| position.liberties(point) == 1).collect()
}

fn sensible(game: &Game) -> PointSet {
    let (size, own) = (game.size(), *game.position().stones().of(game.to_move()));
    let eye = |point: Point| PointSet::from_iter([point]).neighbours(size).is_subset(&own);
    game.legal_points().iter().filter(|&point| !eye(point)).collect()
}

fn sample_move(points: PointSet, rng: &mut GameRng) -> Move {
    let points: Vec<Point> = points.iter().collect();
    if points.is_empty() { Move::Pass } else { Move::Play(points[rng.random_range(0..points.len())]) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use go::{Position, Size, Stones};

    use super::*;

    fn game(diagram: &str, to_move: Color) -> Game {
        let rows: Vec<&str> = diagram.split_whitespace().collect();
        let size = Size::new(rows.len()).unwrap();
        let mut stones = Stones { black: PointSet::default(), white: PointSet::default() };
        for (row, text) in rows.iter().enumerate() {
            for (col, stone) in text.chars().enumerate() {
                let at = PointSet::from_iter([Point::new(size, row, col).unwrap()]);
                match stone {
                    'X' => stones.black |= at,
                    'O' => stones.white |= at,
                    _ => {}
                }
            }
        }
        Game::from_position(Position::from_stones(size, &stones, to_move).unwrap())
    }

    /// All that a player chooses in 200 tries.
    fn choices(baseline: Baseline, game: &Game) -> BTreeSet<String> {
        let mut rng = generator(1);
        (0..200).map(|_| baseline.choose(game, &mut rng).to_gtp(game.size())).collect()
    }

    #[test]
    fn random_plays_everywhere_but_in_its_own_eyes() {
        let game = game(".XO XXO OO.", Color::Black);
        assert_eq!(choices(Baseline::Random, &game), BTreeSet::from(["C1".to_owned()]), "A3 is an eye");
        let full = self::game(".X. XXX .X.", Color::Black);
        assert_eq!(choices(Baseline::Random, &full), BTreeSet::from(["pass".to_owned()]));
        assert_eq!(choices(Baseline::Random, &self::game("... ... ...", Color::Black)).len(), 9);
    }

    #[test]
    fn captures_takes_the_most() {
        let game = game("XO... X.... .XX.. XOO.. .XX..", Color::Black);
        // B4 takes nothing, D2 takes two, and C5 takes one.
        assert_eq!(choices(Baseline::Captures, &game), BTreeSet::from(["D2".to_owned()]));
    }

    #[test]
    fn captures_saves_its_own_and_does_not_put_stones_in_danger() {
        let danger = game("XO... ..... ..... ..... .....", Color::Black);
        assert_eq!(choices(Baseline::Captures, &danger), BTreeSet::from(["A4".to_owned()]));
        let corner = game(".X... ..... ..... ..... .....", Color::White);
        let reckless = choices(Baseline::Random, &corner);
        assert!(reckless.contains("A5") && reckless.contains("C3"), "both are legal: {reckless:?}");
        let careful = choices(Baseline::Captures, &corner);
        assert!(!careful.contains("A5") && careful.contains("C3"), "a stone on A5 has one liberty: {careful:?}");
    }

    #[test]
    fn games_of_weak_players_come_to_an_end() {
        for baseline in Baseline::ALL {
            let mut game = Game::new(Size::new(7).unwrap());
            let mut rng = generator(3);
            while !game.passed_out() {
                game.play(baseline.choose(&game, &mut rng)).unwrap();
                assert!(game.turn() < 2000, "{baseline:?} does not end");
            }
        }
    }
}
