//! Names of keys: no unknown one in a file, no missing one in a complete configuration.

use serde_json::Value as Schema;
use toml::{Table, Value};

use crate::{ConfigError, schema};

/// Refuses the first key that the schema does not have, and names the known key nearest to it.
pub(crate) fn refuse_unknown(table: &Table) -> Result<(), ConfigError> {
    walk(table, schema::complete(), "")
}

/// A value as TOML on one line; empty if there is none.
pub(crate) fn value(table: &Table, key: &str) -> String {
    let mut parts = key.split('.');
    let first = parts.next().and_then(|part| table.get(part));
    parts.fold(first, |value, part| value?.get(part)).map(Value::to_string).unwrap_or_default()
}

fn walk(table: &Table, schema: &Schema, path: &str) -> Result<(), ConfigError> {
    // A table where the schema has none is an error of type, and not of a name.
    let Some(known) = schema::properties(schema) else { return Ok(()) };
    for (name, value) in table {
        let key = join(path, name);
        let Some(schema) = known.get(name) else {
            return Err(ConfigError::UnknownKey { key, nearest: nearest(name, known.keys(), path) });
        };
        match value {
            Value::Table(inner) => walk(inner, schema, &key)?,
            Value::Array(entries) => {
                entries.iter().filter_map(Value::as_table).try_for_each(|entry| walk(entry, schema, &key))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>, path: &str) -> Option<String> {
    let distance = |candidate: &&String| strsim::damerau_levenshtein(name, candidate);
    let nearest = known.min_by_key(distance).filter(|near| distance(near) <= name.len().div_ceil(2))?;
    Some(join(path, nearest))
}

/// Refuses a configuration that lacks a key.
pub(crate) fn refuse_missing(table: &Table) -> Result<(), ConfigError> {
    for (name, schema) in schema::properties(schema::complete()).into_iter().flatten() {
        let Some(value) = table.get(name) else { return Err(ConfigError::Missing { key: name.clone() }) };
        let Some(section) = value.as_table() else { continue };
        let mut keys = schema::properties(schema).into_iter().flat_map(|keys| keys.keys());
        if let Some(key) = keys.find(|key| !section.contains_key(*key)) {
            return Err(ConfigError::Missing { key: join(name, key) });
        }
    }
    Ok(())
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use crate::test::{error, minigo};
    use crate::{Preset, RunConfig, reference};

    #[test]
    fn unknown_key_names_the_nearest_known_one() {
        assert_eq!(error(&["search.visist=50"]), "unknown key search.visist; did you mean search.visits?");
        assert_eq!(error(&["serach.visits=50"]), "unknown key serach; did you mean search?");
        assert_eq!(error(&["sede=50"]), "unknown key sede; did you mean seed?");
        assert_eq!(error(&["search.xyzzy=1"]), "unknown key search.xyzzy");
        assert_eq!(
            error(&["train.learning_rate=[{from_step=0,raet=0.1}]"]),
            "unknown key train.learning_rate.raet; did you mean train.learning_rate.rate?"
        );
    }

    /// Every key of every section, with two letters exchanged.
    #[test]
    fn misspelt_key_of_each_section_is_an_error() {
        let mut sections = 0;
        for section in reference::sections() {
            for key in &section.keys {
                let (path, name) = key.name.rsplit_once('.').unwrap_or(("", &key.name));
                let misspelt = super::join(path, &format!("{}{}{}", &name[..1], "x", &name[1..]));
                let expected = format!("unknown key {misspelt}; did you mean {}?", key.name);
                assert_eq!(error(&[&format!("{misspelt}=1")]), expected);
            }
            sections += 1;
        }
        assert_eq!(sections, 11);
    }

    #[test]
    fn missing_key_is_an_error() {
        let text = minigo(&[]).to_toml();
        for section in reference::sections() {
            for key in &section.keys {
                let mut table: toml::Table = text.parse().unwrap();
                match key.name.split_once('.') {
                    Some((section, name)) => table[section].as_table_mut().unwrap().remove(name),
                    None => table.remove(&key.name),
                };
                let message = RunConfig::from_toml(&table.to_string()).unwrap_err().to_string();
                assert!(message.starts_with(&format!("missing key {}; add it", key.name)), "{message}");
            }
        }
        assert_eq!(Preset::Minigo.config(), minigo(&[]));
    }
}
