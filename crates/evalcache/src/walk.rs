//! The steps of a policy as binary decisions, the same for the encoder, the decoder and the fit of the tables.
//!
//! 1. Each move has log-odds to have steps, from what the position tells ([`crate::fixed`]). Moves are coded from
//!    likely to unlikely, until all steps are given out: what comes after costs nothing.
//! 2. For each move: whether it has steps, and how many of the remaining ones. Contexts are its class of log-odds, the
//!    remaining steps, the steps of its coded neighbours, and how this policy has compared to the expectation so far.

use go::{MAX_AREA, MAX_MOVES};

use crate::fixed::Fixed;
use crate::layout::{CLASSES, HALVES, STAGES, halves, shares as policy};
use crate::squash::{ONE, squash};
use crate::view::{CELLS, EMPTY, View, WIDTH, cell};

/// Takes decisions, or makes them.
pub(crate) trait Coder {
    /// The decision: `bit` for an encoder; a decoder ignores it.
    fn bit<const N: usize>(&mut self, contexts: [u32; N], bit: bool) -> bool;

    /// The same for a decision that is about as likely as the opposite, in the second contexts or the first.
    fn digit<const N: usize>(&mut self, first: [u32; N], second: [u32; N], is_second: bool, bit: bool) -> bool {
        self.bit(if is_second { second } else { first }, bit)
    }

    /// Bits that nothing is known of, from the highest of `count` on.
    fn raw(&mut self, count: u32, bits: u32) -> u32;
}

/// Knows what positions tell of moves.
pub(crate) trait Model {
    /// The log-odds of contexts together.
    fn sum<const N: usize>(&self, contexts: [u32; N]) -> i32;

    /// Calls `take` for each empty point with its index, its cell, and the log-odds of its contexts together.
    fn points(&self, fixed: &Fixed<'_>, view: &View, mut take: impl FnMut(usize, usize, i32)) {
        let side = view.size().side();
        for (row, col) in (0..side).flat_map(|row| (0..side).map(move |col| (row, col))) {
            let at = cell(row, col);
            if view.cells[at] == EMPTY {
                take(row * side + col, at, self.sum(fixed.contexts(row, col)));
            }
        }
    }
}

/// The cell of the pass, which has no neighbours: a corner of the border.
const PASS: usize = 0;

/// A move that may have steps, in the bits of a number.
#[derive(Clone, Copy)]
pub(crate) struct Candidate(u64);

