//! Whether the errors are true: leagues with known strengths, played with the model's own chances.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Outcome;

use crate::bradley_terry::*;

const LEAGUES: u64 = 1000;
const MODELS: usize = 10;

/// A run whose strength walks 100 Elo a step, each model playing twice four games against those 1, 2 and 5 before it.
fn league(seed: u64, draws: Option<f64>) -> (Vec<f64>, PairResults) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut strengths = vec![0.0_f64];
    while let (Some(last), true) = (strengths.last().copied(), strengths.len() < MODELS) {
        let step: f64 = StandardNormal.sample(&mut rng);
        strengths.push(last + 100.0 * step);
    }
    let mut results = PairResults::new((1..=MODELS).map(name));
    let meetings =
        (0..MODELS).flat_map(|i| [1, 2, 5].into_iter().filter_map(move |back| Some((i, i.checked_sub(back)?))));
    for (i, j) in meetings {
        for (black, white) in [(i, j), (j, i)].repeat(4) {
            let chances = Chances::of((strengths[black] - strengths[white] + 40.0) / ELO, draws);
            let luck = rng.random::<f64>();
            let outcome = match luck {
                _ if luck < chances.black => Outcome::Black,
                _ if luck < chances.black + chances.draw => Outcome::Draw,
                _ => Outcome::White,
            };
            results.add(&name(black + 1), &name(white + 1), outcome);
        }
    }
    (strengths, results)
}

fn name(number: usize) -> String {
    format!("r-{number}")
}

/// The share of 95 % intervals that hold the truth: over all differences, and over all places in the pool.
fn coverage(draws: Option<f64>, rate: impl Fn(&PairResults) -> Ratings) -> [f64; 2] {
    let (mut hits, mut counts) = ([0.0; 2], [0.0; 2]);
    for seed in 0..LEAGUES {
        let (strengths, results) = league(seed, draws);
        let ratings = rate(&results);
        let mean = strengths.iter().sum::<f64>() / MODELS as f64;
        let mut check = |kind: usize, estimate: Estimate, truth: f64| {
            hits[kind] += f64::from(u8::from((estimate.elo - truth).abs() < estimate.margin()));
            counts[kind] += 1.0;
        };
        for i in 0..MODELS {
            (0..i).for_each(|j| check(0, ratings.difference(i, j), strengths[i] - strengths[j]));
            check(1, ratings.above_pool()[i], strengths[i] - mean);
        }
    }
    [hits[0] / counts[0], hits[1] / counts[1]]
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let walk =
        |results: &PairResults| Ratings::fit(results, &Prior::walk(results, 100.0)).expect("the league can be rated");
    let chosen = |results: &PairResults| Ratings::of_runs(results, |prior| prior).expect("the league can be rated").0;
    let wide = |results: &PairResults| {
        Ratings::fit(results, &Prior::normal(results, 1000.0)).expect("the league can be rated")
    };
    let cases = [
        ("the walk's own step", coverage(None, walk)),
        ("with draws", coverage(Some(-0.5), walk)),
        ("the step chosen by the results", coverage(None, chosen)),
        ("a wide prior", coverage(None, wide)),
    ];
    for (case, shares) in cases {
        assert!(shares.iter().all(|share| (0.93..=0.97).contains(share)), "{case}: {shares:?}");
    }
}
