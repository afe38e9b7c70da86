//! Random choices of a game before its first move.

use config::{Game, Selfplay};
use mcts::math::double::{ln, ln_1p};
use mcts::sample;
use rand::RngExt;

use crate::GameRng;
use crate::seed::{finish, generator};

/// What makes a game different from the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GameRandomization {
    /// Points added to White's area.
    pub(crate) komi: f32,
    /// Moves at the start that are drawn from the network's policy.
    pub(crate) opening: usize,
    /// … and random moves before those.
    pub(crate) random: usize,
}

impl GameRandomization {
    /// That of the game with this seed.
    ///
    /// It has a generator of its own, so that it does not change the random choices of moves.
    pub(crate) fn draw(game: &Game, selfplay: &Selfplay, seed: u64) -> GameRandomization {
        let mut rng = generator(finish(seed));
        let shift = selfplay.komi_deviation * sample::normal(&mut rng) as f32;
        let opens = rng.random::<f32>() < selfplay.policy_opening_fraction;
        let plies = plies(selfplay.policy_opening_moves, &mut rng);
        let area = game.board().area();
        // Fewer on a small board, and where moves are limited: never so many that the game might be over.
        let most = selfplay.random_opening_moves.min(area / 4).min(game.move_limit - 1);
        let opens_at_random = rng.random::<f32>() < selfplay.random_opening_fraction;
        let random = if opens_at_random && most > 0 { rng.random_range(1..=most) } else { 0 };
        let komi = komi(game.komi, shift, area);
        GameRandomization { komi, opening: if opens { plies } else { 0 }, random }
    }
}

/// `mean` moved by a whole number of points, the one that is nearest to `shift`, but to no more than the board has.
fn komi(mean: f32, shift: f32, area: usize) -> f32 {
    let area = area as f32;
    mean + shift.round().clamp(-(area + mean).floor(), (area - mean).floor())
}

