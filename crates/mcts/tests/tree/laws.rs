//! What holds in every tree.

use crate::common::{PARENT, empty, gumbel, hashed, noisy, run, spend};
use config::QInit;
use mcts::{FirstPlay, Purpose, Search, Settings};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn first_plays() -> impl Strategy<Value = FirstPlay> {
    let urgency = (0.0f32..0.5).prop_map(|reduction| FirstPlay::Urgency { reduction });
    prop_oneof![Just(FirstPlay::VirtualVisit), urgency]
}

fn rules() -> impl Strategy<Value = QInit> {
    prop_oneof![Just(QInit::PARENT), Just(QInit::LOSS), Just(QInit::Zero), (0.0f32..2.0).prop_map(QInit::Penalty)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the batch width: visits add up, values stay in range, and a whole game can be played on one tree.
    #[test]
    fn game_on_one_tree(
        side in 2usize..6, q_init in rules(), first_play in first_plays(), width in 1usize..17, reuse: bool
    ) {
        let mut search = empty(side, Settings { q_init, first_play, reuse, ..PARENT });
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..20 {
            if search.game().is_over(PARENT.scoring) {
                break;
            }
            run(&mut search, 30, width);
            let moves = search.root_moves();
            prop_assert_eq!(moves.iter().map(|mv| mv.visits).sum::<u32>(), search.visits());
            prop_assert!(moves.iter().all(|mv| mv.value.black().abs() <= 1.0));
            search.begin_move(40, noisy(0.3), &mut rng);
            run(&mut search, 40, width);
            prop_assert!(search.visits() >= 40);
            let best = search.best_move().unwrap();
            let target = search.policy_target();
            for (mv, visits) in target {
                prop_assert!(search.root_moves().iter().any(|root| root.mv == mv && root.visits == visits));
            }
            let kept = best.visits.saturating_sub(1);
            search.advance(best.mv).unwrap();
            let over = search.game().is_over(PARENT.scoring);
            prop_assert_eq!(search.visits(), if reuse && !over { kept } else { 0 });
        }
    }

    /// Whatever the budget and the batch width: a Gumbel search spends its budget exactly, plays a move with the most
    /// visits, and has a target that sums to [`Search::SHARES`]. Without noise it may be one visit less, and at most
    /// half as many moves are considered as there are visits to spend, or two.
    #[test]
    fn gumbel_game_on_one_tree(
        side in 2usize..6, moves in 1usize..20, budget in 2u32..40, width in 1usize..17, reuse: bool, explores: bool
    ) {
        let mut search = empty(side, Settings { reuse, ..gumbel(moves) });
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..20 {
            if search.game().is_over(PARENT.scoring) {
                break;
            }
            run(&mut search, 0, 1);
            let (inherited, before) = (search.visits(), search.root_moves());
            search.begin_move(budget, if explores { noisy(0.3) } else { Purpose::Win }, &mut rng);
            spend(&mut search, budget, width, &hashed);
            prop_assert_eq!(search.visits(), budget.max(inherited));
            let best = search.best_move().unwrap();
            let added = |mv| {
                let visits = |moves: &[mcts::RootMove]| moves.iter().find(|root| root.mv == mv).map_or(0, |r| r.visits);
                visits(&search.root_moves()) - visits(&before)
            };
            let most = search.root_moves().iter().map(|root| added(root.mv)).max();
            prop_assert!(most.is_some_and(|most| added(best.mv) + u32::from(!explores) >= most));
            let half = (budget.saturating_sub(inherited) / 2).max(2) as usize;
            let limit = if explores { moves } else { moves.min(half) };
            let considered = search.root_moves().iter().filter(|root| added(root.mv) > 0).count();
            prop_assert!(considered <= limit, "{considered} of {moves}, {inherited} of {budget} inherited");
            prop_assert_eq!(search.policy_target().iter().map(|(_, count)| count).sum::<u32>(), Search::SHARES);
            search.advance(best.mv).unwrap();
        }
    }

    #[test]
    fn reuse_changes_nothing_below_the_move(width in 1usize..9) {
        let mut search = empty(5, PARENT);
        run(&mut search, 200, width);
        let line = search.principal_variation();
        let best = search.best_move().unwrap();
        prop_assert_eq!(line[0], (best.mv, best.visits));
        prop_assert_eq!(&search.variation(best.mv), &line);
        for root in search.root_moves() {
            prop_assert_eq!(search.variation(root.mv)[0], (root.mv, root.visits));
        }
        search.advance(best.mv).unwrap();
        prop_assert_eq!(&search.principal_variation()[..], &line[1..]);
        prop_assert!(search.is_expanded());
        prop_assert_eq!(search.root_value(), best.value);
    }
}

/// One leaf at a time, what is searched below a move depends on nothing beside it.
#[test]
fn reused_tree_is_searched_on_as_one_that_begins_there() {
    let mut reused = empty(5, PARENT);
    run(&mut reused, 200, 1);
    let best = reused.best_move().unwrap();
    reused.advance(best.mv).unwrap();
    let mut own = Search::new(reused.game().clone(), PARENT);
    run(&mut own, best.visits - 1, 1);
    for (visits, width) in [(best.visits - 1, 1), (150, 1), (300, 4)] {
        run(&mut reused, visits, width);
        run(&mut own, visits, width);
        assert_eq!(reused.root_moves(), own.root_moves(), "{visits} visits");
        assert_eq!(reused.principal_variation(), own.principal_variation(), "{visits} visits");
        assert_eq!((reused.visits(), reused.root_value()), (own.visits(), own.root_value()));
    }
}

/// Sixteen leaves at a time: the sum of the root is its own evaluation and the sums of its moves, and no loss waits.
#[test]
fn virtual_losses_leave_no_trace() {
    let mut search = empty(5, PARENT);
    run(&mut search, 500, 16);
    let (_, own) = hashed(search.game());
    let moves = search.root_moves();
    let visits = moves.iter().map(|root| root.visits).sum::<u32>() + 1;
    let sum = moves.iter().map(|root| root.value.black() * root.visits as f32).sum::<f32>() + own;
    let found = search.root_value().black() * visits as f32;
    // Five hundred sums below 512 are rounded by less than a hundredth; a loss that was left would be 1.
    assert!((found - sum).abs() < 0.1, "{found} and not {sum}");
    // `advance` refuses a root with losses left, and the copy checks every node below a move in debug builds.
    for root in moves {
        search.clone().advance(root.mv).unwrap();
    }
}

#[test]
fn same_search_twice_is_the_same_tree() {
    let tree = || {
        let mut search = empty(9, PARENT);
        run(&mut search, 300, 4);
        (search.root_moves(), search.principal_variation())
    };
    assert_eq!(tree(), tree());
}
