//! Small files of metadata, as TOML.
//!
//! Unlike a run's configuration, which users write and in which an unknown key is a mistake, these are written by
//! programs and never change. So a reader lets keys pass that a later program added, and refuses only a later
//! `format`, which means that the old keys have another meaning.

use bytes::Bytes;
use object_store::path::Path;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::error::StoreError;
use crate::store::Store;

/// The format written and the newest one read.
const FORMAT: i64 = 1;

impl Store {
    /// Publishes a value as TOML.
    pub(crate) fn publish_toml(&self, path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
        let text = toml::to_string(value).expect("our own types can be written as TOML");
        self.publish(path, Bytes::from(format!("format = {FORMAT}\n{text}")))
    }

    /// Publishes a mark unless it is there.
    pub(crate) fn publish_mark(&self, path: &Path, what: &impl Serialize) -> Result<(), StoreError> {
        match self.publish_toml(path, what) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Publishes a value unless there is one already; returns the one that is there.
    pub(crate) fn remember<T: Serialize + DeserializeOwned>(&self, path: &Path, found: &T) -> Result<T, StoreError> {
        if let Some(known) = self.find_toml(path)? {
            return Ok(known);
        }
        // Another process may be quicker, perhaps with other contents.
        self.publish_mark(path, found)?;
        let missing = || StoreError::NotFound { path: self.name(path) };
        self.find_toml(path)?.ok_or_else(missing)
    }

    /// Reads a value, if there is one.
    pub(crate) fn find_toml<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, StoreError> {
        let Some(bytes) = self.find(path)? else { return Ok(None) };
        parse(&bytes).map(Some).map_err(|problem| problem.of(self.name(path)))
    }
}

/// The problem with the text of such a file.
pub(crate) enum Problem {
    /// It is none of these files, or cut.
    Damaged(String),
    /// It is of a later format than the one that is read.
    Later { found: i64, known: i64 },
}

impl Problem {
    /// As the error of a file.
    pub(crate) fn of(self, path: String) -> StoreError {
        match self {
            Problem::Damaged(reason) => StoreError::Damaged { path, reason },
            Problem::Later { found, known } => {
                StoreError::OtherVersion { path, found: format!("format {found}"), known: format!("format {known}") }
            }
        }
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|e| Problem::Damaged(e.to_string()))?;
    of_format(text, FORMAT)
}

/// The value of a text of formats up to `known`. The format comes first: the keys of a later one may have other types.
pub(crate) fn of_format<T: DeserializeOwned>(text: &str, known: i64) -> Result<T, Problem> {
    let damaged = |error: toml::de::Error| Problem::Damaged(one_line(&error));
    let table: Table = text.parse().map_err(damaged)?;
    match table.get("format").and_then(Value::as_integer) {
        Some(found) if found > known => Err(Problem::Later { found, known }),
        Some(1..) => Value::Table(table).try_into().map_err(damaged),
        Some(other) => Err(Problem::Damaged(format!("it has format {other}"))),
        None => Err(Problem::Damaged("it has no format".to_owned())),
    }
}

/// The message of an error, which names no file.
pub(crate) fn one_line(error: &toml::de::Error) -> String {
    error.message().replace('\n', ": ")
}
