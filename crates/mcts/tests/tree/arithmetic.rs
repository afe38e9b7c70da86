//! The numbers of the first visits, worked out by hand.

use crate::common::{PARENT, empty, flat, leaf};
use config::QInit;
use go::{Color, Game, Move, Scoring, Size};
use mcts::{Evaluation, Search, Selected, Settings, Value};

#[test]
fn first_leaf_is_the_root_and_the_second_its_first_point() {
    let mut search = empty(9, PARENT);
    let (root, path) = leaf(&mut search);
    assert!(path.is_empty());
    flat(&mut search, root, 0.5);
    assert_eq!(search.visits(), 0);
    assert_eq!(search.root_value().black(), 0.5);

    let (first, path) = leaf(&mut search);
    assert_eq!(path, [0]);
    flat(&mut search, first, 0.5);
    assert_eq!(search.visits(), 1);
    let (second, path) = leaf(&mut search);
    assert_eq!(path, [1], "U of the visited edge is halved, so the next one is better");
    flat(&mut search, second, 0.5);
}

/// With Q = 0 everywhere only U decides: a visited edge falls behind all that were not.
#[test]
fn flat_priors_are_visited_in_order_and_the_depth_is_counted() {
    let mut search = empty(3, Settings { q_init: QInit::Zero, ..PARENT });
    let (root, _) = leaf(&mut search);
    flat(&mut search, root, 0.0);
    for expected in 0..10 {
        let (next, path) = leaf(&mut search);
        assert_eq!(path, [expected]);
        flat(&mut search, next, 0.0);
    }
    assert_eq!((search.depth().mean(), search.depth().max()), (1.0, 1), "the root is no leaf of its own search");
    let (deeper, path) = leaf(&mut search);
    assert_eq!(path.len(), 2, "every move of the root was visited once, so the walk goes deeper");
    assert_eq!((search.depth().mean(), search.depth().max()), (12.0 / 11.0, 2));
    flat(&mut search, deeper, 0.0);
    search.advance(Move::Pass).unwrap();
    assert_eq!((search.depth().mean(), search.depth().max()), (0.0, 0), "a new root, a new search");
}

#[test]
fn q_init_to_loss_visits_fewer_root_moves_than_to_parent() {
    let visited = |q_init| {
        let mut search = empty(9, Settings { q_init, ..PARENT });
        for _ in 0..40 {
            match search.select(&mut |_| {}) {
                Selected::Leaf(next) => flat(&mut search, next, 0.0),
                other => panic!("no game ends or waits here: {other:?}"),
            }
        }
        search.root_moves().len()
    };
    assert!(visited(QInit::LOSS) < visited(QInit::PARENT) / 2);
}

#[test]
fn virtual_loss_turns_the_next_walk_away_and_is_taken_back() {
    let mut search = empty(5, PARENT);
    let (root, _) = leaf(&mut search);
    flat(&mut search, root, 0.0);
    let mut leaves = Vec::new();
    for expected in 0..8 {
        let (next, path) = leaf(&mut search);
        assert_eq!(path, [expected], "each leaf of a batch is another one");
        leaves.push(next);
    }
    leaves.into_iter().for_each(|next| flat(&mut search, next, 0.25));
    let moves = search.root_moves();
    assert_eq!(moves.len(), 8);
    assert!(moves.iter().all(|mv| mv.visits == 1 && mv.value.black() == 0.25), "{moves:?}");
}

#[test]
fn leaf_met_twice_counts_once() {
    let mut search = empty(2, PARENT);
    let (root, _) = leaf(&mut search);
    assert_eq!(search.select(&mut |_| panic!("a waiting leaf is not shown again")), Selected::Pending);
    assert_eq!(search.select(&mut |_| panic!("a waiting leaf is not shown again")), Selected::Pending);
    flat(&mut search, root, 0.0);
    assert_eq!(search.visits(), 0);
    assert_eq!(search.root_value().black(), 0.0);
    let (next, _) = leaf(&mut search);
    flat(&mut search, next, 0.0);
    search.advance(Move::from_index(search.game().size(), 0).unwrap()).unwrap();
}

/// White has just passed and Black is ahead on the board: pass wins at once.
#[test]
fn end_of_the_game_is_counted_and_needs_no_network() {
    let size = Size::new(5).unwrap();
    let position = testing::position(size, "...../XXXXX/...../XXXXX/.....", Color::White);
    let mut game = Game::from_position(position);
    game.play(Move::Pass).unwrap();
    let mut search = Search::new(game, Settings { scoring: Scoring::Area, komi: 7.5, ..PARENT });
    let (root, _) = leaf(&mut search);
    let mut policy = vec![0.0; 26];
    policy[25] = 1.0;
    search.expand(root, Evaluation { policy: &policy, value: Value::ZERO });
    for _ in 0..10 {
        assert_eq!(search.select(&mut |_| panic!("nothing to evaluate")), Selected::Ended);
    }
    let best = search.best_move().unwrap();
    assert_eq!((best.mv, best.visits, best.value.black()), (Move::Pass, 10, 1.0));
}

#[test]
fn draw_is_worth_nothing() {
    let mut game = Game::new(Size::new(5).unwrap());
    game.play(Move::Pass).unwrap();
    let mut search = Search::new(game, Settings { komi: 0.0, ..PARENT });
    let (root, _) = leaf(&mut search);
    let mut policy = vec![0.0; 26];
    policy[25] = 1.0;
    search.expand(root, Evaluation { policy: &policy, value: Value::for_black(0.9) });
    assert_eq!(search.select(&mut |_| {}), Selected::Ended);
    assert_eq!(search.best_move().unwrap().value, Value::ZERO);
}

#[test]
fn illegal_moves_get_no_prior_and_an_empty_policy_becomes_flat() {
    let size = Size::new(5).unwrap();
    // Black at A5 would be suicide.
    let position = testing::position(size, ".O.../O....", Color::Black);
    let mut search = Search::new(Game::from_position(position), PARENT);
    let (root, _) = leaf(&mut search);
    let mut policy = vec![0.0; 26];
    policy[0] = 1.0;
    search.expand(root, Evaluation { policy: &policy, value: Value::ZERO });
    assert!((search.prior_entropy() - mcts::math::ln(23.0)).abs() < 1e-5, "22 points and pass are legal");
    let (next, path) = leaf(&mut search);
    assert_eq!(path, [2]);
    flat(&mut search, next, 0.0);
}
