//! A position in the terms of a Go player, so that a small network need not find them out.
//!
//! 16 planes of one byte a point, row by row from the top-left corner. All but the last are 0 or 1:
//!
//! | plane | a point is 1 where |
//! |---|---|
//! | 0, 1 | there is a stone of the side to move, of its opponent |
//! | 2, 3, 4 | a chain of the side to move has one, two, three liberties |
//! | 5, 6, 7 | a chain of the opponent has one, two, three liberties |
//! | 8 | a stone would make the board of one move ago again (ko) |
//! | 9 to 13 | the last move was played, the one before it, and so on; nowhere for a pass |
//! | 14 | always: beyond the border a convolution sees 0 |
//! | 15 | komi for the side to move, everywhere the same: 128 + 2·komi, from 1 to 255 |
//!
//! These are those of KataGo's features (Wu 2019, table 3) that need no reading. With `tactics` there are 15 more:
//!
//! | plane | a point is 1 where |
//! |---|---|
//! | 16, 17, 18 | a stone of the side to move would be in a chain with one, two, three liberties |
//! | 19 | … would capture |
//! | 20 | … would have no liberty, so that it is forbidden |
//! | 21 to 25 | the same for a stone of the opponent |
//! | 26 | a chain of the side to move is caught in a ladder, or would be if the opponent were to move |
//! | 27 | a chain of the opponent is, or would be if it is not its turn |
//! | 28 | a move begins a ladder that catches a chain of the opponent |
//! | 29, 30 | the point is pass-alive for the side to move, for the opponent |
//!
//! (AlphaGo, Silver et al. 2016, table 2, has the first kind; KataGo has ladders and pass-alive regions.) Everything is
//! a function of the last six boards, so that examples and games in progress give the same; a point forbidden by
//! superko alone is not marked.

use std::ops::Range;

use go::{Color, Point, PointSet, Position, Prospects, Stones, Symmetry, Tactics};

/// Planes of a position.
pub(crate) const COUNT: usize = cpu::FEATURE_PLANES;
/// Planes of a position with its tactics.
pub(crate) const TACTICS_COUNT: usize = cpu::TACTICS_PLANES;
/// The number of the plane of komi.
pub(crate) const KOMI: usize = cpu::KOMI_PLANE;
/// Past moves in the input.
const MOVES: usize = 5;
/// Boards of the history, the current one included.
pub(crate) const BOARDS: usize = MOVES + 1;
/// The planes that mark at most one point: the ko and the last moves.
pub(crate) const POINTS: Range<usize> = 8..9 + MOVES;
/// The byte that means a komi of 0.
pub(crate) const NO_KOMI: f32 = cpu::NO_KOMI;

/// Descriptions of the planes; without tactics the first [`COUNT`] of them.
pub(crate) fn names() -> Vec<String> {
    const SIDES: [&str; 2] = ["mover’s", "opponent’s"];
    const FEW: [&str; 3] = ["one liberty", "two liberties", "three liberties"];
    let stones = SIDES.map(|whose| format!("{whose} stones"));
    let few = SIDES.iter().flat_map(|whose| FEW.map(|few| format!("{whose} chains with {few}")));
    let played = (1..=MOVES).map(|ago| if ago == 1 { "last move".to_owned() } else { format!("{ago} moves ago") });
    let plain =
        ["ko".to_owned()].into_iter().chain(played).chain(["the board", "komi for the mover"].map(str::to_owned));
    let moves = SIDES.iter().flat_map(|whose| {
        let leave = FEW.map(|few| format!("{whose} stone would leave {few}"));
        leave.into_iter().chain(["capture", "be suicide"].map(|does| format!("{whose} stone would {does}")))
    });
    let ladders = SIDES.map(|whose| format!("{whose} chains caught in ladders"));
    let last = ["beginnings of ladders".to_owned()].into_iter().chain(SIDES.map(|whose| format!("{whose} pass-alive")));
    stones.into_iter().chain(few).chain(plain).chain(moves).chain(ladders).chain(last).collect()
}

