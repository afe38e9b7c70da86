use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn test(elo0: f64, elo1: f64) -> Sprt {
    Sprt::new(elo0, elo1, 0.05, 0.05).expect("a good test")
}

/// Without draws it is the binomial test: W·ln(p₁/p₀) + L·ln((1 − p₁)/(1 − p₀)).
#[test]
fn decided_games_have_the_binomial_ratio() {
    let (p0, p1) = (expected_score(0.0), expected_score(35.0));
    for (lost, won) in [(40, 60), (3, 1), (500, 520)] {
        let exact = f64::from(won) * (p1 / p0).ln() + f64::from(lost) * ((1.0 - p1) / (1.0 - p0)).ln();
        let found = test(0.0, 35.0).log_ratio(&Outcomes([lost, 0, won]));
        assert!((found - exact).abs() < 1e-3, "{found} {exact}");
    }
}

#[test]
fn draws_make_the_same_lead_say_more() {
    let test = test(0.0, 10.0);
    assert!(test.log_ratio(&Outcomes([90, 20, 110])) < 0.5 * test.log_ratio(&Outcomes([20, 160, 40])));
}

/// With one game lost of 20, and with none: no zero, no infinity, and more for the better result.
#[test]
fn perfect_results_have_a_finite_ratio() {
    let test = test(0.0, 35.0);
    let [perfect, once] = [Outcomes([0, 0, 20]), Outcomes([1, 0, 19])].map(|outcomes| test.log_ratio(&outcomes));
    assert!(perfect.is_finite() && once > 0.0 && perfect > once, "{perfect} {once}");
    let p1 = expected_score(35.0);
    assert!((perfect - 20.0 * (p1 / 0.5).ln()).abs() < 1e-2, "{perfect}");
    assert_eq!(test.log_ratio(&Outcomes([0; 5])), 0.0);
}

/// A share of nearly 1 makes each game that was won twice as likely as among equals, and one that was lost impossible.
#[test]
fn hypotheses_beyond_all_differences_have_a_finite_ratio() {
    for elo in [6_000.0, 9_000.0, 10_000.0] {
        let ratio = |outcomes: [u32; 3]| test(0.0, elo).log_ratio(&Outcomes(outcomes));
        let won = ratio([0, 0, 20]);
        assert!((won - 20.0 * 2.0_f64.ln()).abs() < 0.1, "{elo}: {won}");
        assert!(ratio([1, 0, 19]) < -10.0 && test(0.0, elo).verdict(&Outcomes([1, 0, 19])) == Verdict::Lower);
        let turned = test(-elo, 0.0).log_ratio(&Outcomes([20, 0, 0]));
        assert!((won + turned).abs() < 1e-3, "{elo}: {won} {turned}");
    }
}

#[test]
fn most_likely_distribution_has_the_mean() {
    let shares = Outcomes([7, 20, 31, 25, 9]).shares().map(|(a, count)| (a, count / 92.0));
    for mean in [0.3, 0.5, 0.7] {
        let p = most_likely(&shares, mean);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((p.iter().zip(&shares).map(|(p, (a, _))| p * a).sum::<f64>() - mean).abs() < 1e-9);
    }
}

#[test]
fn bad_numbers_are_refused() {
    assert_eq!(Sprt::new(5.0, 5.0, 0.05, 0.05), Err(SprtError::Order(5.0, 5.0)));
    assert_eq!(Sprt::new(0.0, 5.0, 0.0, 0.05), Err(SprtError::Share("alpha", 0.0)));
    assert_eq!(Sprt::new(0.0, 5.0, 0.05, 0.5), Err(SprtError::Share("beta", 0.5)));
    assert!(Sprt::new(f64::NAN, 5.0, 0.05, 0.05).is_err());
}

/// One pair of games on one opening, which favours a colour: points of the first player, 0 to 4 halves.
fn pair_of_games(elo: f64, rng: &mut impl Rng) -> usize {
    let (opening, draws) = (rng.random_range(-150.0..150.0), 0.1);
    let halves = |edge: f64, rng: &mut dyn Rng| {
        let won = (expected_score(elo + edge) - draws / 2.0).clamp(0.0, 1.0);
        let luck: f64 = rng.random();
        if luck < won { 2 } else { usize::from(luck < won + draws) }
    };
    halves(opening, rng) + halves(-opening, rng)
}

/// The share of tests that find for the upper hypothesis, and the mean number of games, where the true lead is `elo`.
fn simulate(test: &Sprt, elo: f64, looks: u32) -> (f64, f64) {
    const TESTS: u64 = 1000;
    let (mut upper, mut games) = (0.0, 0.0);
    for seed in 0..TESTS {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut outcomes = Outcomes([0; 5]);
        loop {
            (0..looks).for_each(|_| outcomes.0[pair_of_games(elo, &mut rng)] += 1);
            match test.verdict(&outcomes) {
                Verdict::Open => {}
                verdict => {
                    upper += f64::from(u8::from(verdict == Verdict::Upper));
                    games += 2.0 * f64::from(outcomes.count());
                    break;
                }
            }
        }
    }
    (upper / TESTS as f64, games / TESTS as f64)
}

/// Error rates where either hypothesis is true. Two standard deviations of a share of 5 % in 1,000 tests are 1.4 %.
#[test]
fn wrong_hypothesis_wins_as_seldom_as_promised() {
    let test = test(0.0, 40.0);
    let lead = |points: f64| 400.0 * (points / (1.0 - points)).log10();
    // Openings and draws bend the lead, so it is measured: the mean points of pairs.
    let true_lead = |elo: f64| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1 << 40);
        let halves: usize = (0..200_000).map(|_| pair_of_games(elo, &mut rng)).sum();
        lead(halves as f64 / 800_000.0)
    };
    let elo1 = 40.0 * 40.0 / true_lead(40.0);
    assert!((true_lead(0.0)).abs() < 1.0 && (true_lead(elo1) - 40.0).abs() < 1.5, "{}", true_lead(elo1));
    for looks in [1, 4] {
        let (wrong, games) = simulate(&test, 0.0, looks);
        assert!((0.02..0.064).contains(&wrong), "{wrong} find for elo1 where elo0 is true");
        let (right, more) = simulate(&test, elo1, looks);
        assert!((0.936..0.98).contains(&right), "{right} find for elo1 where it is true");
        assert!(games < 600.0 && more < 600.0, "{games} and {more} games");
    }
}
