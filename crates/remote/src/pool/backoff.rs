//! Pauses between the connections to a server that is down.
//!
//! `store::Backoff` draws from the system; here a generator with a seed draws, so that simulations of failures repeat.

use std::time::Duration;

use rand::Rng;
use rand::RngExt;

/// The pause after so many failures in a row: it doubles from `first` to `longest`, and half of it is up to chance, so
/// that clients that lost a server together do not come back together.
pub(crate) fn pause([first, longest]: [Duration; 2], failures: u32, random: &mut impl Rng) -> Duration {
    let whole = first.saturating_mul(1 << failures.min(16)).min(longest);
    whole / 2 + (whole / 2).mul_f64(random.random())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_are_spread() {
        let bounds = [100, 700].map(Duration::from_millis);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for (failures, whole) in [(0, 100), (1, 200), (2, 400), (3, 700), (40, 700)] {
            let pauses: Vec<u128> = (0..200).map(|_| pause(bounds, failures, &mut random).as_millis()).collect();
            let [least, most] = [pauses.iter().min(), pauses.iter().max()].map(|pause| *pause.expect("200 pauses"));
            assert!(least >= whole / 2 && most <= whole, "{failures}: {least} to {most}");
            assert!(least < whole * 55 / 100 && most > whole * 95 / 100, "{failures}: {least} to {most}");
        }
    }
}
