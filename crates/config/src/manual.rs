//! The manual of every key, out of the code itself: what a key means is the comment on its field, what its words mean
//! the comments on the variants of its type, and its range what the checks say of values that are out of it.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::{ConfigError, RunConfig};

const SOURCE: &str = include_str!("sections.rs");
const TEMPLATE: &str = include_str!("template.toml");

/// The type at the top of the file.
const WHOLE: &str = "RunConfig";

/// Values that lie outside of some range, or of several.
const TRIED: [&str; 14] = [
    "-1000",
    "-1",
    "0",
    "1",
    "2",
    "3",
    "0.3",
    "1.5",
    "100000000",
    "1e30",
    "nan",
    "true",
    "[{ from_step = 1, rate = 1.0 }]",
    "[{ from_step = 0, rate = 0.0 }]",
];
/// What a range may depend on.
const BASES: [&[&str]; 3] =
    [&[], &["search.algorithm=gumbel", "selfplay.choice_moves=0"], &["game.scoring=area", "search.skip_decided=false"]];

/// A section of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name; empty for what stands above all sections.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// Its keys, in order.
    pub keys: Vec<Key>,
}

/// A key of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its full name, such as `search.visits`.
    pub name: String,
    /// What kind of value it takes.
    pub kind: String,
    /// What it means.
    pub about: String,
    /// The words it takes, each with its meaning, where it takes words.
    pub words: Vec<(String, String)>,
    /// What its value must be.
    pub rules: Vec<&'static str>,
}

impl Key {
    /// Its value in a configuration, as the file spells it.
    pub fn value(&self, config: &RunConfig) -> String {
        let table: Table = config.to_toml().parse().expect("what was written can be read");
        let mut parts = self.name.split('.');
        let first = parts.next().and_then(|part| table.get(part));
        let value = parts.fold(first, |value, part| value?.get(part));
        value.map(Value::to_string).unwrap_or_default()
    }
}

/// The configuration that has every key: Minigo's settings where it published them.
pub fn template() -> RunConfig {
    RunConfig::from_toml(TEMPLATE).expect("the template is tested")
}

/// Every section with every key.
pub fn manual() -> Vec<Section> {
    let types = Types::read(SOURCE);
    let (sections, single): (Vec<&Field>, Vec<&Field>) =
        types.structs[WHOLE].iter().partition(|field| types.structs.contains_key(&field.kind));
    let top = Section {
        name: String::new(),
        about: "What stands above all sections.".to_owned(),
        keys: single.into_iter().map(|field| types.key("", field)).collect(),
    };
    let section = |field: &Field| Section {
        name: field.name.clone(),
        about: field.about.clone(),
        keys: types.structs[&field.kind].iter().map(|inner| types.key(&field.name, inner)).collect(),
    };
    [top].into_iter().chain(sections.into_iter().map(section)).collect()
}

/// A field of a struct, or a variant of an enum.
#[derive(Clone, Debug, Default, PartialEq)]
struct Field {
    name: String,
    kind: String,
    about: String,
}

/// The types of the source.
#[derive(Default)]
struct Types {
    structs: BTreeMap<String, Vec<Field>>,
    enums: BTreeMap<String, Vec<Field>>,
}

impl Types {
    /// Understands what the file of the sections is made of, and nothing else: public fields and plain variants, a line
    /// each, with comments and perhaps another name above.
    fn read(source: &str) -> Types {
        let mut types = Types::default();
        let mut fields: Option<&mut Vec<Field>> = None;
        let (mut about, mut renamed, mut skipped) = (Vec::new(), None, false);
        for line in source.lines().map(str::trim) {
            let head = |word: &str| line.strip_prefix(word)?.strip_suffix(" {").map(str::to_owned);
            if let Some(text) = line.strip_prefix("///") {
                about.push(text.trim());
            } else if let Some(name) = line.strip_prefix("#[serde(rename = \"") {
                renamed = name.split('"').next().map(str::to_owned);
            } else if line == "#[serde(skip)]" {
                skipped = true;
            } else if let Some(name) = head("pub struct ") {
                fields = Some(types.structs.entry(name).or_default());
                about.clear();
            } else if let Some(name) = head("pub enum ") {
                fields = Some(types.enums.entry(name).or_default());
                about.clear();
            } else if line == "}" {
                fields = None;
            } else if let (Some(fields), Some(text)) = (&mut fields, line.strip_suffix(',')) {
                let (name, kind) =
                    text.strip_prefix("pub ").and_then(|text| text.split_once(": ")).unwrap_or((text, ""));
                let name = renamed.take().unwrap_or_else(|| name.to_owned());
                if !std::mem::take(&mut skipped) {
                    fields.push(Field { name, kind: kind.to_owned(), about: about.join(" ") });
                }
                about.clear();
            }
        }
        types
    }

