//! Gumbel search: the schedule of its visits, its sampling, its target, and its rule below the root.

use go::{Color, Game, Move};
use mcts::math::double::{exp, ln};
use mcts::{Algorithm, Purpose, RootMove, Search, Selected, Settings};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::{CALM, empty, expand_root, flat, gumbel, hashed, leaf, run, spend};

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Flat prior and an even game.
fn even(game: &Game) -> (Vec<f32>, f32) {
    (vec![1.0 / game.size().moves() as f32; game.size().moves()], 0.0)
}

/// A search of `budget` visits in self-play with `moves` considered, leaves evaluated by `judge`.
fn searched(moves: usize, budget: u32, width: usize, judge: &dyn Fn(&Game) -> (Vec<f32>, f32)) -> Search {
    explored(moves, budget, width, CALM, judge)
}

fn explored(
    moves: usize,
    budget: u32,
    width: usize,
    purpose: Purpose,
    judge: &dyn Fn(&Game) -> (Vec<f32>, f32),
) -> Search {
    let mut search = empty(9, gumbel(moves));
    let (policy, value) = judge(search.game());
    expand_root(&mut search, &policy, value);
    search.begin_move(budget, purpose, &mut rng(1));
    spend(&mut search, budget, width, judge);
    search
}

/// The schedules that mctx lists in its tests (seq_halving_test.py), by how often each move comes up, and a few more.
/// To play and not to learn, fewer moves are considered where these are more than half of the visits.
#[test]
fn visits_follow_sequential_halving_exactly() {
    let all: [(usize, u32, &[u32]); 9] = [
        (8, 24, &[7, 7, 3, 3, 1, 1, 1, 1]),
        (8, 47, &[18, 17, 4, 4, 1, 1, 1, 1]),
        (8, 2, &[1, 1]),
        (8, 13, &[3, 2, 2, 2, 1, 1, 1, 1]),
        (7, 24, &[9, 8, 3, 1, 1, 1, 1]),
        (1, 16, &[16]),
        (2, 3, &[2, 1]),
        (16, 16, &[1; 16]),
        (4, 1, &[1]),
    ];
    let half: [(usize, u32, &[u32]); 6] = [
        (8, 24, &[7, 7, 3, 3, 1, 1, 1, 1]),
        (8, 13, &[4, 4, 2, 1, 1, 1]),
        (16, 16, &[4, 4, 2, 2, 1, 1, 1, 1]),
        (4, 4, &[2, 2]),
        (3, 5, &[3, 2]),
        (4, 1, &[1]),
    ];
    let all = all.map(|case| (CALM, case)).into_iter();
    for (purpose, (moves, budget, expected)) in all.chain(half.map(|case| (Purpose::Win, case))) {
        for width in [1, 2, 5, 16] {
            for judge in [&even as &dyn Fn(&Game) -> _, &hashed] {
                let search = explored(moves, budget, width, purpose, judge);
                let mut visits: Vec<u32> = search.root_moves().iter().map(|root| root.visits).collect();
                visits.sort_unstable_by(|a, b| b.cmp(a));
                assert_eq!(visits, expected, "{budget} visits to {moves} moves, {width} leaves, {purpose:?}");
            }
        }
    }
}

#[test]
fn phase_is_judged_when_all_its_leaves_are_back() {
    let mut search = empty(9, gumbel(4));
    run(&mut search, 0, 1);
    search.begin_move(8, Purpose::Win, &mut rng(1));
    let mut leaves: Vec<_> = (0..4).map(|_| leaf(&mut search).0).collect();
    let last = leaves.pop().unwrap();
    leaves.into_iter().for_each(|leaf| flat(&mut search, leaf, 0.0));
    assert_eq!(search.select(&mut |_| panic!("nothing to see")), Selected::Wait);
    flat(&mut search, last, 0.0);
    assert!(matches!(search.select(&mut |_| {}), Selected::Leaf(_)));
}