/// A number of moves with this mean, from the geometric distribution: (1 + mean)^-1·(mean/(1 + mean))^n.
fn plies(mean: f32, rng: &mut GameRng) -> usize {
    // An exponential number rounded down; 1 - u is never 0.
    let u = f64::from(1.0 - rng.random::<f32>());
    if mean > 0.0 { (ln(u) / -ln_1p(1.0 / f64::from(mean))) as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use mcts::math::double::pow;

    use super::*;

    const GAMES: u64 = 4000;

    /// The varieties of many games.
    fn many(overrides: &[&str]) -> Vec<GameRandomization> {
        let config = config::Preset::Tiny.with(overrides).expect("the overrides are good");
        (0..GAMES).map(|seed| GameRandomization::draw(&config.game, &config.selfplay, seed)).collect()
    }

    fn mean_and_variance(numbers: impl Iterator<Item = f32>) -> (f64, f64) {
        let numbers: Vec<f64> = numbers.map(f64::from).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        (mean, numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / numbers.len() as f64)
    }

    #[test]
    fn without_options_all_games_are_alike() {
        let plain = GameRandomization { komi: 0.5, opening: 0, random: 0 };
        assert!(many(&[]).iter().all(|randomization| *randomization == plain));
    }

    #[test]
    fn komi_is_normal_in_whole_points_around_that_of_the_run() {
        for (size, komi, deviation) in [(19, 7.5, 4.0), (9, 7.0, 0.5)] {
            let overrides = [
                format!("game.size={size}"),
                format!("game.komi={komi:?}"),
                format!("selfplay.komi_deviation={deviation:?}"),
            ];
            let found = many(&overrides.each_ref().map(String::as_str));
            assert!(found.iter().all(|randomization| (randomization.komi - komi).fract() == 0.0));
            let (mean, variance) = mean_and_variance(found.iter().map(|randomization| randomization.komi));
            // Rounding adds 1/12 to the variance where the deviation is not small. Three standard errors: 3·d/√4000 of
            // the mean, 3·d²·√(2/4000) of the variance.
            let expected: f64 = deviation * deviation + 1.0 / 12.0;
            assert!((mean - f64::from(komi)).abs() < 0.048 * expected.sqrt(), "{mean}");
            assert!((variance - expected).abs() < 0.068 * expected, "{variance} {expected}");
        }
        let wild = many(&["game.komi=1.5", "selfplay.komi_deviation=1000.0"]);
        let (least, most) =
            wild.iter().fold((0f32, 0f32), |(low, high), game| (low.min(game.komi), high.max(game.komi)));
        assert_eq!((least, most), (-24.5, 24.5), "no larger than the 25 points of the board");
    }

    #[test]
    fn openings_have_their_share_and_a_geometric_length() {
        let found = many(&["selfplay.policy_opening_fraction=1.0", "selfplay.policy_opening_moves=3.0"]);
        let (mean, variance) = mean_and_variance(found.iter().map(|randomization| randomization.opening as f32));
        // Mean m, variance m·(1 + m) = 12, so three standard errors of the mean are 0.165.
        assert!((mean - 3.0).abs() < 0.165 && (variance - 12.0).abs() < 2.0, "{mean} {variance}");
        for n in 0..4 {
            let share = found.iter().filter(|randomization| randomization.opening == n).count() as f64 / GAMES as f64;
            // Three standard deviations of a share of a quarter are 0.0206.
            assert!((share - 0.25 * pow(0.75, n as f64)).abs() < 0.0206, "{n}: {share}");
        }
        let some = many(&["selfplay.policy_opening_fraction=0.4", "selfplay.policy_opening_moves=99.0"]);
        let share = some.iter().filter(|randomization| randomization.opening > 0).count() as f64 / GAMES as f64;
        assert!((share - 0.4 * 0.99).abs() < 0.0233, "{share}");
        let none = many(&["selfplay.policy_opening_fraction=1.0", "selfplay.policy_opening_moves=0.0"]);
        assert!(none.iter().all(|randomization| randomization.opening == 0));
    }

    #[test]
    fn share_of_the_games_begins_with_random_moves_of_every_number_alike() {
        let found = many(&["selfplay.random_opening_fraction=0.6", "selfplay.random_opening_moves=3"]);
        for (random, expected) in [(0, 0.4), (1, 0.2), (2, 0.2), (3, 0.2), (4, 0.0)] {
            let share =
                found.iter().filter(|randomization| randomization.random == random).count() as f64 / GAMES as f64;
            // Three standard deviations of a share of 0.4 are 0.0232.
            assert!((share - expected).abs() < 0.0233, "{random}: {share}");
        }
    }

    #[test]
    fn random_openings_leave_most_of_the_board() {
        let found = many(&["selfplay.random_opening_fraction=1.0", "selfplay.random_opening_moves=100"]);
        let mut games = [0; 7];
        found.iter().for_each(|randomization| games[randomization.random] += 1);
        // Of the 25 points. Four standard deviations of 4,000 games are 94.
        assert!(games[0] == 0 && games[1..].iter().all(|&games: &u64| games.abs_diff(GAMES / 6) <= 94), "{games:?}");
    }

    #[test]
    fn random_openings_are_shorter_than_the_game_may_be() {
        for (limit, longest) in [(1, 0), (2, 1), (4, 3), (100, 6)] {
            let found = many(&[
                "selfplay.random_opening_fraction=1.0",
                "selfplay.random_opening_moves=6",
                "evaluate.opening_moves=0",
                &format!("game.move_limit={limit}"),
            ]);
            assert_eq!(found.iter().map(|randomization| randomization.random).max(), Some(longest), "{limit}");
        }
    }

    #[test]
    fn variety_is_a_function_of_the_seed() {
        let overrides = ["selfplay.policy_opening_fraction=0.5", "selfplay.komi_deviation=2.0"];
        assert_eq!(many(&overrides), many(&overrides));
        assert!(many(&overrides).windows(2).any(|two| two[0] != two[1]));
    }
}