/// Writes a position, given also by its boards, newest first and as far as they are known; with tactics and
/// `pass_alive` regions, where there is space for them.
///
/// # Panics
/// When the buffer has neither size.
pub(crate) fn write(
    position: &Position,
    boards: [Option<&Stones>; BOARDS],
    pass_alive: impl FnOnce() -> Stones,
    komi: f32,
    symmetry: Symmetry,
    planes: &mut [u8],
) {
    let size = position.size();
    let with_tactics = planes.len() == TACTICS_COUNT * size.area();
    assert!(with_tactics || planes.len() == COUNT * size.area(), "the buffer has the planes of a {size}x{size} board");
    planes.fill(0);
    let places = symmetry.permutation(size);
    let mut planes = planes.chunks_exact_mut(size.area());
    let mut next = || planes.next().expect("the buffer has every plane");
    let mark = |plane: &mut [u8], points: &PointSet| {
        points.iter().for_each(|point| plane[usize::from(places[point.index()])] = 1);
    };
    let sides = [position.to_move(), position.to_move().opponent()];
    sides.iter().for_each(|&side| mark(next(), position.stones().of(side)));
    let mut tactics = Tactics::empty(size);
    tactics.set(position);
    sides.iter().for_each(|&side| (1..=3).for_each(|few| mark(next(), &tactics.with_liberties(side, few))));
    mark(next(), &ko(position, boards[1]));
    boards.windows(2).for_each(|pair| mark(next(), &played(pair[0], pair[1])));
    next().fill(1);
    let for_mover = if position.to_move() == Color::White { komi } else { -komi };
    // Rounded before the sum: komi between half points is the same one for both sides.
    next().fill((NO_KOMI + (2.0 * for_mover).round()).clamp(1.0, 255.0) as u8);
    if with_tactics {
        told(&tactics, &pass_alive(), sides).iter().for_each(|points| mark(next(), points));
    }
}

/// The planes of tactics, for the side to move and its opponent.
fn told(tactics: &Tactics, alive: &Stones, sides: [Color; 2]) -> [PointSet; TACTICS_COUNT - COUNT] {
    let [own, theirs] = sides.map(|side| {
        let Prospects { liberties: [one, two, three], captures, suicides } = tactics.prospects(side);
        [one, two, three, captures, suicides]
    });
    let [(own_caught, _), (their_caught, moves)] = sides.map(|side| tactics.ladders(side));
    let [own_alive, their_alive] = sides.map(|side| *alive.of(side));
    let [a, b, c, d, e] = own;
    let [f, g, h, i, j] = theirs;
    [a, b, c, d, e, f, g, h, i, j, own_caught, their_caught, moves, own_alive, their_alive]
}

/// The point where a stone would make the board of one move ago again, if there is one.
fn ko(position: &Position, before: Option<&Stones>) -> PointSet {
    let (mover, opponent) = (position.to_move(), position.to_move().opponent());
    let (Some(before), now) = (before, position.stones()) else { return PointSet::EMPTY };
    let taken = *before.of(mover) - *now.of(mover);
    let added = *now.of(opponent) - *before.of(opponent);
    if taken.len() != 1 || added.len() != 1 {
        return PointSet::EMPTY;
    }
    let empty = position.empty_points();
    let dies = |point: Point| {
        let liberties = position.chain(point).neighbours(position.size()) & empty;
        liberties == taken
    };
    let would_die = (taken.neighbours(position.size()) & *now.of(opponent)).iter().filter(|&point| dies(point));
    let captured = would_die.fold(PointSet::EMPTY, |all, point| all | position.chain(point));
    if captured == added { taken } else { PointSet::EMPTY }
}

