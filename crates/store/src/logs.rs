//! Logs of training.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::{number_name, parse_number, parse_time, time_name};

const LOGS: &str = "logs";
/// How names of logs of JSON lines end.
const LINES: &str = ".jsonl";

/// The name of the JSON lines of a stretch of training, as in `000007-1795670858410.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogName {
    /// The model that was trained.
    pub generation: u32,
    /// When the stretch began, in milliseconds since 1970.
    pub time: u64,
}

impl FromStr for LogName {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<LogName, StoreError> {
        let read = || {
            let (generation, time) = text.strip_suffix(LINES)?.split_once('-')?;
            Some(LogName { generation: parse_number(generation)?, time: parse_time(time)? })
        };
        let expected = "the name of a log of training, such as 000007-1795670858410.jsonl";
        read().ok_or_else(|| StoreError::Malformed { text: text.to_owned(), expected })
    }
}

impl fmt::Display for LogName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}{LINES}", number_name(self.generation), time_name(self.time))
    }
}

/// The logs of a run.
#[derive(Debug)]
pub struct Logs {
    pub(crate) at: RunFolder,
}

impl Logs {
    /// Publishes a log under a name that says what it is and when it was made, for a log is not written twice.
    ///
    /// A log that grows could not live in a store; so a stretch of training has a file of its own, and tools that read
    /// logs read the folder.
    ///
    /// # Errors
    /// [`StoreError::Malformed`] for a name that cannot be that of a file, [`StoreError::AlreadyExists`] when there is
    /// another log of this name.
    pub fn publish(&self, name: &str, bytes: Bytes) -> Result<(), StoreError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || name.len() > 128 || !name.chars().all(allowed) {
            let expected = "a name of a log: use 1 to 128 letters, digits, '.', '_' and '-', a letter or digit first";
            return Err(StoreError::Malformed { text: name.to_owned(), expected });
        }
        self.at.store.publish(&self.at.path([LOGS, name]), bytes)
    }

    /// The names of all logs, in order of name.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.at.store.files(&self.at.path([LOGS]))?.into_iter().collect())
    }

    /// The names with the same first digit that order after this one.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list_after(&self, name: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.at.store.files_after(&self.at.path([LOGS]), name)?.into_iter().collect())
    }

    /// The contents of a log.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is none of this name.
    pub fn read(&self, name: &str) -> Result<Bytes, StoreError> {
        self.at.store.get(&self.at.path([LOGS, name]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_logs_read_and_print() {
        let name = LogName { generation: 7, time: 1_795_670_858_410 };
        assert_eq!(name.to_string(), "000007-1795670858410.jsonl");
        assert_eq!(name.to_string().parse::<LogName>().unwrap(), name);
        for other in ["000007-1795670858410", "7-1795670858410.jsonl", "000007-1.jsonl", "events.1.000007"] {
            assert!(matches!(other.parse::<LogName>(), Err(StoreError::Malformed { .. })), "{other}");
        }
    }
}
