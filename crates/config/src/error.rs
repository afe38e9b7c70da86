//! What can be wrong with a configuration.

use exit_class::{Classified, ExitClass};

use crate::SCHEMA;

/// A configuration that cannot be used. Every message names the key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or a value of the wrong type.
    #[error("{0}")]
    Toml(String),
    /// A key that is not in the schema.
    #[error("unknown key {key}{}", nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default())]
    UnknownKey {
        /// Its full name, such as `search.visist`.
        key: String,
        /// The known key of the same section that is spelled most like it.
        nearest: Option<String>,
    },
    /// A key that is in no file of the chain.
    #[error("missing key {key}; add it, or extend a file that has it: extends = \"base.toml\"")]
    Missing {
        /// Its full name.
        key: String,
    },
    /// A value outside its range, or two that do not fit together.
    #[error("{key} is {value}: {rule}")]
    Value {
        /// Full name of the key.
        key: Box<str>,
        /// The value.
        value: Box<str>,
        /// The rule that it breaks.
        rule: Box<str>,
    },
    /// An override that is not `section.key=value`.
    #[error("override \"{0}\" is not of the form section.key=value")]
    Override(String),
    /// An override of a part of a value that is no section.
    #[error("override \"{text}\": {key} is no section; set the whole value, as in {key}={value}")]
    NoSection {
        /// The override.
        text: String,
        /// Full name of the key of the value.
        key: String,
        /// The value.
        value: String,
    },
    /// A file of another release.
    #[error("schema is {0}, and this program reads schema {SCHEMA}; use the release that wrote the file")]
    OtherSchema(i64),
    /// `extends` where there are no other files.
    #[error("extends = \"{0}\": this configuration must be complete; resolve it with `tengen config show`")]
    Extends(String),
    /// A chain of `extends` that does not end.
    #[error("extends: the files extend each other in a cycle: {0}")]
    Cycle(String),
    /// A chain of `extends` that is too long.
    #[error("extends: more than {0} files in a chain")]
    TooLong(usize),
    /// Values that do not fit together once schedules replace some of them.
    #[error("from model {model} on, by search.phases or train.grow: {problem}")]
    Scheduled {
        /// The first model for which they do not.
        model: u32,
        /// The error.
        problem: Box<ConfigError>,
    },
    /// A file that cannot be read.
    #[error("cannot read {file}: {reason}")]
    Read {
        /// Its path.
        file: String,
        /// The error of the reader.
        reason: String,
    },
    /// An error with the file in which it was found.
    #[error("{file}: {problem}")]
    In {
        /// Path of the file.
        file: String,
        /// The error.
        problem: Box<ConfigError>,
    },
    /// An error that the file does not have without the overrides.
    #[error("--set {overrides}: {problem}")]
    Overrides {
        /// All of them, as a person types them.
        overrides: String,
        /// The error.
        problem: Box<ConfigError>,
    },
}

impl Classified for ConfigError {
    fn class(&self) -> ExitClass {
        ExitClass::Configuration
    }
}

/// An error unless the rule holds.
pub(crate) fn rule(holds: bool, key: &str, value: impl ToString, rule: &str) -> Result<(), ConfigError> {
    let error = || ConfigError::Value { key: key.into(), value: value.to_string().into(), rule: rule.into() };
    if holds { Ok(()) } else { Err(error()) }
}

/// An error unless the model numbers of a schedule rise, from `least` or later.
pub(crate) fn rising(key: &str, models: impl Iterator<Item = u32>, least: u32) -> Result<(), ConfigError> {
    let models: Vec<u32> = models.collect();
    let holds = models.iter().all(|&model| model >= least) && models.is_sorted_by(|a, b| a < b);
    let value = models.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    rule(holds, key, value, &format!("from_model must rise, from {least} or later"))
}