/// Prior (0.5, 0.3, 0.2): one move is drawn with these probabilities. Of two moves without replacement the last is
/// missing with 0.5·0.3/0.5 + 0.3·0.5/0.7 = 0.5143, the second with 0.5·0.2/0.5 + 0.2·0.5/0.8 = 0.325, the first with
/// 0.3·0.2/0.7 + 0.2·0.3/0.8 = 0.1607.
#[test]
fn moves_are_sampled_from_the_prior_without_replacement() {
    let mut policy = vec![0.0; 82];
    policy[..3].copy_from_slice(&[0.5, 0.3, 0.2]);
    let (mut rng, rounds) = (rng(7), 4000);
    let mut counts = |moves: usize| {
        let mut counts = [0.0; 3];
        for _ in 0..rounds {
            let mut search = empty(9, gumbel(moves));
            expand_root(&mut search, &policy, 0.0);
            search.begin_move(moves as u32, CALM, &mut rng);
            spend(&mut search, moves as u32, 1, &even);
            let visited = search.root_moves();
            assert_eq!(visited.len(), moves);
            visited.iter().for_each(|root| counts[root.mv.index(search.game().size())] += 1.0 / f64::from(rounds));
        }
        counts
    };
    for (moves, expected) in [(1, [0.5, 0.3, 0.2]), (2, [1.0 - 0.1607, 1.0 - 0.325, 1.0 - 0.5143])] {
        let found = counts(moves);
        // Three standard deviations of 4,000 draws are at most 0.024.
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.024), "{moves}: {found:?}");
    }
}

/// Without visits of its own a search has nothing to tell moves apart by but those it inherited.
#[test]
fn search_that_inherits_its_budget_plays_the_most_visited_move() {
    let mut search = searched(16, 200, 2, &hashed);
    let played = search.best_move().expect("a move was visited").mv;
    search.advance(played).expect("a legal move");
    let inherited = search.root_moves();
    search.begin_move(search.visits(), CALM, &mut rng(1));
    let most = inherited.iter().map(|root| root.visits).max();
    assert!(most.is_some() && search.best_move().map(|best| best.visits) == most, "{most:?}");
}

#[test]
fn search_to_win_considers_the_most_probable_moves() {
    let tree = |seed| {
        let mut search = empty(9, gumbel(4));
        run(&mut search, 0, 1);
        search.begin_move(32, Purpose::Win, &mut rng(seed));
        spend(&mut search, 32, 2, &hashed);
        let mut moves: Vec<usize> = search.root_moves().iter().map(|r| r.mv.index(search.game().size())).collect();
        moves.sort_unstable();
        (moves, search.best_move())
    };
    let (policy, _) = hashed(empty(9, gumbel(4)).game());
    let mut likely: Vec<usize> = (0..82).collect();
    likely.sort_by(|&a, &b| policy[b].total_cmp(&policy[a]));
    likely.truncate(4);
    likely.sort_unstable();
    assert_eq!(tree(1).0, likely);
    assert_eq!(tree(1), tree(2));
}

/// After one good move White is lost: a search that considers it plays it, and the policy target has it.
#[test]
fn survivor_is_the_move_with_the_best_value() {
    let good = 40;
    let judge = |game: &Game| {
        let found = game.moves().first().is_some_and(|mv| mv.index(game.size()) == good);
        (even(game).0, if found { 0.8 } else { -0.2 })
    };
    for width in [1, 8] {
        let search = searched(82, 180, width, &judge);
        let best = search.best_move().unwrap();
        assert_eq!(best.mv.index(search.game().size()), good);
        let target = search.policy_target();
        assert!(target.contains(&(best.mv, Search::SHARES)), "σ of a whole point is 25 and more: {target:?}");
    }
}

/// Two moves have equal values after a visit each. The third visit goes to the more probable one, and finds its
/// refutation.
#[test]
fn last_visit_without_a_pair_can_refute_its_move() {
    let (leader, other) = (40, 41);
    let judge = |game: &Game| {
        let mut policy = vec![0.05 / 80.0; 82];
        (policy[leader], policy[other]) = (0.5, 0.45);
        let is_refuted = game.turn() == 2 && game.moves()[0].index(game.size()) == leader;
        (policy, if is_refuted { -0.9 } else { 0.0 })
    };
    let mut search = empty(9, gumbel(2));
    let (policy, value) = judge(search.game());
    expand_root(&mut search, &policy, value);
    search.begin_move(3, Purpose::Win, &mut rng(1));
    spend(&mut search, 3, 1, &judge);
    let best = search.best_move().unwrap();
    assert_eq!((best.mv.index(search.game().size()), best.visits), (other, 1));
}