/// The point that was played between two boards; none for a pass, or where the older one is not known.
fn played(now: Option<&Stones>, before: Option<&Stones>) -> PointSet {
    match (now, before) {
        (Some(now), Some(before)) => now.both() - before.both(),
        _ => PointSet::EMPTY,
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Move, Size};
    use record::{Replay, synthetic};

    use super::*;
    use crate::Inputs;

    fn planes(game: &Game, komi: f32) -> Vec<Vec<u8>> {
        let mut planes = vec![9; COUNT * game.size().area()];
        Inputs::Features.of_game(game, komi, Symmetry::Identity, &mut planes);
        planes.chunks_exact(game.size().area()).map(<[u8]>::to_vec).collect()
    }

    fn points(plane: &[u8]) -> Vec<usize> {
        plane.iter().enumerate().filter(|(_, byte)| **byte == 1).map(|(point, _)| point).collect()
    }

    /// A game on 5x5 by the indices of its moves.
    fn game(moves: &[usize]) -> Game {
        let size = Size::new(5).unwrap();
        let mut game = Game::new(size);
        for &index in moves {
            game.play(Move::from_index(size, index).unwrap()).unwrap();
        }
        game
    }

    /// White's stone at 11 stood among three of Black's, who has taken it from 12, in turn among three of White's.
    const KO: [usize; 9] = [6, 7, 10, 13, 16, 17, 25, 11, 12];

    #[test]
    fn features_of_a_ko_mark_the_known_points() {
        let seen = planes(&game(&KO), 7.0);
        let marked: Vec<Vec<usize>> = seen[..14].iter().map(|plane| points(plane)).collect();
        let expected: [&[usize]; 14] = [
            &[7, 13, 17],
            &[6, 10, 12, 16],
            &[],
            &[7, 17],
            &[13],
            &[12],
            &[],
            &[6, 10, 16],
            &[11],
            &[12],
            &[11],
            &[],
            &[17],
            &[16],
        ];
        assert_eq!(marked, expected);
        assert_eq!((seen[14].as_slice(), seen[15].as_slice()), (&[1; 25][..], &[128 + 14; 25][..]));
    }

    /// docs/DATA.md fills the planes of the empty board by their numbers.
    #[test]
    fn features_of_the_empty_board_are_those_of_the_document() {
        let document = std::fs::read_to_string(testing::repository().join("docs/DATA.md")).unwrap();
        let filled = |line: &str| {
            let (plane, value) = line.strip_prefix("planes[0, ")?.split_once("] = ")?;
            let terms = value.split('#').next()?.split('-').map(|term| term.trim().parse::<u8>().unwrap());
            Some((plane.parse::<usize>().unwrap(), terms.reduce(|value, term| value - term)?))
        };
        let filled: Vec<(usize, u8)> = document.lines().filter_map(filled).collect();
        let seen = planes(&game(&[]), 7.0);
        assert!(seen.iter().all(|plane| plane.iter().all(|byte| *byte == plane[0])));
        let others = seen.iter().map(|plane| plane[0]).enumerate().filter(|&(_, byte)| byte != 0);
        assert_eq!(filled, others.collect::<Vec<_>>());
    }

    #[test]
    fn ko_is_over_when_both_have_looked_away() {
        let seen = planes(&game(&[&KO[..], &[25, 25]].concat()), 7.0);
        assert!(points(&seen[8]).is_empty());
    }

    #[test]
    fn komi_is_for_the_side_to_move() {
        let of = |moves: &[usize], komi| planes(&game(moves), komi)[15][0];
        assert_eq!(
            [of(&[], 7.5), of(&[3], 7.5), of(&[], 0.0), of(&[3], 400.0), of(&[], 400.0)],
            [113, 143, 128, 255, 1]
        );
        // Between half points the nearest one, for both sides: 7.5, 7 and 6.5, and 7 and -7 for themselves.
        for (komi, halves) in [(7.25, 15), (6.8, 14), (6.7, 13), (7.0, 14), (-7.0, -14)] {
            assert_eq!([of(&[], komi), of(&[3], komi)].map(i32::from), [128 - halves, 128 + halves], "{komi}");
        }
    }

    #[test]
    fn tactics_by_hand() {
        let size = Size::new(7).unwrap();
        let board = ".X.X..X / XXXX.OO / ....... / ....... / X...... / O..OOOO / ...O.O.";
        let game = Game::from_position(testing::position(size, board, Color::Black));
        let [mut with, mut without] = [Inputs::Tactics, Inputs::Features].map(|inputs| vec![9; inputs.len(size)]);
        Inputs::Tactics.of_game(&game, 7.0, Symmetry::Identity, &mut with);
        Inputs::Features.of_game(&game, 7.0, Symmetry::Identity, &mut without);
        let (first, told) = with.split_at(without.len());
        assert_eq!(first, without);
        let told: Vec<_> = told.chunks_exact(size.area()).map(points).collect();
        let expected: [&[usize]; 15] = [
            &[5, 42],
            &[20, 34, 44],
            &[19, 21, 27, 31, 32, 33, 36, 37, 43],
            &[],
            &[46, 48],
            &[],
            &[4, 14, 21, 42],
            &[15, 16, 17, 27, 29, 43],
            &[5],
            &[0, 2],
            // Black's stone in the corner runs into the next atari, White's on the left edge into the corner.
            &[6],
            &[35],
            &[36],
            &[0, 1, 2, 3, 7, 8, 9, 10],
            &[38, 39, 40, 41, 45, 46, 47, 48],
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn every_example_shows_what_its_game_showed() {
        let size = Size::new(7).unwrap();
        let record = synthetic::game("made-up", "features", 3, size, 1);
        let examples = record.examples().unwrap();
        for inputs in [Inputs::Features, Inputs::Tactics] {
            let mut game = Game::new(size);
            let mut replay = Replay::new(size);
            let mut checked = 0;
            for (turn, played) in record.turns.iter().enumerate() {
                for example in examples.iter().filter(|example| usize::from(example.turn) == turn) {
                    let [mut seen, mut told] = [(); 2].map(|()| vec![0; inputs.len(size)]);
                    inputs.of_game(&game, example.komi, Symmetry::Rot90, &mut seen);
                    inputs.of_example(example, Symmetry::Rot90, &mut replay, &mut told).unwrap();
                    assert_eq!(seen, told, "{inputs}, turn {turn}");
                    checked += 1;
                }
                game.play(played.mv).unwrap();
            }
            assert!(checked > 20, "{checked} examples");
        }
    }
}
