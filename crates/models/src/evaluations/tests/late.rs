//! Processes that are late while others change the segments, and processes that stop.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, OnceLock, Weak};

use testing::{PATIENCE, wait_until};

use super::*;
use crate::evaluations::refresh::LISTS;

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
        open(others).compact(&|_| ControlFlow::Continue(())).unwrap();
    }));
    assert_eq!((reader.segments(), found(&reader, 0..3)), (1, 3));
}

#[test]
fn further_lists_of_a_refresh_open_only_what_is_new() {
    let store = Store::in_memory().unwrap();
    (0..3).for_each(|number| publish(&store, number..number + 1));
    let requests = Arc::new(AtomicUsize::new(0));
    // Before this request, segment 3 is replaced by segment 4.
    let opened = |replaced: usize| {
        let (others, counted) = (store.clone(), requests.clone());
        requests.store(0, Ordering::Relaxed);
        let reader = open(&with_guard(&store, move |_| {
            if counted.fetch_add(1, Ordering::Relaxed) == replaced {
                publish(&others, 3..4);
                open(&others).shared.segments.delete(3).unwrap();
            }
            true
        }));
        assert_eq!(reader.segments(), 3);
        requests.load(Ordering::Relaxed)
    };
    let all = opened(usize::MAX);
    assert_eq!(opened(all / 3 * 2), all + 1);
}

#[test]
fn refresh_that_never_opens_all_is_repeated_at_the_next_miss() {
    let store = Store::in_memory().unwrap();
    publish(&store, 0..1);
    let (others, requests) = (store.clone(), AtomicUsize::new(0));
    let reader = open(&with_guard(&store, move |_| {
        let nth = requests.fetch_add(1, Ordering::Relaxed);
        if nth < LISTS as usize {
            publish(&others, 0..1);
            open(&others).shared.segments.delete(nth as u32 + 1).unwrap();
        }
        true
    }));
    assert_eq!((reader.segments(), found(&reader, 0..1), reader.segments()), (0, 1, 1));
}

