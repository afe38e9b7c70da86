//! One million moves of the model `random`: whatever the rules, the search and the records can meet, they have met.
//!
//! In the profile that tests are built with debug assertions are on.

use std::cell::Cell;
use std::ops::ControlFlow;

use config::Preset;
use go::{Game, Move, Symmetry};
use net::Targets;
use play::{RandomModel, Selfplay, SelfplaySpec};
use record::{EndReason, Example, GameRecord, Outcome};

/// What every board is played with: so few visits that the moves are many, and everything that may happen in a game.
const COMMON: [&str; 8] = [
    "search.leaves=2",
    "search.gumbel_moves=4",
    "selfplay.batch=64",
    "selfplay.choice_moves=0",
    "selfplay.full_search_fraction=0.75",
    "selfplay.fast_visits=1",
    "selfplay.policy_opening_fraction=0.1",
    "resign.calibration_fraction=0.5",
];
const PUCT: [&str; 2] = ["search.algorithm=puct", "search.visits=3"];
const GUMBEL: [&str; 2] = ["search.algorithm=gumbel", "search.visits=2"];

/// Plays at least so many moves, and checks every game.
fn play(moves: usize, side: usize, overrides: &[&str]) {
    let size = [format!("game.size={side}"), format!("game.move_limit={}", 3 * side * side)];
    let overrides = COMMON.iter().chain(overrides).map(|&text| text.to_owned()).chain(size).collect::<Vec<_>>();
    let config = Preset::Tiny.with(&overrides).unwrap();
    let targets = Targets::new(&config);
    let (config, done) = (config.at(0), Cell::new(0));
    let mut specs = (0..).map(|index| SelfplaySpec::new(&config, "random", "million", index, Some(-0.97)));
    play::run(
        &mut [&mut RandomModel::new()],
        &mut Vec::new(),
        32,
        &mut || specs.next().map(Selfplay::new).filter(|_| done.get() < moves),
        &mut |record| {
            done.set(done.get() + record.turns.len());
            check(&record, &targets);
        },
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert!(done.get() >= moves);
}

fn check(record: &GameRecord, targets: &Targets) {
    let mut game = Game::new(record.size);
    // These refuse values and visits out of range.
    let mut examples = record.examples().unwrap().into_iter().peekable();
    for (number, turn) in record.turns.iter().enumerate() {
        let legal = |mv: u16| game.is_legal(Move::from_index(record.size, mv.into()).unwrap());
        assert!(turn.visits.iter().all(|&(mv, _)| legal(mv)), "turn {number} of {record:?}");
        if let Some(example) = examples.next_if(|example| usize::from(example.turn) == number) {
            check_policy(&example, targets);
        }
        game.play(turn.mv).unwrap();
    }
    assert_eq!(examples.next(), None);
    check_result(record, &game);
}

/// The visits are of legal moves, so this is a policy of legal moves.
fn check_policy(example: &Example, targets: &Targets) {
    let mut policy = vec![0.0; example.size.moves()];
    targets.policy(example, Symmetry::ALL[0], &mut policy).unwrap();
    let sum: f32 = policy.iter().sum();
    assert!((sum - 1.0).abs() < 1e-5 && policy.iter().all(|p| (0.0..=1.0).contains(p)), "{example:?}");
    let visited = example.visits.iter().all(|&(mv, _)| policy[usize::from(mv)] > 0.0);
    assert!(visited && policy.iter().filter(|p| **p > 0.0).count() == example.visits.len(), "{example:?}");
    let values = targets.value_sources(example).unwrap();
    assert!(values.iter().all(|value| (-1.0..=1.0).contains(value)), "{example:?}");
}

fn check_result(record: &GameRecord, game: &Game) {
    let found = match record.end {
        EndReason::Resignation => {
            assert!(record.score.is_none() && !record.calibration);
            assert!(!game.is_over(record.scoring), "no resignation when the game is over");
            return assert_eq!(record.outcome, Outcome::from(game.to_move().opponent()));
        }
        EndReason::Passes => game.passed_out(),
        EndReason::Forfeit => false,
        EndReason::PassAlive => game.all_pass_alive() && !game.passed_out(),
        EndReason::MoveLimit => !game.is_over(record.scoring),
    };
    let score = game.score(record.scoring) as f32 - record.komi;
    assert!(found, "{}: {}", record.end, game.position());
    assert_eq!((record.score, record.outcome), (Some(score), Outcome::from_score(score)));
}

/// Most of the moves are on the small board, where a game meets most in the fewest moves.
#[test]
fn half_a_million_moves_on_5x5() {
    play(250_000, 5, &PUCT);
    play(
        250_000,
        5,
        &[&GUMBEL[..], &["game.scoring=area", "search.prune_pass_alive=false", "search.pass_from=0"]].concat(),
    );
}

#[test]
fn four_hundred_thousand_moves_on_9x9() {
    play(200_000, 9, &PUCT);
    play(200_000, 9, &GUMBEL);
}

#[test]
fn hundred_thousand_moves_on_19x19() {
    play(50_000, 19, &[&PUCT[..], &["search.reuse=false", "search.pass_from=0"]].concat());
    play(50_000, 19, &[&GUMBEL[..], &["search.pass_from=300"]].concat());
}
