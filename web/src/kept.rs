//! Values that took work, at most so many.

use std::collections::BTreeMap;

/// Values by key. Of more than fit, the least recently used is forgotten.
pub(crate) struct Kept<K, V> {
    most: usize,
    uses: u64,
    /// Each with its last use.
    values: BTreeMap<K, (u64, V)>,
}

impl<K: Ord + Clone, V: Clone> Kept<K, V> {
    /// Keeps at most so many.
    pub(crate) fn new(most: usize) -> Kept<K, V> {
        Kept { most, uses: 0, values: BTreeMap::new() }
    }

    /// The value of a key, which is used now.
    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        self.uses += 1;
        let (used, value) = self.values.get_mut(key)?;
        *used = self.uses;
        Some(value.clone())
    }

    /// Keeps a value, which is used now.
    pub(crate) fn put(&mut self, key: K, value: V) {
        self.uses += 1;
        self.values.insert(key, (self.uses, value));
        if self.values.len() > self.most {
            let oldest = self.values.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| self.values.remove(&key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_value_is_forgotten() {
        let mut kept = Kept::new(2);
        kept.put("a", 1);
        kept.put("b", 2);
        assert_eq!(kept.get(&"a"), Some(1));
        kept.put("c", 3);
        assert_eq!((kept.get(&"a"), kept.get(&"b"), kept.get(&"c")), (Some(1), None, Some(3)));
        kept.put("a", 4);
        assert_eq!((kept.get(&"a"), kept.get(&"c")), (Some(4), Some(3)));
    }
}
