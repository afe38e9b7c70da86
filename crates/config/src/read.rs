//! From text to a checked configuration.

use std::fmt::Display;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use crate::schema::EXTENDS;
use crate::{ConfigError, RunConfig, SCHEMA, keys};

/// Files in a chain of `extends`, at most. It ends chains that a cycle check by name does not find.
const LONGEST_CHAIN: usize = 16;

impl RunConfig {
    /// Reads a complete configuration and checks it.
    ///
    /// # Errors
    /// Text that is not TOML, a missing or unknown key, a value of the wrong type or out of range.
    pub fn from_toml(text: &str) -> Result<RunConfig, ConfigError> {
        keys::refuse_missing(&complete(text)?)?;
        // From the text itself, so that errors show line and column.
        let config: RunConfig = toml::from_str(text).map_err(malformed)?;
        config.check()?;
        Ok(config)
    }

    /// Reads a complete configuration, applies overrides of the form `section.key=value` in order, and checks the
    /// result.
    ///
    /// A value is TOML, or else a plain string: `search.q_init=loss` works.
    ///
    /// # Errors
    /// As [`RunConfig::from_toml`].
    pub fn from_toml_with(text: &str, overrides: &[impl AsRef<str>]) -> Result<RunConfig, ConfigError> {
        if overrides.is_empty() {
            return RunConfig::from_toml(text);
        }
        finish(complete(text)?, overrides)
    }

    /// Reads a configuration file and those that it `extends`, applies overrides and checks the result.
    ///
    /// `read` returns the text of a file. A file overrides the one that it extends key by key; a list replaces a list.
    /// The path in `extends` is relative to the folder of the file.
    ///
    /// # Errors
    /// As [`RunConfig::from_toml`], with the file, or with the overrides where the file is good without them; also a
    /// file that cannot be read, and files that extend each other in a cycle.
    pub fn load<E: Display>(
        file: &Path,
        overrides: &[impl AsRef<str>],
        mut read: impl FnMut(&Path) -> Result<String, E>,
    ) -> Result<RunConfig, ConfigError> {
        let mut chain: Vec<PathBuf> = vec![tidy(file)];
        let mut tables: Vec<Table> = Vec::new();
        loop {
            let here = &chain[chain.len() - 1];
            let found = |problem| ConfigError::In { file: here.display().to_string(), problem: Box::new(problem) };
            let unreadable =
                |error: E| ConfigError::Read { file: here.display().to_string(), reason: error.to_string() };
            let (table, extends) = parse(&read(here).map_err(unreadable)?).map_err(found)?;
            tables.push(table);
            let Some(parent) = extends else { break };
            let parent = tidy(&here.parent().unwrap_or(Path::new("")).join(parent));
            let cycle = chain.contains(&parent);
            chain.push(parent);
            if cycle {
                let names: Vec<String> = chain.iter().map(|path| path.display().to_string()).collect();
                return Err(ConfigError::Cycle(names.join(" -> ")));
            }
            if chain.len() > LONGEST_CHAIN {
                return Err(ConfigError::TooLong(LONGEST_CHAIN));
            }
        }
        finish(merged(&tables), overrides).map_err(|problem| {
            // The person corrects the overrides where the file is good without them.
            if !overrides.is_empty() && finish(merged(&tables), &[] as &[&str]).is_ok() {
                let overrides: Vec<&str> = overrides.iter().map(AsRef::as_ref).collect();
                return ConfigError::Overrides { overrides: overrides.join(" --set "), problem: Box::new(problem) };
            }
            let file = match origin(&tables, &problem) {
                0 => file,
                extended => chain[extended].as_path(),
            };
            ConfigError::In { file: file.display().to_string(), problem: Box::new(problem) }
        })
    }
}

/// The table of a text that extends nothing.
fn complete(text: &str) -> Result<Table, ConfigError> {
    match parse(text)? {
        (table, None) => Ok(table),
        (_, Some(parent)) => Err(ConfigError::Extends(parent)),
    }
}

