//! A binary arithmetic coder without carries, in 32 bits, as in lpaq (M. Mahoney), with probabilities of 16 bits.
//!
//! The code ends as early as it can: the decoder reads zeros after its end, and zeros at the end are not written.

use std::hint::select_unpredictable;

/// Writes bits, each with the probability that it is a one.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    low: u32,
    high: u32,
    out: &'a mut Vec<u8>,
    start: usize,
}

/// Reads bits; garbage gives other bits and no error.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    low: u32,
    /// From `low` to the last code.
    range: u32,
    /// From `low` to the code.
    code: u32,
    rest: &'a [u8],
}

/// The last code of a one: between `low` and `high`, neither of them excluded but the last.
#[inline]
fn split(low: u32, high: u32, one: u16) -> u32 {
    low + ((u64::from(high - low) * u64::from(one)) >> 16) as u32
}

impl<'a> Writer<'a> {
    /// Appends to `out`.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Writer<'a> {
        let start = out.len();
        Writer { low: 0, high: u32::MAX, out, start }
    }

    pub(crate) fn bit(&mut self, one: u16, bit: bool) {
        let middle = split(self.low, self.high, one);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.out.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
        }
    }

    /// Ends the code.
    pub(crate) fn finish(self) {
        let Writer { low, high, out, start } = self;
        for bytes in 0..=4 {
            let rest = u32::MAX.checked_shr(8 * bytes).unwrap_or(0);
            let Some(code) = low.checked_add(rest).map(|code| code & !rest) else { continue };
            if code <= high {
                out.extend_from_slice(&code.to_be_bytes()[..bytes as usize]);
                break;
            }
        }
        while out.len() > start && out.last() == Some(&0) {
            out.pop();
        }
    }
}

impl<'a> Reader<'a> {
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        let mut reader = Reader { low: 0, range: u32::MAX, code: 0, rest: bytes };
        (0..4).for_each(|_| reader.code = reader.code << 8 | reader.next());
        reader
    }

    #[inline(always)]
    fn next(&mut self) -> u32 {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                u32::from(byte)
            }
            None => 0,
        }
    }

    /// Takes bytes until `low` and the last code differ in the first.
    #[inline(always)]
    fn widen(&mut self) {
        while (self.low ^ self.low.wrapping_add(self.range)) >> 24 == 0 {
            self.low <<= 8;
            self.range = self.range << 8 | 0xff;
            self.code = self.code << 8 | self.next();
        }
    }

    /// A bit that is often as it is expected: what follows is computed meanwhile.
    #[inline(always)]
    pub(crate) fn bit(&mut self, one: u16) -> bool {
        self.widen();
        let ones = split(0, self.range, one);
        if self.code <= ones {
            self.range = ones;
            return true;
        }
        self.low = self.low.wrapping_add(ones + 1);
        self.range -= ones + 1;
        self.code -= ones + 1;
        false
    }

    /// The same for a bit that cannot be foreseen: without a branch.
    #[inline(always)]
    pub(crate) fn even_bit(&mut self, one: u16) -> bool {
        self.widen();
        let ones = split(0, self.range, one);
        let bit = self.code <= ones;
        let skipped = select_unpredictable(bit, 0, ones.wrapping_add(1));
        self.low = self.low.wrapping_add(skipped);
        self.range = select_unpredictable(bit, ones, self.range.wrapping_sub(skipped));
        self.code = self.code.wrapping_sub(skipped);
        bit
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn reader_returns_the_bits_of_the_writer(bits in prop::collection::vec((1..=u16::MAX, any::<bool>()), 0..400)) {
            let mut code = vec![7, 0];
            let mut writer = Writer::new(&mut code);
            bits.iter().for_each(|&(one, bit)| writer.bit(one, bit));
            writer.finish();
            prop_assert_eq!(&code[..2], &[7, 0]);
            let mut reader = Reader::new(&code[2..]);
            for (nth, &(one, bit)) in bits.iter().enumerate() {
                prop_assert_eq!(if nth % 2 == 0 { reader.bit(one) } else { reader.even_bit(one) }, bit);
            }
        }

        #[test]
        fn reader_takes_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40), ones in prop::collection::vec(1..=u16::MAX, 400)) {
            let mut reader = Reader::new(&bytes);
            for one in ones {
                if one % 2 == 0 { reader.bit(one) } else { reader.even_bit(one) };
                prop_assert!(reader.code <= reader.range && reader.low.checked_add(reader.range).is_some());
            }
        }
    }

    #[test]
    fn likely_bits_cost_little_and_the_last_byte_is_free() {
        let mut code = Vec::new();
        let mut writer = Writer::new(&mut code);
        (0..1000).for_each(|_| writer.bit(65_000, true));
        writer.finish();
        // 1000 · log2(65536 / 65000) bits are 1.5 bytes.
        assert!(code.len() <= 2, "{}", code.len());
    }
}
