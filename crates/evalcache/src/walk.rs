//! The steps of a policy as binary decisions, the same for the encoder, the decoder and the fit of the tables.
//!
//! 1. Each move has log-odds to have steps, from what the position tells ([`crate::fixed`]). Moves are coded from likely to
//!    unlikely, until all steps are given out: what comes after costs nothing.
//! 2. For each move: whether it has steps, and how many of the remaining ones. Contexts are its class of log-odds, the remaining
//!    steps, the steps of its coded neighbours, and how this policy has compared to the expectation so far.

use go::{MAX_AREA, MAX_MOVES};

use crate::fixed::Fixed;
use crate::layout::{CLASSES, HALVES, STAGES, halves, shares as policy};
use crate::squash::{ONE, squash};
use crate::view::{CELLS, EMPTY, View, WIDTH, cell};

/// Takes decisions, or makes them.
pub(crate) trait Coder {
    /// The decision: `bit` for an encoder; a decoder ignores it.
    fn bit<const N: usize>(&mut self, contexts: [u32; N], bit: bool) -> bool;

    /// Bits that nothing is known of, from the highest of `count` on.
    fn raw(&mut self, count: u32, bits: u32) -> u32;

    /// The log-odds of contexts together.
    fn log_odds<const N: usize>(&self, contexts: [u32; N]) -> i32;

