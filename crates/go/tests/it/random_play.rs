//! Ten thousand random moves, everything recounted after each by the slow implementation.

use std::collections::BTreeSet;

use go::{Color, Game, Move, Point, Position, Scoring, Size, Stones};
use testing::Dice;

use crate::boards::size;
use crate::reference::{Board, indices};

#[test]
fn random_play_agrees_with_the_slow_rules_on_2x2() {
    check(2, 500);
}

#[test]
fn random_play_agrees_with_the_slow_rules_on_3x3() {
    check(3, 1500);
}

#[test]
fn random_play_agrees_with_the_slow_rules_on_5x5() {
    check(5, 2500);
}

#[test]
fn random_play_agrees_with_the_slow_rules_on_9x9() {
    check(9, 3000);
}

#[test]
fn random_play_agrees_with_the_slow_rules_on_13x13() {
    check(13, 1500);
}

#[test]
fn random_play_agrees_with_the_slow_rules_on_19x19() {
    check(19, 1000);
}

/// Plays `moves` random legal moves, in as many games as it takes.
fn check(side: usize, moves: usize) {
    let size = size(side);
    let mut dice = Dice(side as u64);
    let mut played = 0;
    let mut refused_by_superko = 0;
    while played < moves {
        let mut game = Game::new(size);
        let mut past = Past::new(Board::new(size, &Stones::EMPTY));
        while played < moves && !game.passed_out() {
            refused_by_superko += check_position(&game, &past);
            let legal: Vec<Point> = game.legal_points().iter().collect();
            let pass = legal.is_empty() || dice.one_in(40);
            let mv = if pass { Move::Pass } else { Move::Play(legal[dice.below(legal.len())]) };
            check_move(&mut game, &mut past, mv);
            played += 1;
        }
    }
    // Random play fills its own eyes, so that every size but the large ones meets superko within these moves.
    assert!(side > 9 || refused_by_superko > 0, "superko was never tried");
}

/// Every board of a game, in order and to look up.
struct Past {
    boards: Vec<Board>,
    set: BTreeSet<Vec<Option<Color>>>,
}

impl Past {
    fn new(first: Board) -> Past {
        Past { set: BTreeSet::from([first.points.clone()]), boards: vec![first] }
    }

    fn now(&self) -> &Board {
        self.boards.last().expect("there is always a first board")
    }

    fn push(&mut self, board: Board) {
        self.set.insert(board.points.clone());
        self.boards.push(board);
    }
}

/// Returns how many points only superko forbids.
fn check_position(game: &Game, past: &Past) -> usize {
    let size = game.size();
    let board = past.now();
    let position = game.position();
    assert!(*board == Board::new(size, position.stones()));
    for point in Point::all(size) {
        assert_eq!(position.stone(point), board.points[point.index()]);
        if position.stone(point).is_none() {
            assert!(position.chain(point).is_empty() && position.liberties(point) == 0);
        }
    }
    for chain in Color::BOTH.into_iter().flat_map(|color| board.parts(|i| board.points[i] == Some(color))) {
        let liberties = board.border(&chain).iter().filter(|&&i| board.points[i].is_none()).count();
        for point in chain.iter().filter_map(|&i| Point::from_index(size, i)) {
            assert_eq!(indices(&position.chain(point)), chain);
            assert_eq!(position.liberties(point), liberties);
        }
    }
    assert_eq!(position.hash(), hash_by_stones(size, position.stones()));
    let built = Position::from_stones(size, position.stones(), game.to_move()).expect("a board of a game");
    assert_eq!(position.canonical(), built.canonical());
    assert_eq!(game.score(Scoring::Area), board.area_score());
    check_legal(game, past)
}

fn check_legal(game: &Game, past: &Past) -> usize {
    let legal = game.legal_points();
    let mut refused_by_superko = 0;
    for point in Point::all(game.size()) {
        let after = past.now().play(point.index(), game.to_move());
        assert_eq!(after.is_some(), game.position().legal_points().contains(point), "{point:?}\n{:?}", game.position());
        let new = after.as_ref().is_some_and(|after| !past.set.contains(&after.points));
        assert_eq!(legal.contains(point), new, "{point:?}\n{:?}", game.position());
        assert_eq!(game.is_legal(Move::Play(point)), new);
        refused_by_superko += usize::from(after.is_some() && !new);
    }
    refused_by_superko
}

/// Plays a legal move in both, and compares what it did.
fn check_move(game: &mut Game, past: &mut Past, mv: Move) {
    let color = game.to_move();
    let before = past.now();
    let after = match mv {
        Move::Play(point) => before.play(point.index(), color).expect("the move is legal"),
        Move::Pass => before.clone(),
    };
    let count = |board: &Board| board.points.iter().filter(|&&stone| stone == Some(color.opponent())).count();
    let captured = game.captures(color) + count(before) - count(&after);
    past.push(after);
    game.play(mv).expect("the move is legal");
    assert_eq!(game.captures(color), captured);
    assert_eq!(game.to_move(), color.opponent());
    assert_eq!((game.moves().last(), game.colors().last()), (Some(&mv), Some(&color)));
    assert_eq!(game.turn() + 1, past.boards.len());
    for (k, board) in past.boards.iter().rev().enumerate() {
        assert!(game.stones_ago(k).is_some_and(|stones| Board::new(game.size(), stones) == *board));
    }
    assert_eq!(game.stones_ago(past.boards.len()), None);
}

/// The hash of a board is the exclusive or of the hashes of its stones, each alone on the board.
fn hash_by_stones(size: Size, stones: &Stones) -> u64 {
    let alone = |color: Color, point: Point| {
        let mut one = Stones::EMPTY;
        one.of_mut(color).insert(point);
        Position::from_stones(size, &one, Color::Black).expect("one stone has liberties").hash()
    };
    let all = Color::BOTH.into_iter().flat_map(|color| stones.of(color).iter().map(move |point| alone(color, point)));
    all.fold(0, |hash, stone| hash ^ stone)
}

/// Illegal moves of every kind leave the game as it was.
#[test]
fn refused_move_changes_nothing() {
    let mut dice = Dice(99);
    let mut game = Game::new(size(5));
    for _ in 0..200 {
        for point in Point::all(size(5)).filter(|&point| !game.is_legal(Move::Play(point))).collect::<Vec<_>>() {
            let (position, turn) = (game.position().clone(), game.turn());
            assert!(game.play(Move::Play(point)).is_err());
            assert!(
                *game.position() == position && game.turn() == turn && game.stones_ago(0) == Some(position.stones())
            );
        }
        let legal: Vec<Point> = game.legal_points().iter().collect();
        let mv = if legal.is_empty() { Move::Pass } else { Move::Play(legal[dice.below(legal.len())]) };
        game.play(mv).expect("the move is legal");
    }
}
