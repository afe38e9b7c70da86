//! Where the randomness of a game comes from.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator of one game. Its stream is fixed by its authors and does not change between releases.
pub type GameRng = Xoshiro256PlusPlus;

/// The seed of one game of a series: the `index`-th game that `worker` plays with `model` in a run.
///
/// FNV-1a over the parts, finished as in splitmix64. Different series have unrelated seeds.
pub fn game_seed(run_seed: u64, model: &str, worker: &str, index: u64) -> u64 {
    let parts: [&[u8]; 5] = [&run_seed.to_le_bytes(), model.as_bytes(), &[0], worker.as_bytes(), &index.to_le_bytes()];
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    finish(parts.iter().flat_map(|part| part.iter()).fold(0xCBF2_9CE4_8422_2325, fnv))
}

/// The seed of the rest of a game from a turn on, after a hand-off.
pub(crate) fn seed_from(seed: u64, turn: u16) -> u64 {
    finish(seed.wrapping_add(u64::from(turn).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// The finaliser of splitmix64: every bit of the input changes half of the output.
pub(crate) fn finish(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The generator that a seed starts.
pub fn generator(seed: u64) -> GameRng {
    GameRng::seed_from_u64(seed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_game_has_its_own_seed() {
        let mut seeds = BTreeSet::new();
        for run in 0..3 {
            for model in ["v1-1", "v1-2", "random"] {
                for worker in ["0", "1"] {
                    seeds.extend((0..500).map(|index| game_seed(run, model, worker, index)));
                }
            }
        }
        assert_eq!(seeds.len(), 3 * 3 * 2 * 500);
    }

    /// The seed is part of what a stored game means, so it may never change.
    #[test]
    fn seed_of_a_game_is_fixed_for_ever() {
        assert_eq!(game_seed(1, "v15-330", "0", 7), 14_281_021_917_198_105_588);
        assert_eq!([0, 1].map(|turn| seed_from(1, turn)), [10_451_216_379_200_822_465, 13_757_245_211_066_428_519]);
    }
}