/// The keys of one file, all of them known, and the file that it extends.
fn parse(text: &str) -> Result<(Table, Option<String>), ConfigError> {
    let mut table: Table = text.parse().map_err(malformed)?;
    match table.get("schema").and_then(Value::as_integer) {
        Some(schema) if schema != i64::from(SCHEMA) => return Err(ConfigError::OtherSchema(schema)),
        _ => {}
    }
    let extends = match table.remove(EXTENDS) {
        None => None,
        Some(Value::String(parent)) => Some(parent),
        Some(other) => return Err(not_a_path(&other)),
    };
    keys::refuse_unknown(&table)?;
    Ok((table, extends))
}

fn not_a_path(value: &Value) -> ConfigError {
    ConfigError::Value {
        key: EXTENDS.into(),
        value: value.to_string().into(),
        rule: "must be the path of a configuration file".into(),
    }
}

/// The values of a chain of files, the nearest first.
fn merged(tables: &[Table]) -> Table {
    let mut resolved = Table::new();
    tables.iter().for_each(|table| merge(&mut resolved, table.clone()));
    resolved
}

/// The file of a chain, the nearest first, whose values make the problem: the last one that has it without those before
/// it.
fn origin(tables: &[Table], problem: &ConfigError) -> usize {
    // No file has a key that is missing, and the first is the one to mend.
    let is_missing = matches!(problem, ConfigError::Missing { .. });
    let has = |first: &usize| finish(merged(&tables[*first..]), &[] as &[&str]).is_err_and(|found| found == *problem);
    (0..tables.len()).rev().filter(|_| !is_missing).find(has).unwrap_or(0)
}

/// Adds the values of `parent` for keys that `table` does not have.
fn merge(table: &mut Table, parent: Table) {
    for (key, value) in parent {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value),
            (Some(_), _) => {}
            (None, value) => _ = table.insert(key, value),
        }
    }
}

fn finish(mut table: Table, overrides: &[impl AsRef<str>]) -> Result<RunConfig, ConfigError> {
    for text in overrides {
        apply(&mut table, text.as_ref())?;
    }
    keys::refuse_unknown(&table)?;
    keys::refuse_missing(&table)?;
    let config: RunConfig = Value::Table(table).try_into().map_err(malformed)?;
    config.check()?;
    Ok(config)
}

fn malformed(error: toml::de::Error) -> ConfigError {
    ConfigError::Toml(error.to_string().trim_end().to_owned())
}

/// Sets one value, given as `section.key=value`.
fn apply(table: &mut Table, text: &str) -> Result<(), ConfigError> {
    let malformed = || ConfigError::Override(text.to_owned());
    let (path, value) = text.split_once('=').ok_or_else(malformed)?;
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys.pop().filter(|key| !key.is_empty()).ok_or_else(malformed)?;
    let mut section = table;
    for (depth, key) in keys.iter().enumerate() {
        section = match section.entry(*key).or_insert_with(|| Value::Table(Table::new())) {
            Value::Table(inner) => inner,
            other => {
                let (key, value) = (keys[..=depth].join("."), other.to_string());
                return Err(ConfigError::NoSection { text: text.to_owned(), key, value });
            }
        };
    }
    section.insert(last.to_owned(), parse_value(value.trim()).ok_or_else(malformed)?);
    Ok(())
}

/// TOML, or else a plain string, which has one line. A second line that is a key of its own would be lost.
fn parse_value(text: &str) -> Option<Value> {
    let parsed: Option<Table> = format!("v = {text}").parse().ok();
    let alone = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("v"));
    alone.or_else(|| (!text.contains('\n')).then(|| Value::String(text.to_owned())))
}

