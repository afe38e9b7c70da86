//! Values and runs of zeros as symbols of a fixed prefix code: V0 to V63 are values, Z0 to Z15 are 2 to 17 zeros, and
//! Xn after a value adds 64 (n + 1) to it, after zeros 16 (n + 1) of them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Value(u16),
    Zeros(u16),
    More(u16),
}

pub(super) fn symbols(steps: &[u16]) -> Vec<Symbol> {
    let (mut out, mut rest) = (Vec::new(), steps);
    while let Some((&first, others)) = rest.split_first() {
        // Z15 and X31 are 17 + 512 zeros, more than a board has.
        let zeros = rest.iter().take(17 + 512).take_while(|&&number| number == 0).count() as u16;
        if zeros >= 2 {
            let (low, high) = ((zeros - 2) % 16, (zeros - 2) / 16);
            out.push(Symbol::Zeros(low));
            out.extend((high > 0).then(|| Symbol::More(high - 1)));
            rest = &rest[usize::from(zeros)..];
        } else {
            // 2048 is one more than the code has.
            let value = first.min(2047);
            out.push(Symbol::Value(value % 64));
            out.extend((value >= 64).then(|| Symbol::More(value / 64 - 1)));
            rest = others;
        }
    }
    out
}

/// The length of the code in bits.
pub(super) fn bits(symbols: &[Symbol]) -> usize {
    let length = |symbol: &Symbol| match *symbol {
        Symbol::Value(0) => 4,
        Symbol::Value(1) => 3,
        Symbol::Value(2..=3) => 5,
        Symbol::Value(4..=7) => 6,
        Symbol::Value(8..=15) => 7,
        Symbol::Value(16..=31) => 8,
        Symbol::Value(_) => 10,
        Symbol::Zeros(0..=1) => 4,
        Symbol::Zeros(2..=3) => 5,
        Symbol::Zeros(4..=7) => 6,
        Symbol::Zeros(_) => 7,
        Symbol::More(0) => 4,
        Symbol::More(1) => 5,
        Symbol::More(2..=3) => 6,
        Symbol::More(4..=7) => 7,
        Symbol::More(8..=15) => 9,
        Symbol::More(_) => 10,
    };
    symbols.iter().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::Symbol::{More, Value, Zeros};
    use super::*;

    fn values(symbols: &[Symbol]) -> Vec<u16> {
        let mut out: Vec<u16> = Vec::new();
        for (nth, symbol) in symbols.iter().enumerate() {
            match *symbol {
                Value(value) => out.push(value),
                Zeros(zeros) => out.resize(out.len() + 2 + usize::from(zeros), 0),
                More(more) => match symbols[nth - 1] {
                    Zeros(_) => out.resize(out.len() + 16 * (1 + usize::from(more)), 0),
                    _ => *out.last_mut().expect("a value before it") += 64 * (1 + more),
                },
            }
        }
        out
    }

    /// The example of the article.
    #[test]
    fn run_of_eighteen_zeros_between_values_takes_28_bits() {
        let steps = [vec![129], vec![0; 18], vec![1, 2]].concat();
        let found = symbols(&steps);
        assert_eq!(found, [Value(1), More(1), Zeros(0), More(0), Value(1), Value(2)]);
        assert_eq!(bits(&found), 3 + 5 + 4 + 4 + 3 + 5);
        assert_eq!(values(&found), steps);
    }

    #[test]
    fn symbols_decode_to_the_same_steps() {
        let steps = [vec![0; 361], vec![5, 0, 2000], vec![0; 57], vec![64, 63]].concat();
        assert_eq!(values(&symbols(&steps)), steps);
    }

    /// As the lengths of a prefix code must.
    #[test]
    fn lengths_satisfy_kraft() {
        let all = (0..64).map(Value).chain((0..16).map(Zeros)).chain((0..32).map(More));
        let sum: f64 = all.map(|symbol| 0.5_f64.powi(bits(&[symbol]) as i32)).sum();
        assert!(sum <= 1.0, "{sum}");
    }
}
