//! What each way of choosing pairs leaves of the error, on simulated runs of 40 models.
//!
//!     cargo bench -p ratings --bench pairing -- [FIRST_SEED]
//!
//! Results: `experiments/0008-pairing-rules`.
//!
//! A run starts with each model against those 1, 2, 3, 5, 8, 13 and 21 before it, two games a pair (454 games). Then a
//! rule chooses 30 pairs of two games at a time until 480 more games are played. Printed are means over the seeds, in
//! Elo, after 0, 120, 240 and 480 games: the root mean squared error of all places in the pool, of those of the ten
//! strongest among each other, and of the steps from model to model; and the strength lost by taking the model with the
//! highest rating.

// Only the library has to be pure.
#![allow(clippy::disallowed_methods)]

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratings::pairing::{InFlight, Knowledge, Objective, pairs};
use ratings::{Chances, ELO, PairResults, Prior, Ratings};
use record::Outcome;

const SEEDS: u64 = 200;
const MODELS: usize = 40;
const BATCH: usize = 30;
const GAMES: u32 = 2;
const BATCHES: usize = 8;
/// Batches after which errors are taken.
const LOOKS: [usize; 4] = [0, 2, 4, 8];

/// How pairs are chosen, and how results are rated.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    choose: Choose,
    fit: fn(&PairResults) -> Ratings,
}

#[derive(Clone, Copy)]
enum Choose {
    /// By information.
    Informed(Objective),
    /// Any two players.
    Random,
    /// As Minigo did: the ten least known players, each against one of the 19 nearest in rating.
    Minigo,
    /// Any player against one of the 19 nearest in rating.
    Near,
    /// Minigo's earlier form: the least known against one of the six farthest in age among the 19 nearest in rating.
    Far,
}

/// Errors in Elo: all, top ten, steps, and what is lost by the choice of the best.
type Errors = [f64; 4];

fn main() {
    let first: u64 = std::env::args()
        .skip(1)
        .find(|text| text != "--bench")
        .map_or(0, |text| text.parse().expect("the first seed is a number"));
    let normal: fn(&PairResults) -> Ratings =
        |results| Ratings::fit(results, &Prior::normal(results, 777.0)).expect("the run can be rated");
    let walk: fn(&PairResults) -> Ratings =
        |results| Ratings::of_runs(results, |prior| prior).expect("the run can be rated").0;
    let ways = [
        ("random", Choose::Random),
        ("random + near", Choose::Near),
        ("minigo", Choose::Minigo),
        ("minigo v7", Choose::Far),
        ("by curve", Choose::Informed(Objective::Curve)),
        ("by best", Choose::Informed(Objective::Best)),
        ("by newest", Choose::Informed(Objective::Newest)),
    ];
    for (prior, fit) in [("N(0, 777 Elo) prior", normal), ("the run prior", walk)] {
        println!("{prior}, {SEEDS} seeds from {first}; all / top 10 / steps / regret");
        for (name, choose) in ways {
            report(&Way { name, choose, fit }, first);
        }
    }
}

fn report(way: &Way, first: u64) {
    let mut sums = [[0.0; 4]; LOOKS.len()];
    for seed in first..first + SEEDS {
        for (sums, errors) in sums.iter_mut().zip(run(way, seed)) {
            sums.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
        }
    }
    let cell = |errors: [f64; 4]| errors.map(|sum| format!("{:5.1}", sum / SEEDS as f64)).join(" ");
    println!("{:14} | {}", way.name, sums.map(cell).join(" | "));
}

/// One simulated run under one rule.
fn run(way: &Way, seed: u64) -> Vec<Errors> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let strengths: Vec<f64> = (0..MODELS).map(|model| strength(model, &mut rng)).collect();
    let mut results = PairResults::new((1..=MODELS).map(|number| format!("r-{number}")));
    for model in 0..MODELS {
        for older in [1, 2, 3, 5, 8, 13, 21].into_iter().filter_map(|distance| model.checked_sub(distance)) {
            meet(&mut results, &strengths, older, model, &mut rng);
        }
    }
    let mut errors = Vec::new();
    for batch in 0..=BATCHES {
        let ratings = (way.fit)(&results);
        if LOOKS.contains(&batch) {
            errors.push(compare(&ratings, &strengths));
        }
        for (a, b) in choose(way.choose, &ratings, &mut rng) {
            meet(&mut results, &strengths, a, b, &mut rng);
        }
    }
    errors
}

