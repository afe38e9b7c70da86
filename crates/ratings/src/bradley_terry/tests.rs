mod coverage;
mod fixture;

use super::*;
use record::Outcome::{self, Black, Draw, White};

/// Games given as (Black, White, games Black won, games White won, draws).
fn results(games: &[(&str, &str, u32, u32, u32)]) -> PairResults {
    let mut results = PairResults::default();
    for &(black, white, won, lost, drawn) in games {
        let counts: [(Outcome, u32); 3] = [(Black, won), (White, lost), (Draw, drawn)];
        for (outcome, count) in counts {
            (0..count).for_each(|_| results.add(black, white, outcome));
        }
    }
    results
}

/// A prior too wide to be felt.
fn no_prior(results: &PairResults) -> Prior {
    let ties =
        (1..results.players().len()).map(|player| Tie { player, to: Mark::Player(0), elo: 0.0, sd: 1e5 }).collect();
    Prior {
        fixed: vec![(0, 0.0)],
        ties,
        first_move: Belief::Normal(1e5),
        draws: Belief::Normal(3.0),
        has_anchors: false,
    }
}

fn fit(results: &PairResults, prior: &Prior) -> Ratings {
    Ratings::fit(results, prior).expect("the table can be rated")
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

const LEAGUE: [(&str, &str, u32, u32, u32); 7] = [
    ("a", "b", 7, 3, 0),
    ("b", "a", 6, 4, 0),
    ("b", "c", 5, 4, 0),
    ("c", "b", 3, 6, 0),
    ("a", "c", 8, 2, 0),
    ("c", "a", 5, 5, 0),
    ("d", "a", 1, 3, 0),
];

/// Two players: half the log odds ratio of the two colours is the difference, the other half the first move.
#[test]
fn two_players_have_a_closed_form() {
    let results = results(&[("a", "b", 30, 10, 0), ("b", "a", 12, 8, 0)]);
    let ratings = fit(&results, &no_prior(&results));
    let (as_black, as_white) = (3.0_f64.ln(), -(1.5_f64.ln()));
    let difference = ratings.difference(0, 1);
    assert_close(difference.elo, ELO * (as_black + as_white) / 2.0, 1e-2);
    assert_close(ratings.first_move().elo, ELO * (as_black - as_white) / 2.0, 1e-2);
    // Each log odds has the variance 1/wins + 1/losses.
    let variance = (1.0 / 30.0 + 1.0 / 10.0 + 1.0 / 12.0 + 1.0 / 8.0) / 4.0;
    assert_close(difference.error, ELO * f64::sqrt(variance), 1e-2);
    assert_close(ratings.first_move().error, difference.error, 1e-2);
    assert_close(ratings.above_pool()[0].error, difference.error / 2.0, 1e-2);
    assert_eq!(ratings.rating(0), Estimate { elo: 0.0, error: 0.0 });
    // a times the difference and b times the first move are (a + b)/2 of one log odds and (b − a)/2 of the other.
    let [one, other] = [1.0 / 30.0 + 1.0 / 10.0, 1.0 / 12.0 + 1.0 / 8.0];
    for (a, b) in [(1.0, 0.0), (0.0, 1.0), (2.0, 3.0), (2.0, -3.0)] {
        let expected: f64 = ((a + b) * (a + b) * one + (a - b) * (a - b) * other) / 4.0;
        assert_close(ratings.leverage(0, 1, a, b), expected, 1e-4);
    }
}

/// Colours are not balanced, so a prior that lets strengths differ leaves less to the first move.
#[test]
fn mixture_has_the_second_moments_of_its_parts() {
    let results = results(&[("random", "r-1", 2, 6, 0), ("r-1", "r-2", 6, 1, 0)]);
    let parts = [(1.0, 50.0), (3.0, 800.0)].map(|(weight, step)| (weight, fit(&results, &Prior::walk(&results, step))));
    let mixed = mix(parts.clone().into_iter());
    let first_move = |ratings: &Ratings| ratings.first_move.elo / ELO;
    let check = |moment: &dyn Fn(&Ratings) -> f64| {
        let [one, other] = parts.each_ref().map(|(_, part)| moment(part));
        assert!((one - other).abs() > 1e-3, "{one} and {other}");
        assert_close(moment(&mixed), (one + 3.0 * other) / 4.0, 1e-9);
    };
    check(&|ratings| (ratings.first_move.error / ELO).powi(2) + first_move(ratings).powi(2));
    for player in 1..3 {
        let strength = |ratings: &Ratings| ratings.strengths[player];
        check(&|ratings| ratings.covariance.at(player, player) + strength(ratings).powi(2));
        check(&|ratings| ratings.with_first_move[player] + strength(ratings) * first_move(ratings));
    }
}

#[test]
fn rating_above_a_mean_has_the_error_against_the_others() {
    let results = results(&LEAGUE);
    let ratings = fit(&results, &no_prior(&results));
    let cases: [(&[usize], [&[usize]; 4]); 3] = [
        (&[0, 1, 2], [&[1, 2], &[0, 2], &[0, 1], &[0, 1, 2]]),
        (&[1, 3], [&[1, 3], &[3], &[1, 3], &[1]]),
        (&[2], [&[1, 2, 3], &[0, 2, 3], &[0, 1, 3], &[0, 1, 2]]),
    ];
    let against = |player: usize, others: &[usize]| {
        let share = |other: usize| if others.contains(&other) { 1.0 / others.len() as f64 } else { 0.0 };
        ratings.contrast(|other| f64::from(u8::from(other == player)) - share(other))
    };
    for (players, others) in cases {
        let mean: &[usize] = if players.len() < 2 { &[0, 1, 2, 3] } else { players };
        for ((player, above), others) in ratings.above(players).into_iter().enumerate().zip(others) {
            // Of one mean: differences of the ratings are those of the strengths.
            assert_close(above.elo, against(player, mean).elo, 1e-6);
            assert_close(above.error, against(player, others).error, 1e-6);
        }
    }
}

#[test]
fn only_player_has_no_others() {
    let ratings = fit(&PairResults::new(["a"]), &no_prior(&PairResults::new(["a"])));
    assert_eq!(ratings.above(&[0]), [Estimate { elo: 0.0, error: 0.0 }]);
}

/// Draws in the same share of games that equal players would draw: ν and the difference separate.
#[test]
fn draws_have_a_closed_form() {
    let results = results(&[("a", "b", 40, 10, 20), ("b", "a", 10, 40, 20)]);
    let ratings = fit(&results, &no_prior(&results));
    assert_close(ratings.difference(0, 1).elo, ELO * 4.0_f64.ln(), 1e-2);
    assert_close(ratings.first_move().elo, 0.0, 1e-6);
    // 40 : 20 : 10 is 2 : 1 : 1/2, so ν is 1, but for the weak prior on ln ν.
    assert_close(ratings.draws().expect("games were drawn"), 0.0, 1e-6);
    let chances = ratings.chances(0, 1);
    assert_close(chances.draw, 2.0 / 7.0, 1e-4);
    // The difference is the log odds of 80 wins to 20, whatever ν is, but for the weak prior on ln ν.
    assert_close(ratings.difference(0, 1).error, ELO * f64::sqrt(1.0 / 80.0 + 1.0 / 20.0), 0.05);
}

#[test]
fn prior_is_worth_its_weight() {
    let results = results(&[("a", "b", 1, 0, 0), ("b", "a", 0, 1, 0)]);
    let prior = Prior {
        fixed: vec![(1, 0.0)],
        ties: vec![Tie { player: 0, to: Mark::Player(1), elo: 0.0, sd: 200.0 }],
        first_move: Belief::Normal(100.0),
        draws: Belief::Normal(3.0),
        has_anchors: false,
    };
    let difference = fit(&results, &prior).difference(0, 1);
    // At the optimum the pull of two wins is the pull of the prior: 2·(1 − p) = θ/σ².
    let (theta, sigma) = (difference.elo / ELO, 200.0 / ELO);
    let p = 1.0 / (1.0 + (-theta).exp());
    assert_close(2.0 * (1.0 - p), theta / (sigma * sigma), 1e-9);
    assert_close(difference.error, ELO / (2.0 * p * (1.0 - p) + 1.0 / (sigma * sigma)).sqrt(), 1e-6);
}

/// The optimum, found again without derivatives: no step along any axis, at any scale, leads up.
#[test]
fn no_nearby_rating_is_more_probable() {
    let mut games = LEAGUE.to_vec();
    games.push(("d", "b", 2, 2, 3));
    let results = results(&games);
    let (black, white, prior) = (0, 1, Prior::normal(&results, 300.0));
    let ratings = fit(&results, &prior);
    let mut at: Vec<f64> = (0..4).map(|player| ratings.rating(player).elo / ELO).collect();
    at.extend([ratings.first_move().elo / ELO, ratings.draws().expect("games were drawn")]);
    let best = log_posterior_by_hand(&results, &at);
    for axis in 0..at.len() {
        for step in [1e-3, -1e-3, 0.05, -0.05, 1.0, -1.0] {
            let mut near = at.clone();
            near[axis] += step;
            assert!(log_posterior_by_hand(&results, &near) < best, "parameter {axis}, step {step}");
        }
    }
    assert!(ratings.chances(black, white).black > ratings.chances(white, black).white);
}

/// The log posterior of a league of four under N(0, 300 Elo), written down from the definition.
fn log_posterior_by_hand(results: &PairResults, at: &[f64]) -> f64 {
    let (advantage, nu) = (at[4], at[5].exp());
    let games: f64 = results
        .scores()
        .map(|(black, white, score)| {
            let (a, b) = ((at[black] + advantage).exp(), at[white].exp());
            let sum = a + b + nu * (a * b).sqrt();
            f64::from(score.black) * (a / sum).ln()
                + f64::from(score.white) * (b / sum).ln()
                + f64::from(score.draws) * (nu * (a * b).sqrt() / sum).ln()
        })
        .sum();
    let normal = |x: f64, sd: f64| -0.5 * (x / sd).powi(2);
    let players: f64 = at[..4].iter().map(|&theta| normal(theta, 300.0 / ELO)).sum();
    games + players + normal(advantage, 200.0 / ELO) + normal(at[5], 3.0)
}

#[test]
fn order_of_players_and_games_does_not_matter() {
    let (forwards, backwards) = (results(&LEAGUE), results(&LEAGUE.iter().rev().copied().collect::<Vec<_>>()));
    let (one, other) =
        (fit(&forwards, &Prior::normal(&forwards, 500.0)), fit(&backwards, &Prior::normal(&backwards, 500.0)));
    for (i, name) in forwards.players().iter().enumerate() {
        let j = backwards.place(name).expect("both tables have the same players");
        assert_close(one.rating(i).elo, other.rating(j).elo, 1e-6);
        assert_close(one.above_pool()[i].error, other.above_pool()[j].error, 1e-6);
    }
}

#[test]
fn differences_do_not_depend_on_the_anchor() {
    let results = results(&LEAGUE);
    let anchored_at = |anchor: usize| {
        let ties = vec![
            Tie { player: 0, to: Mark::Player(1), elo: 0.0, sd: 150.0 },
            Tie { player: 1, to: Mark::Player(2), elo: 0.0, sd: 150.0 },
            Tie { player: 2, to: Mark::Player(3), elo: 0.0, sd: 150.0 },
        ];
        fit(
            &results,
            &Prior {
                fixed: vec![(anchor, 0.0)],
                ties,
                first_move: Belief::Normal(200.0),
                draws: Belief::Normal(3.0),
                has_anchors: false,
            },
        )
    };
    let (one, other) = (anchored_at(0), anchored_at(3));
    for i in 0..4 {
        for j in 0..4 {
            assert_close(one.difference(i, j).elo, other.difference(i, j).elo, 1e-6);
            assert_close(one.difference(i, j).error, other.difference(i, j).error, 1e-6);
        }
        assert_close(one.above_pool()[i].error, other.above_pool()[i].error, 1e-6);
    }
    assert_close(one.difference(0, 3).elo, -one.difference(3, 0).elo, 1e-12);
}

/// An anchor moves the scale. What is believed of differences, and so every difference and its error, stays.
#[test]
fn anchored_walk_leaves_differences_as_they_are() {
    let results = results(&[("random", "r-1", 2, 6, 0), ("r-9", "r-1", 5, 2, 1), ("gnugo", "r-9", 3, 1, 0)]);
    let walk = || Prior::walk(&results, 125.0);
    let plain = fit(&results, &walk());
    for anchor in 0..4 {
        let anchored = fit(&results, &walk().anchored(&[Anchor { player: anchor, elo: 1800.0, sd: None }]));
        assert_eq!(anchored.rating(anchor), Estimate { elo: 1800.0, error: 0.0 });
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)] {
            assert_close(anchored.difference(i, j).elo, plain.difference(i, j).elo, 1e-6);
            assert_close(anchored.difference(i, j).error, plain.difference(i, j).error, 1e-6);
        }
    }
}

