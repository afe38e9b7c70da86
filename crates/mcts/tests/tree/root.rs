//! What exploration does at the root.

use go::{Game, Move};
use mcts::{Depth, Leaf, Purpose, RootMove, Search, Selected, Settings};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::{CALM, PARENT, empty, gumbel, hashed, leaf, noisy, run, spend};

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

fn searched(purpose: Purpose, visits: u32) -> Search {
    let mut search = empty(9, PARENT);
    run(&mut search, 0, 1);
    search.begin_move(visits, purpose, &mut rng());
    spend(&mut search, visits, 1, &hashed);
    search
}

fn priors(search: &Search) -> Vec<f32> {
    search.root_moves().iter().map(|root| root.prior).collect()
}

#[test]
fn zero_exploration_is_the_identity() {
    let mut plain = empty(9, PARENT);
    run(&mut plain, 0, 1);
    spend(&mut plain, 100, 1, &hashed);
    let calm = searched(CALM, 100);
    assert_eq!(plain.root_moves(), calm.root_moves());
    let visits: Vec<_> = plain.root_moves().iter().map(|root| (root.mv, root.visits)).collect();
    assert_eq!(calm.policy_target(), visits);
}

/// The noise of one root is gone with it: below it the priors are the network's.
#[test]
fn kept_tree_has_the_networks_priors_until_its_move_begins() {
    let mut search = searched(noisy(0.13), 300);
    let best = search.best_move().unwrap().mv;
    search.advance(best).unwrap();
    assert!(search.visits() > 10, "the tree was kept");
    let mut fresh = Search::new(search.game().clone(), PARENT);
    run(&mut fresh, 0, 1);
    assert_eq!(search.prior_entropy(), fresh.prior_entropy());
    let before = priors(&search);
    search.begin_move(400, noisy(0.13), &mut rng());
    let begun = priors(&search);
    assert_ne!(before, begun);
    spend(&mut search, 400, 1, &hashed);
    assert_eq!(begun, priors(&search)[..begun.len()], "the noise of a move stays the same");
}

#[test]
fn move_that_was_not_begun_is_not_explored() {
    let mut search = searched(noisy(0.13), 300);
    let best = search.best_move().unwrap().mv;
    search.advance(best).unwrap();
    let mut plain = search.clone();
    plain.begin_move(200, CALM, &mut rng());
    for search in [&mut search, &mut plain] {
        spend(search, 200, 1, &hashed);
    }
    assert_eq!(search.root_moves(), plain.root_moves());
    assert_eq!(search.policy_target(), plain.policy_target());
    assert_eq!(search.policy_target().iter().map(|(_, visits)| visits).sum::<u32>(), 200);
}

#[test]
fn noise_keeps_its_share_of_priors() {
    let search = searched(noisy(0.13), 200);
    let (policy, _) = hashed(&Game::new(search.game().size()));
    let moves = search.root_moves();
    let plain = |root: &RootMove| policy[root.mv.index(search.game().size())];
    for root in &moves {
        let least = 0.75 * plain(root) - 1e-6;
        assert!((least..=least + 0.25 + 2e-6).contains(&root.prior), "{root:?}");
    }
    assert!(moves.iter().any(|root| root.prior > plain(root) + 1e-3), "there is noise: {moves:?}");
}

/// Four selections: the leaves among them, and the moves that led to each.
fn selected(search: &mut Search) -> (Vec<Leaf>, Vec<Vec<Move>>) {
    let mut found = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let mut path = Vec::new();
        if let Selected::Leaf(leaf) = search.select(&mut |game| path = game.moves().to_vec()) {
            found.0.push(leaf);
            found.1.push(path);
        }
    }
    found
}

/// As when their evaluations fail. Passes are left out, since ends of games are visits.
#[test]
fn leaves_that_are_taken_back_are_handed_out_again() {
    for settings in [PARENT, gumbel(4)] {
        let mut search = empty(5, Settings { pass_from: 100, ..settings });
        for _ in 0..2 {
            let (root, _) = leaf(&mut search);
            assert_eq!(search.depth(), Depth::default(), "the root is no leaf of its own search");
            root.take_back(&mut search);
            assert!(!search.is_expanded());
        }
        run(&mut search, 30, 4);
        let before = search.root_moves();
        let (leaves, paths) = selected(&mut search);
        assert!(!leaves.is_empty());
        leaves.into_iter().for_each(|leaf| leaf.take_back(&mut search));
        assert_eq!(search.root_moves(), before);
        let (leaves, again) = selected(&mut search);
        assert_eq!(again, paths);
        leaves.into_iter().for_each(|leaf| leaf.take_back(&mut search));
        // They are neither lost nor do their virtual losses stay.
        run(&mut search, 60, 4);
        let best = search.best_move().expect("a best move");
        search.advance(best.mv).expect("a legal move");
        assert_eq!(search.visits(), best.visits - 1);
    }
}