/// The path without `.`, and without `..` after the name of a folder.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match (part, tidied.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => _ = tidied.pop(),
            (part, _) => tidied.push(part),
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;
    use crate::test::{error, minigo};

    /// A file system of these files, with the base at `base.toml`.
    fn load(files: &[(&str, &str)], file: &str) -> Result<RunConfig, String> {
        let base = Preset::Base.config().to_toml();
        let read = |path: &Path| match files.iter().find(|(name, _)| Path::new(name) == path) {
            Some((_, text)) => Ok((*text).to_owned()),
            None if path == Path::new("base.toml") => Ok(base.clone()),
            None => Err("no such file"),
        };
        RunConfig::load(Path::new(file), &[] as &[&str], read).map_err(|error| error.to_string())
    }

    #[test]
    fn file_overrides_the_files_that_it_extends() {
        let files = [
            ("a.toml", "extends = \"base.toml\"\n[search]\nvisits = 5\nleaves = 2\n[loop]\nmodels = 3\n"),
            ("deep/b.toml", "extends = \"../a.toml\"\nseed = 9\n[search]\nvisits = 7\n"),
        ];
        let base = Preset::Base.config();
        let found = load(&files, "deep/b.toml").unwrap();
        assert_eq!((found.search.visits, found.search.leaves, found.run_loop.models, found.seed), (7, 2, 3, 9));
        let mut expected = base.clone();
        (expected.search.visits, expected.search.leaves, expected.run_loop.models, expected.seed) = (7, 2, 3, 9);
        assert_eq!(found, expected);
        assert_eq!(load(&[], "./deep/../base.toml").unwrap(), base);
    }

    #[test]
    fn list_replaces_the_list_of_the_extended_file() {
        let text = "extends = \"base.toml\"\n[train]\nlearning_rate = [{ from_step = 0, rate = 0.5 }]\n";
        let found = load(&[("a.toml", text)], "a.toml").unwrap();
        assert_eq!(found.train.learning_rate.iter().map(|point| point.rate).collect::<Vec<_>>(), [0.5]);
    }

    #[test]
    fn extending_in_a_cycle_is_an_error() {
        let files = [("a.toml", "extends = \"sub/b.toml\""), ("sub/b.toml", "extends = \"../a.toml\"")];
        let message = load(&files, "a.toml").unwrap_err();
        assert_eq!(message, "extends: the files extend each other in a cycle: a.toml -> sub/b.toml -> a.toml");
        assert!(load(&[("a.toml", "extends = \"a.toml\"")], "a.toml").unwrap_err().contains("a.toml -> a.toml"));
        let endless = |_: &Path| Ok::<_, String>("extends = \"link/a.toml\"".to_owned());
        let message = RunConfig::load(Path::new("a.toml"), &[] as &[&str], endless).unwrap_err().to_string();
        assert_eq!(message, "extends: more than 16 files in a chain");
    }

    #[test]
    fn errors_name_the_file() {
        let bad =
            |text: &str| load(&[("x/a.toml", "extends = \"b.toml\""), ("x/b.toml", text)], "x/a.toml").unwrap_err();
        assert_eq!(bad("[search]\nvisist = 3"), "x/b.toml: unknown key search.visist; did you mean search.visits?");
        assert!(bad("[search\n").starts_with("x/b.toml: TOML parse error at line 1"), "{}", bad("[search\n"));
        assert_eq!(bad("extends = \"../none.toml\""), "cannot read none.toml: no such file");
        assert_eq!(bad("extends = 3"), "x/b.toml: extends is 3: must be the path of a configuration file");
        assert_eq!(
            bad("seed = 1"),
            "x/a.toml: missing key evaluate; add it, or extend a file that has it: extends = \"base.toml\""
        );
        assert_eq!(
            bad("extends = \"../base.toml\"\n[search]\nvisits = 0"),
            "x/b.toml: search.visits is 0: must be from 1 to 10000000"
        );
        let wrong = bad("extends = \"../base.toml\"\n[search]\nvisits = \"many\"");
        assert!(wrong.starts_with("x/b.toml: ") && wrong.contains("search.visits"), "{wrong}");
        let near = ("x/a.toml", "extends = \"b.toml\"\n[search]\nvisits = 0");
        let wrong = load(&[near, ("x/b.toml", "extends = \"../base.toml\"")], "x/a.toml").unwrap_err();
        assert!(wrong.starts_with("x/a.toml: search.visits is 0"), "{wrong}");
    }

    #[test]
    fn errors_of_overrides_name_them_and_not_the_file() {
        let base = Preset::Base.config().to_toml();
        let of = |text: &str, overrides: &[&str]| {
            let read = |_: &Path| Ok::<_, String>(text.to_owned());
            RunConfig::load(Path::new("a.toml"), overrides, read).unwrap_err().to_string()
        };
        let unknown = "unknown key search.visist; did you mean search.visits?";
        assert_eq!(of(&base, &["search.visist=3"]), format!("--set search.visist=3: {unknown}"));
        assert_eq!(
            of(&base, &["seed=2", "search.visits=0"]),
            "--set seed=2 --set search.visits=0: search.visits is 0: must be from 1 to 10000000"
        );
        let incomplete = of("seed = 1", &["seed=2"]);
        assert!(incomplete.starts_with("a.toml: missing key evaluate"), "{incomplete}");
    }

    #[test]
    fn other_schema_is_an_error() {
        let message = "schema is 3, and this program reads schema 2; use the release that wrote the file";
        // It has keys that this program does not know, too.
        let newer = minigo(&[]).to_toml().replace("schema = 2\n", "schema = 3\nfuture = true\n");
        assert_eq!(RunConfig::from_toml(&newer).unwrap_err().to_string(), message);
        assert_eq!(load(&[("a.toml", &newer)], "a.toml").unwrap_err(), format!("a.toml: {message}"));
        assert_eq!(error(&["schema=0"]), "schema is 0: must be 2");
    }

    #[test]
    fn complete_configuration_must_not_extend() {
        let message = RunConfig::from_toml("extends = \"base.toml\"").unwrap_err().to_string();
        assert!(message.starts_with("extends = \"base.toml\": this configuration must be complete"), "{message}");
    }

    #[test]
    fn error_of_type_shows_the_line() {
        let text = minigo(&[]).to_toml().replace("visits = 800", "visits = \"many\"");
        let message = RunConfig::from_toml(&text).unwrap_err().to_string();
        assert!(message.contains("visits = \"many\"") && message.contains("line"), "{message}");
    }

    #[test]
    fn override_needs_a_key_and_a_value() {
        assert_eq!(error(&["search.visits"]), "override \"search.visits\" is not of the form section.key=value");
        assert!(error(&["search.visits=many"]).contains("search.visits"), "{}", error(&["search.visits=many"]));
    }

    #[test]
    fn override_of_a_part_of_a_value_names_the_value() {
        let whole = "seed is no section; set the whole value, as in seed=7";
        assert_eq!(error(&["seed=7", "seed.x=1"]), format!("override \"seed.x=1\": {whole}"));
        let rate = error(&["train.learning_rate.rate=0.1"]);
        let list = "train.learning_rate is no section; set the whole value, as in train.learning_rate=[{";
        assert!(rate.contains(list), "{rate}");
    }

    #[test]
    fn override_takes_words_without_quotes() {
        assert_eq!(minigo(&["search.q_init=parent"]).search.q_init, crate::QInit::PARENT);
    }

    #[test]
    fn override_is_one_value_on_any_number_of_lines() {
        let list = "train.learning_rate=[\n  { from_step = 0, rate = 0.5 }, # high\n]\n";
        assert_eq!(minigo(&[list]).train.learning_rate[0].rate, 0.5);
        for text in ["search.visits=50\nsearch.leaves=4", "search.visits=50\n[train]", "search.q_init=loss\nseed=2"] {
            assert_eq!(error(&[text]), format!("override \"{text}\" is not of the form section.key=value"));
        }
    }

    #[test]
    fn comments_and_order_do_not_change_the_digest() {
        let text = minigo(&[]).to_toml();
        let shuffled = text.replace("[game]\n", "[game] # the game\n\n");
        assert_ne!(shuffled, text);
        assert_eq!(RunConfig::from_toml(&shuffled).unwrap().digest(), minigo(&[]).digest());
    }
}
