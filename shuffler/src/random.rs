//! Randomness that is the same on every machine and with every release.
//!
//! The generator is one whose stream is fixed, and drawing below a bound and shuffling are written out here, since
//! libraries may change how they do it.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The generator of one generation of one run.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The generator that belongs to this seed and generation.
    pub(crate) fn new(seed: u64, generation: u32) -> Random {
        let sum = Sha256::digest(format!("shuffler\n{seed}\n{generation}\n"));
        Random(Xoshiro256PlusPlus::from_seed(sum.into()))
    }

    /// A number below `bound`, each as likely: Lemire, "Fast Random Integer Generation in an Interval" (2019).
    ///
    /// # Panics
    /// When `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let reject = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(bound);
            if product as u64 >= reject {
                return (product >> 64) as usize;
            }
        }
    }

    /// Puts items in random order, each order as likely: Fisher and Yates, as in Knuth 3.4.2, algorithm P.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Chooses `wanted` of `total` things, each subset as likely, and says of each thing in turn whether it is chosen:
    /// Knuth 3.4.2, algorithm S.
    pub(crate) fn choose(&mut self, wanted: usize, total: usize) -> Vec<bool> {
        let mut left = wanted;
        let mut decide = |i| {
            let take = self.below(total - i) < left;
            left -= usize::from(take);
            take
        };
        (0..total).map(&mut decide).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_is_fixed() {
        let mut random = Random::new(1, 2);
        let drawn: Vec<usize> = (0..4).map(|_| random.below(1000)).collect();
        // Computed with another implementation of xoshiro256++, in Python.
        assert_eq!(drawn, [366, 324, 93, 908]);
        assert_ne!(Random::new(1, 3).below(1 << 40), Random::new(2, 3).below(1 << 40));
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut random = Random::new(7, 1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0_usize) += 1;
        }
        // 24 orders, 1000 of each expected: chi-square with 23 degrees of freedom is below 49.7 in 999 of 1000 cases.
        let square: f64 = seen.values().map(|&n| (n as f64 - 1000.0).powi(2) / 1000.0).sum();
        assert!(seen.len() == 24 && square < 49.7, "{square}");
    }

    #[test]
    fn choose_is_uniform_over_things() {
        let mut random = Random::new(8, 1);
        let mut seen = [0; 10];
        for _ in 0..10_000 {
            let chosen = random.choose(3, 10);
            assert_eq!(chosen.iter().filter(|&&taken| taken).count(), 3);
            chosen.iter().zip(&mut seen).for_each(|(&taken, n)| *n += usize::from(taken));
        }
        // 3000 of each expected, standard deviation 46.
        assert!(seen.iter().all(|&n| (2800..3200).contains(&n)), "{seen:?}");
        assert_eq!(random.choose(0, 3), [false; 3]);
        assert_eq!(random.choose(3, 3), [true; 3]);
    }
}
