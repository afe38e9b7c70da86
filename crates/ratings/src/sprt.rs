//! Whether one player is stronger than another, with as few games as that takes.
//!
//! A sequential probability ratio test (Wald, Annals of Mathematical Statistics 16, 1945): play until the results are
//! so much likelier under one of two hypotheses that the promised shares of errors are kept. Draws, and the likeness of
//! two games that share an opening, are not part of the hypotheses; the likelihoods are the largest that some
//! distribution of outcomes with the given mean has (the generalised test, as chess engines are tested with it).

use exit_class::{Classified, ExitClass};
use record::statistics::expected_score;

/// Two hypotheses about how much stronger the first of two players is, and how often the wrong one may win.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    elo: [f64; 2],
    alpha: f64,
    beta: f64,
}

/// Numbers that make no test.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    /// The hypotheses are in the wrong order, or one.
    #[error("elo0 must be below elo1, and {0} is not below {1}")]
    Order(f64, f64),
    /// A share of errors that is none.
    #[error("{0} is {1}, and must be above 0 and below 0.5")]
    Share(&'static str, f64),
}

impl Classified for SprtError {
    fn class(&self) -> ExitClass {
        ExitClass::Configuration
    }
}

/// The least share of the points, for either side, that a hypothesis has: that of 4,800 Elo. In f64 the share of the
/// stronger player is 1 from 6,400 Elo on, where the likelihoods would be no numbers.
const LEAST_SHARE: f64 = 1e-12;

/// Verdict of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not yet anything.
    Open,
    /// The difference is `elo0` rather than `elo1`.
    Lower,
    /// The difference is `elo1` rather than `elo0`.
    Upper,
}

/// How often each outcome came, from the worst for the first player to the best, all equally far apart. Three outcomes
/// are single games: lost, drawn, won. Five are pairs of games on one opening with either colour: 0, ½, 1, 1½ and 2
/// points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes<const N: usize>(pub [u32; N]);

impl Sprt {
    /// A test of `elo0` against `elo1`. `alpha` is the share of tests that may find for `elo1` where `elo0` is true,
    /// `beta` that the other way round.
    ///
    /// # Errors
    /// `elo0` not below `elo1`, or shares that are not between 0 and ½.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Sprt, SprtError> {
        if !(elo0 < elo1 && elo0.is_finite() && elo1.is_finite()) {
            return Err(SprtError::Order(elo0, elo1));
        }
        for (name, share) in [("alpha", alpha), ("beta", beta)] {
            if !(share > 0.0 && share < 0.5) {
                return Err(SprtError::Share(name, share));
            }
        }
        Ok(Sprt { elo: [elo0, elo1], alpha, beta })
    }

    /// The logarithms of the likelihood ratio at which the test ends.
    pub fn bounds(&self) -> [f64; 2] {
        [(self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln()]
    }

    /// ln of the likelihood ratio of `elo1` to `elo0`; 0 before anything was played.
    pub fn log_ratio<const N: usize>(&self, outcomes: &Outcomes<N>) -> f64 {
        let count: f64 = outcomes.shares().iter().map(|(_, share)| share).sum();
        if outcomes.count() == 0 {
            return 0.0;
        }
        let shares = outcomes.shares().map(|(points, share)| (points, share / count));
        let mean = |elo: f64| expected_score(elo).clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
        let [likely0, likely1] = self.elo.map(|elo| most_likely(&shares, mean(elo)));
        let ratios = shares.iter().zip(likely0.iter().zip(&likely1));
        count * ratios.map(|((_, share), (p0, p1))| share * (p1 / p0).ln()).sum::<f64>()
    }

    /// What the outcomes say, all at once. A test is evaluated after every game or batch, and stops at the first
    /// verdict.
    pub fn verdict<const N: usize>(&self, outcomes: &Outcomes<N>) -> Verdict {
        let ([low, high], ratio) = (self.bounds(), self.log_ratio(outcomes));
        if ratio <= low {
            Verdict::Lower
        } else if ratio >= high {
            Verdict::Upper
        } else {
            Verdict::Open
        }
    }
}

impl<const N: usize> Outcomes<N> {
    /// Games, or pairs of games.
    pub fn count(&self) -> u32 {
        self.0.iter().sum()
    }

    /// The mean share of the points.
    pub fn mean(&self) -> f64 {
        let points = self.0.iter().enumerate().map(|(place, &count)| f64::from(count) * place as f64);
        points.sum::<f64>() / (f64::from(self.count()) * (N - 1) as f64)
    }

    /// Each outcome's share of the points, and how often it came. What did not come counts as a thousandth, so that it
    /// is not taken to be impossible.
    fn shares(&self) -> [(f64, f64); N] {
        let mut place = 0;
        self.0.map(|count| {
            place += 1;
            ((place - 1) as f64 / (N - 1) as f64, f64::from(count).max(1e-3))
        })
    }
}

/// The distribution with mean `mean` under which outcomes with these shares are most likely: p/(1 + x·(a − mean)),
/// where x makes the mean right. The sum that must vanish falls with x.
fn most_likely<const N: usize>(shares: &[(f64, f64); N], mean: f64) -> [f64; N] {
    let sum = |x: f64| shares.iter().map(|(a, p)| p * (a - mean) / (1.0 + x * (a - mean))).sum::<f64>();
    let (mut below, mut above) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..100 {
        let middle = 0.5 * (below + above);
        if sum(middle) > 0.0 { below = middle } else { above = middle }
    }
    let x = 0.5 * (below + above);
    shares.map(|(a, p)| p / (1.0 + x * (a - mean)))
}

#[cfg(test)]
mod tests;
