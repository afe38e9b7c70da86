//! Differences between two configurations.

use crate::keys::value;
use crate::{RunConfig, reference};

/// A key with two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its full name, such as `search.visits`.
    pub key: String,
    /// Its value in the one, as TOML.
    pub one: String,
    /// Its value in the other.
    pub other: String,
}

impl RunConfig {
    /// The keys whose values differ, in the order of the file.
    pub fn differences(&self, other: &RunConfig) -> Vec<Difference> {
        let (one, other) = (self.table(), other.table());
        let keys = reference::sections().into_iter().flat_map(|section| section.keys).map(|key| key.name);
        let values = keys.map(|key| Difference { one: value(&one, &key), other: value(&other, &key), key });
        values.filter(|difference| difference.one != difference.other).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::test::minigo;

    #[test]
    fn differences_name_keys_and_values() {
        let found =
            minigo(&[]).differences(&minigo(&["loop.models=3", "seed=2", "train.l2=0.3", "search.q_init=zero"]));
        let found: Vec<[&str; 3]> = found.iter().map(|d| [&*d.key, &*d.one, &*d.other]).collect();
        let expected = [
            ["seed", "1", "2"],
            ["search.q_init", "\"loss\"", "\"zero\""],
            ["train.l2", "0.0001", "0.3"],
            ["loop.models", "1000", "3"],
        ];
        assert_eq!(found, expected);
        assert_eq!(minigo(&[]).differences(&minigo(&[])), []);
    }
}
