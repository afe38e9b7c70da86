//! What an exploration does at the root, and what of it gets into the policy target.

use std::collections::BTreeSet;

use go::{Color, Game, Move};
use mcts::formula::{exploration, forced_visits};
use mcts::{Exploration, FirstPlay, Noise, RootMove, RootTemperature, Search, Selected, Settings};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::{CALM, PARENT, empty, expand_root, hashed, noisy, run, spend};

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

fn searched(exploration: Exploration, visits: u32) -> Search {
    let mut search = empty(9, PARENT);
    run(&mut search, 0, 1);
    search.begin_move(visits, Some(exploration), &mut rng());
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

/// The first of two moves gets 0.8^(1/T)/(0.8^(1/T) + 0.2^(1/T)): 2/3 for T = 2.
#[test]
fn root_temperature_falls_over_the_game() {
    let temperature = RootTemperature { early: 2.0, late: 1.0, halflife: 1.0 };
    let first_prior = |turn: usize| {
        let mut search = empty(3, PARENT);
        (0..turn).for_each(|index| search.advance(Move::from_index(search.game().size(), 8 - index).unwrap()).unwrap());
        let mut policy = [0.0; 10];
        (policy[0], policy[1]) = (0.8, 0.2);
        expand_root(&mut search, &policy, 0.0);
        search.begin_move(1, Some(Exploration { temperature, ..CALM }), &mut rng());
        spend(&mut search, 1, 1, &hashed);
        search.root_moves()[0].prior
    };
    let expected = |temperature: f32| 1.0 / (1.0 + mcts::math::pow(0.25, 1.0 / temperature));
    for (turn, temperature) in [(0, 2.0), (1, 1.5), (2, 1.25)] {
        let (found, expected) = (first_prior(turn), expected(temperature));
        assert!((found - expected).abs() < 1e-6, "turn {turn}: {found}, expected {expected}");
    }
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
    search.begin_move(400, Some(noisy(0.13)), &mut rng());
    let begun = priors(&search);
    assert_ne!(before, begun);
    spend(&mut search, 400, 1, &hashed);
    assert_eq!(begun, priors(&search)[..begun.len()], "the noise of a move stays the same");
}

#[test]
fn move_that_was_not_begun_is_not_explored() {
    let mut search = searched(Exploration { forced_visits: 8.0, prune_target: true, ..noisy(0.13) }, 300);
    let best = search.best_move().unwrap().mv;
    search.advance(best).unwrap();
    let mut plain = search.clone();
    plain.begin_move(200, Some(CALM), &mut rng());
    for search in [&mut search, &mut plain] {
        spend(search, 200, 1, &hashed);
    }
    assert_eq!(search.root_moves(), plain.root_moves());
    assert_eq!(search.policy_target(), plain.policy_target());
    assert_eq!(search.policy_target().iter().map(|(_, visits)| visits).sum::<u32>(), 200);
}

#[test]
fn noise_keeps_its_share_of_shaped_priors() {
    let noise = Noise { weight: 0.25, alpha: 0.13, shaped: 0.5 };
    let search = searched(Exploration { noise: Some(noise), ..CALM }, 200);
    let (policy, _) = hashed(&Game::new(search.game().size()));
    for root in search.root_moves() {
        assert!(root.prior >= 0.75 * policy[root.mv.index(search.game().size())] - 1e-6, "{root:?}");
    }
}

/// Two children can fall below at once, and each visit helps one of them.
#[test]
fn visited_children_get_their_forced_visits() {
    let k = 8.0;
    let lacks = |root: &RootMove| (root.visits as f32) < forced_visits(k, root.prior, 399) - 1.0;
    let forced = searched(Exploration { forced_visits: k, ..CALM }, 400);
    assert!(!forced.root_moves().iter().any(lacks), "{:?}", forced.root_moves());
    assert!(searched(CALM, 400).root_moves().iter().any(lacks), "without them some child has fewer");
}

/// Many children lack visits here. If those that wait did not count, all leaves of a batch would go to the first.
#[test]
fn forced_visits_count_those_that_wait() {
    let mut search = empty(9, PARENT);
    run(&mut search, 200, 1);
    search.begin_move(400, Some(Exploration { forced_visits: 2.0, ..CALM }), &mut rng());
    let mut firsts = BTreeSet::new();
    for _ in 0..16 {
        let selected = search.select(&mut |game| {
            firsts.insert(game.moves()[0].index(game.size()));
        });
        assert!(matches!(selected, Selected::Leaf(_) | Selected::Taken));
    }
    assert!(firsts.len() >= 3, "{firsts:?}");
}

/// Each count is the least n with Q + U(n) below the best score, by trying them one after the other.
#[test]
fn pruned_target_holds_what_the_scores_ask_for() {
    for (mover, first_play) in
        [(Color::Black, FirstPlay::VirtualVisit), (Color::White, FirstPlay::Urgency { reduction: 0.2 })]
    {
        let mut search = empty(9, Settings { first_play, ..PARENT });
        if mover == Color::White {
            search.advance(Move::Pass).unwrap();
        }
        run(&mut search, 0, 1);
        let pruned = Exploration { forced_visits: 8.0, prune_target: true, ..noisy(0.13) };
        search.begin_move(400, Some(pruned), &mut rng());
        spend(&mut search, 400, 1, &hashed);
        check_pruned(&search, mover, first_play);
    }
}

fn check_pruned(search: &Search, mover: Color, first_play: FirstPlay) {
    let explore = exploration(search.visits() + 1, PARENT.c_puct_base, PARENT.c_puct_init);
    let mean = |root: &RootMove| match first_play {
        // The virtual visit of each edge is worth what the network says of the root.
        FirstPlay::VirtualVisit => {
            let sum = search.network_value().mover(mover) + root.value.mover(mover) * root.visits as f32;
            sum / (1.0 + root.visits as f32)
        }
        FirstPlay::Urgency { .. } => root.value.mover(mover),
    };
    let score = |root: &RootMove, n: u32| mean(root) + explore * root.prior / (1.0 + n as f32);
    let best = search.best_move().expect("a move was visited");
    let highest = score(&best, best.visits);
    let target = search.policy_target();
    let (mut lowered, mut dropped) = (0, 0);
    for root in search.root_moves() {
        let kept = target.iter().find(|(mv, _)| *mv == root.mv).map_or(0, |(_, visits)| *visits);
        let wanted = (0..root.visits).find(|&n| score(&root, n) < highest).unwrap_or(root.visits);
        let expected = match wanted {
            _ if root.mv == best.mv => root.visits,
            0 | 1 if wanted < root.visits => 0,
            wanted => wanted,
        };
        assert_eq!(kept, expected, "{mover} {first_play:?} {root:?}");
        lowered += u32::from(kept < root.visits && kept > 0);
        dropped += u32::from(kept == 0);
    }
    assert!(lowered > 2 && dropped > 2, "{lowered} lowered, {dropped} dropped");
}

/// An undisturbed search has made few visits that it would not make again. Minigo's tests allow 10 %.
#[test]
fn few_visits_are_pruned_without_forced_visits() {
    let search = searched(Exploration { prune_target: true, ..CALM }, 800);
    let kept: u32 = search.policy_target().iter().map(|(_, visits)| visits).sum();
    assert!((720..=800).contains(&kept), "{kept} of 800");
}
