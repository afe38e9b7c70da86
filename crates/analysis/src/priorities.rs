//! The priorities of the searches of a worker: all but the most urgent ones wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The priorities of the searches of a worker. Clones are handles to the same.
#[derive(Clone, Debug)]
pub(crate) struct Priorities(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    all: RefCell<Vec<i64>>,
    /// The highest of them: each search compares itself with it in every round.
    highest: Cell<i64>,
}

/// The priority of a search for as long as there is the search.
#[derive(Debug)]
pub(crate) struct Priority {
    value: i64,
    of: Priorities,
}

impl Priorities {
    pub(crate) fn new() -> Priorities {
        Priorities(Rc::new(Shared { all: RefCell::default(), highest: Cell::new(i64::MIN) }))
    }

    /// Adds that of a search, which holds it until it is over.
    pub(crate) fn add(&self, value: i64) -> Priority {
        self.0.all.borrow_mut().push(value);
        self.update();
        Priority { value, of: self.clone() }
    }

    /// The highest priority, or the lowest that there can be where there is no search.
    pub(crate) fn highest(&self) -> i64 {
        self.0.highest.get()
    }

    /// The number of searches.
    pub(crate) fn count(&self) -> usize {
        self.0.all.borrow().len()
    }

    fn update(&self) {
        self.0.highest.set(self.0.all.borrow().iter().copied().max().unwrap_or(i64::MIN));
    }
}

impl Priority {
    /// Whether a more urgent search is to be made first.
    pub(crate) fn waits(&self) -> bool {
        self.value < self.of.highest()
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        let mut all = self.of.0.all.borrow_mut();
        if let Some(place) = all.iter().position(|other| *other == self.value) {
            all.swap_remove(place);
        }
        drop(all);
        self.of.update();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_urgent_searches_wait_until_the_others_are_over() {
        let priorities = Priorities::new();
        let usual = priorities.add(0);
        assert!(!usual.waits());
        let urgent = [priorities.add(1), priorities.add(1)];
        assert!(usual.waits() && urgent.iter().all(|priority| !priority.waits()));
        let [first, second] = urgent;
        drop(first);
        assert!(usual.waits(), "one of two is over");
        drop(second);
        assert!(!usual.waits());
        drop(usual);
        assert_eq!((priorities.count(), priorities.highest()), (0, i64::MIN));
    }
}