impl Candidate {
    fn new(index: usize, cell: usize, class: u8, likely: u16) -> Candidate {
        Candidate(index as u64 | (cell as u64) << 16 | u64::from(class) << 32 | u64::from(likely) << 48)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0 as u16)
    }

    /// Its cell.
    fn cell(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    pub(crate) fn class(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// How likely it is to have steps, in 1/65536.
    fn likely(self) -> u32 {
        (self.0 >> 48) as u32
    }
}

/// The candidates of a position, from likely to unlikely.
pub(crate) struct Candidates {
    list: [Candidate; MAX_MOVES],
    len: usize,
    pub(crate) stage: u32,
}

impl Candidates {
    pub(crate) fn new(model: &impl Model, view: &View) -> Candidates {
        let fixed = Fixed::new(view);
        let mut found = [Candidate(0); MAX_MOVES];
        let (mut counts, mut len) = ([0_u16; CLASSES], 0);
        let mut add = |index: usize, cell: usize, log_odds: i32| {
            let class = (log_odds + 10 * ONE).div_euclid(ONE / 4).clamp(0, CLASSES as i32 - 1) as u8;
            counts[usize::from(class)] += 1;
            found[len] = Candidate::new(index, cell, class, squash(log_odds));
            len += 1;
        };
        model.points(&fixed, view, &mut add);
        add(view.size().area(), PASS, model.sum(fixed.pass()));
        let mut starts = [0_u16; CLASSES];
        let mut sum = 0;
        for class in (0..CLASSES).rev() {
            starts[class] = sum;
            sum += counts[class];
        }
        let mut candidates = Candidates { list: [Candidate(0); MAX_MOVES], len, stage: fixed.stage() };
        for &candidate in &found[..len] {
            let start = &mut starts[usize::from(candidate.class()) & (CLASSES - 1)];
            candidates.list[usize::from(*start)] = candidate;
            *start += 1;
        }
        candidates
    }

    pub(crate) fn list(&self) -> &[Candidate] {
        &self.list[..self.len]
    }
}

/// The state of a move without steps; with steps it is 2 and their logarithm.
const NONE: u32 = 1;
/// No move has more than 2^11 steps.
const STATES: usize = 14;

/// What the eight neighbours of a cell have, in the bits of one number. A move that is coded adds itself to the numbers
/// of its neighbours, which takes less than to look at eight cells for each move.
#[derive(Clone, Copy)]
struct Around(u64);

// The first bit of each part of the number. The four at a side come first, and the four across, each with two bits:
// unknown, without steps, with one, with more. Then how many there are of each kind.
const ACROSS: u32 = 8;
const UNKNOWN: u32 = 16;
const WITHOUT: u32 = 20;
const WITH: u32 = 24;
/// Their steps together, each rounded down to a power of 2.
const SUM: u32 = 28;
/// One bit for each state with steps.
const LARGEST: u32 = 50;
const _: () = assert!(LARGEST as usize + STATES <= 64, "the states fit the number");

/// The cells around a move: their distance from the first of them, and where the move is in their numbers.
const SPREAD: [(usize, u32); 8] = [
    (0, ACROSS + 2),
    (1, 2),
    (2, ACROSS),
    (WIDTH, 4),
    (WIDTH + 2, 0),
    (2 * WIDTH, ACROSS + 4),
    (2 * WIDTH + 1, 6),
    (2 * WIDTH + 2, ACROSS + 6),
];

/// What a move of each state adds to each of its neighbours.
static ADDED: [[u64; 8]; STATES] = {
    let mut table = [[0; 8]; STATES];
    let mut state = 1;
    while state < STATES {
        let mut nth = 0;
        while nth < 8 {
            let code = if state < 3 { state as u64 } else { 3 };
            let number =
                if state == NONE as usize { 1 << WITHOUT } else { (1 << WITH) + (1 << (SUM as usize + state - 2)) };
            table[state][nth] = (code << SPREAD[nth].1) + number - (1 << UNKNOWN);
            nth += 1;
        }
        state += 1;
    }
    table
};

/// The class of a sum of steps, times nine.
static SUMS: [u8; 65] = {
    let mut table = [0; 65];
    let mut sum = 0;
    while sum < table.len() {
        table[sum] = 9 * halves(sum as u32) as u8;
        sum += 1;
    }
    table
};

impl Around {
    /// The pass has no neighbours.
    const PASS: Around = Around(0);
    /// Nothing is coded yet. Stones and the border never are.
    const NOTHING: Around = Around(8 << UNKNOWN);

    #[inline(always)]
    fn four(self) -> u32 {
        u32::from(self.0 as u8)
    }

    #[inline(always)]
    fn across(self) -> u32 {
        u32::from((self.0 >> ACROSS) as u8)
    }

    #[inline(always)]
    fn unknown(self) -> u32 {
        (self.0 >> UNKNOWN) as u32 & 15
    }

    #[inline(always)]
    fn none(self) -> u32 {
        (self.0 >> WITHOUT) as u32 & 15
    }

    #[inline(always)]
    fn some(self) -> u32 {
        (self.0 >> WITH) as u32 & 15
    }

    /// The class of the sum of their steps, times nine.
    #[inline(always)]
    fn sum(self) -> u32 {
        u32::from(SUMS[((self.0 >> SUM) as usize & 0xffff).min(64)])
    }

    #[inline(always)]
    fn largest(self) -> u32 {
        ((self.0 >> LARGEST) as u32 | u32::from(self.none() > 0) << NONE | 1).ilog2()
    }
}

/// For each cell its coded neighbours.
struct Neighbours([Around; CELLS]);

impl Neighbours {
    fn new() -> Neighbours {
        let mut around = [Around::NOTHING; CELLS];
        around[PASS] = Around::PASS;
        Neighbours(around)
    }

    /// Tells the neighbours of a cell what its move has.
    #[inline(always)]
    fn add(&mut self, at: usize, state: usize) {
        if at == PASS {
            return;
        }
        // No cell of the board is in the first row.
        let cells = self.0.get_mut(at.wrapping_sub(WIDTH + 1)..).and_then(<[Around]>::first_chunk_mut);
        let Some(cells): Option<&mut [Around; 2 * WIDTH + 3]> = cells else { return };
        let largest = if state > NONE as usize { 1 << (LARGEST as usize + state) } else { 0 };
        for ((place, _), added) in SPREAD.into_iter().zip(ADDED[state]) {
            cells[place].0 = (cells[place].0.wrapping_add(added)) | largest;
        }
    }
}

/// State of a policy while it is coded.
struct Progress {
    /// Remaining steps.
    rest: u32,
    /// Their class.
    rest_class: u32,
    /// How many moves with steps were expected, in 1/65536 of a move.
    expected_at_first: u32,
    /// How many of them remain.
    expected: u32,
    /// How many there were.
    found: u32,
    /// For the last four moves, whether they had steps.
    history: u32,
    /// The largest size so far.
    largest: u32,
}

impl Progress {
    /// Whether there were more moves with steps than expected, in 15 classes.
    #[inline(always)]
    fn excess(&self) -> u32 {
        let expected_before = self.expected_at_first - self.expected;
        let excess = (self.found as i32 * 65536 - expected_before as i32) >> 15;
        (excess.clamp(-7, 7) + 7) as u32
    }

    #[inline(always)]
    fn expected_class(&self) -> u32 {
        halves(self.expected >> 12) as u32
    }

    #[inline(always)]
    fn some<C: Coder>(&self, coder: &mut C, class: u32, around: Around, bit: bool) -> bool {
        let contexts = [
            policy::CLASS + class,
            policy::REST + class * HALVES as u32 + self.rest_class,
            policy::NEAR + around.four() * 4 + class / 16,
            policy::ACROSS + around.across() * 4 + class / 16,
            policy::SUM + (around.sum() + around.unknown()) * 8 + class / 8,
            policy::EXPECTED + (self.expected_class() * HALVES as u32 + self.rest_class) * 4 + class / 16,
            policy::EXCESS + self.excess() * 32 + class / 2,
            policy::HISTORY + self.history * CLASSES as u32 + class,
            policy::LARGEST + (around.largest() * 9 + around.none()) * 4 + class / 16,
        ];
        coder.bit(contexts, bit)
    }

    /// Codes a number of steps from 1 to the remaining ones. Returns it and its logarithm, which is known before.
    #[inline(always)]
    fn size<C: Coder>(&self, coder: &mut C, class: u32, around: Around, steps: u32) -> (u32, u32) {
        let most = self.rest.ilog2();
        let wanted = steps.max(1).ilog2();
        let (expected, excess, found) = (self.expected_class(), self.excess(), self.found.min(3));
        let (largest, some) = (around.largest(), around.some().min(2));
        let mut log = 0;
        while log < most {
            let contexts = [
                policy::SIZE_REST + (log * HALVES as u32 + self.rest_class) * 8 + class / 8,
                policy::SIZE_CLASS + log * CLASSES as u32 + class,
                policy::SIZE_NEAR + (log * 14 + largest) * 3 + some,
                policy::SIZE_FIRST + (log * 14 + self.largest) * 4 + found,
                policy::SIZE_EXCESS + log * 15 + excess,
                policy::SIZE_EXPECTED + log * HALVES as u32 + expected,
            ];
            if !coder.bit(contexts, wanted > log) {
                break;
            }
            log += 1;
        }
        (self.digits(coder, class, log, most, steps), log)
    }

    /// The digits below the highest.
    #[inline(always)]
    fn digits<C: Coder>(&self, coder: &mut C, class: u32, log: u32, most: u32, steps: u32) -> u32 {
        let (mut number, mut ones) = (1, true);
        let slack = (most - log).min(2);
        for digit in (0..log).rev() {
            let nth = log - 1 - digit;
            // A number with the first digits of the remaining steps may not exceed them.
            let tight = log == most && number == self.rest >> (digit + 1);
            let limit = self.rest >> digit & 1;
            let bit = if tight && limit == 0 {
                false
            } else {
                // The digit before is known last, so that what follows each of its values is looked up before it.
                let contexts = |all_ones: u32, prefix: u32| {
                    [
                        policy::DIGIT + ((log * 12 + nth) * 3 + slack) * 2 + all_ones,
                        policy::DIGIT_CLASS + (log * 4 + prefix) * 8 + class / 8,
                        policy::DIGIT_REST + (log * 12 + nth) * 4 + 2 * u32::from(tight) + limit,
                    ]
                };
                let [after_zero, after_ones] = match nth {
                    0 => [contexts(1, 0); 2],
                    1 => [contexts(0, 1), contexts(1, 2)],
                    _ => [contexts(0, 3), contexts(1, 3)],
                };
                coder.digit(after_zero, after_ones, ones, steps >> digit & 1 == 1)
            };
            ones &= bit;
            number = number << 1 | u32::from(bit);
        }
        number
    }
}

/// What is known of a policy that has been coded.
#[derive(Default)]
pub(crate) struct Coded {
    /// The logarithm of the largest number of steps, and 2.
    pub(crate) largest: u32,
    /// How many moves have steps.
    pub(crate) found: u32,
}

/// Codes the steps of a policy, `total` of them.
#[inline(always)]
pub(crate) fn policy<C: Coder>(coder: &mut C, candidates: &Candidates, total: u32, steps: &mut [u16]) -> Coded {
    let list = candidates.list();
    let expected = list.iter().map(|candidate| candidate.likely()).sum();
    let mut progress = Progress {
        rest: total,
        rest_class: halves(total) as u32,
        expected_at_first: expected,
        expected,
        found: 0,
        history: 0,
        largest: 0,
    };
    let mut neighbours = Neighbours::new();
    let Some((last, others)) = list.split_last() else { return Coded::default() };
    for candidate in others {
        if progress.rest == 0 {
            return Coded { largest: progress.largest, found: progress.found };
        }
        let (index, at, class) = (candidate.index(), candidate.cell(), u32::from(candidate.class()) % CLASSES as u32);
        let wanted = u32::from(steps[index]);
        let around = neighbours.0[at];
        let some = progress.some(coder, class, around, wanted > 0);
        if some {
            let (found, log) = progress.size(coder, class, around, wanted);
            let state = 2 + log;
            steps[index] = found as u16;
            progress.rest -= found;
            progress.rest_class = halves(progress.rest) as u32;
            progress.found += 1;
            progress.largest = progress.largest.max(state);
            neighbours.add(at, state as usize);
        } else {
            progress.largest = progress.largest.max(NONE);
            neighbours.add(at, NONE as usize);
        }
        progress.history = (progress.history << 1 | u32::from(some)) & 15;
        progress.expected -= candidate.likely();
    }
    if progress.rest > 0 {
        steps[last.index()] = progress.rest as u16;
        progress.largest = progress.largest.max(2 + progress.rest.ilog2());
        progress.found += 1;
    }
    Coded { largest: progress.largest, found: progress.found }
}

/// Codes a value of `2 * total + 1` possible ones; garbage may decode to one above.
#[inline(always)]
pub(crate) fn value<C: Coder>(coder: &mut C, stage: u32, largest: u32, total: u32, value: u32) -> u32 {
    let digits = (2 * total).ilog2() + 1;
    let (mut node, mut number) = (1_u32, 0);
    for nth in 0..digits {
        let wanted = value >> (digits - 1 - nth) & 1 == 1;
        let bit = if nth < 5 {
            let contexts = [
                policy::VALUE + node * 8 + stage * 8 / STAGES as u32,
                policy::VALUE_STAGE + node * STAGES as u32 + stage,
                policy::VALUE_TOP + node * 12 + largest.min(11),
            ];
            coder.digit(contexts, contexts, false, wanted)
        } else if nth < 7 {
            let contexts = [policy::VALUE + node * 8, policy::VALUE_DIGIT + nth];
            coder.digit(contexts, contexts, false, wanted)
        } else {
            let contexts = [policy::VALUE_DIGIT + nth];
            coder.digit(contexts, contexts, false, wanted)
        };
        number = number << 1 | u32::from(bit);
        node = node << 1 | u32::from(bit);
    }
    number
}

/// Points and the pass have an index in the board of that size.
const _: () = assert!(MAX_AREA + 1 == MAX_MOVES);
