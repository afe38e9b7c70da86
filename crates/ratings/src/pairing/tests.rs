use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Outcome::{Black, White};

use super::*;
use crate::bradley_terry::{Belief, Mark, Prior, Tie};
use crate::results::PairResults;

/// Places of the players in every pool below.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Ratings of three players after even results, `ab` games between A and B, and so on.
fn even(ab: u32, bc: u32, ac: u32) -> Ratings {
    let mut results = PairResults::new(["a", "b", "c"]);
    for (one, other, games) in [("a", "b", ab), ("b", "c", bc), ("a", "c", ac)] {
        for game in 0..games {
            let (black, white) = if game % 2 == 0 { (one, other) } else { (other, one) };
            results.add(black, white, if game % 4 < 2 { Black } else { White });
        }
    }
    Ratings::fit(&results, &Prior::normal(&results, 400.0)).expect("the pool can be rated")
}

fn choose(
    ratings: &Ratings,
    ages: &[u32],
    in_flight: &InFlight,
    objective: Objective,
    count: usize,
    seed: u64,
) -> Vec<Choice> {
    let ages: Vec<Option<u32>> = ages.iter().map(|&age| (age > 0).then_some(age)).collect();
    let knowledge = Knowledge { ratings, ages: &ages, in_flight, games: 2, cost: &|_, _| Some(1.0) };
    pairs(&knowledge, objective, count, &mut rng(seed))
}

/// The choice of most seeds about all ratings: what is chosen when it is not drawn at random.
fn choice(ratings: &Ratings, ages: &[u32], in_flight: &InFlight) -> (usize, usize) {
    let choices = (0..20).flat_map(|seed| choose(ratings, ages, in_flight, Objective::Curve, 1, seed));
    let mut instructive = choices.filter(|choice| matches!(choice.reason, Reason::Instructive { .. })).map(pair);
    let first = instructive.next().expect("nine choices in ten are not random");
    assert!(instructive.all(|other| other == first), "there is one best pair");
    first
}

fn pair(choice: Choice) -> (usize, usize) {
    (choice.first, choice.second)
}

#[test]
fn least_known_difference_is_played() {
    let ages = [1, 2, 3];
    let idle = InFlight::default();
    assert_eq!(choice(&even(40, 40, 4), &ages, &idle), (A, C));
    assert_eq!(choice(&even(4, 40, 40), &ages, &idle), (A, B));
    assert_eq!(choice(&even(40, 4, 40), &ages, &idle), (B, C));
}

#[test]
fn games_in_flight_count_as_played() {
    let (ratings, ages) = (even(40, 4, 40), [1, 2, 3]);
    assert_eq!(choice(&ratings, &ages, &InFlight::default()), (B, C));
    let mut in_flight = InFlight::default();
    in_flight.add(C, B, 200);
    in_flight.add(B, C, 200);
    assert_eq!(in_flight.between(B, C), 400);
    assert_ne!(choice(&ratings, &ages, &in_flight), (B, C));
}

/// A batch counts its own pairs as games in flight.
#[test]
fn batch_is_what_one_choice_after_the_other_would_be() {
    let (ratings, ages) = (even(6, 6, 6), [1, 2, 3]);
    let batch = choose(&ratings, &ages, &InFlight::default(), Objective::Curve, 60, 1);
    let times = |wanted| batch.iter().filter(|choice| pair(**choice) == wanted).count();
    for wanted in [(A, B), (B, C), (A, C)] {
        assert!((8..=35).contains(&times(wanted)), "{wanted:?}: {} of 60", times(wanted));
    }
}

/// Ratings of three players of whom A beats the others out of sight, and B and C have not met.
fn far_ahead() -> Ratings {
    let mut results = PairResults::new(["a", "b", "c"]);
    for _ in 0..60 {
        for (black, white) in [("a", "b"), ("a", "c")] {
            results.add(black, white, Black);
            results.add(white, black, White);
        }
    }
    Ratings::fit(&results, &Prior::normal(&results, 400.0)).expect("the pool can be rated")
}

