//! The positions: a pattern, and stones elsewhere that decide whether its ladder works.

use std::fmt;

use go::{Color, Game, Move, Point, Size, Symmetry};
use play::{GameRng, generator};
use rand::RngExt;

use super::reader::{Fate, Reader};

/// The hunted stone, and the hunter's around it: rows and columns from the upper left of the pattern.
///
/// `.X.` with the hunter to play right of the hunted stone; the ladder runs to the lower right.
/// `XO.`
/// `X..`
const HUNTED: (usize, usize) = (1, 1);
const HUNTERS: [(usize, usize); 3] = [(0, 1), (1, 0), (2, 0)];
const ATARI: (usize, usize) = (1, 2);

/// Ladders that take fewer moves are seen at a glance.
const SHORTEST: usize = 7;
/// Positions that are tried for each one that is wanted before the board is held to be too small.
const TRIES: usize = 10_000;

/// Whose turn it is, and whether the ladder works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The hunter can capture, by the right one of two moves.
    Hunt,
    /// The hunter had better not.
    Spare,
    /// The hunted gets away.
    Run,
    /// The hunted had better not run.
    Stay,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::Hunt, Kind::Spare, Kind::Run, Kind::Stay];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Hunt => "hunt",
            Kind::Spare => "do not hunt",
            Kind::Run => "run",
            Kind::Stay => "do not run",
        }
    }

    fn works(self) -> bool {
        matches!(self, Kind::Hunt | Kind::Stay)
    }

    fn hunters_turn(self) -> bool {
        matches!(self, Kind::Hunt | Kind::Spare)
    }
}

/// A position and its correct moves.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    pub(crate) game: Game,
    pub(crate) kind: Kind,
    /// The stone that is hunted.
    hunted: Point,
    /// The moves on the chain, and their outcome.
    moves: Vec<(Move, Fate)>,
}

impl Ladder {
    /// Whether a move does the right thing about the ladder: it hunts or runs with success, or does neither.
    pub(crate) fn is_right(&self, mv: Move) -> bool {
        let fate = self.moves.iter().find(|(other, _)| *other == mv).map(|(_, fate)| fate.is_capture());
        match self.kind {
            Kind::Hunt => fate == Some(true),
            Kind::Run => fate == Some(false),
            Kind::Spare | Kind::Stay => fate.is_none(),
        }
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.game.size();
        let moves: Vec<String> = self.moves.iter().map(|(mv, fate)| format!("{} {fate:?}", mv.to_gtp(size))).collect();
        let (kind, chain) = (self.kind.name(), Move::Play(self.hunted).to_gtp(size));
        writeln!(f, "{kind}: {} to move, the chain at {chain}; {}", self.game.to_move(), moves.join(", "))?;
        writeln!(f, "{}", self.game.position())
    }
}

/// So many positions of each kind, always the same; `None` where the board is too small for them.
pub(crate) fn make(size: Size, count: usize) -> Option<Vec<Ladder>> {
    let mut rng = generator(size.side() as u64);
    let mut found = Vec::with_capacity(count * Kind::ALL.len());
    for kind in Kind::ALL {
        let tries = (0..TRIES * count).filter_map(|_| attempt(size, kind, &mut rng));
        found.extend(tries.take(count));
    }
    (found.len() == count * Kind::ALL.len()).then_some(found)
}

/// A random position, if it is of the requested kind.
fn attempt(size: Size, kind: Kind, rng: &mut GameRng) -> Option<Ladder> {
    let pattern = Pattern::random(size, rng)?;
    let hunter = if rng.random() { Color::Black } else { Color::White };
    let mut game = pattern.play(size, hunter, rng)?;
    if !kind.hunters_turn() {
        game.play(Move::Play(pattern.atari)).ok()?;
    }
    let mut reader = Reader::new(game.clone(), pattern.hunted);
    let moves = reader.moves().ok()?;
    let long = match reader.fate().ok()? {
        Fate::Captured(moves) => kind.works() && moves >= SHORTEST,
        Fate::Escapes => !kind.works(),
    };
    (long && !moves.is_empty()).then_some(Ladder { game, kind, hunted: pattern.hunted, moves })
}

/// Where the stones of the pattern are on the board.
struct Pattern {
    hunted: Point,
    hunters: [Point; 3],
    atari: Point,
    symmetry: Symmetry,
    /// Row and column of the pattern's upper left, before the symmetry.
    at: (usize, usize),
}

impl Pattern {
    /// Near a corner, for the ladder to have a way to go.
    fn random(size: Size, rng: &mut GameRng) -> Option<Pattern> {
        let room = 1..=(size.side() / 4).max(1);
        let at = (rng.random_range(room.clone()), rng.random_range(room));
        let symmetry = Symmetry::ALL[rng.random_range(0..8)];
        let place = |(row, column): (usize, usize)| {
            Point::new(size, at.0 + row, at.1 + column).map(|point| symmetry.point(size, point))
        };
        let [a, b, c] = HUNTERS.map(place);
        Some(Pattern { hunted: place(HUNTED)?, hunters: [a?, b?, c?], atari: place(ATARI)?, symmetry, at })
    }

