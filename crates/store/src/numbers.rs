//! Objects that are numbered without gaps, from 1: models, thresholds, marks. A poll for the next one is one small
//! request, and the last one is found by few of them, however many there are; nothing is listed.

use crate::error::StoreError;

/// The last number from which on there is none: `from`, or a later one, where all up to it are there.
///
/// Galloping search: requests the next, the one 2 further on, 4, and so on; then bisects between the last that exists
/// and the first that does not. That is one request while there is no new object, and about 2 log2 of their number at
/// most.
pub(crate) fn last(from: u32, is_there: impl Fn(u32) -> Result<bool, StoreError>) -> Result<u32, StoreError> {
    let (mut there, mut step) = (from, 1_u32);
    let mut missing = loop {
        let next = there.saturating_add(step);
        if !is_there(next)? {
            break next;
        }
        there = next;
        step = step.saturating_mul(2);
    };
    while missing - there > 1 {
        let middle = there + (missing - there) / 2;
        if is_there(middle)? {
            there = middle;
        } else {
            missing = middle;
        }
    }
    Ok(there)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn last_is_found_with_few_questions() {
        for from in [0, 1, 7, 500] {
            for end in (from..from + 70).chain([1000, 99_999]).filter(|end| *end >= from) {
                let asked = Cell::new(0);
                let found = last(from, |number| {
                    asked.set(asked.get() + 1);
                    assert!(number > from, "what is known is not asked for");
                    Ok(number <= end)
                });
                assert_eq!(found.unwrap(), end);
                let new = f64::from(end - from);
                assert!(
                    f64::from(asked.get()) <= 1.0 + 2.0 * (new + 1.0).log2(),
                    "{} questions, {new} new",
                    asked.get()
                );
            }
        }
    }
}
