//! Answers that were given before.
//!
//! The key is what the network sees: the planes, symmetry included. So a hit is exactly what another evaluation would
//! give, whichever game asks and however full the cache is, and positions that are turned into each other share their
//! answers where their symmetries show the network the same planes: in self-play always, where a position has its symmetry, and
//! elsewhere one time in eight.

use go::Size;
use xxhash_rust::xxh3::xxh3_128;

/// The answers of one network, for one thread. A new answer takes the place of whatever was in its slot.
pub(crate) struct Cache {
    moves: usize,
    /// One for each slot; 0 where there is nothing yet.
    keys: Vec<u128>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

impl Cache {
    /// A cache that takes up to so many bytes; without room for a single answer, none.
    pub(crate) fn new(size: Size, bytes: usize) -> Option<Cache> {
        let moves = size.moves();
        let slots = bytes / (size_of::<u128>() + (moves + 1) * size_of::<f32>());
        let cache =
            || Cache { moves, keys: vec![0; slots], policies: vec![0.0; slots * moves], values: vec![0.0; slots] };
        (slots > 0).then(cache)
    }

    /// The key of a position, given by its planes: 128 bits, so that two positions never share one in practice.
    pub(crate) fn key(planes: &[u8]) -> u128 {
        xxh3_128(planes).max(1)
    }

    fn slot(&self, key: u128) -> usize {
        (key % self.keys.len() as u128) as usize
    }

    /// The policy, as the network gave it, and the value for the side to move.
    pub(crate) fn get(&self, key: u128) -> Option<(&[f32], f32)> {
        let slot = self.slot(key);
        (self.keys[slot] == key).then(|| (&self.policies[slot * self.moves..][..self.moves], self.values[slot]))
    }

    pub(crate) fn put(&mut self, key: u128, policy: &[f32], value: f32) {
        let slot = self.slot(key);
        self.keys[slot] = key;
        self.policies[slot * self.moves..][..self.moves].copy_from_slice(policy);
        self.values[slot] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(slots: usize) -> Cache {
        Cache::new(Size::MIN, slots * (16 + 6 * 4)).unwrap()
    }

    #[test]
    fn cache_stays_within_its_bytes() {
        assert!(Cache::new(Size::MIN, 39).is_none());
        assert_eq!(cache(3).keys.len(), 3);
    }

    #[test]
    fn an_answer_is_found_until_another_takes_its_slot() {
        let mut cache = cache(2);
        let answer = [0.1, 0.2, 0.3, 0.4, 0.0];
        assert_eq!(cache.get(8), None);
        cache.put(8, &answer, -0.5);
        cache.put(9, &[0.2; 5], 0.5);
        assert_eq!(cache.get(8), Some((&answer[..], -0.5)));
        assert_eq!(cache.get(10), None, "the slot of 8, and another key");
        cache.put(10, &[0.2; 5], 0.25);
        assert_eq!((cache.get(8), cache.get(10).unwrap().1), (None, 0.25));
    }

    #[test]
    fn keys_tell_planes_apart() {
        let planes = [[0u8, 1, 0], [1, 0, 0], [0, 0, 0]];
        let keys: std::collections::BTreeSet<u128> = planes.iter().map(|planes| Cache::key(planes)).collect();
        assert_eq!(keys.len(), 3);
    }
}