    /// Calls `take` for each empty point with its index, its cell, and the log-odds of its contexts together.
    fn points(&self, fixed: &Fixed<'_>, view: &View, mut take: impl FnMut(usize, usize, i32)) {
        let side = view.size().side();
        for (row, col) in (0..side).flat_map(|row| (0..side).map(move |col| (row, col))) {
            let at = cell(row, col);
            if view.cells[at] == EMPTY {
                take(row * side + col, at, self.log_odds(fixed.contexts(row, col)));
            }
        }
    }
}

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

    /// Its cell; 0 for the pass, which has no neighbours.
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
    pub(crate) fn new(coder: &impl Coder, view: &View) -> Candidates {
        let fixed = Fixed::new(view);
        let mut found = [Candidate(0); MAX_MOVES];
        let (mut counts, mut len) = ([0_u16; CLASSES], 0);
        let mut add = |index: usize, cell: usize, log_odds: i32| {
            let class = (((log_odds + 10 * ONE) * 4) / ONE).clamp(0, CLASSES as i32 - 1) as u8;
            counts[usize::from(class)] += 1;
            found[len] = Candidate::new(index, cell, class, squash(log_odds));
            len += 1;
        };
        coder.points(&fixed, view, &mut add);
        add(view.size().area(), 0, coder.log_odds(fixed.pass()));
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

const FOUR: [isize; 4] = [-(WIDTH as isize), 1, WIDTH as isize, -1];
const ACROSS: [isize; 4] = [-(WIDTH as isize) - 1, -(WIDTH as isize) + 1, WIDTH as isize + 1, WIDTH as isize - 1];
const UNKNOWN: u8 = 0;
const NONE: u8 = 1;

/// State of a policy while it is coded.
struct Progress {
    /// Remaining steps.
    rest: u32,
    /// The expected number of remaining moves with steps, in 1/65536 of a move.
    expected: u32,
    /// The same of the moves before, and how many of them had steps.
    expected_before: u32,
    found: u32,
    /// For the last four moves, whether they had steps.
    history: u32,
    /// The largest size so far.
    largest: u32,
    /// For each cell: unknown, no steps, or 2 and the logarithm of the steps.
    states: [u8; CELLS],
}

/// The neighbourhood of a move.
struct Around {
    four: u32,
    across: u32,
    sum: u32,
    unknown: u32,
    none: u32,
    some: u32,
    largest: u32,
}

impl Around {
    #[inline(always)]
    fn add(&mut self, state: u8) {
        self.unknown += u32::from(state == UNKNOWN);
        self.none += u32::from(state == NONE);
        self.some += u32::from(state > NONE);
        self.largest = self.largest.max(u32::from(state));
        // 1 << (state - 2), and nothing for the first two.
        self.sum += (1 << state) >> 2;
    }
}

impl Progress {
    #[inline(always)]
    fn around(&self, at: usize) -> Around {
        let mut around = Around { four: 0, across: 0, sum: 0, unknown: 0, none: 0, some: 0, largest: 0 };
        if at == 0 {
            return around;
        }
        for offset in FOUR {
            let state = self.states[at.wrapping_add_signed(offset)];
            around.four = around.four << 2 | u32::from(state.min(3));
            around.add(state);
        }
        for offset in ACROSS {
            let state = self.states[at.wrapping_add_signed(offset)];
            around.across = around.across << 2 | u32::from(state.min(3));
            around.add(state);
        }
        around
    }

    /// Whether there were more moves with steps than expected, in 15 classes.
    #[inline(always)]
    fn excess(&self) -> u32 {
        let excess = (self.found as i32 * 65536 - self.expected_before as i32) >> 15;
        (excess.clamp(-7, 7) + 7) as u32
    }

    #[inline(always)]
    fn some<C: Coder>(&self, coder: &mut C, class: u32, around: &Around, bit: bool) -> bool {
        let (rest, expected) = (halves(self.rest) as u32, halves(self.expected >> 12) as u32);
        let sum = (halves(around.sum) as u32).min(13);
        let contexts = [
            policy::CLASS + class,
            policy::REST + class * HALVES as u32 + rest,
            policy::NEAR + around.four * 4 + class / 16,
            policy::ACROSS + around.across * 4 + class / 16,
            policy::SUM + (sum * 9 + around.unknown) * 8 + class / 8,
            policy::EXPECTED + (expected * HALVES as u32 + rest) * 4 + class / 16,
            policy::EXCESS + self.excess() * 32 + class / 2,
            policy::HISTORY + self.history * CLASSES as u32 + class,
            policy::LARGEST + (around.largest.min(13) * 9 + around.none) * 4 + class / 16,
        ];
        coder.bit(contexts, bit)
    }

    /// Codes a number of steps from 1 to the remaining ones.
    fn size<C: Coder>(&self, coder: &mut C, class: u32, around: &Around, steps: u32) -> u32 {
        let rest = halves(self.rest) as u32;
        let most = self.rest.ilog2();
        let expected = halves(self.expected >> 12) as u32;
        let (found, excess) = (self.found.min(3), self.excess());
        let wanted = steps.max(1).ilog2();
        let mut log = 0;
        while log < most {
            let contexts = [
                policy::SIZE_REST + (log * HALVES as u32 + rest) * 8 + class / 8,
                policy::SIZE_CLASS + log * CLASSES as u32 + class,
                policy::SIZE_NEAR + (log * 14 + around.largest.min(13)) * 3 + around.some.min(2),
                policy::SIZE_FIRST + (log * 14 + self.largest.min(13)) * 4 + found,
                policy::SIZE_EXCESS + log * 15 + excess,
                policy::SIZE_EXPECTED + log * HALVES as u32 + expected,
            ];
            if !coder.bit(contexts, wanted > log) {
                break;
            }
            log += 1;
        }
        self.digits(coder, class, log, most, steps)
    }

    /// The digits below the highest.
    fn digits<C: Coder>(&self, coder: &mut C, class: u32, log: u32, most: u32, steps: u32) -> u32 {
        let (mut number, mut ones) = (1, 1);
        let slack = (most - log).min(2);
        for digit in (0..log).rev() {
            let nth = log - 1 - digit;
            // A number with the first digits of the remaining steps may not exceed them.
            let tight = log == most && number == self.rest >> (digit + 1);
            let limit = self.rest >> digit & 1;
            let bit = if tight && limit == 0 {
                false
            } else {
                let prefix = match nth {
                    0 => 0,
                    1 => 1 + (number & 1),
                    _ => 3,
                };
                let contexts = [
                    policy::DIGIT + ((log * 12 + nth) * 3 + slack) * 2 + ones,
                    policy::DIGIT_CLASS + (log * 4 + prefix) * 8 + class / 8,
                    policy::DIGIT_REST + (log * 12 + nth) * 4 + 2 * u32::from(tight) + limit,
                ];
                coder.bit(contexts, steps >> digit & 1 == 1)
            };
            ones &= u32::from(bit);
            number = number << 1 | u32::from(bit);
        }
        number
    }
}

/// Codes the steps of a policy, `total` of them, and returns the logarithm of the largest, and 1.
pub(crate) fn policy<C: Coder>(coder: &mut C, candidates: &Candidates, total: u32, steps: &mut [u16]) -> u32 {
    let list = candidates.list();
    let mut progress = Progress {
        rest: total,
        expected: list.iter().map(|candidate| candidate.likely()).sum(),
        expected_before: 0,
        found: 0,
        history: 0,
        largest: 0,
        states: [UNKNOWN; CELLS],
    };
    for (nth, candidate) in list.iter().enumerate() {
        if progress.rest == 0 {
            break;
        }
        let index = candidate.index();
        let wanted = u32::from(steps[index]);
        let (at, class) = (candidate.cell(), u32::from(candidate.class()));
        let found = if nth + 1 == list.len() {
            progress.rest
        } else {
            let around = progress.around(at);
            if progress.some(coder, class, &around, wanted > 0) {
                progress.size(coder, class, &around, wanted)
            } else {
                0
            }
        };
        steps[index] = found as u16;
        progress.rest -= found;
        progress.expected -= candidate.likely();
        progress.expected_before += candidate.likely();
        progress.found += u32::from(found > 0);
        progress.history = (progress.history << 1 | u32::from(found > 0)) & 15;
        let state = if found > 0 { 2 + found.ilog2() } else { u32::from(NONE) };
        progress.largest = progress.largest.max(state);
        if at > 0 {
            progress.states[at] = state as u8;
        }
    }
    progress.largest
}

/// Codes a value of `2 * total + 1` possible ones; garbage may decode to one above.
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
            coder.bit(contexts, wanted)
        } else if nth < 7 {
            coder.bit([policy::VALUE + node * 8, policy::VALUE_DIGIT + nth], wanted)
        } else {
            coder.bit([policy::VALUE_DIGIT + nth], wanted)
        };
        number = number << 1 | u32::from(bit);
        node = node << 1 | u32::from(bit);
    }
    number
}

/// Points and the pass have an index in the board of that size.
const _: () = assert!(MAX_AREA + 1 == MAX_MOVES);
