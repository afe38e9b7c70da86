//! Evaluations that are not published yet.

use std::collections::HashMap;
use std::ops::Range;

use evalcache::Key;

/// The codes of evaluations in one buffer. Adding one allocates nothing while there were more before the last publication.
#[derive(Clone, Default)]
pub(super) struct Recent {
    codes: Vec<u8>,
    places: HashMap<Key, Range<usize>>,
}

impl Recent {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, key: Key) -> Option<&[u8]> {
        self.places.get(&key).map(|place| &self.codes[place.clone()])
    }

    /// Adds an evaluation, instead of the one that the key has.
    pub(super) fn put(&mut self, key: Key, code: &[u8]) {
        let start = self.codes.len();
        self.codes.extend_from_slice(code);
        self.places.insert(key, start..self.codes.len());
    }

    /// The bytes of all codes. What is added later begins after them.
    pub(super) fn bytes(&self) -> usize {
        self.codes.len()
    }

    /// The evaluations in order of key.
    pub(super) fn sorted(&self) -> Vec<(Key, &[u8])> {
        let mut all: Vec<(Key, &[u8])> =
            self.places.iter().map(|(key, place)| (*key, &self.codes[place.clone()])).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    /// Forgets the evaluations of the first so many [`bytes`](Recent::bytes).
    pub(super) fn forget(&mut self, bytes: usize) {
        self.codes.drain(..bytes);
        self.places.retain(|_, place| place.start >= bytes);
        self.places.values_mut().for_each(|place| *place = place.start - bytes..place.end - bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bits: u128) -> Key {
        Key::from_bits(bits)
    }

    #[test]
    fn forget_keeps_what_was_added_later() {
        let mut recent = Recent::default();
        recent.put(key(3), b"three");
        recent.put(key(1), b"one");
        assert_eq!(recent.sorted(), [(key(1), &b"one"[..]), (key(3), b"three")]);
        let bytes = recent.bytes();
        recent.put(key(2), b"two");
        recent.put(key(1), b"again");
        assert_eq!((recent.len(), recent.get(key(1))), (3, Some(&b"again"[..])));
        recent.forget(bytes);
        assert_eq!(recent.sorted(), [(key(1), &b"again"[..]), (key(2), b"two")]);
        recent.forget(recent.bytes());
        assert_eq!((recent.len(), recent.bytes(), recent.get(key(2))), (0, 0, None));
    }
}
