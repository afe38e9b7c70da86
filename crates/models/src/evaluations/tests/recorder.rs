//! The metrics of a cache, as a recorder sees them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use metrics::{Counter, Gauge, Histogram, KeyName, Metadata, Recorder, SharedString, Unit, with_local_recorder};

use super::*;

/// The numbers of all metrics of this thread, by name.
#[derive(Default)]
struct Numbers(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

impl Numbers {
    fn of(&self, name: &str) -> Arc<AtomicU64> {
        self.0.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }

    fn count(&self, name: &str) -> u64 {
        self.of(&format!("tengen_evalcache_{name}_total")).load(Ordering::Relaxed)
    }

    fn gauge(&self, name: &str) -> f64 {
        f64::from_bits(self.of(&format!("tengen_evalcache_{name}")).load(Ordering::Relaxed))
    }
}

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &metrics::Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.of(key.name()))
    }

    fn register_gauge(&self, key: &metrics::Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.of(key.name()))
    }

    fn register_histogram(&self, _: &metrics::Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Replaces the first segment by one whose last block is damaged.
fn damage(segments: &Evaluations) {
    let mut bytes = first_segment(segments);
    let end = end_of_blocks(&bytes);
    bytes[end - 1] ^= 1;
    segments.delete(1).unwrap();
    assert_eq!(segments.publish(&bytes.into()).unwrap(), 1);
}

#[test]
fn metrics_have_lookups_bytes_errors_and_what_is_open() {
    let numbers = Numbers::default();
    let open_now = || (numbers.gauge("evaluations"), numbers.gauge("bytes"));
    with_local_recorder(&numbers, || {
        let store = Store::in_memory().unwrap();
        let cache = open(&store);
        (0..300).for_each(|number| drop(put(&cache, number)));
        assert_eq!((numbers.count("written_bytes"), open_now()), (0, (0.0, 0.0)));
        cache.publish().unwrap();
        let bytes = cache.bytes();
        assert_eq!((numbers.count("written_bytes"), open_now()), (bytes, (300.0, bytes as f64)));
        found(&cache, 0..310);
        assert_eq!((cache.lookups().hits, cache.lookups().misses, numbers.count("errors")), (300, 10, 0));
        assert_eq!((numbers.count("hits"), numbers.count("misses")), (256, 0), "the others follow");

        damage(&cache.shared.segments);
        let damaged = open(&store);
        assert_eq!(open_now(), (600.0, 2.0 * bytes as f64), "two caches");
        drop(cache);
        assert_eq!((numbers.count("hits"), numbers.count("misses")), (300, 10));
        assert_eq!(open_now(), (300.0, bytes as f64));
        let lost = 300 - found(&damaged, 0..300);
        assert!(lost > 0 && numbers.count("errors") == lost, "{lost}");
        drop(damaged);

        let refused = open(&with_guard(&store, |access| access != Access::Put));
        refused.shared.due.store(1, Ordering::Relaxed);
        put(&refused, 999);
        idle(&refused);
        assert_eq!((numbers.count("errors"), numbers.count("written_bytes")), (lost + 1, bytes));
        drop(refused);
        assert_eq!(numbers.count("errors"), lost + 2, "the last publication");
    });
    assert_eq!(open_now(), (0.0, 0.0));
}
