//! Numbers of any number of bits, packed, the lowest bit first.

/// Bits that were written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a>(pub(super) &'a [u8]);

impl Bits<'_> {
    /// `count` bits from bit `at` on, up to 120 of them; zeros beyond the end.
    pub(super) fn get(self, at: usize, count: u32) -> u128 {
        let mut word = [0; 16];
        let rest = self.0.get(at / 8..).unwrap_or_default();
        let len = rest.len().min(16);
        word[..len].copy_from_slice(&rest[..len]);
        u128::from_le_bytes(word) >> (at % 8) & ((1 << count) - 1)
    }
}

/// Appends `count` bits at bit `at`, which is where those before end.
pub(super) fn put(out: &mut Vec<u8>, at: usize, count: u32, bits: u128) {
    out.resize((at + count as usize).div_ceil(8), 0);
    let shifted = (bits << (at % 8)).to_le_bytes();
    for (byte, more) in out[at / 8..].iter_mut().zip(shifted) {
        *byte |= more;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_get_returns_what_was_put(count in 1..=80_u32, numbers in prop::collection::vec(any::<u128>(), 0..40)) {
            let mut bytes = Vec::new();
            let cut = |number: u128| number & ((1 << count) - 1);
            for (nth, &number) in numbers.iter().enumerate() {
                put(&mut bytes, nth * count as usize, count, cut(number));
            }
            prop_assert_eq!(bytes.len(), (numbers.len() * count as usize).div_ceil(8));
            for (nth, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(Bits(&bytes).get(nth * count as usize, count), cut(number));
            }
            prop_assert_eq!(Bits(&bytes).get(bytes.len() * 8 + 3, count), 0);
        }
    }
}
