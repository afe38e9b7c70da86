//! Evaluations to bytes and back.

use std::hint::select_unpredictable;

use crate::exact;
use crate::fixed::Fixed;
use crate::layout::{CLASSES, LogOdds};
use crate::range::{Reader, Writer};
use crate::squash::{squash, squash_at_once};
use crate::steps::quantise;
use crate::tables::Tables;
use crate::view::View;
use crate::walk::{self, Candidates, Coded, Coder, Model};
use go::MAX_MOVES;

impl Tables {
    /// Appends an evaluation to `out`: the policy of the position as the view shows it, and the value for the player to
    /// move, from −1 to 1. `None`, and nothing appended, when it is none: a number is missing or no number, or no move
    /// that the board has room for has a probability. With `exact` steps all numbers are kept bit for bit, NaN
    /// included, and only a policy of another length is none.
    pub fn encode(&self, view: &View, policy: &[f32], value: f32, out: &mut Vec<u8>) -> Option<()> {
        if policy.len() != view.size().moves() {
            return None;
        }
        let Some(count) = self.steps().count() else {
            let mut coder = Encoder { log_odds: self.log_odds(), writer: Writer::new(out) };
            let candidates = Candidates::new(self, view);
            // A coder may change the numbers, as a decoder does.
            let mut numbers = [0.0; MAX_MOVES];
            let numbers = &mut numbers[..policy.len()];
            numbers.copy_from_slice(policy);
            exact::code(&mut coder, view, &candidates, numbers, &mut value.clone());
            coder.writer.finish();
            return Some(());
        };
        let mut steps = [0; MAX_MOVES];
        let steps = &mut steps[..policy.len()];
        quantise(view, policy, count, steps)?;
        let value = quantise_value(value, count)?;
        self.encode_steps(view, steps, Some(value), out);
        Some(())
    }

    /// Appends the steps of a policy, and those of a value if there is one.
    pub(crate) fn encode_steps(&self, view: &View, steps: &mut [u16], value: Option<u32>, out: &mut Vec<u8>) {
        let count = self.steps().count().expect("exact evaluations have no steps");
        let mut coder = Encoder { log_odds: self.log_odds(), writer: Writer::new(out) };
        code_steps(&mut coder, &Candidates::new(self, view), count, steps, value);
        coder.writer.finish();
    }

    /// Decodes the output of [`Tables::encode`] for the same view, and returns the value. Other bytes, or
    /// another view, give some policy that sums to 1, and some value between −1 and 1; `exact` ones give any numbers.
    ///
    /// # Panics
    /// When `policy` has not one number for each move.
    pub fn decode(&self, view: &View, code: &[u8], policy: &mut [f32]) -> f32 {
        assert_eq!(policy.len(), view.size().moves(), "one number for each move");
        let candidates = Candidates::new(self, view);
        let Some(count) = self.steps().count() else {
            let mut coder = Decoder { log_odds: self.log_odds(), reader: Reader::new(code) };
            let mut value = 0.0;
            exact::code(&mut coder, view, &candidates, policy, &mut value);
            return value;
        };
        // Nothing that is not inlined refers to it, so that its numbers stay in registers.
        let mut coder = Decoder { log_odds: self.log_odds(), reader: Reader::new(code) };
        let mut steps = [0; MAX_MOVES];
        let Coded { largest, found } = walk::policy(&mut coder, &candidates, count, &mut steps[..policy.len()]);
        let value = walk::value(&mut coder, candidates.stage, largest, count, 0).min(2 * count);
        policy.fill(0.0);
        let floors = self.floors(found);
        let mut sum = 0_u32;
        for candidate in candidates.list() {
            let index = candidate.index();
            // In 1/65536 of a step: whole numbers below 2^27 and a bit, so that the sum has no rounding.
            let (steps, floor) = (u32::from(steps[index]), floors[usize::from(candidate.class()) % CLASSES]);
            let share = select_unpredictable(steps > 0, steps << 16, floor.into());
            sum += share;
            policy[index] = share as f32;
        }
        let scale = 1.0 / sum as f32;
        policy.iter_mut().for_each(|share| *share *= scale);
        value as f32 / count as f32 - 1.0
    }
}

/// A value in steps from −1 on.
pub(crate) fn quantise_value(value: f32, count: u32) -> Option<u32> {
    let steps = ((f64::from(value) + 1.0) * f64::from(count)).round();
    steps.is_finite().then(|| (steps as u32).min(2 * count))
}

/// Policy, and value if there is one, by any coder.
pub(crate) fn code_steps<C: Coder>(
    coder: &mut C,
    candidates: &Candidates,
    count: u32,
    steps: &mut [u16],
    value: Option<u32>,
) {
    let Coded { largest, .. } = walk::policy(coder, candidates, count, steps);
    if let Some(value) = value {
        walk::value(coder, candidates.stage, largest, count, value);
    }
}

impl Model for Tables {
    #[inline(always)]
    fn sum<const N: usize>(&self, contexts: [u32; N]) -> i32 {
        sum(self.log_odds(), contexts)
    }

    #[inline(always)]
    fn points(&self, fixed: &Fixed<'_>, _: &View, take: impl FnMut(usize, usize, i32)) {
        fixed.points(self.log_odds(), self.offsets(), take);
    }
}

struct Encoder<'a, 'b> {
    log_odds: &'a LogOdds,
    writer: Writer<'b>,
}

struct Decoder<'a> {
    log_odds: &'a LogOdds,
    reader: Reader<'a>,
}

#[inline(always)]
fn sum<const N: usize>(log_odds: &LogOdds, contexts: [u32; N]) -> i32 {
    contexts.iter().map(|&context| i32::from(log_odds[usize::from(context as u16)])).sum()
}

impl Coder for Encoder<'_, '_> {
    #[inline(always)]
    fn bit<const N: usize>(&mut self, contexts: [u32; N], bit: bool) -> bool {
        self.writer.bit(squash(sum(self.log_odds, contexts)), bit);
        bit
    }

    fn raw(&mut self, count: u32, bits: u32) -> u32 {
        (0..count).rev().for_each(|digit| self.writer.bit(1 << 15, bits >> digit & 1 == 1));
        bits
    }
}

impl Coder for Decoder<'_> {
    #[inline(always)]
    fn bit<const N: usize>(&mut self, contexts: [u32; N], _: bool) -> bool {
        self.reader.bit(squash_at_once(sum(self.log_odds, contexts)))
    }

    #[inline(always)]
    fn digit<const N: usize>(&mut self, first: [u32; N], second: [u32; N], is_second: bool, _: bool) -> bool {
        let [first, second] = [first, second].map(|contexts| squash_at_once(sum(self.log_odds, contexts)));
        self.reader.even_bit(select_unpredictable(is_second, second, first))
    }

    fn raw(&mut self, count: u32, _: u32) -> u32 {
        (0..count).fold(0, |bits, _| bits << 1 | u32::from(self.reader.even_bit(1 << 15)))
    }
}

#[cfg(test)]
mod tests;
