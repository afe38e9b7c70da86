//! Error of ratings in a young run by prior, on simulated runs of 30 models.
//!
//!     cargo bench -p ratings --bench priors
//!
//! Results: `experiments/0007-rating-errors-and-priors`.
//!
//! Each model plays two games against those 1, 2, 5 and 13 before it: 198 games. The output has means over the seeds,
//! in Elo: the root mean squared error of ratings in the pool, and of steps from model to model. Then the coverage of
//! 95 % intervals of differences, and the regret of choosing the model with the highest rating.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratings::{Belief, Chances, ELO, PairResults, Prior, Ratings};
use record::Outcome;

const SEEDS: u64 = 300;
const MODELS: usize = 30;

fn main() {
    println!("{SEEDS} seeds                 all   steps  within  regret");
    let fixed = |name: &str, prior: &dyn Fn(&PairResults) -> Prior| {
        report(name, &|results| {
            // The colours are known to be equal here, as they are to the figures this is compared with.
            let prior = Prior { first_move: Belief::Zero, ..prior(results) };
            Ratings::fit(results, &prior).expect("the run can be rated")
        });
    };
    fixed("none: N(0, 5000)", &|results| Prior::normal(results, 5000.0));
    for sd in [388.0, 1000.0] {
        fixed(&format!("N(0, {sd})"), &|results| Prior::normal(results, sd));
    }
    for step in [50.0, 100.0, 150.0, 200.0] {
        fixed(&format!("walk of {step}"), &|results| Prior::walk(results, step));
    }
    report("walk, step by evidence", &|results| {
        let prior = |prior| Prior { first_move: Belief::Zero, ..prior };
        Ratings::of_runs(results, prior).expect("the run can be rated").0
    });
}

fn report(name: &str, fit: &dyn Fn(&PairResults) -> Ratings) {
    let mut sums = [0.0; 4];
    for seed in 0..SEEDS {
        let (strengths, results) = run(seed);
        sums.iter_mut().zip(compare(&fit(&results), &strengths)).for_each(|(sum, error)| *sum += error / SEEDS as f64);
    }
    let [all, steps, within, regret] = sums;
    println!("{name:24} {all:6.1}  {steps:6.1}  {within:6.3}  {regret:6.1}");
}

/// True strengths in Elo, on a strength curve that flattens, with bumps; and the results of the run.
fn run(seed: u64) -> (Vec<f64>, PairResults) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut strength = |model: usize| {
        let bump: f64 = StandardNormal.sample(&mut rng);
        1200.0 * (1.0 - (-(model as f64) / 9.0).exp()) + 40.0 * bump
    };
    let strengths: Vec<f64> = (0..MODELS).map(&mut strength).collect();
    let mut results = PairResults::new((1..=MODELS).map(|number| format!("r-{number}")));
    for model in 0..MODELS {
        for older in [1, 2, 5, 13].into_iter().filter_map(|distance| model.checked_sub(distance)) {
            for (black, white) in [(older, model), (model, older)] {
                let outcome = play(strengths[black] - strengths[white], &mut rng);
                results.add(&format!("r-{}", black + 1), &format!("r-{}", white + 1), outcome);
            }
        }
    }
    (strengths, results)
}

fn play(lead: f64, rng: &mut impl Rng) -> Outcome {
    if rng.random_bool(Chances::of(lead / ELO, None).black) { Outcome::Black } else { Outcome::White }
}

fn compare(ratings: &Ratings, strengths: &[f64]) -> [f64; 4] {
    let mean = strengths.iter().sum::<f64>() / MODELS as f64;
    let places = ratings.above_pool();
    let off: Vec<f64> = places.iter().zip(strengths).map(|(place, strength)| place.elo - (strength - mean)).collect();
    let steps: Vec<f64> = off.windows(2).map(|two| two[1] - two[0]).collect();
    let pairs = (0..MODELS).flat_map(|i| (0..i).map(move |j| (i, j)));
    let hit = |(i, j): (usize, usize)| {
        let found = ratings.difference(i, j);
        f64::from(u8::from((found.elo - (strengths[i] - strengths[j])).abs() < found.margin()))
    };
    let within = pairs.map(hit).sum::<f64>() / (MODELS * (MODELS - 1) / 2) as f64;
    let best = strengths.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let looks_best = (0..MODELS).max_by(|&a, &b| places[a].elo.total_cmp(&places[b].elo)).expect("there are models");
    [root_mean_square(&off), root_mean_square(&steps), within, best - strengths[looks_best]]
}

fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
}