    /// A point away from the pattern, where a stone may break the ladder or not.
    fn elsewhere(&self, size: Size, rng: &mut GameRng) -> Option<Point> {
        let (row, column) = (rng.random_range(0..size.side()), rng.random_range(0..size.side()));
        let near = |at: usize, from: usize| (from.saturating_sub(1)..from + 5).contains(&at);
        let far = !(near(row, self.at.0) && near(column, self.at.1));
        Point::new(size, row, column).filter(|_| far).map(|point| self.symmetry.point(size, point))
    }

    /// Plays the stones in some order, Black first, so that the hunter is to move: the hunted side has as many stones
    /// elsewhere as that takes.
    fn play(&self, size: Size, hunter: Color, rng: &mut GameRng) -> Option<Game> {
        let more = if hunter == Color::Black { 2 } else { 3 };
        let mut hunted = vec![self.hunted];
        for _ in 0..more {
            hunted.push(self.elsewhere(size, rng)?);
        }
        let mut hunters = self.hunters.to_vec();
        let mut game = Game::new(size);
        while !(hunters.is_empty() && hunted.is_empty()) {
            let stones = if game.to_move() == hunter { &mut hunters } else { &mut hunted };
            let stone = stones.swap_remove(rng.random_range(0..stones.len()));
            game.play(Move::Play(stone)).ok()?;
        }
        let captured = game.captures(Color::Black) + game.captures(Color::White);
        (captured == 0).then_some(game)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides() -> [Size; 3] {
        [9, 13, 19].map(|side| Size::new(side).unwrap())
    }

    #[test]
    fn every_board_has_positions_of_every_kind_always_the_same() {
        for size in sides() {
            let made = make(size, 10).unwrap();
            for kind in Kind::ALL {
                assert_eq!(made.iter().filter(|ladder| ladder.kind == kind).count(), 10);
            }
            let again = make(size, 10).unwrap();
            assert!(made.iter().zip(&again).all(|(a, b)| a.game.moves() == b.game.moves()));
            assert!(made.windows(2).all(|two| two[0].game.moves() != two[1].game.moves()));
        }
        assert!(make(Size::MIN, 1).is_none());
    }

    #[test]
    fn one_move_hunts_and_the_other_does_not() {
        for ladder in sides().into_iter().flat_map(|size| make(size, 10).unwrap()) {
            let capturing = ladder.moves.iter().filter(|(_, fate)| fate.is_capture()).count();
            match ladder.kind {
                Kind::Hunt => assert_eq!((capturing, ladder.moves.len()), (1, 2), "{ladder}"),
                Kind::Spare => assert_eq!((capturing, ladder.moves.len()), (0, 2), "{ladder}"),
                Kind::Run => assert_eq!((capturing, ladder.moves.len()), (0, 1), "{ladder}"),
                Kind::Stay => assert_eq!((capturing, ladder.moves.len()), (1, 1), "{ladder}"),
            }
            let tempting = ladder.moves[0].0;
            let hunts = ladder.moves.iter().find(|(_, fate)| fate.is_capture()).map(|(mv, _)| *mv);
            match ladder.kind {
                Kind::Hunt => assert!(ladder.is_right(hunts.unwrap()) && !ladder.is_right(Move::Pass)),
                Kind::Run => assert!(ladder.is_right(tempting) && !ladder.is_right(Move::Pass)),
                Kind::Spare | Kind::Stay => assert!(!ladder.is_right(tempting) && ladder.is_right(Move::Pass)),
            }
        }
    }

    /// Follows the best moves, and at every turn of the hunted tries all others: none of them may help.
    #[test]
    fn no_other_move_saves_a_hunted_chain() {
        for ladder in sides().into_iter().flat_map(|size| make(size, 10).unwrap()) {
            let mut game = ladder.game.clone();
            let caught = loop {
                let Some(hunted) = game.position().stone(ladder.hunted) else { break true };
                let hunts = hunted != game.to_move();
                if !hunts && game.position().liberties(ladder.hunted) > 1 {
                    break false;
                }
                let moves = Reader::new(game.clone(), ladder.hunted).moves().unwrap();
                if !hunts {
                    others_lose(&game, &ladder, &moves);
                }
                let best = moves.iter().find(|(_, fate)| fate.is_capture() == hunts).or(moves.first());
                game.play(best.map_or(Move::Pass, |(mv, _)| *mv)).unwrap();
            };
            assert_eq!(caught, ladder.kind.works(), "{ladder}\n{}", game.position());
        }
    }

    fn others_lose(game: &Game, ladder: &Ladder, moves: &[(Move, Fate)]) {
        let all = Point::all(game.size()).map(Move::Play).filter(|mv| game.is_legal(*mv));
        for mv in all.filter(|mv| !moves.iter().any(|(other, _)| other == mv)) {
            let mut game = game.clone();
            game.play(mv).unwrap();
            let chain = game.position().chain(ladder.hunted);
            let liberties = chain.neighbours(game.size()) & game.position().empty_points();
            game.play(Move::Play(liberties.first().unwrap())).unwrap();
            assert_eq!(game.position().stone(ladder.hunted), None, "{ladder}\n{}", game.position());
        }
    }
}