#[test]
fn most_visited_move_is_played_in_self_play() {
    for seed in 0..20 {
        let mut search = empty(9, gumbel(2));
        run(&mut search, 0, 1);
        search.begin_move(3, CALM, &mut rng(seed));
        spend(&mut search, 3, 1, &hashed);
        assert_eq!(search.best_move().unwrap().visits, 2, "seed {seed}");
    }
}

/// π' ∝ P·exp(σ(completed q)) over all legal moves, straight from its definition and in double precision.
#[test]
fn target_is_the_improved_policy() {
    let narrow = |game: &Game| {
        let (policy, value) = hashed(game);
        (policy, value * 0.1)
    };
    for (moves, budget, mover) in [(16, 32, Color::Black), (4, 2, Color::White), (8, 200, Color::White)] {
        let mut search = empty(9, gumbel(moves));
        if mover == Color::White {
            search.advance(Move::Pass).unwrap();
        }
        let (policy, value) = narrow(search.game());
        expand_root(&mut search, &policy, value);
        search.begin_move(budget, CALM, &mut rng(1));
        spend(&mut search, budget, 3, &narrow);
        let size = search.game().size();
        let visited = search.root_moves();
        let value = |root: &RootMove| f64::from(root.value.mover(mover));
        let of = |index: usize| visited.iter().find(|root| root.mv.index(size) == index);
        let prior: f64 = visited.iter().map(|root| f64::from(root.prior)).sum();
        let mean: f64 = visited.iter().map(|root| f64::from(root.prior) * value(root)).sum();
        let mixed = (f64::from(search.network_value().mover(mover)) + f64::from(budget) * mean / prior)
            / (1.0 + f64::from(budget));
        let most = f64::from(visited.iter().map(|root| root.visits).max().unwrap());
        let sigma = |q: f64| (50.0 + most) * (q + 1.0) / 2.0;
        let logit = |index: usize| {
            let q = of(index).map_or(mixed, value);
            ln(policy[index].into()) + sigma(q)
        };
        let total: f64 = (0..82).map(|index| exp(logit(index))).sum();
        let target = search.policy_target();
        for index in 0..82 {
            let mv = Move::from_index(size, index).unwrap();
            let found = target.iter().find(|(other, _)| *other == mv).map_or(0, |(_, count)| *count);
            let expected = exp(logit(index)) / total * f64::from(Search::SHARES);
            assert!((f64::from(found) - expected).abs() < 1.0 + 1e-3, "{index}: {found}, expected {expected}");
        }
    }
}

/// Nothing was visited, so that every completed value is the network's.
#[test]
fn root_without_visits_has_the_prior_and_the_networks_value() {
    for passes in [0, 1] {
        let mut search = empty(9, gumbel(16));
        (0..passes).for_each(|_| search.advance(Move::Pass).unwrap());
        let mut policy = vec![0.0; 82];
        policy[..3].copy_from_slice(&[0.25, 0.5, 0.25]);
        expand_root(&mut search, &policy, 0.375);
        assert_eq!((search.visits(), search.policy_value().black()), (0, 0.375));
        let size = search.game().size();
        let mut target: Vec<(usize, u32)> =
            search.policy_target().iter().map(|&(mv, count)| (mv.index(size), count)).collect();
        target.sort_unstable();
        assert_eq!(target, [(0, 256), (1, 512), (2, 256)], "{passes} passes");
    }
}

