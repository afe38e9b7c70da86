use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use record::Outcome::{self, Black, Draw, White};

use super::*;
use crate::bradley_terry::{Chances, ELO};
use crate::leaderboard::Leaderboard;

fn fit(results: &PairResults) -> Ratings {
    Leaderboard::without_prior(results, &[], true).expect("the league can be rated").ratings
}

/// A league of `players`, each pair of which meets in `games` games with either colour.
fn league(seed: u64, players: usize, games: u32, draws: Option<f64>) -> PairResults {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let strengths: Vec<f64> = (0..players).map(|_| rng.random_range(-200.0..200.0)).collect();
    let names: Vec<String> = (0..players).map(|player| player.to_string()).collect();
    let mut results = PairResults::new(&names);
    for (i, black) in names.iter().enumerate() {
        for (j, white) in names.iter().enumerate().filter(|&(j, _)| j != i) {
            for _ in 0..games {
                let chances = Chances::of((strengths[i] - strengths[j] + 40.0) / ELO, draws);
                let luck = rng.random::<f64>();
                let outcome: Outcome = match luck {
                    _ if luck < chances.black => Black,
                    _ if luck < chances.black + chances.draw => Draw,
                    _ => White,
                };
                results.add(black, white, outcome);
            }
        }
    }
    results
}

#[test]
fn league_without_secrets_is_seldom_suspected() {
    const LEAGUES: u64 = 1000;
    for (players, games, draws) in [(12, 1, None), (8, 10, None), (10, 2, Some(-0.5))] {
        let suspected = (0..LEAGUES).filter(|&seed| {
            let results = league(seed, players, games, draws);
            goodness_of_fit(&results, &fit(&results)).expect("there is much to test").p < 0.05
        });
        let share = suspected.count() as f64 / LEAGUES as f64;
        // Few games to a pair make it 6 to 7 % where it should be 5; the standard deviation of the share is 0.7 %.
        assert!((0.03..0.085).contains(&share), "{players} players, {games} games: {share}");
    }
}

#[test]
fn rock_paper_scissors_is_found_out() {
    let mut results = PairResults::default();
    for (winner, loser) in [("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")] {
        for game in 0..20 {
            let wins = game < 16;
            let (black, white) = if game % 2 == 0 { (winner, loser) } else { (loser, winner) };
            results.add(black, white, if wins == (black == winner) { Black } else { White });
        }
    }
    let found = goodness_of_fit(&results, &fit(&results)).expect("there is something to test");
    // Each pair deviates by 6 points where the variance is 5, and the cycle is one degree of freedom.
    assert!((found.chi_squared - 3.0 * 36.0 / 5.0).abs() < 1e-6 && (found.expected - 1.0).abs() < 1e-6);
    assert!(found.p < 1e-5, "{}", found.p);
    let worst = found.residuals[0];
    assert_eq!((worst.games, worst.points), (20, 16.0));
    assert!((worst.expected - 10.0).abs() < 1e-6 && (worst.deviations - (3.0_f64 * 36.0 / 5.0).sqrt()).abs() < 1e-3);
}

#[test]
fn pair_has_nothing_to_be_compared_with() {
    let mut results = PairResults::default();
    for (black, white, outcome) in [("a", "b", Black), ("a", "b", White), ("b", "a", Black), ("b", "a", White)] {
        results.add(black, white, outcome);
    }
    assert_eq!(goodness_of_fit(&results, &fit(&results)), None);
    assert_eq!(goodness_of_fit(&PairResults::default(), &fit(&PairResults::default())), None);
}
