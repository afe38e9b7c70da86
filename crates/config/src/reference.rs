//! The reference of every key, from the schema.

use std::collections::BTreeMap;

use serde_json::Value as Schema;
use toml::de::{DeTable, DeValue};

use crate::{Preset, RunConfig, bounds, keys, schema};

/// A section of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name; empty for the keys above all sections.
    pub name: String,
    /// Its description.
    pub about: String,
    /// Its keys, in order.
    pub keys: Vec<Key>,
}

/// A key of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its full name, such as `search.visits`.
    pub name: String,
    /// Its description: the first line is a summary.
    pub about: String,
    /// The type of its value.
    pub kind: String,
    /// The range of its value, such as "from 2 to 19".
    pub range: Option<String>,
    /// The words that it takes, each with its meaning.
    pub words: Vec<(String, String)>,
}

impl Key {
    /// The first line of the description.
    pub fn summary(&self) -> &str {
        self.about.lines().next().unwrap_or_default()
    }

    /// Its value in a configuration, as TOML on one line.
    pub fn value(&self, config: &RunConfig) -> String {
        keys::value(&config.table(), &self.name)
    }
}

/// Every section with every key, in the order of the file.
pub fn sections() -> Vec<Section> {
    let entries = schema::properties(schema::complete()).into_iter().flatten();
    let (sections, single): (Vec<_>, Vec<_>) = entries.partition(|(_, schema)| schema["type"] == "object");
    let top = Section {
        name: String::new(),
        about: String::new(),
        keys: single.into_iter().map(|(name, schema)| key("", name, schema)).collect(),
    };
    let section = |(name, schema): (&String, &Schema)| Section {
        name: name.clone(),
        about: about(schema),
        keys: schema::properties(schema)
            .into_iter()
            .flatten()
            .map(|(inner, schema)| key(name, inner, schema))
            .collect(),
    };
    let mut sections: Vec<Section> = [top].into_iter().chain(sections.into_iter().map(section)).collect();
    let text = Preset::Base.config().to_toml();
    let order = positions(&text);
    let position = |name: &str| order.get(name).copied().unwrap_or_default();
    sections.iter_mut().for_each(|section| section.keys.sort_by_key(|key| position(&key.name)));
    sections.sort_by_key(|section| position(&section.name));
    sections
}

/// The position of every section and key in a text. The maps of the schema are sorted by name.
fn positions(text: &str) -> BTreeMap<String, usize> {
    let table = DeTable::parse(text).expect("TOML that was written can be read");
    let mut positions = BTreeMap::new();
    for (name, value) in table.get_ref() {
        positions.insert(name.get_ref().to_string(), name.span().start);
        if let DeValue::Table(section) = value.get_ref() {
            let keys = section.keys().map(|key| (keys::join(name.get_ref(), key.get_ref()), key.span().start));
            positions.extend(keys);
        }
    }
    positions
}

fn key(section: &str, name: &str, schema: &Schema) -> Key {
    Key {
        name: keys::join(section, name),
        about: about(schema),
        kind: kind(schema),
        range: bounds::in_words(schema),
        words: words(schema),
    }
}

fn about(schema: &Schema) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn alternatives(schema: &Schema) -> impl Iterator<Item = &Schema> {
    ["oneOf", "anyOf"].into_iter().filter_map(|name| schema[name].as_array()).flatten()
}

fn words(schema: &Schema) -> Vec<(String, String)> {
    let word = |schema: &Schema| Some((schema["const"].as_str()?.to_owned(), about(schema)));
    alternatives(schema).filter_map(word).collect()
}

fn kind(schema: &Schema) -> String {
    let of_type = |name: &str| match name {
        "integer" => "whole number",
        "number" => "number",
        "boolean" => "true or false",
        "array" => "list of tables",
        _ => "word",
    };
    let own = schema["type"].as_str().map(of_type);
    let mut kinds: Vec<&str> = own.into_iter().collect();
    for alternative in alternatives(schema).filter_map(|schema| schema["type"].as_str()).map(of_type) {
        if !kinds.contains(&alternative) {
            kinds.push(alternative);
        }
    }
    let fields = schema.get("items").and_then(schema::properties).into_iter().flatten();
    let fields: Vec<String> =
        fields.map(|(name, schema)| format!("`{name}` ({}): {}", kind(schema), about(schema))).collect();
    let kinds = kinds.join(" or ");
    if fields.is_empty() { kinds } else { format!("{kinds}: {}", fields.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::minigo;

    fn key(name: &str) -> Key {
        sections().into_iter().flat_map(|section| section.keys).find(|key| key.name == name).unwrap()
    }

    #[test]
    fn every_key_is_explained() {
        let config = minigo(&[]);
        let kinds = ["whole number", "number", "true or false", "word or number", "word or whole number", "word"];
        for section in sections() {
            assert!(section.name.is_empty() || !section.about.is_empty(), "{section:?}");
            for key in section.keys {
                assert!(key.summary().len() > 8 && key.summary().ends_with('.'), "{key:?}");
                assert!(kinds.contains(&&*key.kind) || key.kind.starts_with("list of tables: `"), "{key:?}");
                assert_eq!(key.kind.starts_with("word"), !key.words.is_empty(), "{key:?}");
                assert!(key.words.iter().all(|(_, about)| !about.is_empty()), "{key:?}");
                assert!(!key.value(&config).is_empty(), "{key:?}");
            }
        }
    }

    #[test]
    fn ranges_are_those_that_are_checked() {
        assert_eq!(key("game.size").range.unwrap(), "from 2 to 19");
        assert_eq!(key("game.komi").range.unwrap(), "a multiple of 0.5");
        assert_eq!(key("network.blocks").range.unwrap(), "from 0 to 80");
        assert_eq!(key("selfplay.full_search_fraction").range.unwrap(), "above 0, up to 1");
        assert_eq!(key("evaluate.games_per_pair").range.unwrap(), "from 2 to 1000000, a multiple of 2");
        assert_eq!(key("search.c_puct_init").range.unwrap(), "at least 0");
        assert_eq!(key("train.norm_batch").range, None);
    }

    #[test]
    fn words_are_accepted() {
        for section in sections() {
            for key in section.keys {
                for (word, _) in &key.words {
                    let error = Preset::Minigo.with(&[format!("{}={word}", key.name)]).err();
                    assert!(!matches!(error, Some(crate::ConfigError::Toml(_))), "{}={word}: {error:?}", key.name);
                }
            }
        }
        let words: Vec<String> = key("game.scoring").words.into_iter().map(|(word, _)| word).collect();
        assert_eq!(words, ["pass-alive", "area"]);
    }
}
