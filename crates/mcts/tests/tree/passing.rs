//! What is not worth considering: early passes, decided points, and passes that the reply refutes.

use go::{Color, Game, Move, Scoring, Size};
use mcts::{Search, Selected, Settings};

use crate::common::{PARENT, flat, leaf};

fn game(side: usize, diagram: &str, to_move: Color) -> Game {
    let size = Size::new(side).expect("a size");
    Game::from_position(testing::position(size, diagram, to_move))
}

/// The moves that are considered: with a flat prior their number is e to the entropy.
fn considered(game: Game, settings: Settings) -> usize {
    let mut search = Search::new(game, settings);
    let (root, _) = leaf(&mut search);
    flat(&mut search, root, 0.0);
    mcts::math::exp(search.prior_entropy()).round() as usize
}

#[test]
fn search_before_pass_from_has_no_pass() {
    let settings = Settings { pass_from: 2, ..PARENT };
    let mut game = Game::new(Size::new(3).unwrap());
    for expected in [9, 8, 8] {
        assert_eq!(considered(game.clone(), settings), expected, "turn {}", game.turn());
        let next = game.legal_points().first().unwrap();
        game.play(Move::Play(next)).unwrap();
    }
}

#[test]
fn first_stones_count_as_moves_before_a_pass() {
    let settings = Settings { pass_from: 2, ..PARENT };
    // Eight points, and seven with the pass.
    for board in ["X../.../...", "X.O/.../..."] {
        assert_eq!(considered(game(3, board, Color::Black), settings), 8, "{board}");
    }
}

#[test]
fn pass_is_a_candidate_without_other_moves() {
    // White has no liberty to play on.
    let stuck = game(2, "XX/X.", Color::White);
    assert_eq!(considered(stuck, Settings { pass_from: 99, ..PARENT }), 1);
}

#[test]
fn decided_points_are_no_candidates() {
    // Black lives with two eyes at the top; White may play in neither, Black could fill both.
    let board = ".X.XX/XXXXX/...../...../.....";
    for (to_move, all) in [(Color::Black, 18), (Color::White, 16)] {
        assert_eq!(considered(game(5, board, to_move), PARENT), all);
        assert_eq!(considered(game(5, board, to_move), Settings { prune_pass_alive: true, ..PARENT }), 16);
    }
}

#[test]
fn game_finishes_when_every_point_is_decided() {
    let board = ".X.XX/XXXXX/OOOOO/OOOOO/O.O.O";
    for prune_pass_alive in [false, true] {
        // One move before the end: Black, who has the lower half with White's eyes, has only its own eyes to fill.
        let mut search = Search::new(game(5, board, Color::Black), Settings { prune_pass_alive, ..PARENT });
        let (root, _) = leaf(&mut search);
        flat(&mut search, root, 0.0);
        assert_eq!(search.select(&mut |_| panic!("the game is over after any move")), Selected::Ended);
    }
}

#[test]
fn pass_is_lost_where_the_reply_wins() {
    let search = |to_move, komi, adjudicate_winning_pass| {
        let settings = Settings { adjudicate_winning_pass, scoring: Scoring::Area, komi, ..PARENT };
        let mut game = game(5, "...../XXXXX/...../.....", Color::Black);
        game.set_to_move(to_move);
        Search::new(game, settings)
    };
    let pass_first = |mut search: Search| {
        let (root, _) = leaf(&mut search);
        let mut policy = vec![0.0; 26];
        policy[25] = 1.0;
        search.expand(root, mcts::Evaluation { policy: &policy, value: mcts::Value::ZERO });
        let selected = search.select(&mut |_| {});
        (selected, search.root_moves().first().map(|pass| pass.value.black()))
    };
    // White passes although it is behind.
    assert_eq!(pass_first(search(Color::White, 0.5, true)), (Selected::Ended, Some(1.0)));
    assert!(matches!(pass_first(search(Color::White, 0.5, false)).0, Selected::Leaf(_)));
    // Black, who has the whole board, can only draw by ending the game.
    assert!(matches!(pass_first(search(Color::White, 25.0, true)).0, Selected::Leaf(_)));
    // Black passes while it is ahead: White will not end the game.
    assert!(matches!(pass_first(search(Color::Black, 0.5, true)).0, Selected::Leaf(_)));
}
