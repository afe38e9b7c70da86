//! How well the table of a finished run is known, by how its matches are spread over the models, on simulated runs of
//! 80 models.
//!
//!     cargo bench -p ratings --bench schedule
//!
//! The strength curve is that of `experiments/0064-rating-curve-9x9/ratings.csv`, and the same with differences half as
//! large again. Results: `experiments/0059-match-schedule`. Printed are means over the seeds: games; half-widths of 95
//! % intervals in Elo, of the ratings of models against the mean of the others (mean and largest) and of the newest
//! model minus the oldest; and the share of the intervals of ratings that hold the truth.

// Only the library has to be pure.
#![allow(clippy::disallowed_methods)]

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratings::pairing::{InFlight, Knowledge, Objective, pairs};
use ratings::{Chances, ELO, PairResults, Ratings};
use record::Outcome;

const MODELS: u32 = 80;

/// How matches are spread.
#[derive(Clone, Copy)]
struct Way {
    /// Every so many models one is measured.
    every: u32,
    /// What pairs are chosen to tell; `None`: a model meets the one that was measured before it.
    objective: Option<Objective>,
    /// Pairs for each measured model.
    pairs: usize,
    /// Games of a pair.
    games: u32,
    /// Games of the last model against `random` and against the model half its age.
    last: u32,
    /// Pairs at the end, at most.
    last_pairs: usize,
    /// Margin that ends them.
    margin: f64,
}

fn main() {
    let seeds: u64 = std::env::args()
        .skip(1)
        .find(|text| text != "--bench")
        .map_or(40, |text| text.parse().expect("the seeds are a number"));
    let plain = Way { every: 2, objective: None, pairs: 1, games: 4, last: 40, last_pairs: 0, margin: 0.0 };
    println!("{seeds} seeds                                           games   mean largest newest  within");
    for scale in [1.0, 1.5] {
        println!("differences times {scale}");
        report("every 2nd, 1 pair of 4 games", &plain, scale, seeds);
        let dense = Way { pairs: 2, games: 8, objective: Some(Objective::Curve), last: 0, ..plain };
        report("every 2nd, 2 of 8, by curve", &dense, scale, seeds);
        for objective in [Objective::Curve, Objective::Ladder] {
            for (games, pairs, last_pairs) in
                [(16, 2, 20), (16, 2, 40), (32, 1, 10), (32, 1, 20), (32, 1, 30), (64, 1, 10)]
            {
                let way = Way { every: 8, pairs, games, last: 20, last_pairs, objective: Some(objective), margin: 0.0 };
                let name = format!("every 8th, {pairs} of {games} and {last_pairs} at the end, {objective:?}");
                report(&name, &way, scale, seeds);
            }
        }
        let ladder = Way {
            every: 8,
            objective: Some(Objective::Ladder),
            pairs: 1,
            games: 32,
            last: 20,
            last_pairs: 60,
            margin: 100.0,
        };
        report("every 8th, 1 of 32 and until ± 100", &ladder, scale, seeds);
        report(
            "every 8th, 2 of 16 and until ± 100",
            &Way { pairs: 2, games: 16, last_pairs: 120, ..ladder },
            scale,
            seeds,
        );
        report("every 10th, 1 of 32 and until ± 100", &Way { every: 10, ..ladder }, scale, seeds);
        report("every 5th, 1 of 32 and until ± 100", &Way { every: 5, ..ladder }, scale, seeds);
    }
}

fn report(name: &str, way: &Way, scale: f64, seeds: u64) {
    let mut sums = [0.0; 5];
    for seed in 0..seeds {
        sums.iter_mut().zip(run(way, scale, seed)).for_each(|(sum, found)| *sum += found / seeds as f64);
    }
    let [games, mean, largest, newest, within] = sums;
    println!("{name:52} {games:5.0}  {mean:5.0}   {largest:5.0}  {newest:5.0}   {within:5.3}");
}

