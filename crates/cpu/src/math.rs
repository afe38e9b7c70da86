//! Functions whose results have the same bits everywhere: unlike those of `std`, they are not the C library's.

/// e to the power of a number, to about 2e-7.
#[inline]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
    const MAGIC: f32 = 12_582_912.0;
    // ln 2 as a sum of a number with few bits, whose multiples are exact, and the rest (Cephes, expf.c).
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-87.0, 88.0);
    let power = (x * std::f32::consts::LOG2_E + MAGIC) - MAGIC;
    let rest = x - power * LN_2[0] - power * LN_2[1];
    let terms = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5];
    let series = terms.iter().fold(0.0, |sum, term| sum * rest + term);
    let mantissa = series * (rest * rest) + rest + 1.0;
    mantissa * f32::from_bits(((power as i32 + 127) as u32) << 23)
}

pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

pub(crate) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// Logits to probabilities, in place.
pub(crate) fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in &mut *logits {
        *logit = exp(*logit - largest);
        sum += *logit;
    }
    logits.iter_mut().for_each(|number| *number /= sum);
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
    fn softmax_sums_to_one_for_any_logits() {
        let mut logits = [1000.0, 999.0, -1e30];
        softmax(&mut logits);
        assert!((logits[0] - 0.731_058_6).abs() < 1e-6 && (logits.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}