#[test]
fn swapping_all_colours_turns_the_first_move_around() {
    let swapped: Vec<_> =
        LEAGUE.iter().map(|&(black, white, won, lost, drawn)| (white, black, lost, won, drawn)).collect();
    let (there, back) = (results(&LEAGUE), results(&swapped));
    let (one, other) = (fit(&there, &Prior::normal(&there, 500.0)), fit(&back, &Prior::normal(&back, 500.0)));
    assert_close(one.first_move().elo, -other.first_move().elo, 1e-6);
    for (i, name) in there.players().iter().enumerate() {
        let j = back.place(name).expect("both tables have the same players");
        assert_close(one.rating(i).elo, other.rating(j).elo, 1e-6);
    }
}

#[test]
fn more_games_mean_smaller_errors() {
    let many: Vec<_> =
        LEAGUE.iter().map(|&(black, white, won, lost, drawn)| (black, white, 4 * won, 4 * lost, drawn)).collect();
    let (few, many) = (results(&LEAGUE), results(&many));
    let (few, many) = (fit(&few, &no_prior(&few)), fit(&many, &no_prior(&many)));
    assert_close(many.difference(0, 1).elo, few.difference(0, 1).elo, 0.01);
    assert_close(many.difference(0, 1).error, few.difference(0, 1).error / 2.0, 0.01);
}

