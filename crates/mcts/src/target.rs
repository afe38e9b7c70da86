//! A policy as whole numbers.

/// Shares of `total`, in proportion to `policy` (which sums to 1): whole numbers that sum to `total` exactly.
///
/// Each share is rounded down, and the difference goes to the largest remainders, of equals to the first.
pub(crate) fn shares(policy: &[f32], total: u32) -> Vec<u32> {
    let exact: Vec<f64> = policy.iter().map(|&p| f64::from(p) * f64::from(total)).collect();
    let mut shares: Vec<u32> = exact.iter().map(|share| *share as u32).collect();
    let missing = total.saturating_sub(shares.iter().sum()) as usize;
    let remainders = exact.iter().zip(&shares).map(|(exact, &share)| exact - f64::from(share));
    let mut order: Vec<(f64, usize)> = remainders.zip(0..).collect();
    if missing < order.len() {
        order.select_nth_unstable_by(missing, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    order.iter().take(missing).for_each(|&(_, index)| shares[index] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_total_and_are_nearest() {
        assert_eq!(shares(&[0.5, 0.3, 0.2, 0.0], 10), [5, 3, 2, 0]);
        assert_eq!(shares(&[0.26, 0.26, 0.26, 0.22], 10), [3, 3, 2, 2], "0.6 is rounded up before equals");
        assert_eq!(shares(&[1.0 / 3.0; 3], 65_536), [21_846, 21_845, 21_845]);
        let many: Vec<f32> = (1..363).map(|n| n as f32 / (362.0 * 363.0 / 2.0)).collect();
        assert_eq!(shares(&many, 65_536).iter().sum::<u32>(), 65_536);
    }

    /// Remainders that are equal in many places.
    #[test]
    fn of_equal_remainders_the_first_are_rounded_up() {
        for total in [7, 64, 1024] {
            let policy: Vec<f32> = (0..362).map(|n| ((n * 7) % 5) as f32 / (2.0 * 362.0)).collect();
            let exact: Vec<f64> = policy.iter().map(|&p| f64::from(p) * f64::from(total)).collect();
            let mut expected: Vec<u32> = exact.iter().map(|share| *share as u32).collect();
            let missing = total - expected.iter().sum::<u32>();
            for _ in 0..missing {
                // The largest remainder; max_by takes the last of equals.
                let rest = |index: &usize| exact[*index] - f64::from(expected[*index]);
                let largest = (0..362).rev().max_by(|a, b| rest(a).total_cmp(&rest(b))).unwrap();
                expected[largest] += 1;
            }
            assert_eq!(shares(&policy, total), expected, "{total}");
        }
    }
}
