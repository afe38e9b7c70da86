//! Every bit of every number: signs, exponents and the first digits by models, the other digits as they are.

use go::MAX_MOVES;

use crate::layout::bits as exact;
use crate::view::View;
use crate::walk::{Candidates, Coder};

/// The class of a point with a stone.
const STONE: u32 = 16;

/// Codes a policy and a value, bit for bit.
pub(crate) fn code<C: Coder>(coder: &mut C, view: &View, candidates: &Candidates, policy: &mut [f32], value: &mut f32) {
    let mut classes = [STONE; MAX_MOVES];
    for candidate in candidates.list() {
        classes[candidate.index()] = u32::from(candidate.class()) / 4;
    }
    let mut before = 127;
    for (number, &class) in policy[..view.size().moves()].iter_mut().zip(&classes) {
        *number = f32::from_bits(float(coder, class, &mut before, number.to_bits()));
    }
    *value = f32::from_bits(coder.raw(32, value.to_bits()));
}

fn float<C: Coder>(coder: &mut C, class: u32, before: &mut u32, bits: u32) -> u32 {
    let sign = coder.bit([exact::SIGN], bits >> 31 == 1);
    let exponent = bits >> 23 & 0xff;
    let near = (before.saturating_sub(104) & 0xff).min(23);
    let mut node = 1;
    for digit in (0..8).rev() {
        let contexts = [exact::EXPONENT + node * 17 + class, exact::BEFORE + node * 24 + near];
        node = node << 1 | u32::from(coder.bit(contexts, exponent >> digit & 1 == 1));
    }
    let exponent = node & 0xff;
    *before = exponent;
    let mut digits = 1;
    for digit in (20..23).rev() {
        let context = [exact::MANTISSA + digits * 8 + class / 2 % 8];
        digits = digits << 1 | u32::from(coder.bit(context, bits >> digit & 1 == 1));
    }
    let rest = coder.raw(20, bits & 0xf_ffff);
    u32::from(sign) << 31 | exponent << 23 | (digits & 7) << 20 | rest
}