/// Tables that have no finite optimum without a prior.
#[test]
fn extreme_tables_have_finite_and_sensible_ratings() {
    let single = results(&[("random", "r-1", 0, 1, 0)]);
    let ratings = fit(&single, &Prior::walk(&single, 125.0));
    let newer = ratings.difference(1, 0);
    assert!((50.0..1000.0).contains(&newer.elo) && newer.error > 300.0, "{newer:?}");

    let all_wins = results(&[("random", "r-1", 0, 20, 0), ("r-1", "random", 20, 0, 0)]);
    let newer = fit(&all_wins, &Prior::walk(&all_wins, 125.0)).difference(1, 0);
    assert!((400.0..2000.0).contains(&newer.elo) && newer.error < 800.0, "{newer:?}");

    let apart = results(&[("r-1", "r-2", 3, 5, 0), ("s-1", "s-2", 5, 3, 0)]);
    let ratings = fit(&apart, &Prior::walk(&apart, 125.0));
    assert!(ratings.difference(0, 2).error > 900.0 && ratings.difference(0, 1).error < 130.0);

    let only_draws = results(&[("r-1", "r-2", 0, 0, 6)]);
    let ratings = fit(&only_draws, &Prior::walk(&only_draws, 125.0));
    assert_close(ratings.difference(0, 1).elo, 0.0, 1e-9);
    assert!(ratings.chances(0, 1).draw > 0.6);

    let empty = results(&[]);
    assert!(fit(&empty, &Prior::walk(&empty, 125.0)).players().is_empty());
}

