//! When games that are missing can be expected: by the rate at which others have arrived.

use std::fmt;
use std::time::Duration;

/// Estimated arrival of the missing games, at the present rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// So much later.
    In(Duration),
    /// Overdue for this long: the workers are slower or gone.
    Overdue(Duration),
}

/// September 2001: the clock of a worker that names files by earlier times is not set.
const CLOCK: u64 = 1_000_000_000_000;

/// Files of games that have arrived: when, in milliseconds since 1970, and with how many games.
pub(crate) type File = (u64, usize);

impl Eta {
    /// When `missing` more games will be there. `None` before there are two files: one says nothing about the rate.
    pub(crate) fn expected(files: &[File], missing: usize, now: u64) -> Option<Eta> {
        let first = files.iter().min()?;
        let last = files.iter().map(|file| file.0).max()?;
        // The games of the first file were played before it was there.
        let games = files.iter().map(|file| file.1).sum::<usize>() - first.1;
        let time = last - first.0;
        if games == 0 || time == 0 || first.0 < CLOCK {
            return None;
        }
        let left = (time as f64 / games as f64 * missing as f64) as u64;
        let due = last.saturating_add(left);
        let between = Duration::from_millis(due.abs_diff(now));
        Some(if due >= now { Eta::In(between) } else { Eta::Overdue(between) })
    }
}

impl fmt::Display for Eta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Eta::In(time) => write!(f, "expected in {}", runtime::format::duration(*time)),
            Eta::Overdue(time) => write!(f, "overdue for {}", runtime::format::duration(*time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_go_on_arriving_as_they_did() {
        // 40 games in 20 seconds after the first file; 60 more take 30.
        let files = [(CLOCK + 110_000, 20), (CLOCK + 100_000, 70), (CLOCK + 120_000, 20)];
        let said = |now| Eta::expected(&files, 60, CLOCK + now).unwrap().to_string();
        assert_eq!(said(125_000), "expected in 25s");
        assert_eq!(said(150_000), "expected in 0s");
        assert_eq!(said(390_000), "overdue for 4m 00s");
    }

    #[test]
    fn one_file_and_files_without_times_give_no_estimate() {
        let expected = |files: &[File]| Eta::expected(files, 5, CLOCK + 9);
        assert_eq!(expected(&[]), None);
        assert_eq!(expected(&[(CLOCK + 3, 10)]), None);
        assert_eq!(expected(&[(CLOCK + 3, 10), (CLOCK + 3, 10)]), None);
        assert_eq!(expected(&[(3, 10), (4, 10)]), None);
    }
}