    fn key(&self, section: &str, field: &Field) -> Key {
        let name = [section, &field.name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        let words = self.enums.get(&field.kind).into_iter().flatten();
        Key {
            kind: self.kind(&field.kind),
            about: field.about.clone(),
            words: words.map(|word| (kebab(&word.name), word.about.clone())).collect(),
            rules: rules(&name),
            name,
        }
    }

    /// A type of the code, as people say it.
    fn kind(&self, kind: &str) -> String {
        if let Some(list) = kind.strip_prefix("Vec<").and_then(|kind| kind.strip_suffix('>')) {
            let fields = self.structs.get(list).into_iter().flatten();
            let fields: Vec<String> =
                fields.map(|field| format!("`{}` ({}): {}", field.name, self.kind(&field.kind), field.about)).collect();
            return format!("list of tables: {}", fields.join(" "));
        }
        let said = match kind {
            "usize" | "u32" | "u64" => "whole number",
            "f32" => "number",
            "bool" => "true or false",
            "QInit" => "word or number",
            _ if self.enums.contains_key(kind) => "word",
            _ => kind,
        };
        said.to_owned()
    }
}

/// `PassAlive` → `pass-alive`, as serde does.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// What the checks say of a key's values that are out of range.
fn rules(key: &str) -> Vec<&'static str> {
    let mut rules = Vec::new();
    for base in BASES {
        for tried in TRIED {
            let overrides = base.iter().map(|&text| text.to_owned()).chain([format!("{key}={tried}")]);
            match RunConfig::from_toml_with(TEMPLATE, &overrides.collect::<Vec<_>>()) {
                Err(ConfigError::Value { key: found, rule, .. }) if found == key && !rules.contains(&rule) => {
                    rules.push(rule);
                }
                _ => {}
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        let mut keys = manual().into_iter().flat_map(|section| section.keys);
        keys.find(|key| key.name == name).unwrap()
    }

    /// Every key of the template, and no other, has a meaning and a kind that is known.
    #[test]
    fn every_key_is_explained() {
        let table: Table = TEMPLATE.parse().unwrap();
        let mut names = Vec::new();
        for (name, value) in &table {
            let inner = value.as_table().into_iter().flat_map(Table::keys).map(|key| format!("{name}.{key}"));
            names.extend(if value.is_table() { inner.collect() } else { vec![name.clone()] });
        }
        let keys: Vec<Key> = manual().into_iter().flat_map(|section| section.keys).collect();
        let mut found: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
        found.sort();
        names.sort();
        assert_eq!(found, names);
        let known = ["whole number", "number", "true or false", "word or number", "word"];
        for key in keys {
            assert!(key.about.len() > 10, "{key:?}");
            assert!(known.contains(&&*key.kind) || key.kind.starts_with("list of tables: `"), "{key:?}");
            assert_eq!(key.kind == "word", !key.words.is_empty(), "{key:?}");
            assert!(key.words.iter().all(|(_, about)| !about.is_empty()), "{key:?}");
            assert!(!key.value(&template()).is_empty(), "{key:?}");
        }
        assert!(manual().iter().all(|section| !section.about.is_empty()));
    }

    #[test]
    fn ranges_are_those_of_the_checks() {
        assert_eq!(key("game.size").rules, ["must be from 2 to 19"]);
        assert_eq!(key("selfplay.noise_weight").rules, ["must be from 0 to 1"]);
        assert_eq!(key("search.fpu_reduction").rules, ["must be from 0 to 2", "must be 0 with search.q_init_stays"]);
        let choice = key("selfplay.choice_moves").rules;
        assert!(choice[0].contains("even") && choice[1].contains("gumbel"), "{choice:?}");
        assert_eq!(key("search.skip_decided").rules, ["needs game.scoring = \"pass-alive\""]);
        assert_eq!(key("train.learning_rate").rules, ["from_step must start at 0 and rise", "must be above 0"]);
    }

    #[test]
    fn words_and_values_are_spelled_as_in_the_file() {
        let words: Vec<String> = key("game.scoring").words.into_iter().map(|(word, _)| word).collect();
        assert_eq!(words, ["pass-alive", "area"]);
        for (word, _) in key("train.policy_target").words {
            assert!(RunConfig::from_toml_with(TEMPLATE, &[format!("train.policy_target={word}")]).is_ok(), "{word}");
        }
        assert_eq!(key("search.visits").value(&template()), "800");
        assert_eq!(key("search.q_init").value(&template()), "\"loss\"");
        assert_eq!(key("loop.models").value(&template()), "1000");
    }
}