#[test]
fn undetermined_ratings_are_an_error() {
    let results = results(&[("a", "b", 3, 2, 0), ("c", "d", 2, 3, 0)]);
    let prior = Prior {
        fixed: vec![(0, 0.0)],
        ties: vec![],
        first_move: Belief::Normal(100.0),
        draws: Belief::Normal(3.0),
        has_anchors: false,
    };
    assert_eq!(Ratings::fit(&results, &prior).unwrap_err(), RatingError::Undetermined);
    let nowhere =
        Prior { fixed: vec![], ties: vec![Tie { player: 0, to: Mark::Player(1), elo: 0.0, sd: 50.0 }], ..prior };
    assert_eq!(Ratings::fit(&results, &nowhere).unwrap_err(), RatingError::Undetermined);
}

/// A young run: 30 models on a strength curve, two games against those 1, 2, 5 and 13 before each. `benches/priors.rs`
/// has the figures.
#[test]
fn walk_halves_the_error_of_a_young_run() {
    use rand::{RngExt, SeedableRng};
    const SEEDS: u64 = 60;
    let strength = |model: usize| 1200.0 * (1.0 - (-(model as f64) / 9.0).exp());
    let mean = (0..30).map(strength).sum::<f64>() / 30.0;
    let mut errors = [0.0; 2];
    for seed in 0..SEEDS {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut results = PairResults::new((1..=30).map(|number| format!("r-{number}")));
        for model in 0..30_usize {
            for older in [1, 2, 5, 13].into_iter().filter_map(|distance| model.checked_sub(distance)) {
                for (black, white) in [(older, model), (model, older)] {
                    let chance = Chances::of((strength(black) - strength(white)) / ELO, None).black;
                    let outcome = if rng.random_bool(chance) { Black } else { White };
                    results.add(&format!("r-{}", black + 1), &format!("r-{}", white + 1), outcome);
                }
            }
        }
        let wide = fit(&results, &Prior::normal(&results, 5000.0));
        let walk = Ratings::of_runs(&results, |prior| prior).expect("the run can be rated").0;
        for (error, ratings) in errors.iter_mut().zip([wide, walk]) {
            let squares = ratings.above_pool().into_iter().enumerate();
            let square = squares.map(|(model, place)| (place.elo - (strength(model) - mean)).powi(2)).sum::<f64>();
            *error += (square / 30.0).sqrt() / SEEDS as f64;
        }
    }
    assert!(errors[1] < 0.5 * errors[0], "{errors:?}");
}

