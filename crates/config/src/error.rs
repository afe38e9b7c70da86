//! What can be wrong with a configuration.

/// A configuration that cannot be used. Every message names the key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, a key of the wrong type, or a key that is missing.
    #[error("{0}")]
    Toml(String),
    /// A key that nothing reads.
    #[error("unknown key {key}{}", nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default())]
    UnknownKey {
        /// Its full name, such as `search.visist`.
        key: String,
        /// The known key of the same section that is spelled most like it.
        nearest: Option<String>,
    },
    /// A key that a configuration must have since it was added.
    #[error("missing key {key}")]
    Missing {
        /// Its full name.
        key: String,
    },
    /// A value outside its range, or two that do not fit together.
    #[error("{key} is {value}: {rule}")]
    Value {
        /// Full name of the key.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// An override that is not `section.key=value`.
    #[error("override \"{0}\" is not of the form section.key=value")]
    Override(String),
}
