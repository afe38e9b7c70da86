//! The gamma distribution, and the normal and chi-squared ones that follow from it.

/// The probability that a standard normal number is below `z`.
pub(crate) fn normal(z: f64) -> f64 {
    // erfc(x) = Q(1/2, x²).
    let tail = 0.5 * upper(0.5, 0.5 * z * z);
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// The probability that a sum of `freedom` squared standard normal numbers is above `x`. `freedom` need not be whole.
pub(crate) fn chi_squared_tail(freedom: f64, x: f64) -> f64 {
    upper(0.5 * freedom, 0.5 * x.max(0.0))
}

/// The regularised incomplete gamma function Q(a, x) = Γ(a, x)/Γ(a), by the series of its complement below a + 1 and by
/// Legendre's continued fraction above (Abramowitz and Stegun 6.5.29 and 6.5.31).
fn upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - log_gamma(a)).exp();
    if x < a + 1.0 { 1.0 - front * lower_series(a, x) } else { front * upper_fraction(a, x) }
}

fn lower_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    while term > sum * 1e-16 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

/// 1/(x + 1 − a − 1·(1 − a)/(x + 3 − a − 2·(2 − a)/(x + 5 − a − …))), by Lentz's method.
fn upper_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut found = d;
    for n in 1..10_000 {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        found *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    found
}

/// ln Γ(x) for x > 0: Stirling's series (Abramowitz and Stegun 6.1.40) above 15, which the recurrence leads to.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 15.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_is_the_factorial() {
        let mut factorial = 1.0_f64;
        for n in 1..30 {
            assert!((log_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-10, "{n}");
            factorial *= f64::from(n);
        }
        assert!((log_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-10);
    }

    /// Values from Abramowitz and Stegun's tables 26.1 and 26.8.
    #[test]
    fn tails_are_those_of_the_tables() {
        for (z, below) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.0, 0.158_655_254), (1.959_963_985, 0.975)] {
            assert!((normal(z) - below).abs() < 1e-9, "{z}");
        }
        for (freedom, x, tail) in [(1.0, 3.841_46, 0.05), (10.0, 18.307_0, 0.05), (30.0, 50.892_2, 0.01)] {
            assert!((chi_squared_tail(freedom, x) - tail).abs() < 1e-6, "{freedom} {x}");
        }
        // With two degrees of freedom it is the exponential distribution.
        for x in [0.1, 1.0, 3.0, 30.0] {
            assert!((chi_squared_tail(2.0, x) - (-0.5 * x).exp()).abs() < 1e-11, "{x}");
        }
        assert!(normal(-40.0) >= 0.0 && normal(40.0) == 1.0 && chi_squared_tail(3.0, 0.0) == 1.0);
    }
}
