//! What is drawn for a game before its first move.

use config::RunConfig;
use go::Size;
use rand::RngExt;
use rand_distr::{Distribution, Normal};

use crate::Seed;
use crate::seed::{finish, generator};

/// What makes a game different from the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variety {
    /// The board.
    pub(crate) board: Size,
    /// Points added to White's area.
    pub(crate) komi: f32,
    /// Moves at the start that are drawn from the network's policy.
    pub(crate) opening: usize,
    /// … and random moves before those.
    pub(crate) random: usize,
    /// Root value for the mover below which it gives up, if anybody does.
    pub(crate) threshold: Option<f32>,
}

impl Variety {
    /// That of the game with this seed; `threshold` is the one in force.
    ///
    /// It has a generator of its own, so that it changes nothing of what is drawn for the moves.
    pub(crate) fn draw(config: &RunConfig, seed: u64, threshold: Option<f32>) -> Variety {
        let (selfplay, mut rng) = (&config.selfplay, generator(finish(seed)));
        let normal = Normal::new(0.0f32, selfplay.komi_deviation).expect("the configuration was checked");
        let shift = normal.sample(&mut rng);
        let opens = rng.random::<f32>() < selfplay.policy_opening_share;
        let plies = plies(selfplay.policy_opening_moves, &mut rng);
        let random = if rng.random::<f32>() < selfplay.random_opening_share {
            rng.random_range(1..=selfplay.random_opening_moves)
        } else {
            0
        };
        let (side, mean) = if rng.random::<f32>() < selfplay.small_share {
            (selfplay.small_size, selfplay.small_komi)
        } else {
            (config.game.size, config.game.komi)
        };
        let board = Size::new(side).expect("the configuration was checked");
        // Never so many that the game might be over.
        let random = random.min(board.area() / 4);
        let komi = komi(mean, shift, board);
        // Last, because whoever goes on with a game of another process does not know the one in force when it began.
        let threshold = threshold.map(|threshold| jittered(threshold, config.resign.jitter, &mut rng));
        Variety { board, komi, opening: if opens { plies } else { 0 }, random, threshold }
    }
}

/// `mean` moved by a whole number of points, the one that is nearest to `shift`, but to no more than the board has.
fn komi(mean: f32, shift: f32, board: Size) -> f32 {
    let area = board.area() as f32;
    mean + shift.round().clamp(-(area + mean).floor(), (area - mean).floor())
}

/// A number of moves with this mean, from the geometric distribution: (1 + mean)^-1·(mean/(1 + mean))^n.
fn plies(mean: f32, rng: &mut Seed) -> usize {
    // An exponential number rounded down; 1 - u is never 0.
    let u = f64::from(1.0 - rng.random::<f32>());
    if mean > 0.0 { (u.ln() / -(1.0 / f64::from(mean)).ln_1p()) as usize } else { 0 }
}

