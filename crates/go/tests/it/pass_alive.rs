//! Pass-alive regions: against the slow implementation, and by what the word promises.

use go::Color::{Black, White};
use go::{Color, Game, Move, Point, PointSet, Position, Scoring, Size, Stones};
use proptest::prelude::*;
use testing::Dice;

use crate::boards::{game, position, size};
use crate::reference::{Board, indices};
use crate::small_boards::arrangements;

fn check_against_slow(position: &Position) -> Stones {
    let alive = position.pass_alive();
    let board = Board::new(position.size(), position.stones());
    for color in Color::BOTH {
        assert_eq!(indices(alive.of(color)), board.pass_alive(color), "{color}\n{position}");
    }
    assert!((alive.black & alive.white).is_empty(), "one point, two owners\n{position}");
    assert_eq!(position.all_pass_alive(), alive.both() == PointSet::full(position.size()), "{position}");
    alive
}

#[test]
fn every_position_up_to_3x3_agrees_with_the_slow_implementation() {
    for side in [2, 3] {
        let legal =
            arrangements(size(side)).filter_map(|stones| Position::from_stones(size(side), &stones, Black).ok());
        for position in legal {
            check_against_slow(&position);
        }
    }
}

/// A random board, with stones laid in short walks so that there are walls and eyes.
fn random_position(size: Size, dice: &mut Dice) -> Option<Position> {
    let mut stones = Stones::EMPTY;
    for _ in 0..size.area() / 4 {
        let color = Color::BOTH[dice.below(2)];
        let (mut row, mut col) = (dice.below(size.side()), dice.below(size.side()));
        let down = dice.one_in(2);
        for _ in 0..dice.below(size.side()) {
            if let Some(point) = Point::new(size, row, col) {
                stones.of_mut(color.opponent()).remove(point);
                stones.of_mut(color).insert(point);
            }
            if down { row += 1 } else { col += 1 }
        }
    }
    Position::from_stones(size, &stones, Color::BOTH[dice.below(2)]).ok()
}

/// The end of a game between players that pass rather than fill a one-point eye.
fn late_game(size: Size, dice: &mut Dice) -> Game {
    let mut game = Game::new(size);
    while !game.passed_out() && game.turn() < 3 * size.area() {
        let own = *game.position().stones().of(game.to_move());
        let eye = |point: Point| [point].into_iter().collect::<PointSet>().neighbours(size).is_subset(&own);
        let moves: Vec<Point> = game.legal_points().iter().filter(|&point| !eye(point)).collect();
        let mv = if moves.is_empty() { Move::Pass } else { Move::Play(moves[dice.below(moves.len())]) };
        game.play(mv).expect("a legal move");
    }
    game
}

#[test]
fn random_boards_agree_with_the_slow_implementation() {
    let mut dice = Dice(3);
    let mut some_alive = 0;
    for side in [4, 5, 7, 9] {
        for _ in 0..400 {
            if let Some(position) = random_position(size(side), &mut dice) {
                some_alive += usize::from(!check_against_slow(&position).both().is_empty());
            }
        }
    }
    assert!(some_alive > 50, "only {some_alive} boards had anything alive");
}

#[test]
fn games_to_the_end_agree_with_the_slow_implementation() {
    let mut dice = Dice(4);
    let mut decided = 0;
    for side in [5, 9, 13, 19] {
        for _ in 0..6 {
            let game = late_game(size(side), &mut dice);
            check_against_slow(game.position());
            decided += usize::from(game.all_pass_alive());
        }
    }
    assert!(decided > 0, "no game was decided");
}

#[test]
fn decided_board_finishes_the_game_unless_scoring_is_plain_area() {
    let game = game(5, ".XOO./XXO.O/.XOOO/XXO../.XOOO", Black);
    assert!(game.all_pass_alive());
    assert!(game.is_over(Scoring::PassAlive) && !game.is_over(Scoring::Area));
    assert_eq!(game.score(Scoring::PassAlive), 10 - 15);
}

#[test]
fn dead_stones_count_for_the_owner_of_their_region() {
    for (owner, stones, sign) in
        [(Black, ".X.X./XXXX./.O.X./XXXX./.....", 1), (White, ".O.O./OOOO./.X.O./OOOO./.....", -1)]
    {
        let game = game(5, stones, owner.opponent());
        assert_eq!(game.score(Scoring::Area), sign * (22 - 1));
        let alive = game.pass_alive();
        let dead = Point::new(size(5), 2, 1).unwrap();
        assert!(alive.of(owner).contains(dead) && alive.of(owner.opponent()).is_empty());
        assert_eq!(game.score(Scoring::PassAlive), sign * 25);
    }
}

#[test]
fn empty_board_is_neutral() {
    for size in Size::all() {
        assert_eq!(Position::empty(size).pass_alive(), Stones::EMPTY);
        assert!(!Position::empty(size).all_pass_alive());
    }
}

#[test]
fn two_stones_decide_a_2x2_board() {
    assert!(position(2, "X./.X", White).all_pass_alive());
}

/// Fewer stones than 4·⌊(4+2)/3⌋ = 8, the bound below which Minigo does not look: it does not hold on this board.
#[test]
fn six_stones_decide_a_4x4_board() {
    let game = game(4, ".X../.X../XXXX/....", White);
    assert!(game.is_over(Scoring::PassAlive));
    assert_eq!(game.score(Scoring::PassAlive), 16);
}

/// Plays random moves of one colour while the other passes. On any board the mover may make any legal move.
fn play_alone(game: &mut Game, color: Color, dice: &mut Dice, moves: usize) {
    for _ in 0..moves {
        game.set_to_move(color);
        let legal: Vec<Point> = game.legal_points().iter().collect();
        let mv = if legal.is_empty() { Move::Pass } else { Move::Play(legal[dice.below(legal.len())]) };
        game.play(mv).expect("a legal move");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// While the owner passes, no chain that is pass-alive is ever captured, and nothing of the opponent's in a
    /// pass-alive region ever becomes pass-alive.
    #[test]
    fn pass_alive_points_stay_their_owners_whatever_the_opponent_plays(
        seed: u64,
        side in prop::sample::select(vec![3_usize, 4, 5, 7]),
    ) {
        let mut dice = Dice(seed);
        let start = if dice.one_in(2) {
            late_game(size(side), &mut dice).position().clone()
        } else {
            match random_position(size(side), &mut dice) {
                Some(position) => position,
                None => return Ok(()),
            }
        };
        let alive = start.pass_alive();
        for color in Color::BOTH {
            let mut game = Game::from_position(start.clone());
            let chains = *alive.of(color) & *start.stones().of(color);
            for _ in 0..4 * size(side).area() {
                play_alone(&mut game, color.opponent(), &mut dice, 1);
                prop_assert!(chains.is_subset(game.position().stones().of(color)), "{}\n{:?}", start, game.position());
                let taken = *game.pass_alive().of(color.opponent()) & *alive.of(color);
                prop_assert!(taken.is_empty(), "{}\n{:?}", start, game.position());
            }
        }
    }
}
