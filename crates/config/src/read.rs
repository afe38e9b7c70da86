//! From text to a checked configuration, and back.

use sha2::{Digest, Sha256};
use toml::{Table, Value};

use crate::{ConfigError, RunConfig, newer};

impl RunConfig {
    /// Reads the text of a configuration file and checks it.
    ///
    /// # Errors
    /// Text that is not TOML, a missing or unknown key, a value of the wrong type or out of range.
    pub fn from_toml(text: &str) -> Result<RunConfig, ConfigError> {
        RunConfig::from_toml_with(text, &[])
    }

    /// Reads the text and then applies overrides of the form `section.key=value`, in order.
    ///
    /// The value is read as TOML, and as a plain string where it is not TOML: `search.q_init=loss` works.
    ///
    /// # Errors
    /// As [`RunConfig::from_toml`]; an override may not name an unknown key either.
    pub fn from_toml_with(text: &str, overrides: &[String]) -> Result<RunConfig, ConfigError> {
        let mut table: Table = text.parse().map_err(|e: toml::de::Error| ConfigError::Toml(e.to_string()))?;
        for text in overrides {
            apply(&mut table, text)?;
        }
        refuse_unknown(&table)?;
        if let Some(key) = newer::missing(&table) {
            return Err(ConfigError::Missing { key });
        }
        if overrides.is_empty() {
            // From the text itself, so that errors can show line and column.
            return RunConfig::from_stored(text);
        }
        let config: RunConfig =
            Value::Table(table).try_into().map_err(|e: toml::de::Error| ConfigError::Toml(e.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// Reads what [`RunConfig::to_toml`] of this program wrote, or of an older one: keys that came later are what that one
    /// did without them.
    ///
    /// # Errors
    /// As [`RunConfig::from_toml`].
    pub fn from_stored(text: &str) -> Result<RunConfig, ConfigError> {
        let table: Table = text.parse().map_err(|e: toml::de::Error| ConfigError::Toml(e.to_string()))?;
        refuse_unknown(&table)?;
        let config: RunConfig = toml::from_str(text).map_err(|e| ConfigError::Toml(e.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// The whole configuration as TOML, without comments; [`RunConfig::from_toml`] reads it back unchanged.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a configuration holds only numbers, strings, tables and arrays of tables")
    }

    /// Names this configuration: the first 16 hexadecimal digits of the SHA-256 of [`RunConfig::to_toml`], without keys
    /// that came later and say what programs did before.
    pub fn digest(&self) -> String {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let sum = Sha256::digest(newer::without(&self.to_toml()).as_bytes());
        sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Sets one value, given as `section.key=value`.
fn apply(table: &mut Table, text: &str) -> Result<(), ConfigError> {
    let malformed = || ConfigError::Override(text.to_owned());
    let (path, value) = text.split_once('=').ok_or_else(malformed)?;
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys.pop().filter(|key| !key.is_empty()).ok_or_else(malformed)?;
    let mut section = table;
    for key in keys {
        let entry = section.entry(key).or_insert_with(|| Value::Table(Table::new()));
        section = entry.as_table_mut().ok_or_else(malformed)?;
    }
    section.insert(last.to_owned(), parse_value(value.trim()));
    Ok(())
}

fn parse_value(text: &str) -> Value {
    let parsed: Option<Table> = format!("v = {text}").parse().ok();
    parsed.and_then(|mut table| table.remove("v")).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// All known keys, as a table of the right shape: the configuration that the tests read.
fn template() -> Table {
    include_str!("template.toml").parse().expect("the template is tested")
}

/// Finds the first key that the template does not have, and the known key nearest to it.
fn refuse_unknown(table: &Table) -> Result<(), ConfigError> {
    walk(table, &template(), "")
}

fn walk(table: &Table, known: &Table, path: &str) -> Result<(), ConfigError> {
    for (key, value) in table {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (known.get(key), value) {
            (None, _) => return Err(unknown(key, full, known, path)),
            (Some(Value::Table(known)), Value::Table(inner)) => walk(inner, known, &full)?,
            _ => {}
        }
    }
    Ok(())
}

fn unknown(key: &str, full: String, known: &Table, path: &str) -> ConfigError {
    let distance = |candidate: &&String| strsim::damerau_levenshtein(key, candidate);
    let nearest = known.keys().min_by_key(distance).filter(|near| distance(near) <= key.len().div_ceil(2));
    let nearest = nearest.map(|near| if path.is_empty() { near.clone() } else { format!("{path}.{near}") });
    ConfigError::UnknownKey { key: full, nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("template.toml");

    fn error(overrides: &[&str]) -> String {
        let overrides: Vec<String> = overrides.iter().map(|&s| s.to_owned()).collect();
        RunConfig::from_toml_with(TEXT, &overrides).unwrap_err().to_string()
    }

    #[test]
    fn the_template_has_every_key_and_no_other() {
        let config = RunConfig::from_toml(TEXT).unwrap();
        let written: Table = config.to_toml().parse().unwrap();
        let keys = |table: &Table| -> Vec<(String, Vec<String>)> {
            let inner = |value: &Value| value.as_table().map(|t| t.keys().cloned().collect()).unwrap_or_default();
            table.iter().map(|(key, value)| (key.clone(), inner(value))).collect()
        };
        assert_eq!(keys(&written), keys(&template()));
    }

    #[test]
    fn writing_and_reading_changes_nothing() {
        let config = RunConfig::from_toml(TEXT).unwrap();
        let again = RunConfig::from_toml(&config.to_toml()).unwrap();
        assert_eq!(config, again);
        assert_eq!(config.digest(), again.digest());
    }

    #[test]
    fn every_value_changes_the_digest() {
        let plain = RunConfig::from_toml(TEXT).unwrap();
        for change in ["seed=2", "search.visits=9", "search.q_init=0.25", "train.rotate=false", "loop.models=7"] {
            let changed = RunConfig::from_toml_with(TEXT, &[change.to_owned()]).unwrap();
            assert_ne!(plain.digest(), changed.digest(), "{change}");
        }
    }

    #[test]
    fn comments_and_order_do_not_change_the_digest() {
        let shuffled = TEXT.replace("[game]\n", "[game] # the game\n\n");
        assert_ne!(shuffled, TEXT);
        let digest = |text: &str| RunConfig::from_toml(text).unwrap().digest();
        assert_eq!(digest(&shuffled), digest(TEXT));
    }

    #[test]
    fn a_misspelt_key_is_named_with_the_nearest_known_one() {
        assert_eq!(error(&["search.visist=50"]), "unknown key search.visist; did you mean search.visits?");
        assert_eq!(error(&["serach.visits=50"]), "unknown key serach; did you mean search?");
        assert_eq!(error(&["search.xyzzy=1"]), "unknown key search.xyzzy");
    }

    #[test]
    fn a_missing_key_is_named() {
        let text = TEXT.replace("visits = 800\n", "");
        let message = RunConfig::from_toml(&text).unwrap_err().to_string();
        assert!(message.contains("visits"), "{message}");
    }

    #[test]
    fn values_out_of_range_are_named_with_the_range() {
        assert_eq!(error(&["game.size=20"]), "game.size is 20: must be from 2 to 19");
        assert_eq!(error(&["game.komi=0.3"]), "game.komi is 0.3: must be a multiple of 0.5, no larger than the board");
        assert_eq!(
            error(&["selfplay.choice_moves=7"]),
            "selfplay.choice_moves is 7: must be even, so that neither colour gains"
        );
        assert_eq!(
            error(&["search.fpu_reduction=0.2"]),
            "search.fpu_reduction is 0.2: must be 0 with search.q_init_stays"
        );
        assert!(error(&["search.algorithm=gumbel"]).starts_with("selfplay.choice_moves is 30: must be 0 with"));
        assert!(error(&["search.gumbel_moves=0"]).contains("search.gumbel_moves is 0"));
        assert_eq!(error(&["selfplay.full_share=0"]), "selfplay.full_share is 0: must be above 0");
        assert_eq!(
            error(&["selfplay.full_share=0.25", "selfplay.fast_visits=800"]),
            "selfplay.fast_visits is 800: must be below search.visits with selfplay.full_share below 1"
        );
        assert!(error(&["selfplay.noise_shaped=1.5"]).contains("must be from 0 to 1"));
        assert!(error(&["selfplay.root_temperature_late=0"]).contains("must be above 0"));
        assert!(error(&["selfplay.forced_visits=-1"]).contains("must not be negative"));
        assert!(error(&["search.q_init=3"]).contains("penalty from 0 to 2"));
        assert!(error(&["selfplay.policy_opening_share=1.5"]).contains("must be from 0 to 1"));
        assert!(error(&["selfplay.policy_opening_moves=-1"]).contains("must not be negative"));
        assert!(error(&["selfplay.komi_deviation=inf"]).contains("selfplay.komi_deviation"));
        assert!(error(&["resign.jitter=-0.1"]).contains("must be from 0 to 1"));
        assert!(error(&["resign.decided_moves=1"]).contains("so that both sides agree"));
        assert!(error(&["resign.decided_moves=4", "resign.decided_visits=800"]).contains("below search.visits"));
        assert!(error(&["resign.decided_weight=0"]).contains("must be above 0"));
        assert!(error(&["train.policy_exponent=0"]).contains("must be above 0"));
        assert!(error(&["train.policy_target=soft"]).contains("one-hot"));
        assert!(error(&["train.momentum=nan"]).contains("train.momentum"));
    }

    #[test]
    fn the_options_of_the_search_are_a_matter_of_overrides() {
        let read = |overrides: &[&str]| {
            let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
            RunConfig::from_toml_with(TEXT, &overrides).unwrap()
        };
        let katago = read(&[
            "search.q_init=parent",
            "search.q_init_stays=false",
            "search.fpu_reduction=0.2",
            "selfplay.noise_shaped=0.5",
            "selfplay.root_temperature=1.25",
            "selfplay.root_temperature_late=1.1",
            "selfplay.root_temperature_halflife=19",
            "selfplay.forced_visits=2",
            "selfplay.prune_target=true",
            "selfplay.choice_halflife=19",
        ]);
        assert!(!katago.search.q_init_stays && katago.selfplay.prune_target);
        assert_eq!(katago.selfplay.root_temperature_halflife, 19.0);
        let gumbel = read(&["search.algorithm=gumbel", "search.visits=16", "selfplay.choice_moves=0"]);
        assert_eq!(gumbel.search.algorithm, crate::Algorithm::Gumbel);
    }

    #[test]
    fn an_override_needs_a_key_and_a_value() {
        assert_eq!(error(&["search.visits"]), "override \"search.visits\" is not of the form section.key=value");
        assert!(error(&["seed.x=1"]).contains("seed.x=1"));
        assert!(
            error(&["search.visits=many"]).contains("visits")
                || error(&["search.visits=many"]).contains("invalid type")
        );
    }

    #[test]
    fn overrides_take_words_without_quotes() {
        let config = RunConfig::from_toml_with(TEXT, &["search.q_init=parent".to_owned()]).unwrap();
        assert_eq!(config.search.q_init, crate::QInit::PARENT);
    }
}