/// A threshold drawn evenly from `jitter` below to `jitter` above, but one that is a value and no winning one: -1 to 0.
fn jittered(threshold: f32, jitter: f32, rng: &mut Seed) -> f32 {
    (threshold + jitter * rng.random_range(-1.0..=1.0f32)).clamp(-1.0, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(overrides: &[&str]) -> RunConfig {
        config::Preset::Tiny.with(overrides).expect("the overrides are good")
    }

    const GAMES: u64 = 4000;

    /// The varieties of many games, all in force with the threshold -0.8.
    fn many(overrides: &[&str]) -> Vec<Variety> {
        let config = config(overrides);
        (0..GAMES).map(|seed| Variety::draw(&config, seed, Some(-0.8))).collect()
    }

    fn mean_and_variance(numbers: impl Iterator<Item = f32>) -> (f64, f64) {
        let numbers: Vec<f64> = numbers.map(f64::from).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        (mean, numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / numbers.len() as f64)
    }

    #[test]
    fn without_options_all_games_are_alike() {
        let board = Size::new(5).unwrap();
        let plain = Variety { board, komi: 0.5, opening: 0, random: 0, threshold: Some(-0.8) };
        assert!(many(&[]).iter().all(|variety| *variety == plain));
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
            assert!(found.iter().all(|variety| (variety.komi - komi).fract() == 0.0));
            let (mean, variance) = mean_and_variance(found.iter().map(|variety| variety.komi));
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
        let found = many(&["selfplay.policy_opening_share=1.0", "selfplay.policy_opening_moves=3.0"]);
        let (mean, variance) = mean_and_variance(found.iter().map(|variety| variety.opening as f32));
        // Mean m, variance m·(1 + m) = 12, so three standard errors of the mean are 0.165.
        assert!((mean - 3.0).abs() < 0.165 && (variance - 12.0).abs() < 2.0, "{mean} {variance}");
        for n in 0..4 {
            let share = found.iter().filter(|variety| variety.opening == n).count() as f64 / GAMES as f64;
            // Three standard deviations of a share of a quarter are 0.0206.
            assert!((share - 0.25 * 0.75f64.powi(n as i32)).abs() < 0.0206, "{n}: {share}");
        }
        let some = many(&["selfplay.policy_opening_share=0.4", "selfplay.policy_opening_moves=99.0"]);
        let share = some.iter().filter(|variety| variety.opening > 0).count() as f64 / GAMES as f64;
        assert!((share - 0.4 * 0.99).abs() < 0.0233, "{share}");
        let none = many(&["selfplay.policy_opening_share=1.0", "selfplay.policy_opening_moves=0.0"]);
        assert!(none.iter().all(|variety| variety.opening == 0));
    }

    #[test]
    fn a_share_of_the_games_begins_with_random_moves_of_every_number_alike() {
        let found = many(&["selfplay.random_opening_share=0.6", "selfplay.random_opening_moves=3"]);
        for (random, expected) in [(0, 0.4), (1, 0.2), (2, 0.2), (3, 0.2), (4, 0.0)] {
            let share = found.iter().filter(|variety| variety.random == random).count() as f64 / GAMES as f64;
            // Three standard deviations of a share of 0.4 are 0.0232.
            assert!((share - expected).abs() < 0.0233, "{random}: {share}");
        }
    }

    #[test]
    fn random_openings_leave_most_of_the_board() {
        let found = many(&["selfplay.random_opening_share=1.0", "selfplay.random_opening_moves=100"]);
        assert_eq!(found.iter().map(|variety| variety.random).max(), Some(6), "of the 25 points");
    }

    #[test]
    fn a_share_of_the_games_is_played_on_the_smaller_board_with_its_komi() {
        let small = [
            "network.inputs=features",
            "selfplay.small_share=0.25",
            "selfplay.small_size=3",
            "selfplay.small_komi=2.0",
        ];
        let found = many(&small);
        let share = found.iter().filter(|variety| variety.board.side() == 3).count() as f64 / GAMES as f64;
        // Three standard deviations of a share of a quarter are 0.0206.
        assert!((share - 0.25).abs() < 0.0206, "{share}");
        for (varieties, most) in [(found, 0.0), (many(&[&small[..], &["selfplay.komi_deviation=3.0"]].concat()), 9.0)] {
            for variety in varieties {
                let (own, area) = if variety.board.side() == 3 { (2.0, 9.0) } else { (0.5, 25.0) };
                let shift: f32 = variety.komi - own;
                assert!(shift.fract() == 0.0 && variety.komi.abs() <= area, "{variety:?}");
                assert!(most > 0.0 || shift == 0.0, "{variety:?}");
            }
        }
    }

    #[test]
    fn every_game_has_a_threshold_of_its_own_near_the_one_in_force() {
        let found: Vec<f32> = many(&["resign.jitter=0.1"]).iter().filter_map(|variety| variety.threshold).collect();
        assert!(found.iter().all(|threshold| (-0.9..=-0.7).contains(threshold)));
        let (mean, variance) = mean_and_variance(found.iter().copied());
        // Even over a width of 0.2: variance 0.2²/12; three standard errors of the mean are 0.0027.
        assert!((mean + 0.8).abs() < 0.0027 && (variance - 0.04 / 12.0).abs() < 0.0002, "{mean} {variance}");
        let config = config(&["resign.jitter=1.0"]);
        let drawn = |threshold| (0..200).map(move |seed| Variety::draw(&config, seed, threshold).threshold);
        assert!(drawn.clone()(Some(-0.1)).all(|threshold| threshold.is_some_and(|t| (-1.0..=0.0).contains(&t))));
        assert!(drawn(None).all(|threshold| threshold.is_none()));
    }

    #[test]
    fn variety_is_a_function_of_the_seed() {
        let overrides = ["resign.jitter=0.1", "selfplay.policy_opening_share=0.5", "selfplay.komi_deviation=2.0"];
        assert_eq!(many(&overrides), many(&overrides));
        let all =
            ["network.inputs=features", "selfplay.small_share=0.5", "selfplay.small_size=3", "selfplay.small_komi=1.0"];
        let config = config(&[&overrides[..], &all, &["selfplay.random_opening_share=0.5"]].concat());
        for seed in 0..200 {
            let [with, without] = [Some(-0.8), None].map(|threshold| Variety::draw(&config, seed, threshold));
            assert_eq!(Variety { threshold: None, ..with }, without, "all else is the same without a threshold");
        }
        assert!(many(&overrides).windows(2).any(|two| two[0] != two[1]));
    }
}
