//! The same with runs of zeros: a zero, and how many.

use super::variable_length;

const MOST: usize = 255;

pub(super) fn encode(steps: &[u16]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), steps);
    while let Some((&first, others)) = rest.split_first() {
        if first == 0 {
            let zeros = rest.iter().take(MOST).take_while(|&&number| number == 0).count();
            out.extend([0, zeros as u8]);
            rest = &rest[zeros..];
        } else {
            out.extend(variable_length::encode(&[first]));
            rest = others;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(mut bytes: &[u8]) -> Vec<u16> {
        let mut numbers = Vec::new();
        while let Some(&first) = bytes.first() {
            let len = if first == 0 { 2 } else { 1 + usize::from(first >= 128) };
            let (number, rest) = bytes.split_at(len);
            match first {
                0 => numbers.resize(numbers.len() + usize::from(number[1]), 0),
                _ => numbers.extend(variable_length::decode(number)),
            }
            bytes = rest;
        }
        numbers
    }

    #[test]
    fn decode_inverts_encode() {
        let steps = [vec![0; 300], vec![5, 0, 2000], vec![0; 57], vec![1]].concat();
        assert_eq!(decode(&encode(&steps)), steps);
        assert_eq!(encode(&[0, 0, 0, 7]), [0, 3, 7]);
    }
}