#[test]
fn places_in_the_pool_are_contrasts() {
    let results = results(&LEAGUE);
    let ratings = fit(&results, &Prior::normal(&results, 500.0));
    for (player, place) in ratings.above_pool().into_iter().enumerate() {
        let contrast = ratings.contrast(|other| f64::from(u8::from(other == player)) - 0.25);
        assert_close(place.elo, contrast.elo, 1e-9);
        assert_close(place.error, contrast.error, 1e-9);
    }
    assert_close(ratings.superiority(0, 1) + ratings.superiority(1, 0), 1.0, 1e-12);
}

#[test]
fn superiority_is_certain_between_known_ratings() {
    let results = results(&LEAGUE);
    let fixed = vec![(0, 100.0), (1, -20.0), (2, 100.0)];
    let ties = vec![Tie { player: 3, to: Mark::Zero, elo: 0.0, sd: 200.0 }];
    let prior = Prior { fixed, ties, first_move: Belief::Zero, draws: Belief::Normal(3.0), has_anchors: false };
    let ratings = fit(&results, &prior);
    assert_eq!((ratings.superiority(0, 1), ratings.superiority(1, 0)), (1.0, 0.0));
    assert_eq!([ratings.superiority(0, 2), ratings.superiority(3, 3)], [0.5; 2]);
    let Estimate { elo, error } = ratings.difference(0, 3);
    assert!(error > 0.0);
    // The normal distribution function at this place, by the trapezoidal rule.
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let width = (elo / error + 10.0) / 1e5;
    let inner: f64 = (1..100_000).map(|place| density(-10.0 + width * f64::from(place))).sum();
    let expected = width * (inner + 0.5 * (density(-10.0) + density(elo / error)));
    assert_close(ratings.superiority(0, 3), expected, 1e-8);
}
