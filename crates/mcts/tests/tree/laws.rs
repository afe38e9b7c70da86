//! What holds in every tree.

use crate::common::{PARENT, empty, run};
use config::QInit;
use mcts::{Noise, Settings};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn rules() -> impl Strategy<Value = QInit> {
    prop_oneof![Just(QInit::PARENT), Just(QInit::LOSS), Just(QInit::Zero), (0.0f32..2.0).prop_map(QInit::Penalty)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the batch width: visits add up, values stay in range, and a whole game can be played on one tree.
    #[test]
    fn a_game_on_one_tree(side in 2usize..6, q_init in rules(), width in 1usize..17, reuse: bool) {
        let mut search = empty(side, Settings { q_init, reuse, ..PARENT });
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..20 {
            if search.game().is_over(PARENT.scoring) {
                break;
            }
            run(&mut search, 30, width);
            let moves = search.root_moves();
            prop_assert_eq!(moves.iter().map(|mv| mv.visits).sum::<u32>(), search.visits());
            prop_assert!(moves.iter().all(|mv| mv.value.black().abs() <= 1.0));
            search.add_noise(Noise { weight: 0.25, alpha: 0.3 }, &mut rng);
            run(&mut search, 40, width);
            prop_assert!(search.visits() >= 40);
            let best = search.best_move().unwrap();
            let kept = best.visits.saturating_sub(1);
            search.advance(best.mv).unwrap();
            let over = search.game().is_over(PARENT.scoring);
            prop_assert_eq!(search.visits(), if reuse && !over { kept } else { 0 });
        }
    }

    /// A tree that was copied below a move goes on as if it had always been that tree.
    #[test]
    fn reuse_changes_nothing_below_the_move(width in 1usize..9) {
        let mut search = empty(5, PARENT);
        run(&mut search, 200, width);
        let line = search.principal_variation();
        let best = search.best_move().unwrap();
        prop_assert_eq!(line[0], (best.mv, best.visits));
        search.advance(best.mv).unwrap();
        prop_assert_eq!(&search.principal_variation()[..], &line[1..]);
        if search.is_expanded() {
            prop_assert_eq!(search.root_value(), best.value);
        }
    }
}

/// Sixteen leaves at a time leave the same sums as one at a time could: all virtual losses are gone, to the bit.
#[test]
fn virtual_losses_leave_no_trace() {
    let mut search = empty(5, PARENT);
    run(&mut search, 500, 16);
    for mv in search.root_moves() {
        let sum = mv.value.black() * mv.visits as f32;
        assert!(sum.abs() <= mv.visits as f32, "{mv:?}");
    }
    // `advance` refuses a root with losses left, and the copy checks every other node in debug builds.
    let best = search.best_move().unwrap().mv;
    search.advance(best).unwrap();
}

#[test]
fn the_same_search_twice_is_the_same_tree() {
    let tree = || {
        let mut search = empty(9, PARENT);
        run(&mut search, 300, 4);
        (search.root_moves(), search.principal_variation())
    };
    assert_eq!(tree(), tree());
}