/// One of three moves was visited three times with a mean of 0.5 and the network says −0.25: the two others are worth
/// (−0.25 + 3·0.5)/(1 + 3) = 0.3125. With c_visit = 50 and c_scale = 0.04, σ is (50 + 3)·0.04/2 = 1.06 times a value.
#[test]
fn unvisited_moves_are_worth_the_mixed_value() {
    let settings = Settings {
        algorithm: Algorithm::Gumbel(mcts::Gumbel { moves: 1, c_visit: 50.0, c_scale: 0.04 }),
        ..crate::common::PARENT
    };
    let mut policy = vec![0.0; 82];
    policy[..3].copy_from_slice(&[0.5, 0.25, 0.25]);
    let judge = |game: &Game| (even(game).0, 0.5);
    let mut search = empty(9, settings);
    expand_root(&mut search, &policy, -0.25);
    search.begin_move(3, Purpose::Win, &mut rng(1));
    spend(&mut search, 3, 1, &judge);
    assert_eq!(search.root_moves().iter().map(|root| root.visits).collect::<Vec<_>>(), [3]);
    // 0.5·e^(1.06·0.5) : 0.25·e^(1.06·0.3125), twice: a share of 1/(1 + e^(−1.06·0.1875)) = 0.549525 for the first
    // move.
    let target = search.policy_target();
    let size = search.game().size();
    let of = |index: usize| target.iter().find(|(mv, _)| mv.index(size) == index).map_or(0, |&(_, count)| count);
    assert_eq!([of(0), of(1), of(2)], [563, 231, 230]);
    // 0.549525·0.5 + 0.450475·0.3125.
    assert!((search.policy_value().black() - 0.415_535_9).abs() < 1e-6, "{:?}", search.policy_value());
}

/// With equal values the improved policy is the prior, and visits keep within one of their share of it.
#[test]
fn below_the_root_visits_come_to_be_shared_out_as_the_improved_policy() {
    let judge = |game: &Game| (hashed(game).0, 0.0);
    for width in [1, 8] {
        // Its move was not begun, so this root chooses as any other node.
        let mut search = empty(9, gumbel(16));
        let (policy, _) = judge(search.game());
        expand_root(&mut search, &policy, 0.0);
        spend(&mut search, 500, width, &judge);
        for root in search.root_moves() {
            let share = 500.0 * root.prior;
            assert!((root.visits as f32 - share).abs() < 1.5, "{root:?} wants {share}");
        }
    }
}

/// Flat priors: had waiting visits no weight, the second walk would follow the first.
#[test]
fn leaves_of_one_batch_differ_below_the_root() {
    let mut search = empty(9, gumbel(16));
    let (policy, value) = even(search.game());
    expand_root(&mut search, &policy, value);
    let paths: Vec<Vec<usize>> = (0..8).map(|_| leaf(&mut search).1).collect();
    assert_eq!(paths, (0..8).map(|mv| vec![mv]).collect::<Vec<_>>());
}

/// With flat priors and equal values a root that was not begun visits every move, one that was begun only four.
#[test]
fn new_move_has_no_visits_of_the_one_before() {
    for reuse in [false, true] {
        let mut search = empty(9, Settings { reuse, ..gumbel(4) });
        let (policy, value) = even(search.game());
        expand_root(&mut search, &policy, value);
        search.begin_move(64, Purpose::Win, &mut rng(1));
        spend(&mut search, 64, 2, &even);
        let best = search.best_move().unwrap().mv;
        search.advance(best).unwrap();
        assert_eq!(search.is_expanded(), reuse);
        if !reuse {
            expand_root(&mut search, &policy, value);
        }
        spend(&mut search, 100, 2, &even);
        assert_eq!(search.root_moves().len(), 81);
    }
}

#[test]
fn kept_visits_count_towards_the_budget_and_not_towards_the_phases() {
    let mut search = searched(8, 200, 1, &hashed);
    let best = search.best_move().unwrap();
    search.advance(best.mv).unwrap();
    let before = search.root_moves();
    let inherited = search.visits();
    assert!(inherited >= 20, "{inherited}");
    search.begin_move(inherited + 24, CALM, &mut rng(3));
    spend(&mut search, inherited + 24, 4, &hashed);
    let visits = |moves: &[RootMove], mv| moves.iter().find(|root| root.mv == mv).map_or(0, |root| root.visits);
    let after = search.root_moves();
    let mut added: Vec<u32> = after.iter().map(|root| root.visits - visits(&before, root.mv)).collect();
    added.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(added[..8], [7, 7, 3, 3, 1, 1, 1, 1]);
    assert!(added[8..].iter().all(|&n| n == 0));
}