/// One simulated run.
fn run(way: &Way, scale: f64, seed: u64) -> [f64; 5] {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let bumps: Vec<f64> = (0..=MODELS).map(|_| StandardNormal.sample(&mut rng)).collect();
    let strength = |number: u32| scale * (strength(number) + 40.0 * bumps[number as usize]);
    let (mut results, mut played) = (PairResults::default(), 0);
    let mut meet = |results: &mut PairResults, a: u32, b: u32, games: u32, rng: &mut Xoshiro256PlusPlus| {
        for game in 0..games {
            let (black, white) = if game % 2 == 0 { (a, b) } else { (b, a) };
            let chances = Chances::of((strength(black) - strength(white)) / ELO, None);
            let outcome = if rng.random_bool(chances.black) { Outcome::Black } else { Outcome::White };
            results.add(&name(black), &name(white), outcome);
        }
        played += games;
    };
    for newest in (1..=MODELS).filter(|&number| number % way.every == 0) {
        results.enter(&name(newest));
        let before = newest - way.every;
        match way.objective {
            Some(objective) if before > 0 => {
                for _ in 0..way.pairs {
                    let [a, b] = choose(&results, objective, way.games, &mut rng);
                    meet(&mut results, a, b, way.games, &mut rng);
                }
            }
            _ => meet(&mut results, before, newest, way.games, &mut rng),
        }
    }
    for other in [0, MODELS / 2] {
        meet(&mut results, other, MODELS, way.last, &mut rng);
    }
    for _ in 0..way.last_pairs {
        let [_, largest, newest] = margins(&results);
        if largest.max(newest) > way.margin {
            let [a, b] = choose(&results, way.objective.unwrap_or_default(), way.games, &mut rng);
            meet(&mut results, a, b, way.games, &mut rng);
        }
    }
    let [mean, largest, newest] = margins(&results);
    [f64::from(played), mean, largest, newest, within(&results, &strength)]
}

/// Elo of a model, 0 being `random`.
fn strength(number: u32) -> f64 {
    if number == 0 { -1400.0 } else { -700.0 + 900.0 * (1.0 - (-f64::from(number) / 20.0).exp()) }
}

fn name(number: u32) -> String {
    if number == 0 { "random".to_owned() } else { format!("r-{number}") }
}

fn age(player: &str) -> Option<u32> {
    player.strip_prefix("r-")?.parse().ok()
}

fn rate(results: &PairResults) -> Ratings {
    Ratings::of_runs(results, |prior| prior).expect("the run can be rated").0
}

/// Two models to meet next.
fn choose(results: &PairResults, objective: Objective, games: u32, rng: &mut impl Rng) -> [u32; 2] {
    let ages: Vec<Option<u32>> = results.players().iter().map(|player| age(player)).collect();
    let (ratings, in_flight) = (rate(results), InFlight::default());
    let cost = |a: usize, b: usize| ages[a].and(ages[b]).map(|_| 1.0);
    let knowledge = Knowledge { ratings: &ratings, ages: &ages, in_flight: &in_flight, games, cost: &cost };
    let choice = pairs(&knowledge, objective, 1, rng)[0];
    [choice.first, choice.second].map(|player| ages[player].expect("only models may play"))
}

fn models(results: &PairResults) -> Vec<usize> {
    (0..results.players().len()).filter(|&player| age(&results.players()[player]).is_some()).collect()
}

/// Of the models' ratings, the mean and the largest margin; and that of the newest minus the oldest.
fn margins(results: &PairResults) -> [f64; 3] {
    let (ratings, models) = (rate(results), models(results));
    let above = ratings.above(&models);
    let margins: Vec<f64> = models.iter().map(|&model| above[model].margin()).collect();
    let by_age = |&model: &usize| age(&results.players()[model]);
    let (newest, oldest) =
        (models.iter().max_by_key(|&model| by_age(model)), models.iter().min_by_key(|&model| by_age(model)));
    let gain = ratings.difference(*newest.expect("there are models"), *oldest.expect("there are models"));
    let mean = margins.iter().sum::<f64>() / margins.len() as f64;
    [mean, margins.iter().copied().fold(0.0, f64::max), gain.margin()]
}

/// The share of models whose interval holds their true strength.
fn within(results: &PairResults, strength: &dyn Fn(u32) -> f64) -> f64 {
    let models = models(results);
    let truth: Vec<f64> =
        models.iter().map(|&model| strength(age(&results.players()[model]).expect("a model"))).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let above = rate(results).above(&models);
    let holds = models
        .iter()
        .zip(&truth)
        .filter(|&(&model, truth)| (above[model].elo - (truth - mean)).abs() < above[model].margin());
    holds.count() as f64 / models.len() as f64
}
