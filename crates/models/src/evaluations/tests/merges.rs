//! Which segments are merged.

use super::*;

#[test]
fn compaction_merges_until_nothing_fits_together() {
    let store = Store::in_memory().unwrap();
    for nth in 0..6 {
        let cache = open(&store);
        (nth * 50..nth * 50 + 50).for_each(|number| drop(put(&cache, number)));
    }
    let (cache, most) = (open(&store), Mergeable { entries: 100, ..Mergeable::ALL });
    let until_merged = |done: &MergedSegments| match done.merged {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let first = cache.shared.merge_all(most, &until_merged).unwrap();
    assert_eq!((first.merged, cache.segments()), (2, 5));
    let rest = cache.shared.merge_all(most, &|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(rest, MergedSegments { merged: 4, evaluations: 200, deleted: 4, damaged: 0 });
    assert_eq!((cache.segments(), found(&cache, 0..300)), (3, 300));
}

#[test]
fn merges_that_are_due_at_once_are_done_at_once() {
    let (cache, most) = (open(&Store::in_memory().unwrap()), Mergeable { entries: 200, ..Mergeable::SIMILAR });
    let publish = |numbers: Range<u64>| {
        numbers.for_each(|number| drop(put(&cache, number)));
        cache.shared.publish().unwrap();
    };
    // Four fill a merged segment.
    (0..16).for_each(|nth| publish(nth * 50..nth * 50 + 50));
    cache.shared.merge_or_log(most);
    assert_eq!((cache.segments(), found(&cache, 0..800)), (4, 800));
    // Two that are small fit together, and are not worth a merge.
    (800..802).for_each(|number| publish(number..number + 1));
    cache.shared.merge_or_log(most);
    assert_eq!((cache.segments(), found(&cache, 0..802)), (6, 802));
}

#[test]
fn merged_segments_have_bounds() {
    let store = Store::in_memory().unwrap();
    for nth in 0..4 {
        let cache = open(&store);
        (nth * 50..nth * 50 + 50).for_each(|number| drop(put(&cache, number)));
    }
    let cache = open(&store);
    let each = cache.bytes() / 4;
    for (most, merged) in [
        (Mergeable { bytes: each + each / 2, ..Mergeable::ALL }, 0),
        (Mergeable { entries: 99, ..Mergeable::ALL }, 0),
        (Mergeable { bytes: 2 * each + each / 2, ..Mergeable::ALL }, 2),
        (Mergeable { entries: 150, ..Mergeable::ALL }, 2),
        (Mergeable { entries: 200, ..Mergeable::ALL }, 2),
    ] {
        assert_eq!(cache.shared.merge(most).unwrap().merged, merged, "{} and {}", most.entries, most.bytes);
        assert_eq!(found(&cache, 0..200), 200);
    }
}

#[test]
fn similar_segments_are_merged_beside_smaller_and_larger_ones() {
    let store = Store::in_memory().unwrap();
    let cache = open(&store);
    let publish = |numbers: Range<u64>| {
        numbers.for_each(|number| drop(put(&cache, number)));
        cache.publish().unwrap();
        idle(&cache);
        cache.segments()
    };
    publish(0..1);
    publish(1000..3000);
    // Of the first eight segments six are similar.
    let segments: Vec<usize> = (2..16).map(|nth| publish(50 * nth..50 * nth + 50)).collect();
    assert_eq!(segments, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 3]);
    assert_eq!((found(&cache, 0..1), found(&cache, 100..800), found(&cache, 1000..3000)), (1, 700, 2000));
}