/// Searches without an end until the root has so many visits.
fn endless(moves: usize, visits: u32, width: usize, judge: &dyn Fn(&Game) -> (Vec<f32>, f32)) -> Search {
    let mut search = empty(9, gumbel(moves));
    let (policy, value) = judge(search.game());
    expand_root(&mut search, &policy, value);
    search.begin_endless();
    spend(&mut search, visits, width, judge);
    search
}

/// Flat priors and equal values: in the first round, of 16 visits, four moves are considered, with 64 more visits
/// eight, with four times as many sixteen.
#[test]
fn endless_search_considers_more_moves_with_every_round() {
    for width in [1, 5] {
        for (visits, moves) in [(1, 1), (3, 3), (16, 4), (32, 4), (64, 5), (128, 8), (512, 16)] {
            let search = endless(4, visits, width, &even);
            assert_eq!(search.root_moves().len(), moves, "{visits} visits, {width} leaves");
            assert_eq!(search.visits(), visits);
        }
    }
}

/// One move wins, and its prior is the sixth: not among the four that the first rounds consider. Stopped after any
/// visit from the 256th on, the search has it for the best.
#[test]
fn endless_search_may_be_stopped_after_any_visit() {
    let good = 40;
    let judge = |game: &Game| {
        let mut policy = vec![1.0 / 82.0; 82];
        [7, 11, 13, 17, 19].into_iter().zip(1..).for_each(|(mv, more)| policy[mv] += 0.1 * more as f32);
        policy[good] += 0.05;
        let found = game.moves().first().is_some_and(|mv| mv.index(game.size()) == good);
        (policy, if found { 0.5 } else { -0.2 })
    };
    for width in [1, 2, 8] {
        let mut search = endless(4, 256, width, &judge);
        for visits in 256..600 {
            spend(&mut search, visits, width, &judge);
            let best = search.best_move().expect("a move was visited");
            assert_eq!(best.mv.index(search.game().size()), good, "{visits} visits, {width} leaves: {best:?}");
        }
    }
}

/// A move that was played keeps what is known below it, whichever kind of search was there and comes next.
#[test]
fn endless_search_follows_another_and_is_followed() {
    let mut search = endless(4, 300, 2, &hashed);
    let best = search.best_move().expect("a move was visited");
    search.advance(best.mv).expect("a legal move");
    assert_eq!(search.visits(), best.visits - 1);
    search.begin_move(best.visits + 40, Purpose::Win, &mut rng(1));
    spend(&mut search, best.visits + 40, 2, &hashed);
    let best = search.best_move().expect("a move was visited");
    search.advance(best.mv).expect("a legal move");
    search.begin_endless();
    spend(&mut search, best.visits + 40, 2, &hashed);
    assert_eq!(search.visits(), best.visits + 40);
}

/// Two moves have a prior, and both are visited equally: the mean of visits lies in the middle, the value under the
/// policy near the better move.
#[test]
fn policy_value_is_the_mean_under_the_improved_policy() {
    let judge = |game: &Game| {
        let mut policy = vec![0.0; game.size().moves()];
        policy[..2].fill(0.5);
        let first = game.moves().first().map(|mv| mv.index(game.size()));
        (policy, if first == Some(0) { 0.5 } else { -0.5 })
    };
    let search = searched(2, 2, 1, &judge);
    let moves = search.root_moves();
    let weights = search.policy_target();
    let value = |mv: Move| moves.iter().find(|root| root.mv == mv).expect("both moves are visited").value.black();
    let of = |(mv, weight): &(Move, u32)| *weight as f32 / Search::SHARES as f32 * value(*mv);
    let expected: f32 = weights.iter().filter(|(_, weight)| *weight > 0).map(of).sum();
    let found = search.policy_value().black();
    assert!((found - expected).abs() < 2.0 / Search::SHARES as f32, "{found} instead of {expected}");
    assert!(found > 0.4 && search.root_value().black() < 0.1, "{found}");

    let mut puct = empty(9, crate::common::PARENT);
    run(&mut puct, 20, 1);
    assert_eq!(puct.policy_value(), puct.root_value());
}
