//! Whole trees that may not change by accident.
//!
//! After a change that is meant to change them: `UPDATE_EXPECT=1 cargo test -p mcts golden`, and look at the
//! difference.

use config::QInit;
use expect_test::expect_file;
use go::Move;
use mcts::{Evaluation, FirstPlay, Search, Selected, Settings, Value};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::{CALM, PARENT, empty, gumbel, hashed, noisy, run, spend};

/// One line for each move of the root, and the principal variation.
fn describe(name: &str, search: &Search) -> String {
    let size = search.game().size();
    let mut text = format!("{name}: {} visits, value {:.6}\n", search.visits(), search.root_value().black());
    for root in search.root_moves().iter().take(12) {
        let mv = root.mv.to_gtp(size);
        text += &format!("  {mv:<4} N {:>4}  P {:.6}  Q {:+.6}\n", root.visits, root.prior, root.value.black());
    }
    let line: Vec<String> =
        search.principal_variation().iter().map(|(mv, n)| format!("{}:{n}", mv.to_gtp(size))).collect();
    text + &format!("  {}\n", line.join(" "))
}

fn uniform(search: &mut Search, visits: u32) {
    let policy = vec![1.0 / search.game().size().moves() as f32; search.game().size().moves()];
    while search.visits() < visits || !search.is_expanded() {
        if let Selected::Leaf(leaf) = search.select(&mut |_| {}) {
            search.expand(leaf, Evaluation { policy: &policy, value: Value::ZERO });
        }
    }
}

fn trees() -> String {
    let mut text = String::new();
    for side in [5, 9, 19] {
        let mut search = empty(side, PARENT);
        uniform(&mut search, 400);
        text += &describe(&format!("uniform {side}x{side}"), &search);
    }
    for q_init in [QInit::PARENT, QInit::LOSS, QInit::Zero, QInit::Penalty(0.25)] {
        let mut search = empty(9, Settings { q_init, ..PARENT });
        run(&mut search, 400, 4);
        text += &describe(&format!("hashed 9x9, init {q_init}, 4 leaves"), &search);
    }
    let mut search = empty(7, PARENT);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..12 {
        run(&mut search, 1, 1);
        search.begin_move(120, noisy(0.2), &mut rng);
        run(&mut search, 120, 2);
        let best = search.best_move().map_or(Move::Pass, |best| best.mv);
        search.advance(best).expect("a legal move");
    }
    text += &describe("hashed 7x7 after twelve moves with noise and reuse", &search);
    text + &options()
}

/// The twelve most probable moves of the policy target.
fn target(search: &Search) -> String {
    let mut target = search.policy_target();
    target.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let size = search.game().size();
    let moves: Vec<String> = target.iter().take(12).map(|(mv, n)| format!("{}:{n}", mv.to_gtp(size))).collect();
    format!("  target {}\n", moves.join(" "))
}

fn options() -> String {
    let mut text = String::new();
    for reduction in [0.0, 0.2] {
        let mut search = empty(9, Settings { first_play: FirstPlay::Urgency { reduction }, ..PARENT });
        run(&mut search, 400, 4);
        text += &describe(&format!("hashed 9x9, urgency less {reduction}, 4 leaves"), &search);
    }
    for (settings, visits) in [(gumbel(16), 400), (gumbel(4), 9)] {
        let mut search = empty(9, settings);
        run(&mut search, 0, 1);
        search.begin_move(visits, CALM, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        spend(&mut search, visits, 4, &hashed);
        text += &describe(&format!("hashed 9x9, gumbel, {visits} visits, 4 leaves"), &search);
        text += &target(&search);
    }
    text
}

#[test]
fn golden_trees_have_not_changed() {
    expect_file!["golden.txt"].assert_eq(&trees());
}
