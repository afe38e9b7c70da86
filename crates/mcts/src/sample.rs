//! Random numbers of the distributions that games need, as functions of the generator alone: those of `rand_distr`
//! depend on the C library (see [`crate::math`]).

use rand::{Rng, RngExt};

use crate::math::double::{exp, ln};

/// A number from 0 to 1, both excluded.
fn open(rng: &mut (impl Rng + ?Sized)) -> f64 {
    loop {
        let number: f64 = rng.random();
        if number > 0.0 {
            return number;
        }
    }
}

/// The normal distribution with mean 0 and variance 1: the polar method (Marsaglia and Bray 1964). The second number of
/// each pair is dropped, so that a draw depends on nothing before it.
pub fn normal(rng: &mut (impl Rng + ?Sized)) -> f64 {
    loop {
        let [x, y] = [0; 2].map(|_| 2.0 * open(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * ln(square) / square).sqrt();
        }
    }
}

/// The gamma distribution with this shape and scale 1 (Marsaglia and Tsang 2000); a shape of 0 is the constant 0.
pub fn gamma(shape: f64, rng: &mut (impl Rng + ?Sized)) -> f64 {
    if shape <= 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        // Section 6: Γ(a) = Γ(a + 1)·U^(1/a).
        return gamma(shape + 1.0, rng) * exp(ln(open(rng)) / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let (v, u, square) = (root * root * root, open(rng), x * x);
        // The first condition saves most of the logarithms.
        if u < 1.0 - 0.0331 * square * square || ln(u) < 0.5 * square + d * (1.0 - v + ln(v)) {
            return d * v;
        }
    }
}

/// The Gumbel distribution with location 0 and scale 1.
pub fn gumbel(rng: &mut (impl Rng + ?Sized)) -> f64 {
    -ln(-ln(open(rng)))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const DRAWS: usize = 100_000;

    fn draws(mut draw: impl FnMut(&mut Xoshiro256PlusPlus) -> f64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..DRAWS).map(|_| draw(&mut rng)).collect()
    }

    /// The largest difference of a distribution function and the share of draws below (Kolmogorov).
    fn distance(mut draws: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
        draws.sort_by(f64::total_cmp);
        let share = |index: usize| index as f64 / DRAWS as f64;
        let apart =
            |(index, &x): (usize, &f64)| (below(x) - share(index)).abs().max((below(x) - share(index + 1)).abs());
        draws.iter().enumerate().map(apart).fold(0.0, f64::max)
    }

    /// What the distance exceeds once in 1,000 samples.
    fn critical() -> f64 {
        1.95 / (DRAWS as f64).sqrt()
    }

    #[test]
    fn gumbel_has_its_distribution() {
        assert!(distance(draws(gumbel), |x| exp(-exp(-x))) < critical());
    }

    #[test]
    fn gamma_of_whole_shapes_has_its_distribution() {
        // 1 - e^-x·(1 + x + x²/2 + …), with as many terms as the shape is.
        for shape in 1..=4u32 {
            let below = |x: f64| {
                let term = |power: u32| (1..=power).fold(1.0, |term, n| term * x / f64::from(n));
                1.0 - exp(-x) * (0..shape).map(term).sum::<f64>()
            };
            assert!(distance(draws(|rng| gamma(shape.into(), rng)), below) < critical(), "{shape}");
        }
    }

    /// A sum of two of shape 1/2 is one of shape 1, and twice one of shape 1/2 the square of a normal number.
    #[test]
    fn gamma_of_one_half_and_normal_have_their_distributions() {
        let exponential = |x: f64| 1.0 - exp(-x);
        assert!(distance(draws(|rng| gamma(0.5, rng) + gamma(0.5, rng)), exponential) < critical());
        let half_square = |rng: &mut Xoshiro256PlusPlus| {
            let x = normal(rng);
            x * x / 2.0
        };
        assert!(distance(draws(|rng| half_square(rng) + half_square(rng)), exponential) < critical());
        assert!(distance(draws(|rng| gamma(0.1, rng) + gamma(0.9, rng)), exponential) < critical());
        let positive = draws(normal).iter().filter(|&&x| x > 0.0).count();
        assert!((positive as f64 / DRAWS as f64 - 0.5).abs() < 0.005, "{positive}");
    }

    #[test]
    fn gamma_of_shape_nothing_is_nothing() {
        assert_eq!(gamma(0.0, &mut Xoshiro256PlusPlus::seed_from_u64(1)), 0.0);
    }

    #[test]
    fn golden_draws_are_the_same_on_every_machine() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let found = [normal(&mut rng), gamma(0.1, &mut rng), gamma(2.5, &mut rng), gumbel(&mut rng)].map(f64::to_bits);
        assert_eq!(
            found,
            [
                4_610_218_009_084_539_922,
                4_536_652_222_143_450_646,
                4_613_232_548_871_789_936,
                13_829_166_935_334_177_410
            ]
        );
    }
}
