//! Processes that are late, while others change the segments.

use testing::{Access, with_guard};

use super::*;

/// The store in a process that is late with its first such request: before it, `meanwhile` happens.
fn late(store: &Store, access: Access, meanwhile: impl Fn(&Store) + Send + Sync + 'static) -> Store {
    let (others, happened) = (store.clone(), AtomicBool::new(false));
    with_guard(store, move |next| {
        if next == access && !happened.swap(true, Ordering::Relaxed) {
            meanwhile(&others);
        }
        true
    })
}

/// Publishes these evaluations as a segment, as a process does that ends.
fn publish(store: &Store, numbers: Range<u64>) {
    let cache = open(store);
    numbers.for_each(|number| drop(put(&cache, number)));
}

#[test]
fn segments_that_are_merged_before_they_are_opened_are_found_in_the_merged_one() {
    let store = Store::in_memory().unwrap();
    (0..3).for_each(|number| publish(&store, number..number + 1));
    let reader = open(&late(&store, Access::Get, |others| {
        open(others).compact(&|_| true).unwrap();
    }));
    assert_eq!((reader.segments(), found(&reader, 0..3)), (1, 3));
}
