//! Policies and values in steps.

use go::MAX_MOVES;

use crate::view::{EMPTY, View, cell};

/// How exactly evaluations are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Steps {
    /// Probabilities in 1/256, values in 1/256.
    S256,
    /// Probabilities in 1/2048, values in 1/2048.
    S2048,
    /// Every bit of every number.
    Exact,
}

impl Steps {
    /// All of them.
    pub const ALL: [Steps; 3] = [Steps::S256, Steps::S2048, Steps::Exact];

    /// Steps from 0 to 1; `None` for [`Steps::Exact`].
    pub const fn count(self) -> Option<u32> {
        match self {
            Steps::S256 => Some(256),
            Steps::S2048 => Some(2048),
            Steps::Exact => None,
        }
    }

    /// The number in a file.
    pub(crate) const fn code(self) -> u16 {
        match self {
            Steps::S256 => 256,
            Steps::S2048 => 2048,
            Steps::Exact => 0,
        }
    }

    pub(crate) fn of_code(code: u16) -> Option<Steps> {
        Steps::ALL.into_iter().find(|steps| steps.code() == code)
    }
}

impl std::fmt::Display for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count() {
            Some(count) => write!(f, "{count}"),
            None => f.write_str("exact"),
        }
    }
}

impl std::str::FromStr for Steps {
    type Err = String;

    fn from_str(text: &str) -> Result<Steps, String> {
        let found = Steps::ALL.into_iter().find(|steps| steps.to_string() == text);
        found.ok_or_else(|| format!("{text:?} is none of 256, 2048 and exact"))
    }
}

/// Moves that can have steps: the empty points, in order, and the pass.
pub(crate) fn moves(view: &View) -> impl Iterator<Item = usize> {
    let (side, area) = (view.size().side(), view.size().area());
    let is_empty = move |&index: &usize| view.cells[cell(index / side, index % side)] == EMPTY;
    (0..area).filter(is_empty).chain([area])
}

/// Shares `count` steps among the moves that a position has room for, in proportion to the policy: by divisors, as
/// Webster shares seats, so that few and large numbers are not rounded for the sake of many small ones. `None` when no
/// such move has a probability, or one is no number.
pub(crate) fn quantise(view: &View, policy: &[f32], count: u32, out: &mut [u16]) -> Option<()> {
    let mut open = [(0_u16, 0.0_f64); MAX_MOVES];
    let mut len = 0;
    for index in moves(view) {
        let share = f64::from(*policy.get(index)?);
        if !share.is_finite() || share < 0.0 {
            return None;
        }
        open[len] = (index as u16, share);
        len += 1;
    }
    let open = &open[..len];
    let sum: f64 = open.iter().map(|&(_, share)| share).sum();
    if sum <= 0.0 {
        return None;
    }
    let shared = |scale: f64| open.iter().map(|&(_, share)| (share * scale).round()).sum::<f64>();
    let (mut low, mut high) = (0.0, 2.0 * f64::from(count) / sum);
    while shared(high) < f64::from(count) {
        high *= 2.0;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let total = shared(middle);
        if total <= f64::from(count) {
            low = middle;
        } else {
            high = middle;
        }
        // No step is left, and larger scales with this sum share them alike: each number grows with the scale.
        if total == f64::from(count) {
            break;
        }
    }
    out.fill(0);
    let mut left = count;
    for &(index, share) in open {
        out[usize::from(index)] = (share * low).round() as u16;
        left -= u32::from(out[usize::from(index)]);
    }
    // Moves of equal shares pass the next threshold together; the first of them do.
    for &(index, share) in open {
        if left > 0 && (share * high).round() as u16 > out[usize::from(index)] {
            out[usize::from(index)] += 1;
            left -= 1;
        }
    }
    if left > 0 {
        let largest = open.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
        out[usize::from(largest)] += left as u16;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use go::{Game, Size, Symmetry};
    use proptest::prelude::*;

    use super::*;

    fn shares(policy: &[f32], count: u32) -> Option<Vec<u16>> {
        let view = View::new(&Game::new(Size::MIN), Symmetry::Identity);
        let mut out = vec![9; 5];
        quantise(&view, policy, count, &mut out).map(|()| out)
    }

    #[test]
    fn quantise_shares_all_steps() {
        assert_eq!(shares(&[0.5, 0.25, 0.125, 0.125, 0.0], 256), Some(vec![128, 64, 32, 32, 0]));
        assert_eq!(shares(&[0.2; 5], 256), Some(vec![52, 51, 51, 51, 51]));
        assert_eq!(shares(&[0.0, 0.0, 0.0, 0.0, 1e-30], 256), Some(vec![0, 0, 0, 0, 256]));
        for none in [[0.0; 5], [f32::NAN; 5], [1.0, 1.0, 1.0, 1.0, -0.5], [f32::INFINITY; 5]] {
            assert_eq!(shares(&none, 256), None);
        }
    }

    proptest! {
        #[test]
        fn quantise_is_near_and_sums_up(policy in prop::collection::vec(0.0_f32..1.0, 5), large in any::<bool>()) {
            let count = if large { 2048 } else { 256 };
            let sum: f32 = policy.iter().sum();
            prop_assume!(sum > 0.0);
            let out = shares(&policy, count).expect("probabilities");
            prop_assert_eq!(out.iter().map(|&n| u32::from(n)).sum::<u32>(), count);
            for (&n, &p) in out.iter().zip(&policy) {
                prop_assert!((f32::from(n) - p / sum * count as f32).abs() <= 3.0, "{n} {p}");
            }
        }
    }

    #[test]
    fn steps_have_names() {
        for steps in Steps::ALL {
            assert_eq!(steps.to_string().parse(), Ok(steps));
            assert_eq!(Steps::of_code(steps.code()), Some(steps));
        }
        assert!("512".parse::<Steps>().is_err() && Steps::of_code(1).is_none());
    }
}