/// A strength curve that flattens, with bumps, in Elo.
fn strength(model: usize, rng: &mut impl Rng) -> f64 {
    let bump: f64 = StandardNormal.sample(rng);
    1500.0 * (1.0 - (-(model as f64) / 10.0).exp()) + 40.0 * bump
}

fn meet(results: &mut PairResults, strengths: &[f64], a: usize, b: usize, rng: &mut impl Rng) {
    for game in 0..GAMES {
        let (black, white) = if game % 2 == 0 { (a, b) } else { (b, a) };
        let chances = Chances::of((strengths[black] - strengths[white]) / ELO, None);
        let outcome = if rng.random_bool(chances.black) { Outcome::Black } else { Outcome::White };
        results.add(&format!("r-{}", black + 1), &format!("r-{}", white + 1), outcome);
    }
}

fn choose(how: Choose, ratings: &Ratings, rng: &mut impl Rng) -> Vec<(usize, usize)> {
    match how {
        Choose::Informed(objective) => {
            let ages: Vec<Option<u32>> = (1..=MODELS as u32).map(Some).collect();
            let in_flight = InFlight::default();
            let knowledge =
                Knowledge { ratings, ages: &ages, in_flight: &in_flight, games: GAMES, cost: &|_, _| Some(1.0) };
            pairs(&knowledge, objective, BATCH, rng).iter().map(|choice| (choice.first, choice.second)).collect()
        }
        Choose::Random => (0..BATCH)
            .map(|_| {
                let one = rng.random_range(0..MODELS);
                (one, (one + rng.random_range(1..MODELS)) % MODELS)
            })
            .collect(),
        Choose::Near => (0..BATCH)
            .map(|_| {
                let player = rng.random_range(0..MODELS);
                (player, nearest(ratings, player)[rng.random_range(0..19)])
            })
            .collect(),
        Choose::Minigo | Choose::Far => {
            let places = ratings.above_pool();
            let mut least_known: Vec<usize> = (0..MODELS).collect();
            least_known.sort_by(|&a, &b| places[b].error.total_cmp(&places[a].error));
            let pair = |&player: &usize| {
                let mut near = nearest(ratings, player)[..19].to_vec();
                if matches!(how, Choose::Minigo) {
                    return (player, near[rng.random_range(0..19)]);
                }
                near.sort_by_key(|&other| std::cmp::Reverse(other.abs_diff(player)));
                (player, near[rng.random_range(0..6)])
            };
            least_known[..10].iter().cycle().take(BATCH).map(pair).collect()
        }
    }
}

/// The other players, nearest in rating first.
fn nearest(ratings: &Ratings, player: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..MODELS).filter(|&other| other != player).collect();
    let apart = |&other: &usize| ratings.difference(other, player).elo.abs();
    others.sort_by(|a, b| apart(a).total_cmp(&apart(b)));
    others
}

fn compare(ratings: &Ratings, strengths: &[f64]) -> Errors {
    let mean = strengths.iter().sum::<f64>() / MODELS as f64;
    let found: Vec<f64> = ratings.above_pool().iter().map(|place| place.elo).collect();
    let off: Vec<f64> = found.iter().zip(strengths).map(|(found, strength)| found - (strength - mean)).collect();
    let mut order: Vec<usize> = (0..MODELS).collect();
    order.sort_by(|&a, &b| strengths[b].total_cmp(&strengths[a]));
    let top: Vec<f64> = order[..10].iter().map(|&model| off[model]).collect();
    let top_mean = top.iter().sum::<f64>() / 10.0;
    let top: Vec<f64> = top.iter().map(|off| off - top_mean).collect();
    let steps: Vec<f64> = off.windows(2).map(|two| two[1] - two[0]).collect();
    let looks_best = (0..MODELS).max_by(|&a, &b| found[a].total_cmp(&found[b])).expect("there are models");
    [
        root_mean_square(&off),
        root_mean_square(&top),
        root_mean_square(&steps),
        strengths[order[0]] - strengths[looks_best],
    ]
}

fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
}
