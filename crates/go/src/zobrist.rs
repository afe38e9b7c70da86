//! Random numbers for hashing boards, the same on every machine and in every release.

use crate::color::Color;
use crate::point::Point;
use crate::size::MAX_AREA;

/// The key of a stone: the hash of a board is the exclusive or of the keys of its stones.
pub(crate) const fn key(color: Color, point: Point) -> u64 {
    KEYS[color.index()][point.index()]
}

static KEYS: [[u64; MAX_AREA]; 2] = {
    let mut keys = [[0; MAX_AREA]; 2];
    // The ASCII letters "Tengen".
    let mut state = 0x5465_6e67_656e;
    let mut i = 0;
    while i < 2 * MAX_AREA {
        (state, keys[i / MAX_AREA][i % MAX_AREA]) = splitmix64(state);
        i += 1;
    }
    keys
};

/// The next state and output of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014; constants of Vigna's reference implementation).
const fn splitmix64(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, z ^ (z >> 31))
}

#[cfg(test)]
mod tests {
    use super::splitmix64;

    #[test]
    fn splitmix64_matches_the_reference_implementation() {
        let mut state = 1_234_567;
        let mut output = [0; 3];
        for value in &mut output {
            (state, *value) = splitmix64(state);
        }
        assert_eq!(output, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
