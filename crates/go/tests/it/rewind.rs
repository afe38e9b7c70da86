//! Going back to a mark restores everything.

use go::{Game, Move, Point, Scoring};
use proptest::prelude::*;
use testing::Dice;

use crate::boards::size;

fn random_move(game: &Game, dice: &mut Dice) -> Move {
    let legal: Vec<Point> = game.legal_points().iter().collect();
    if legal.is_empty() || dice.one_in(30) { Move::Pass } else { Move::Play(legal[dice.below(legal.len())]) }
}

fn advance(game: &mut Game, dice: &mut Dice, moves: usize) {
    for _ in 0..moves {
        let mv = random_move(game, dice);
        game.play(mv).expect("a legal move");
        if dice.one_in(2) {
            game.find_pass_alive();
        }
    }
}

/// Everything a game can be asked.
fn assert_same(a: &Game, b: &Game) {
    assert_eq!(a.position(), b.position());
    assert_eq!(a.position().hash(), b.position().hash());
    assert_eq!((a.moves(), a.colors()), (b.moves(), b.colors()));
    assert_eq!(a.legal_points(), b.legal_points());
    for color in go::Color::BOTH {
        assert_eq!(a.captures(color), b.captures(color));
    }
    for k in 0..=a.turn() + 1 {
        assert_eq!(a.stones_ago(k), b.stones_ago(k));
    }
    for point in Point::all(a.size()) {
        assert_eq!(a.position().chain(point), b.position().chain(point));
        assert_eq!(a.position().liberties(point), b.position().liberties(point));
    }
    assert_eq!(a.score(Scoring::PassAlive), b.score(Scoring::PassAlive));
    assert!([a, b].iter().all(|game| game.pass_alive() == a.position().pass_alive()));
    assert!([a, b].iter().all(|game| game.all_pass_alive() == a.position().all_pass_alive()));
}

/// A position that has been used can become any other, of any size.
#[test]
fn position_copied_over_another_is_the_other() {
    let mut dice = Dice(5);
    let mut target = go::Position::empty(size(9));
    for side in [9, 19, 2, 13, 13, 5, 19] {
        let mut game = Game::new(size(side));
        advance(&mut game, &mut dice, side * side);
        target.copy_from(game.position());
        assert_same(&Game::from_position(target.clone()), &Game::from_position(game.position().clone()));
        for point in Point::all(size(side)) {
            let (mut copy, mut original) = (target.clone(), game.position().clone());
            assert_eq!(copy.play(Move::Play(point)), original.play(Move::Play(point)));
            assert_eq!(copy, original);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn rewound_game_is_as_it_was(
        seed: u64,
        side in prop::sample::select(vec![2_usize, 3, 5, 9, 19]),
        lengths in prop::collection::vec((0_usize..40, 0_usize..60), 1..8),
    ) {
        let mut dice = Dice(seed);
        let mut game = Game::new(size(side));
        for (before, after) in lengths {
            advance(&mut game, &mut dice, before);
            let (mark, copy) = (game.mark(), game.clone());
            advance(&mut game, &mut dice, after);
            game.rewind(&mark);
            assert_same(&game, &copy);
            // Rewinding twice to one mark, as a search does, and from a second line of play.
            advance(&mut game, &mut dice, after / 2);
            game.rewind(&mark);
            assert_same(&game, &copy);
        }
    }

    /// What superko forbids after a rewind is what it forbids in a game that never went astray.
    #[test]
    fn superko_forgets_boards_that_were_rewound(seed: u64) {
        let mut dice = Dice(seed);
        let mut straight = Game::new(size(3));
        let mut crooked = Game::new(size(3));
        for _ in 0..60 {
            let mark = crooked.mark();
            advance(&mut crooked, &mut dice, 5);
            crooked.rewind(&mark);
            let mv = random_move(&straight, &mut dice);
            straight.play(mv).expect("a legal move");
            crooked.play(mv).expect("a legal move");
            assert_same(&crooked, &straight);
        }
    }

    /// Taking moves back one by one passes through every earlier game.
    #[test]
    fn undo_is_the_reverse_of_play(seed: u64, side in prop::sample::select(vec![2_usize, 3, 5, 9])) {
        let mut dice = Dice(seed);
        let mut game = Game::new(size(side));
        let mut earlier = Vec::new();
        for _ in 0..60 {
            earlier.push(game.clone());
            advance(&mut game, &mut dice, 1);
        }
        while let Some(before) = earlier.pop() {
            let last = game.moves().last().copied();
            prop_assert_eq!(game.undo(), last);
            assert_same(&game, &before);
        }
        prop_assert_eq!(game.undo(), None);
    }
}
