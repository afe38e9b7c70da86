use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Outcome::{Black, White};

use super::*;
use crate::strengths::{Belief, Mark, Prior, Tie};
use crate::tally::Tally;

/// Places of the players in every pool below.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Ratings of three players after even results, `ab` games between A and B, and so on.
fn even(ab: u32, bc: u32, ac: u32) -> Ratings {
    let mut tally = Tally::new(["a", "b", "c"]);
    for (one, other, games) in [("a", "b", ab), ("b", "c", bc), ("a", "c", ac)] {
        for game in 0..games {
            let (black, white) = if game % 2 == 0 { (one, other) } else { (other, one) };
            tally.add(black, white, if game % 4 < 2 { Black } else { White });
        }
    }
    Ratings::fit(&tally, &Prior::normal(&tally, 400.0)).expect("the pool can be rated")
}

/// The choice of most seeds: what is chosen when it is not drawn at random.
fn choice(ratings: &Ratings, ages: &[u32], in_flight: &InFlight) -> Choice {
    let choices = (0..20).filter_map(|seed| pair_uncertain(ratings, ages, in_flight, 2, &mut rng(seed)));
    let mut instructive = choices.filter(|choice| matches!(choice.reason, Reason::Instructive { .. }));
    let first = instructive.next().expect("nine choices in ten are not random");
    assert!(instructive.all(|other| other == first), "there is one best pair");
    first
}

fn pair(choice: Choice) -> (usize, usize) {
    (choice.first, choice.second)
}

#[test]
fn the_least_known_difference_is_played() {
    let ages = [1, 2, 3];
    let idle = InFlight::default();
    assert_eq!(pair(choice(&even(40, 40, 0), &ages, &idle)), (A, C));
    assert_eq!(pair(choice(&even(0, 40, 40), &ages, &idle)), (A, B));
    assert_eq!(pair(choice(&even(40, 0, 40), &ages, &idle)), (B, C));
}

#[test]
fn games_in_flight_count_as_played() {
    let (ratings, ages) = (even(40, 40, 0), [1, 2, 5]);
    assert_eq!(pair(choice(&ratings, &ages, &InFlight::default())), (A, C));
    let mut in_flight = InFlight::default();
    in_flight.add(C, A, 200);
    in_flight.add(A, C, 200);
    assert_eq!(in_flight.between(A, C), 400);
    assert_eq!(pair(choice(&ratings, &ages, &in_flight)), (B, C));
}

#[test]
fn a_foregone_conclusion_is_not_played() {
    // A beats the others out of sight; B and C have hardly met.
    let mut tally = Tally::new(["a", "b", "c"]);
    for _ in 0..60 {
        for (black, white) in [("a", "b"), ("a", "c")] {
            tally.add(black, white, Black);
            tally.add(white, black, White);
        }
    }
    let ratings = Ratings::fit(&tally, &Prior::normal(&tally, 400.0)).expect("the pool can be rated");
    assert_eq!(pair(choice(&ratings, &[1, 2, 3], &InFlight::default())), (B, C));
}

#[test]
fn equal_claims_go_to_near_rating_and_distant_age() {
    let idle = InFlight::default();
    assert_eq!(pair(choice(&even(20, 20, 20), &[1, 2, 30], &idle)), (A, C));
    assert_eq!(pair(choice(&even(20, 20, 20), &[1, 30, 28], &idle)), (A, B));
    assert!(
        near_and_distant(Estimate { elo: -50.0, error: 1.0 }, 10)
            > near_and_distant(Estimate { elo: 90.0, error: 1.0 }, 10)
    );
}

#[test]
fn the_choice_is_a_function_of_its_arguments() {
    let (ratings, ages, idle) = (even(8, 6, 4), [1, 2, 3], InFlight::default());
    for seed in 0..50 {
        let choose = || pair_uncertain(&ratings, &ages, &idle, 2, &mut rng(seed));
        assert_eq!(choose(), choose());
    }
}

#[test]
fn one_choice_in_ten_is_random() {
    let (ratings, ages, idle) = (even(40, 40, 0), [1, 2, 3], InFlight::default());
    let choices = (0..2000).filter_map(|seed| pair_uncertain(&ratings, &ages, &idle, 2, &mut rng(seed)));
    let random = choices.filter(|choice| matches!(choice.reason, Reason::Random { .. })).count();
    // Three standard deviations of a binomial count are 40.
    assert!((160..=240).contains(&random), "{random} of 2000");
}

#[test]
fn fewer_than_two_players_make_no_pair() {
    for players in [vec![], vec!["a"]] {
        let tally = Tally::new(players.clone());
        let ratings = Ratings::fit(&tally, &Prior::normal(&tally, 400.0)).expect("the pool can be rated");
        let ages = vec![1; players.len()];
        assert!((0..50).all(|seed| pair_uncertain(&ratings, &ages, &InFlight::default(), 2, &mut rng(seed)).is_none()));
    }
}

/// The error promised for after the games is the error that games of that information really leave.
#[test]
fn the_promise_is_kept() {
    let mut tally = Tally::new(["a", "b"]);
    let prior = Prior {
        fixed: vec![(A, 0.0)],
        ties: vec![Tie { player: B, to: Mark::Player(A), elo: 0.0, sd: 30.0 }],
        first_move: Belief::Normal(1.0),
        draws: Belief::Normal(3.0),
    };
    let ratings = Ratings::fit(&tally, &prior).expect("the pool can be rated");
    let chosen = (0..20).find_map(|seed| {
        match pair_uncertain(&ratings, &[1, 2], &InFlight::default(), 100, &mut rng(seed))?.reason {
            Reason::Instructive { before, after, .. } => Some((before, after)),
            Reason::Random { .. } => None,
        }
    });
    let (before, after) = chosen.expect("nine choices in ten are not random");
    assert!((before.error - 30.0).abs() < 1e-9);
    for game in 0..100 {
        tally.add("a", "b", if game % 2 == 0 { Black } else { White });
    }
    let played = Ratings::fit(&tally, &prior).expect("the pool can be rated").difference(A, B);
    assert!((played.error - after).abs() < 0.1, "{played:?} after a promise of {after}");
}

#[test]
fn the_normal_mean_is_exact_for_polynomials() {
    let moments = [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0), (8, 105.0), (16, 2_027_025.0)];
    for (power, moment) in moments {
        let found = normal_mean(|z| z.powi(power));
        assert!((found - moment).abs() < 1e-8 * (1.0 + moment), "{power}: {found}");
    }
}

#[test]
fn reasons_are_sentences() {
    let before = Estimate { elo: -38.4, error: 100.0 };
    assert_eq!(
        Reason::Instructive { before, after: 50.0, equals: 3 }.to_string(),
        "the difference of -38 Elo is known to ±196 and will be to ±98, nearest in rating and farthest in age of 3 such pairs"
    );
    assert_eq!(Reason::Random { before }.to_string(), "drawn at random to test the ratings, which say -38 ±196 Elo");
}