#[test]
fn foregone_conclusion_is_not_played() {
    assert_eq!(choice(&far_ahead(), &[1, 2, 3], &InFlight::default()), (B, C));
}

#[test]
fn random_pair_is_no_foregone_conclusion() {
    let (ratings, idle) = (far_ahead(), InFlight::default());
    let choices = (0..300).flat_map(|seed| choose(&ratings, &[1, 2, 3], &idle, Objective::Curve, 1, seed));
    let random = choices.filter(|choice| matches!(choice.reason, Reason::Random { .. })).map(pair);
    let random: Vec<(usize, usize)> = random.collect();
    assert!(random.len() > 10 && random.iter().all(|&pair| pair == (B, C)), "{random:?}");
}

/// Workers without a coordinator have generators of their own, and must not all play the same pair.
#[test]
fn equal_claims_are_shared_and_go_rather_to_near_rating_and_distant_age() {
    assert!(
        near_and_distant(Estimate { elo: -50.0, error: 1.0 }, 10)
            > near_and_distant(Estimate { elo: 90.0, error: 1.0 }, 10)
    );
    // No player is a model, so all have the same weight; only age could distinguish them, and it does not.
    let even_claims = count_pairs(&[0, 0, 0]);
    assert!(even_claims.values().all(|&times| times > 50), "{even_claims:?}");
    let ratings = even(20, 20, 20);
    let claim = |age| near_and_distant(ratings.difference(A, B), age);
    assert!((claim(29) / claim(1) - 15.0).abs() < 1e-9);
}

fn count_pairs(ages: &[u32]) -> BTreeMap<(usize, usize), usize> {
    let ratings = even(20, 20, 20);
    let mut times = BTreeMap::new();
    for seed in 0..300 {
        for choice in choose(&ratings, ages, &InFlight::default(), Objective::Curve, 1, seed) {
            *times.entry(pair(choice)).or_default() += 1;
        }
    }
    times
}

#[test]
fn each_kind_of_uncertainty_chooses_its_own_games() {
    // D is no model; A is the oldest and far weaker than B and C, who are equal.
    let mut results = PairResults::new(["a", "b", "c", "d"]);
    let counts = [("a", "b", 1, 9), ("a", "c", 1, 9), ("b", "c", 5, 5), ("a", "d", 5, 5), ("b", "d", 5, 5)];
    for (one, other, wins, losses) in counts {
        (0..wins).for_each(|_| results.add(one, other, Black));
        (0..losses).for_each(|_| results.add(one, other, White));
    }
    let ratings = Ratings::fit(&results, &Prior::normal(&results, 1000.0)).expect("the pool can be rated");
    let most_often = |objective| {
        let mut times = BTreeMap::<_, usize>::new();
        for seed in 0..50 {
            let choices = choose(&ratings, &[1, 2, 3, 0], &InFlight::default(), objective, 1, seed);
            *times.entry(pair(choices[0])).or_default() += 1;
        }
        times.into_iter().max_by_key(|&(_, times)| times).expect("pairs were chosen").0
    };
    const D: usize = 3;
    assert_eq!(most_often(Objective::Best), (B, C));
    let (first, second) = most_often(Objective::Newest);
    assert!(first == C || second == C, "{first} {second}");
    let (_, second) = most_often(Objective::Anchors);
    assert_eq!(second, D);
}

#[test]
fn dear_games_are_played_less() {
    let (ratings, ages) = (even(20, 20, 20), [Some(1), Some(2), Some(3)]);
    let cost = |one, other| Some(if (one, other) == (A, B) { 3.0 } else { 1.0 });
    let knowledge =
        Knowledge { ratings: &ratings, ages: &ages, in_flight: &InFlight::default(), games: 2, cost: &cost };
    let choices = pairs(&knowledge, Objective::Curve, 50, &mut rng(3));
    let dear = choices.iter().filter(|choice| pair(**choice) == (A, B)).count();
    assert!(dear < 10, "{dear} of 50");
}

