//! A byte for a number below 128, two for others.

/// Seven bits a byte, the lower first, the highest bit set in all but the last.
pub(super) fn encode(steps: &[u16]) -> Vec<u8> {
    let mut out = Vec::new();
    for &number in steps {
        let mut rest = number;
        while rest >= 128 {
            out.push((rest & 127) as u8 | 128);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    out
}

#[cfg(test)]
pub(super) fn decode(bytes: &[u8]) -> Vec<u16> {
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0, 0);
    for &byte in bytes {
        number |= u16::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            numbers.push(number);
            (number, shift) = (0, 0);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_inverts_encode() {
        let steps: Vec<u16> = (0..2049).collect();
        assert_eq!(decode(&encode(&steps)), steps);
        assert_eq!(encode(&[127, 128]), [127, 128, 1]);
    }
}
