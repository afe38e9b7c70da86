//! Evaluations that are not published yet.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use evalcache::Key;

/// New evaluations. Those that are being published are apart from those that are added meanwhile, so that neither a
/// copy nor a walk over all of them holds up the threads that search.
#[derive(Default)]
pub(super) struct Recent {
    pub(super) added: Codes,
    /// They stay the same until they are published, however many tries that takes.
    publishing: Option<Arc<Codes>>,
}

/// The codes of evaluations in one buffer.
#[derive(Default)]
pub(super) struct Codes {
    bytes: Vec<u8>,
    places: HashMap<Key, Range<usize>>,
}

impl Recent {
    /// All of them, those that were added again while they were being published counted twice.
    pub(super) fn len(&self) -> usize {
        self.added.len() + self.publishing.as_ref().map_or(0, |codes| codes.len())
    }

    pub(super) fn get(&self, key: Key) -> Option<&[u8]> {
        self.added.get(key).or_else(|| self.publishing.as_ref()?.get(key))
    }

    /// Adds an evaluation, instead of the one that the key has.
    pub(super) fn put(&mut self, key: Key, code: &[u8]) {
        self.added.put(key, code);
    }

    /// The evaluations of a publication that is not done.
    pub(super) fn publishing(&self) -> Option<Arc<Codes>> {
        self.publishing.clone()
    }

    /// Begins the publication of what was added; what is added next goes to the `empty` codes.
    pub(super) fn begin_publication(&mut self, empty: Codes) -> Arc<Codes> {
        let codes = Arc::new(std::mem::replace(&mut self.added, empty));
        self.publishing = Some(Arc::clone(&codes));
        codes
    }

    /// Forgets what was published.
    pub(super) fn end_publication(&mut self) {
        self.publishing = None;
    }
}

impl Codes {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Evaluations that it has space for, and bytes of their codes.
    pub(super) fn capacity(&self) -> (usize, usize) {
        (self.places.capacity(), self.bytes.capacity())
    }

    /// None, with space for as many as others had: to add these allocates nothing.
    pub(super) fn with_capacity((evaluations, bytes): (usize, usize)) -> Codes {
        Codes { bytes: Vec::with_capacity(bytes), places: HashMap::with_capacity(evaluations) }
    }

    fn get(&self, key: Key) -> Option<&[u8]> {
        self.places.get(&key).map(|place| &self.bytes[place.clone()])
    }

    fn put(&mut self, key: Key, code: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(code);
        self.places.insert(key, start..self.bytes.len());
    }

    /// The evaluations in order of key.
    pub(super) fn sorted(&self) -> Vec<(Key, &[u8])> {
        let mut all: Vec<(Key, &[u8])> =
            self.places.iter().map(|(key, place)| (*key, &self.bytes[place.clone()])).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bits: u128) -> Key {
        Key::from_bits(bits)
    }

    #[test]
    fn publication_keeps_what_is_added_meanwhile() {
        let mut recent = Recent::default();
        recent.put(key(3), b"three");
        recent.put(key(1), b"one");
        let codes = recent.begin_publication(Codes::with_capacity(recent.added.capacity()));
        assert_eq!(codes.sorted(), [(key(1), &b"one"[..]), (key(3), b"three")]);
        recent.put(key(2), b"two");
        recent.put(key(1), b"again");
        assert_eq!(
            (recent.len(), recent.get(key(1)), recent.get(key(3))),
            (4, Some(&b"again"[..]), Some(&b"three"[..]))
        );
        assert_eq!(recent.publishing().map(|codes| codes.len()), Some(2), "a failure changes nothing");
        recent.end_publication();
        assert_eq!(recent.added.sorted(), [(key(1), &b"again"[..]), (key(2), b"two")]);
        assert_eq!((recent.len(), recent.get(key(3)), recent.publishing().is_none()), (2, None, true));
    }
}