#[test]
fn choices_are_a_function_of_their_arguments() {
    let (ratings, ages, idle) = (even(8, 6, 4), [1, 2, 3], InFlight::default());
    for objective in [Objective::Best, Objective::Curve] {
        let choices = |seed| choose(&ratings, &ages, &idle, objective, 3, seed);
        assert!((0..50).all(|seed| choices(seed) == choices(seed)));
        assert!((0..50).any(|seed| choices(seed) != choices(0)), "{objective:?}");
    }
}

#[test]
fn informed_choice_is_random_once_in_ten() {
    let (ratings, ages, idle) = (even(40, 40, 0), [1, 2, 3], InFlight::default());
    let choices = (0..2000).flat_map(|seed| choose(&ratings, &ages, &idle, Objective::Best, 1, seed));
    let random = choices.filter(|choice| matches!(choice.reason, Reason::Random { .. })).count();
    // Three standard deviations of a binomial count are 40.
    assert!((160..=240).contains(&random), "{random} of 2000");
}

/// Ten players of whom all are about equal or far apart, and of whom three may play.
#[test]
fn choice_among_few_who_may_play_is_random_once_in_ten() {
    let players = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let ages: Vec<Option<u32>> = (1..=10).map(Some).collect();
    // The players at these places win all games against the others.
    for strong in [vec![], vec![A], vec![3, 4, 5, 6, 7]] {
        let mut results = PairResults::new(players);
        for (one, other) in (0..players.len()).flat_map(|other| (0..other).map(move |one| (one, other))) {
            for (black, white) in [(one, other), (other, one)] {
                let black_wins = strong.contains(&black) || !strong.contains(&white);
                results.add(players[black], players[white], if black_wins { Black } else { White });
            }
        }
        let ratings = Ratings::fit(&results, &Prior::normal(&results, 1000.0)).expect("the pool can be rated");
        let may_play = |player: usize| player <= C;
        let cost = |one, other| (may_play(one) && may_play(other)).then_some(1.0);
        let knowledge =
            Knowledge { ratings: &ratings, ages: &ages, in_flight: &InFlight::default(), games: 2, cost: &cost };
        let mut rng = rng(7);
        let choices: Vec<Choice> = (0..2000).flat_map(|_| pairs(&knowledge, Objective::Curve, 1, &mut rng)).collect();
        assert_eq!(choices.len(), 2000);
        assert!(choices.iter().all(|choice| may_play(choice.first) && may_play(choice.second)));
        let random = choices.iter().filter(|choice| matches!(choice.reason, Reason::Random { .. })).count();
        assert!((160..=240).contains(&random), "{strong:?}: {random} of 2000");
    }
}

#[test]
fn random_pair_is_far_apart_where_no_near_one_may_play() {
    let ratings = far_ahead();
    let ages = [Some(1), Some(2), Some(3)];
    let cost = |one, other| ((one, other) != (B, C)).then_some(1.0);
    let knowledge =
        Knowledge { ratings: &ratings, ages: &ages, in_flight: &InFlight::default(), games: 2, cost: &cost };
    let mut rng = rng(1);
    let choices: Vec<Choice> = (0..300).flat_map(|_| pairs(&knowledge, Objective::Curve, 1, &mut rng)).collect();
    assert!(choices.iter().all(|&choice| pair(choice) != (B, C)));
    let random = choices.into_iter().filter(|choice| matches!(choice.reason, Reason::Random { .. })).map(pair);
    assert_eq!(random.collect::<BTreeSet<_>>(), BTreeSet::from([(A, B), (A, C)]));
}

#[test]
fn players_who_may_not_play_make_no_pair() {
    let (ratings, ages) = (even(4, 4, 4), [Some(1), Some(2), Some(3)]);
    let knowledge =
        Knowledge { ratings: &ratings, ages: &ages, in_flight: &InFlight::default(), games: 2, cost: &|_, _| None };
    assert_eq!(pairs(&knowledge, Objective::Curve, 3, &mut rng(1)), []);
}

