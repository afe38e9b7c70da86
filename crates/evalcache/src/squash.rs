//! From log-odds to a probability, in integers: the same on every machine and in every release.

/// Log-odds are in so many parts of 1.
pub(crate) const ONE: i32 = 256;
/// Log-odds are cut off at this distance from 0.
const LIMIT: i32 = 11 * ONE;
const STEP: i32 = ONE / 4;

/// The logistic function at −11, −10.75, …, 11 in 1/65536, no less than 16 from either end.
const POINTS: [u16; 89] = [
    16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 17, 22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720,
    922, 1179, 1506, 1921, 2446, 3108, 3938, 4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768,
    36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428, 63090, 63615, 64030, 64357,
    64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514,
    65519, 65520, 65520, 65520, 65520, 65520, 65520, 65520, 65520, 65520, 65520, 65520,
];

/// All values, between the points in straight lines.
static TABLE: [u16; 2 * LIMIT as usize + 1] = {
    let mut table = [0; 2 * LIMIT as usize + 1];
    let mut i = 0;
    while i < table.len() {
        let (point, rest) = (i / STEP as usize, (i % STEP as usize) as u32);
        let low = POINTS[point] as u32;
        let high = if rest == 0 { low } else { POINTS[point + 1] as u32 };
        table[i] = (low + (high - low) * rest / STEP as u32) as u16;
        i += 1;
    }
    table
};

/// The probability of a one in 1/65536, at these log-odds; never 0 and never 1.
#[inline]
pub(crate) fn squash(log_odds: i32) -> u16 {
    TABLE[(log_odds.clamp(-LIMIT, LIMIT) + LIMIT) as usize]
}

/// The same by a branch instead of two comparisons, for decoders, which wait for the probability: few log-odds are cut
/// off.
#[inline(always)]
pub(crate) fn squash_at_once(log_odds: i32) -> u16 {
    match TABLE.get((log_odds + LIMIT) as usize) {
        Some(&one) => one,
        None => TABLE[if log_odds < 0 { 0 } else { TABLE.len() - 1 }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squash_follows_the_logistic_function() {
        for x in -4000..=4000 {
            let exact = 65536.0 / (1.0 + (-f64::from(x) / f64::from(ONE)).exp());
            let off = (f64::from(squash(x)) - exact).abs();
            assert!(off <= 20.0 + exact.min(65536.0 - exact) * 0.01, "{x}: {} instead of {exact}", squash(x));
            assert!(squash(x) >= squash(x - 1));
            assert_eq!(squash_at_once(x), squash(x));
        }
        assert_eq!((squash(i32::MIN), squash(0), squash(i32::MAX)), (16, 32768, 65520));
    }
}
