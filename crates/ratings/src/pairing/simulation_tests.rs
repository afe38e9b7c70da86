//! Whether chosen pairs are more informative than random ones: runs with known strengths, paired both ways.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Outcome;

use super::*;
use crate::bradley_terry::Prior;
use crate::bradley_terry::{Chances, ELO};
use crate::results::PairResults;

const RUNS: u64 = 30;
const MODELS: usize = 20;
const PAIRS: usize = 30;
const GAMES: u32 = 4;

/// A strength curve with bumps, in Elo.
fn strength(model: usize, rng: &mut impl Rng) -> f64 {
    let bump = rng.random_range(-60.0..60.0);
    1200.0 * (1.0 - (-(model as f64) / 6.0).exp()) + bump
}

fn name(model: usize) -> String {
    format!("r-{}", model + 1)
}

fn meet(results: &mut PairResults, strengths: &[f64], (a, b): (usize, usize), rng: &mut impl Rng) {
    for game in 0..GAMES {
        let (black, white) = if game % 2 == 0 { (a, b) } else { (b, a) };
        let chances = Chances::of((strengths[black] - strengths[white]) / ELO, None);
        let outcome = if rng.random_bool(chances.black) { Outcome::Black } else { Outcome::White };
        results.add(&name(black), &name(white), outcome);
    }
}

fn rate(results: &PairResults) -> Ratings {
    Ratings::fit(results, &Prior::walk(results, 125.0)).expect("the run can be rated")
}

/// The root mean squared error of the curve, after more games between pairs that `choose` names.
fn error(seed: u64, choose: impl Fn(&Ratings, &mut Xoshiro256PlusPlus) -> (usize, usize)) -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let strengths: Vec<f64> = (0..MODELS).map(|model| strength(model, &mut rng)).collect();
    let mut results = PairResults::new((0..MODELS).map(name));
    (1..MODELS).for_each(|model| meet(&mut results, &strengths, (model - 1, model), &mut rng));
    for _ in 0..PAIRS {
        let pair = choose(&rate(&results), &mut rng);
        meet(&mut results, &strengths, pair, &mut rng);
    }
    let (ratings, mean) = (rate(&results), strengths.iter().sum::<f64>() / MODELS as f64);
    let squares = (0..MODELS).map(|model| (ratings.above_pool()[model].elo - (strengths[model] - mean)).powi(2));
    (squares.sum::<f64>() / MODELS as f64).sqrt()
}

#[test]
fn chosen_pairs_reduce_error_more_than_random() {
    let ages: Vec<Option<u32>> = (1..=MODELS as u32).map(Some).collect();
    let chosen = |ratings: &Ratings, rng: &mut Xoshiro256PlusPlus| {
        let in_flight = InFlight::default();
        let knowledge =
            Knowledge { ratings, ages: &ages, in_flight: &in_flight, games: GAMES, cost: &|_, _| Some(1.0) };
        let choice = pairs(&knowledge, Objective::Curve, 1, rng)[0];
        (choice.first, choice.second)
    };
    let random = |_: &Ratings, rng: &mut Xoshiro256PlusPlus| {
        let first = rng.random_range(0..MODELS);
        (first, (first + rng.random_range(1..MODELS)) % MODELS)
    };
    let mean = |choose: &dyn Fn(&Ratings, &mut Xoshiro256PlusPlus) -> (usize, usize)| {
        (0..RUNS).map(|seed| error(seed, choose)).sum::<f64>() / RUNS as f64
    };
    let (chosen, random) = (mean(&chosen), mean(&random));
    // The standard error of either mean is about 3 Elo.
    assert!(chosen < 0.9 * random, "{chosen} Elo with chosen pairs, {random} with random ones");
}
