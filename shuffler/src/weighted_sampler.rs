//! Sampling by weight: how often each position is taken when not all are alike.

use crate::random::Random;

/// A part of 2³² of an example.
const ONE: u64 = 1 << 32;

/// Samples `examples` of the positions and counts them: each as often as its share of the weights says, rounded up or
/// down at random.
///
/// Systematic sampling (Madow 1949) in random order: so that positions that lie side by side in a game are not
/// sampled in turns.
pub(crate) fn sample(
    weights: &[f32],
    mut positions: Vec<u32>,
    examples: usize,
    counts: &mut [u32],
    random: &mut Random,
) {
    if examples == 0 || positions.is_empty() {
        return;
    }
    random.shuffle(&mut positions);
    let weight = |position: u32| f64::from(weights[position as usize]);
    let all: f64 = positions.iter().map(|&position| weight(position)).sum();
    let scale = if all > 0.0 { examples as f64 / all } else { 0.0 };
    let mut sum = random.below(ONE as usize) as u64;
    let mut left = examples;
    for &position in &positions {
        let before = sum / ONE;
        sum += (weight(position) * scale * ONE as f64) as u64;
        let count = (sum / ONE - before) as usize;
        counts[position as usize] += count as u32;
        left -= count.min(left);
    }
    // The rest of rounding.
    for &position in positions.iter().cycle().take(left) {
        counts[position as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(weights: &[f32], examples: usize, seed: u64) -> Vec<u32> {
        let mut counts = vec![0; weights.len()];
        sample(weights, (0..weights.len() as u32).collect(), examples, &mut counts, &mut Random::new(seed, 1));
        counts
    }

    #[test]
    fn everything_is_sampled_as_often_as_its_weight_says() {
        assert_eq!(sampled(&[1.0, 2.0, 0.0, 3.0], 12, 1), [2, 4, 0, 6]);
        let mut sums = [0; 4];
        for seed in 0..2000 {
            let counts = sampled(&[1.0, 2.0, 4.0, 3.0], 3, seed);
            assert_eq!(counts.iter().sum::<u32>(), 3);
            assert!(counts.iter().zip([1, 1, 2, 1]).all(|(&count, most)| count <= most), "{counts:?}");
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        // 3/10 of each weight; a standard deviation is at most 22.
        for (sum, expected) in sums.iter().zip([600, 1200, 2400, 1800]) {
            assert!(sum.abs_diff(expected) < 90, "{sums:?}");
        }
    }

    #[test]
    fn neighbours_are_sampled_independently() {
        // Half of many alike: taken in order they would alternate.
        let counts = sampled(&[1.0; 10_000], 5_000, 3);
        let same = counts.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // Binomial, with a standard deviation of 50.
        assert!(same.abs_diff(5_000) < 250, "{same}");
    }
}
