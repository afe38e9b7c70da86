//! Names of files and folders.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::StoreError;

/// The name of a file without its extension: who wrote it and when, as `<worker>-<13 digits of Unix milliseconds>`.
///
/// Stems order by time first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stem {
    worker: String,
    time: u64,
}

/// How names of metadata end.
pub(crate) const TOML: &str = ".toml";
/// The file that commits a folder of parts.
pub(crate) const MANIFEST: &str = "manifest.toml";

/// Thirteen digits last until the year 2286.
const TIME_DIGITS: usize = 13;
const LATEST: u64 = 10_u64.pow(TIME_DIGITS as u32) - 1;

impl Stem {
    /// The stem of a file that this worker writes at this time, in milliseconds since 1970.
    ///
    /// # Errors
    /// A worker whose name cannot be part of a file's name, or a time of more than 13 digits.
    pub fn new(worker: &str, time: u64) -> Result<Stem, StoreError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let starts_well = worker.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !starts_well || worker.len() > 64 || !worker.chars().all(allowed) {
            return Err(StoreError::BadName(worker.to_owned()));
        }
        if time > LATEST {
            let expected = "a time of a file's name: at most 13 digits of Unix milliseconds";
            return Err(StoreError::Malformed { text: time.to_string(), expected });
        }
        Ok(Stem { worker: worker.to_owned(), time })
    }

    /// The stem of a file that this worker writes now.
    ///
    /// # Errors
    /// A worker whose name cannot be part of a file's name.
    pub fn now(worker: &str) -> Result<Stem, StoreError> {
        Stem::new(worker, now())
    }

    /// The worker.
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Milliseconds since 1970.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The stem in a file's name that ends in `.extension`, if it is one.
    pub(crate) fn of_file(file: &str, extension: &str) -> Option<Stem> {
        file.strip_suffix(extension)?.strip_suffix('.')?.parse().ok()
    }
}

impl FromStr for Stem {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Stem, StoreError> {
        let expected = "the stem of a file's name: a worker, '-' and 13 digits of Unix milliseconds";
        let bad = || StoreError::Malformed { text: text.to_owned(), expected };
        let (worker, time) = text.rsplit_once('-').ok_or_else(bad)?;
        Stem::new(worker, parse_time(time).ok_or_else(bad)?)
    }
}

impl fmt::Display for Stem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.worker, time_name(self.time))
    }
}

impl Ord for Stem {
    fn cmp(&self, other: &Stem) -> std::cmp::Ordering {
        (self.time, &self.worker).cmp(&(other.time, &other.worker))
    }
}

impl PartialOrd for Stem {
    fn partial_cmp(&self, other: &Stem) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Milliseconds since 1970, but later than every earlier result in this process: no two of its files get the same
/// name, even when the clock is set back.
pub(crate) fn now() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64);
    let last = LAST.fetch_max(clock, Ordering::Relaxed);
    if clock > last { clock } else { LAST.fetch_add(1, Ordering::Relaxed) + 1 }
}

/// A time as part of a name, so that names order as times do.
pub(crate) fn time_name(time: u64) -> String {
    format!("{time:0TIME_DIGITS$}")
}

pub(crate) fn parse_time(text: &str) -> Option<u64> {
    (text.len() == TIME_DIGITS).then(|| parse_digits(text)).flatten()
}

/// The folder of a model or generation: `000330`.
pub(crate) fn number_name(number: u32) -> String {
    format!("{number:06}")
}

/// Undoes [`number_name`]; `None` for any other name, and for that of the largest number, after which there is no next.
pub(crate) fn parse_number(text: &str) -> Option<u32> {
    let number = u32::try_from(parse_digits(text)?).ok()?;
    (number_name(number) == text && number < u32::MAX).then_some(number)
}

fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_read_and_print() {
        let stem = Stem::new("gpu-0.a", 1_700_000_000_000).unwrap();
        assert_eq!(stem.to_string(), "gpu-0.a-1700000000000");
        assert_eq!(stem.to_string().parse::<Stem>().unwrap(), stem);
        assert_eq!(Stem::of_file("w-0000000000007.parquet", "parquet"), Stem::new("w", 7).ok());
        for other in
            ["w-7.parquet", "w-0000000000007.sgf", "-0000000000007.parquet", "w-0000000000007.parquet#1", ".parquet"]
        {
            assert_eq!(Stem::of_file(other, "parquet"), None, "{other}");
        }
    }

    #[test]
    fn later_files_come_later() {
        let stem = |worker, time| Stem::new(worker, time).unwrap();
        assert!(stem("z", 1) < stem("a", 2) && stem("a", 2) < stem("b", 2));
    }

    #[test]
    fn workers_cannot_leave_their_folder() {
        for worker in ["", "../x", "a/b", ".x", "a b", "é", "w#1", &"x".repeat(65)] {
            assert!(matches!(Stem::new(worker, 0), Err(StoreError::BadName(_))), "{worker}");
        }
        assert!(matches!(Stem::new("w", LATEST + 1), Err(StoreError::Malformed { .. })));
    }

    #[test]
    fn numbers_have_one_name() {
        assert_eq!((number_name(330), parse_number("000330")), ("000330".to_owned(), Some(330)));
        assert_eq!(parse_number("1234567"), Some(1_234_567));
        assert_eq!(parse_number("4294967294"), Some(u32::MAX - 1));
        for other in ["330", "0000330", "+00330", "", "abcdef", "4294967295", "99999999999"] {
            assert_eq!(parse_number(other), None, "{other}");
        }
    }
}
