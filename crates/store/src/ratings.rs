//! Ratings fitted to the results of matches.

use object_store::path::Path;
use record::{RatingRow, ratings};

use crate::error::StoreError;
use crate::files::PARQUET;
use crate::folder::RunFolder;
use crate::names::{parse_time, time_name};
use crate::newest::NewestName;

const RATINGS: &str = "ratings";

/// The ratings of a run.
#[derive(Debug)]
pub struct Ratings {
    at: RunFolder,
    newest_name: NewestName,
}

impl Ratings {
    pub(crate) fn new(at: RunFolder) -> Ratings {
        Ratings { newest_name: NewestName::new(at.clone(), RATINGS), at }
    }

    /// Publishes ratings fitted now. They are the newest, even where a process with a clock that was ahead has
    /// published before.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn publish(&self, rows: &[RatingRow]) -> Result<(), StoreError> {
        let table = ratings::to_batch(rows);
        loop {
            let newest = self.newest_time()?.map_or(0, |newest| newest + 1);
            match self.at.store.publish_table(&self.file(self.at.store.now().max(newest)), &table) {
                // Another evaluator was quicker in this millisecond; these are newer.
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done,
            }
        }
    }

    /// The newest ratings; `None` before any.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they cannot be read.
    pub fn newest(&self) -> Result<Option<Vec<RatingRow>>, StoreError> {
        let Some(newest) = self.newest_time()? else { return Ok(None) };
        self.at.store.read_records(&self.file(newest), None, ratings::from_batch).map(Some)
    }

    /// When the newest ratings were published, in milliseconds since 1970; `None` before any.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn newest_time(&self) -> Result<Option<u64>, StoreError> {
        let time = |name: &str| parse_time(name.strip_suffix(PARQUET)?.strip_suffix('.')?);
        let newest = self.newest_name.find(|name| time(name).is_some())?;
        Ok(newest.and_then(|name| time(&name)))
    }

    fn file(&self, time: u64) -> Path {
        self.at.path([RATINGS]).join(format!("{}.{PARQUET}", time_name(time)))
    }
}
