//! Where the contexts of a model are in its table: one number, a part of the log-odds, for each context.

/// One entry for every context that a number of 16 bits can name, so that none is outside.
pub(crate) const CONTEXTS: usize = 1 << 16;

/// The log-odds of each context.
pub(crate) type LogOdds = [i16; CONTEXTS];

/// Number of classes of [`halves`]: halvings from 1 to 65536, with one stop between two.
pub(crate) const HALVES: usize = 34;

/// The size of a number in about two classes for each doubling; 0 for 0.
pub(crate) const fn halves(number: u32) -> usize {
    if number < 2 {
        return number as usize;
    }
    let log = number.ilog2();
    // The two highest bits are 2 or 3.
    let class = 2 * log as usize - 1 + (number >> (log - 1)) as usize;
    if class < HALVES { class } else { HALVES - 1 }
}

/// Classes of how likely a move is to have steps.
pub(crate) const CLASSES: usize = 64;
/// Classes of how many moves of a policy have steps, by [`halves`].
pub(crate) const FOUND: usize = halves(go::MAX_MOVES as u32) + 1;
/// Distances of two points, turned and mirrored into one, and one for no point.
pub(crate) const DISTANCES: usize = 191;
/// Classes of how many stones there are.
pub(crate) const STAGES: usize = 10;

macro_rules! tables {
    ($first:expr; $($name:ident: $len:expr),* $(,)?) => {
        tables!(@ $first; $($name: $len,)*);
    };
    (@ $at:expr; $name:ident: $len:expr, $($rest:tt)*) => {
        pub(crate) const $name: u32 = $at as u32;
        tables!(@ $at + $len; $($rest)*);
    };
    (@ $at:expr;) => {
        /// Entries, those of the tables before included.
        pub(crate) const END: usize = $at;
    };
}

/// Before anything is coded.
pub(crate) mod given {
    use super::{DISTANCES, STAGES};

    tables! { 0;
        NEIGHBOURS: 4096,
        COUNTS: 2500,
        LAST: DISTANCES,
        SECOND: DISTANCES,
        THIRD: DISTANCES,
        FOURTH: DISTANCES,
        PLACE: 55 * STAGES,
        STRAIGHT: 256 * 3,
        REPLY: 7 * 625,
        AROUND: 10 * 10 * 4,
        DIAGONALS: 4096,
        PASS: STAGES * 2,
    }
}

/// Steps of a policy.
pub(crate) mod shares {
    use super::{CLASSES, HALVES, STAGES, given};

    tables! { given::END;
        CLASS: CLASSES,
        REST: CLASSES * HALVES,
        NEAR: 256 * 4,
        ACROSS: 256 * 4,
        SUM: 14 * 9 * 8,
        EXPECTED: HALVES * HALVES * 4,
        EXCESS: 15 * 32,
        HISTORY: 16 * CLASSES,
        LARGEST: 14 * 9 * 4,
        SIZE_REST: 12 * HALVES * 8,
        SIZE_CLASS: 12 * CLASSES,
        SIZE_NEAR: 12 * 14 * 3,
        SIZE_FIRST: 12 * 14 * 4,
        SIZE_EXCESS: 12 * 15,
        SIZE_EXPECTED: 12 * HALVES,
        DIGIT: 12 * 12 * 3 * 2,
        DIGIT_CLASS: 12 * 4 * 8,
        DIGIT_REST: 12 * 12 * 4,
        VALUE: 128 * 8,
        VALUE_STAGE: 32 * STAGES,
        VALUE_TOP: 32 * 12,
        VALUE_DIGIT: 16,
    }
}

/// All bits of all numbers.
pub(crate) mod bits {
    use super::given;

    tables! { given::END;
        EXPONENT: 256 * 17,
        BEFORE: 256 * 24,
        MANTISSA: 16 * 8,
        SIGN: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_grow_twice_a_doubling() {
        let found: Vec<usize> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12].map(halves).to_vec();
        assert_eq!(found, [0, 1, 3, 4, 5, 5, 6, 6, 7, 7, 8]);
        assert_eq!((halves(65535), halves(65536), halves(u32::MAX)), (32, 33, 33));
    }
}
