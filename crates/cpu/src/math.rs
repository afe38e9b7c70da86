//! Functions whose results have the same bits on every x86-64 CPU: unlike those of `std`, they are not the C library's.

/// 1.5 * 2^23: adding it leaves no bits behind the point of a number, and the nearest integer in the lowest bits.
pub(crate) const ROUNDING: f32 = 12_582_912.0;

/// e to the power of a number, to about 2e-7.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // ln 2 as a sum of a number with few bits, whose multiples are exact, and the rest (Cephes, expf.c).
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDING;
    let power = shifted - ROUNDING;
    let rest = x - power * LN_2[0] - power * LN_2[1];
    let terms = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5];
    let series = terms.iter().fold(0.0, |sum, term| sum * rest + term);
    let mantissa = series * (rest * rest) + rest + 1.0;
    // The integer is in the lowest bits, and goes into the exponent.
    mantissa * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

/// 0 for every finite number, which changes no sum that it is added to; NaN for others.
///
/// Layers propagate infinity and NaN, as infinity times 0 is NaN. The functions below would turn them into numbers, and
/// therefore add this.
#[inline(always)]
fn poison(x: f32) -> f32 {
    x * 0.0
}

/// The larger of a number and 0.
#[inline(always)]
pub(crate) fn relu(x: f32) -> f32 {
    (if x > 0.0 { x } else { 0.0 }) + poison(x)
}

pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x)) + poison(x)
}

/// The sign of a NaN depends on the processor, so there is one for outputs.
pub(crate) fn tanh(x: f32) -> f32 {
    if x.is_finite() { 1.0 - 2.0 / (exp(2.0 * x) + 1.0) } else { f32::NAN }
}

/// Logits to probabilities, in place. All are NaN when a logit is not finite.
#[inline(always)]
pub(crate) fn softmax(logits: &mut [f32]) {
    if !logits.iter().fold(true, |all, logit| all & logit.is_finite()) {
        return logits.fill(f32::NAN);
    }
    let largest = largest(logits);
    // Without the sum, whose order counts, several are computed at once.
    logits.iter_mut().for_each(|logit| *logit = exp(*logit - largest));
    let sum = logits.iter().fold(0.0, |sum, number| sum + number);
    logits.iter_mut().for_each(|number| *number /= sum);
}

/// The largest of some numbers, found in several lanes at once, as the order makes no difference.
#[inline(always)]
fn largest(numbers: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let (rows, rest) = numbers.as_chunks::<16>();
    let mut lanes = [f32::NEG_INFINITY; 16];
    for row in rows {
        lanes.iter_mut().zip(row).for_each(|(lane, &number)| *lane = larger(number, *lane));
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_match_those_of_f64() {
        for index in -8700..=8800 {
            let x = index as f32 * 0.01;
            assert!((f64::from(exp(x)) / f64::from(x).exp() - 1.0).abs() < 2.5e-7, "{x}: {}", exp(x));
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 2e-7, "{x}: {}", tanh(x));
            assert!((f64::from(sigmoid(x)) - 1.0 / (1.0 + (-f64::from(x)).exp())).abs() < 2e-7, "{x}");
        }
        assert_eq!([tanh(1000.0), tanh(-1000.0), tanh(0.0)], [1.0, -1.0, 0.0]);
    }

    #[test]
    fn numbers_that_are_not_finite_become_nan() {
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!([relu(x), sigmoid(x), tanh(x)].iter().all(|y| y.is_nan()), "{x}");
            let mut logits = [1.0, x, 3.0];
            softmax(&mut logits);
            assert!(logits.iter().all(|y| y.to_bits() == f32::NAN.to_bits()), "{x}: {logits:?}");
        }
        assert_eq!(
            [relu(-1.0), relu(-0.0), relu(f32::MAX), relu(-f32::MAX)].map(f32::to_bits),
            [0, 0, f32::MAX.to_bits(), 0]
        );
    }

    #[test]
    fn softmax_sums_to_one_for_any_logits() {
        let mut logits = [1000.0, 999.0, -1e30];
        softmax(&mut logits);
        assert!((logits[0] - 0.731_058_6).abs() < 1e-6 && (logits.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}