#[test]
fn fewer_than_two_players_make_no_pair() {
    for players in [vec![], vec!["a"]] {
        let results = PairResults::new(players.clone());
        let ratings = Ratings::fit(&results, &Prior::normal(&results, 400.0)).expect("the pool can be rated");
        let ages = vec![1; players.len()];
        for objective in [Objective::Best, Objective::Curve] {
            assert!(choose(&ratings, &ages, &InFlight::default(), objective, 3, 0).is_empty());
        }
    }
}

/// The error promised for after the games is the error that games of that information really leave.
#[test]
fn promised_error_is_the_error_after_the_games() {
    let mut results = PairResults::new(["a", "b"]);
    let tie = Tie { player: B, to: Mark::Player(A), elo: 0.0, sd: 30.0 };
    let prior =
        Prior { fixed: vec![(A, 0.0)], ties: vec![tie], first_move: Belief::Zero, ..Prior::normal(&results, 1.0) };
    let ratings = Ratings::fit(&results, &prior).expect("the pool can be rated");
    let ages = [Some(1), Some(2)];
    let knowledge = Knowledge {
        ratings: &ratings,
        ages: &ages,
        in_flight: &InFlight::default(),
        games: 100,
        cost: &|_, _| Some(1.0),
    };
    let promised = (0..20).flat_map(|seed| pairs(&knowledge, Objective::Newest, 1, &mut rng(seed)));
    let (known, will_be) = promised
        .filter_map(|choice| match choice.reason {
            Reason::Instructive { known, will_be, .. } => Some((known, will_be)),
            _ => None,
        })
        .next()
        .expect("nine choices in ten are not random");
    assert!((known - 30.0).abs() < 1e-9);
    for game in 0..100 {
        results.add("a", "b", if game % 2 == 0 { Black } else { White });
    }
    let played = Ratings::fit(&results, &prior).expect("the pool can be rated").difference(A, B);
    assert!((played.error - will_be).abs() < 0.1, "{played:?} after a promise of {will_be}");
}

/// What is updated by rank one is what would be computed anew.
#[test]
fn foreseen_games_narrow_everything_alike() {
    let ratings = even(8, 6, 4);
    let ages = [Some(1), Some(2), Some(5)];
    let in_flight = InFlight::default();
    let knowledge =
        Knowledge { ratings: &ratings, ages: &ages, in_flight: &in_flight, games: 2, cost: &|_, _| Some(1.0) };
    for objective in [Objective::Best, Objective::Curve, Objective::Newest, Objective::Ladder] {
        let mut expected = ExpectedCovariance::new(&knowledge, objective::contrasts(&ratings, &ages, objective));
        for (a, b) in [(A, B), (B, C), (A, B), (A, C)] {
            let [known, will_be] = expected.uncertainty(a, b, 2);
            expected.foresee(a, b, 2);
            let [then, _] = expected.uncertainty(a, b, 2);
            assert!(known > will_be && (will_be - then).abs() < 1e-9);
            assert!(expected.is_consistent(), "{objective:?}");
        }
    }
}

#[test]
fn normal_mean_is_exact_for_polynomials() {
    let moments = [(0, 1.0), (1, 0.0), (2, 1.0), (4, 3.0), (6, 15.0), (8, 105.0), (16, 2_027_025.0)];
    for (power, moment) in moments {
        let found = expected_covariance::normal_mean(|z| z.powi(power));
        assert!((found - moment).abs() < 1e-8 * (1.0 + moment), "{power}: {found}");
    }
}

#[test]
fn reasons_are_sentences() {
    let before = Estimate { elo: -38.4, error: 100.0 };
    assert_eq!(
        Reason::Instructive { before, known: 20.0, will_be: 15.0, equals: 3 }.to_string(),
        "the error of the objective is ±39.2 Elo and is expected to be ±29.4; the difference is -38 ±196 Elo; one of 3 such pairs"
    );
    assert_eq!(Reason::Random { before }.to_string(), "random pair, to test the ratings; expected -38 ±196 Elo");
}
