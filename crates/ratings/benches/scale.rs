//! How long a large pool takes: 2,000 models of a run and 1,000,000 games between those near in number.
//!
//!     cargo bench -p ratings --bench scale
//!
//! Results: `experiments/0007-rating-errors-and-priors`.

// A measurement reads the clock.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratings::pairing::{InFlight, Knowledge, Objective, pairs};
use ratings::{Chances, ELO, Leaderboard, PairResults, Prior, Ratings, diagnostics, goodness_of_fit};
use record::Outcome;

const PLAYERS: usize = 2000;
const GAMES: usize = 1_000_000;

fn main() {
    let results = timed("counting the games", played);
    println!("{} pairings", results.scores().count());
    timed("diagnostics", || diagnostics(&results));
    let ratings = timed("maximum likelihood, with covariance", || {
        Leaderboard::without_prior(&results, &[], true).expect("all players are connected").ratings
    });
    timed("goodness_of_fit", || goodness_of_fit(&results, &ratings));
    timed("a walk of given step", || {
        Ratings::fit(&results, &Prior::walk(&results, 50.0)).expect("the run can be rated")
    });
    let ratings = timed("a walk with its step by evidence", || {
        Ratings::of_runs(&results, |prior| prior).expect("the run can be rated").0
    });
    timed("all places in the pool", || ratings.above_pool());
    let ages: Vec<Option<u32>> = (1..=PLAYERS as u32).map(Some).collect();
    let in_flight = InFlight::default();
    let knowledge =
        Knowledge { ratings: &ratings, ages: &ages, in_flight: &in_flight, games: 8, cost: &|_, _| Some(1.0) };
    for objective in [Objective::Best, Objective::Newest, Objective::Curve] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        timed(&format!("10 pairs by {objective:?}"), || pairs(&knowledge, objective, 10, &mut rng));
    }
}

/// Games of each model against others within some 200 numbers.
fn played() -> PairResults {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let names: Vec<String> = (1..=PLAYERS).map(|number| format!("r-{number}")).collect();
    let mut results = PairResults::new(&names);
    for _ in 0..GAMES {
        let black = rng.random_range(0..PLAYERS);
        let white = (black + PLAYERS + rng.random_range(1..400) - 200).rem_euclid(PLAYERS);
        let lead = black as f64 - white as f64 + 20.0;
        let black_wins = rng.random_bool(Chances::of(lead.clamp(-500.0, 500.0) / ELO, None).black);
        results.add(&names[black], &names[white], if black_wins { Outcome::Black } else { Outcome::White });
    }
    results
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    println!("{what}: {:.2} s", start.elapsed().as_secs_f64());
    done
}
