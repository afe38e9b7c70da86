//! A policy as whole numbers.

/// Shares of `total`, in proportion to `policy` (which sums to 1): whole numbers that sum to `total` exactly.
///
/// Each share is rounded down, and what is missing goes to the largest remainders, of equals to the first.
pub(crate) fn shares(policy: &[f32], total: u32) -> Vec<u32> {
    let exact: Vec<f64> = policy.iter().map(|&p| f64::from(p) * f64::from(total)).collect();
    let mut shares: Vec<u32> = exact.iter().map(|share| *share as u32).collect();
    let missing = total.saturating_sub(shares.iter().sum()) as usize;
    let mut order: Vec<usize> = (0..policy.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    order.iter().take(missing).for_each(|&index| shares[index] += 1);
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
}
