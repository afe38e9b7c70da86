//! Which keys of two configurations differ.

use toml::{Table, Value};

use crate::RunConfig;

/// A key that has different values in two configurations.
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
    /// The keys that have another value in another configuration, in their order.
    pub fn differences(&self, other: &RunConfig) -> Vec<Difference> {
        let table = |config: &RunConfig| -> Table {
            config.to_toml().parse().expect("what was written as TOML can be read as TOML")
        };
        let mut found = Vec::new();
        collect("", &table(self), &table(other), &mut found);
        found
    }
}

fn collect(path: &str, one: &Table, other: &Table, found: &mut Vec<Difference>) {
    let absent = Value::String("absent".to_owned());
    let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
    for key in keys {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (one.get(key).unwrap_or(&absent), other.get(key).unwrap_or(&absent)) {
            (Value::Table(one), Value::Table(other)) => collect(&full, one, other, found),
            (one, other) if one != other => {
                found.push(Difference { key: full, one: one.to_string(), other: other.to_string() });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_by_key_and_value() {
        let template = include_str!("template.toml");
        let plain = RunConfig::from_toml(template).unwrap();
        let changes = ["search.visits=50", "seed=9", "train.grow=[]"].map(str::to_owned);
        let other = RunConfig::from_toml_with(template, &changes).unwrap();
        assert_eq!(plain.differences(&plain), []);
        let found = other.differences(&plain);
        let keys: Vec<&str> = found.iter().map(|found| found.key.as_str()).collect();
        assert!(keys.contains(&"search.visits") && keys.contains(&"seed"), "{keys:?}");
        let visits = found.iter().find(|found| found.key == "search.visits").unwrap();
        assert_eq!((visits.one.as_str(), &visits.other), ("50", &plain.search.visits.to_string()));
    }
}
