//! Warnings that a process gives once, however often its models are opened.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Whether this process has not warned of this yet.
pub(crate) fn is_first(warning: impl Into<String>) -> bool {
    static GIVEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(warning.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_given_once_and_hides_no_other() {
        assert_eq!(["one reason", "another reason", "one reason"].map(is_first), [true, true, false]);
        let of = |segment: u32| is_first(format!("head of segment {segment}"));
        assert_eq!([of(1), of(2), of(1)], [true, true, false]);
    }
}
