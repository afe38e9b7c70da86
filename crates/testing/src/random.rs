//! Made-up choices and numbers, the same in every run and on every machine. Golden results depend on the sequences.

/// A splitmix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), for choices.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, near enough to uniform for tests.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A linear congruential generator (Knuth, MMIX), for the weights and inputs of networks.
#[derive(Debug)]
pub struct Noise(pub u64);

impl Noise {
    /// The next state, of which the upper bits are random.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// Numbers from -1 to 1.
    pub fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    /// Activations after a ReLU: these numbers, 0 instead of the negative ones.
    pub fn activations(&mut self, count: usize) -> Vec<f32> {
        self.numbers(count).into_iter().map(|number| number.max(0.0)).collect()
    }
}

/// FNV-1a, for golden bits.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let bytes = bytes.into_iter();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_have_not_changed() {
        let mut dice = Dice(1_234_567);
        assert_eq!([0; 2].map(|_| dice.bits()), [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        let mut noise = Noise(1);
        assert_eq!([0; 2].map(|_| noise.bits()), [7_806_831_264_735_756_412, 9_396_908_728_118_811_419]);
        assert_eq!(Noise(1).numbers(2), [-0.153_581_74_f32, 0.018_814_802]);
        assert_eq!(Noise(1).activations(2), [0.0_f32, 0.018_814_802]);
        assert_eq!(fnv(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