/// The writer lists no segments, and its put of the first is late.
#[test]
fn segment_that_gets_a_used_number_is_published_again() {
    // Segment 3 replaces 1 and 2; in the second round 5 replaces 3 and 4, so that none names 1.
    for rounds in 1..=2 {
        let store = Store::in_memory().unwrap();
        let writer = open(&late(&store, Access::Put, move |others| {
            publish(others, 0..1);
            for round in 1..=rounds {
                publish(others, round..round + 1);
                open(others).compact(&|_| ControlFlow::Continue(())).unwrap();
            }
        }));
        put(&writer, 9);
        writer.publish().unwrap();
        let all = || {
            let reader = open(&store);
            (found(&reader, 0..rounds + 1), found(&reader, 9..10))
        };
        assert_eq!(all(), (rounds + 1, 1), "round {rounds}");
        // As a compaction does that knew segment 3.
        writer.shared.segments.delete(1).unwrap();
        assert_eq!(all(), (rounds + 1, 1), "round {rounds}");
        open(&store).compact(&|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(all(), (rounds + 1, 1), "round {rounds}");
    }
}

#[test]
fn segment_that_is_merged_right_after_its_put_is_published_once() {
    let store = Store::in_memory().unwrap();
    // The writer opens its own segment as the first.
    let writer = open(&late(&store, Access::Get, |others| {
        publish(others, 0..1);
        open(others).compact(&|_| ControlFlow::Continue(())).unwrap();
    }));
    put(&writer, 9);
    writer.publish().unwrap();
    assert_eq!(
        (writer.shared.segments.numbers().unwrap(), found(&writer, 0..1), found(&writer, 9..10)),
        (vec![3], 1, 1)
    );
}

#[test]
fn segment_that_cannot_be_opened_after_its_put_is_published_once() {
    let store = Store::in_memory().unwrap();
    let readable = Arc::new(AtomicBool::new(false));
    let allowed = readable.clone();
    let writer = open(&with_guard(&store, move |access| access != Access::Get || allowed.load(Ordering::Relaxed)));
    put(&writer, 9);
    writer.publish().unwrap();
    assert_eq!((writer.segments(), writer.shared.recent.read().unwrap().len()), (0, 0));
    readable.store(true, Ordering::Relaxed);
    // This miss does not wait for the list.
    assert_eq!(found(&writer, 9..10), 0);
    idle(&writer);
    assert_eq!(found(&writer, 9..10), 1);
    drop(writer);
    assert_eq!((open(&store).segments(), found(&open(&store), 9..10)), (1, 1));
}

/// A compaction merges segments 1 and 2, and its put of 3 is late: others have merged 3 and 4 into 5 meanwhile.
fn late_compaction(others: &Store) {
    publish(others, 100..101);
    publish(others, 101..102);
    let merged = open(others).shared.merge(Mergeable { entries: 50, ..Mergeable::ALL }).unwrap();
    assert_eq!((merged.evaluations, merged.deleted), (2, 2));
}

#[test]
fn merged_segment_that_gets_a_used_number_replaces_nothing_before_it_is_published_again() {
    for killed in [false, true] {
        let store = Store::in_memory().unwrap();
        publish(&store, 0..50);
        publish(&store, 50..100);
        let (others, put_done) = (store.clone(), AtomicBool::new(false));
        let behind = with_guard(&store, move |access| {
            let first = access == Access::Put && !put_done.swap(true, Ordering::Relaxed);
            if first {
                late_compaction(&others);
            }
            first || !killed || !put_done.load(Ordering::Relaxed)
        });
        assert_eq!(open(&behind).compact(&|_| ControlFlow::Continue(())).is_err(), killed);
        let reader = open(&store);
        assert_eq!(found(&reader, 0..102), 102, "killed: {killed}");
        reader.compact(&|_| ControlFlow::Continue(())).unwrap();
        assert_eq!((reader.segments(), found(&reader, 0..102)), (1, 102), "killed: {killed}");
    }
}

/// As where its set was deleted while a compaction read these segments.
#[test]
fn segment_that_names_higher_numbers_replaces_nothing() {
    let store = Store::in_memory().unwrap();
    let cache = open(&store);
    put(&cache, 0);
    let bytes = {
        let recent = cache.shared.recent.read().unwrap();
        segment::write(set(), &cache.shared.tables, &[2, 47, u32::MAX], &recent.added.sorted()).unwrap()
    };
    cache.shared.segments.publish(&bytes.into()).unwrap();
    (1..3).for_each(|number| publish(&store, number..number + 1));
    let reader = open(&store);
    let done = reader.compact(&|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(done, MergedSegments { merged: 3, evaluations: 3, deleted: 3, damaged: 0 });
    assert_eq!((cache.shared.segments.numbers().unwrap(), found(&reader, 0..3)), (vec![4], 3));
}

#[test]
fn segment_that_is_gone_once_it_is_opened_delays_deletions() {
    let store = Store::in_memory().unwrap();
    (0..2).for_each(|number| publish(&store, number..number + 1));
    assert!(
        open(&with_guard(&store, |access| access != Access::Delete)).compact(&|_| ControlFlow::Continue(())).is_err()
    );
    publish(&store, 2..3);
    let listed = Arc::new(AtomicBool::new(false));
    let (others, first) = (store.clone(), listed.clone());
    let cache = open(&with_guard(&store, move |_| {
        if first.swap(false, Ordering::Relaxed) {
            open(&others).shared.segments.delete(4).unwrap();
        }
        true
    }));
    listed.store(true, Ordering::Relaxed);
    let deleted = [(); 2].map(|()| cache.compact(&|_| ControlFlow::Continue(())).unwrap().deleted);
    assert_eq!((deleted, found(&cache, 0..2)), ([0, 2], 2));
}

#[test]
fn merge_opens_no_segment_that_is_open() {
    let store = Store::in_memory().unwrap();
    (0..3).for_each(|number| publish(&store, number..number + 1));
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = reads.clone();
    let cache = open(&with_guard(&store, move |access| {
        counted.fetch_add(usize::from(access == Access::Get), Ordering::Relaxed);
        true
    }));
    reads.store(0, Ordering::Relaxed);
    // No two of them fit together.
    let done = cache.shared.merge(Mergeable { entries: 1, ..Mergeable::ALL }).unwrap();
    assert_eq!((done, reads.load(Ordering::Relaxed)), (MergedSegments::default(), 3));
}

/// The open segment 3 replaced 1 and 2 of the set before.
#[test]
fn open_segment_of_a_set_that_is_begun_anew_replaces_nothing() {
    let store = Store::in_memory().unwrap();
    (0..2).for_each(|number| publish(&store, number..number + 1));
    let cache = open(&store);
    assert_eq!(cache.compact(&|_| ControlFlow::Continue(())).unwrap().deleted, 2);
    cache.shared.segments.delete(3).unwrap();
    (0..3).for_each(|number| publish(&store, number..number + 1));
    assert_eq!(cache.compact(&|_| ControlFlow::Continue(())).unwrap().deleted, 0);
    assert_eq!((cache.shared.segments.numbers().unwrap(), found(&open(&store), 0..3)), (vec![1, 2, 3], 3));
}

#[test]
fn segments_can_be_opened_while_a_lookup_reads_from_the_store() {
    let store = Store::in_memory().unwrap();
    publish(&store, 0..3);
    let reading = Arc::new(OnceLock::<Weak<EvaluationCache>>::new());
    let seen = reading.clone();
    // A request is refused where a refresh would wait for it.
    let cache = Arc::new(open(&with_guard(&store, move |_| {
        let cache = seen.get().and_then(Weak::upgrade);
        cache.as_ref().is_none_or(|cache| cache.shared.open.try_write().is_ok())
    })));
    reading.set(Arc::downgrade(&cache)).unwrap();
    assert_eq!(found(&cache, 0..3), 3);
}

#[test]
fn lookups_go_on_while_segments_are_merged() {
    let store = Store::in_memory().unwrap();
    (0..3).for_each(|number| publish(&store, number..number + 1));
    let merging = Arc::new(OnceLock::<Weak<EvaluationCache>>::new());
    let seen = merging.clone();
    // A request is refused where a refresh would wait, and lookups for it.
    let cache = Arc::new(open(&with_guard(&store, move |_| {
        let cache = seen.get().and_then(Weak::upgrade);
        cache.as_ref().is_none_or(|cache| cache.shared.open.try_write().is_ok())
    })));
    merging.set(Arc::downgrade(&cache)).unwrap();
    assert_eq!(cache.compact(&|_| ControlFlow::Continue(())).unwrap().merged, 3);
}

#[test]
fn merge_that_fails_is_no_failed_publication() {
    let store = Store::in_memory().unwrap();
    (0..7).for_each(|number| publish(&store, number..number + 1));
    let writer = open(&with_guard(&store, |access| access != Access::Delete));
    put(&writer, 7);
    writer.publish().unwrap();
    idle(&writer);
    assert_eq!((writer.segments(), found(&open(&store), 0..8)), (1, 8));
}

/// A store whose puts wait at a gate.
struct Gate {
    /// Lets one through, and all once it is dropped.
    open: Sender<()>,
    /// One that waits.
    waiting: Receiver<()>,
}

impl Gate {
    fn of(store: &Store) -> (Store, Gate) {
        let ((open, opened), (waits, waiting)) = (mpsc::channel(), mpsc::channel());
        let opened = Mutex::new(opened);
        let gated = with_guard(store, move |access| {
            if access == Access::Put {
                // The test may be over.
                let _ = waits.send(());
                let _ = opened.lock().unwrap().recv();
            }
            true
        });
        (gated, Gate { open, waiting })
    }

    fn wait_for_a_put(&self) {
        self.waiting.recv_timeout(PATIENCE).unwrap();
    }
}

#[test]
fn searches_wait_for_no_publication_and_for_no_merge() {
    let store = Store::in_memory().unwrap();
    (0..7).for_each(|number| publish(&store, number..number + 1));
    let (gated, gate) = Gate::of(&store);
    let cache = Arc::new(open(&gated));
    cache.shared.due.store(1, Ordering::Relaxed);
    let search = |number: u64| {
        let cache = Arc::clone(&cache);
        let searching = thread::spawn(move || {
            put(&cache, number);
            found(&cache, 0..number + 1)
        });
        wait_until("the search", || searching.is_finished());
        searching.join().unwrap()
    };
    assert_eq!(search(7), 8);
    gate.wait_for_a_put();
    assert_eq!(search(8), 9, "while evaluations are published");
    gate.open.send(()).unwrap();
    gate.wait_for_a_put();
    assert_eq!((cache.segments(), search(9)), (8, 10), "while segments are merged");
    drop(gate);
    idle(&cache);
    assert_eq!((cache.segments(), found(&cache, 0..10)), (1, 10));
}

#[test]
fn end_of_a_program_waits_for_no_merge() {
    let store = Store::in_memory().unwrap();
    (0..7).for_each(|number| publish(&store, number..number + 1));
    let (gated, gate) = Gate::of(&store);
    let cache = open(&gated);
    let shared = Arc::clone(&cache.shared);
    put(&cache, 7);
    gate.open.send(()).unwrap();
    cache.publish().unwrap();
    (0..2).for_each(|_| gate.wait_for_a_put());
    let ending = thread::spawn(|| drop(cache));
    wait_until("the end", || ending.is_finished());
    assert_eq!((shared.segments.numbers().unwrap().len(), found(&open(&store), 0..8)), (8, 8), "as after a kill");
    drop(gate);
    shared.merges.wait();
    assert_eq!((shared.segments.numbers().unwrap(), found(&open(&store), 0..8)), (vec![9], 8));
}

#[test]
fn merge_ends_where_its_process_needs_it_no_more() {
    let store = Store::in_memory().unwrap();
    (0..3).for_each(|number| publish(&store, number..number + 1));
    let seen = Arc::new(OnceLock::<Weak<Shared>>::new());
    let closing = Arc::clone(&seen);
    // Its process ends once it has made a request.
    let cache = open(&with_guard(&store, move |_| {
        let shared = closing.get().and_then(Weak::upgrade);
        shared.into_iter().for_each(|shared| shared.closed.store(true, Ordering::Relaxed));
        true
    }));
    seen.set(Arc::downgrade(&cache.shared)).unwrap();
    assert_eq!(cache.compact(&|_| ControlFlow::Continue(())).unwrap(), MergedSegments::default());
    assert_eq!((cache.shared.segments.numbers().unwrap(), found(&cache, 0..3)), (vec![1, 2, 3], 3));
}

/// Each try takes half a minute where the bucket is away.
#[test]
fn bucket_that_cannot_be_read_is_not_read_before_it_was_listed_again() {
    let store = Store::in_memory().unwrap();
    publish(&store, 0..3);
    let (readable, reads) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (allowed, counted) = (Arc::clone(&readable), Arc::clone(&reads));
    let cache = open(&with_guard(&store, move |access| {
        counted.fetch_add(usize::from(access == Access::Get), Ordering::Relaxed);
        allowed.load(Ordering::Relaxed)
    }));
    readable.store(false, Ordering::Relaxed);
    reads.store(0, Ordering::Relaxed);
    assert_eq!((found(&cache, 0..3), reads.load(Ordering::Relaxed)), (0, 1));
    readable.store(true, Ordering::Relaxed);
    assert_eq!((found(&cache, 0..3), reads.load(Ordering::Relaxed)), (0, 1));
    cache.shared.refreshed.lock().unwrap().at -= 2 * REFRESH_AFTER;
    found(&cache, 0..1);
    idle(&cache);
    assert_eq!(found(&cache, 0..3), 3);
}

/// As where a read of the last block is short, which fails at once.
#[test]
fn segment_that_is_cut_in_a_bucket_hinders_no_lookup_of_other_blocks() {
    let store = Store::in_memory().unwrap();
    publish(&store, 0..1000);
    let cache = open(&store);
    let segments = &cache.shared.segments;
    let mut bytes = first_segment(segments);
    bytes.truncate(end_of_blocks(&bytes) - 1);
    segments.delete(1).unwrap();
    assert_eq!(segments.publish(&bytes.into()).unwrap(), 1);
    let missing = 1000 - found(&cache, 0..1000);
    assert!((1..=256).contains(&missing), "{missing} evaluations");
}

#[test]
fn segments_of_short_programs_are_merged_by_the_program_that_comes_next() {
    let store = Store::in_memory().unwrap();
    let mut programs = 0;
    let mut next = |count: u64| {
        (programs..programs + count).for_each(|number| publish(&store, number..number + 1));
        programs += count;
        let cache = open(&store);
        idle(&cache);
        (cache.segments(), found(&cache, 0..programs))
    };
    assert_eq!([next(7), next(1)], [(7, 7), (1, 8)]);
}

/// The segment that replaces four others is published; then the process is killed, before or between the deletions of
/// these.
#[test]
fn compaction_that_is_killed_between_its_steps_leaves_every_evaluation() {
    for deletions in 0..=4 {
        let store = Store::in_memory().unwrap();
        (0..4).for_each(|number| publish(&store, number..number + 1));
        let (early, deleted) = (open(&store), AtomicUsize::new(0));
        let killed = with_guard(&store, move |access| {
            access != Access::Delete || deleted.fetch_add(1, Ordering::Relaxed) < deletions
        });
        assert_eq!(open(&killed).compact(&|_| ControlFlow::Continue(())).is_err(), deletions < 4);
        assert_eq!(early.shared.segments.numbers().unwrap().len(), 5 - deletions);
        let reader = open(&store);
        assert_eq!((reader.segments(), found(&reader, 0..4), found(&early, 0..4)), (1, 4, 4), "{deletions} deletions");
        reader.compact(&|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(
            (early.shared.segments.numbers().unwrap(), found(&reader, 0..4)),
            (vec![5], 4),
            "{deletions} deletions"
        );
    }
}
