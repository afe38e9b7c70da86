//! Examples of the games of self-play: those to train on, or those of the holdout games, which are nowhere else.

use record::{ExampleRows, UncheckedRows, examples};

use crate::archives::Archives;
use crate::error::StoreError;
use crate::files::FileRef;

/// The examples of a run in one folder: `examples` or `holdout`.
#[derive(Debug)]
pub struct Examples {
    pub(crate) folder: &'static str,
    pub(crate) archives: Archives,
}

impl Examples {
    /// How far search and network disagreed about each example of a file.
    ///
    /// # Errors
    /// As [`Examples::read`].
    pub fn surprises(&self, file: &FileRef) -> Result<Vec<examples::Surprise>, StoreError> {
        self.archives.read(self.folder, file, Some(&examples::SURPRISE_COLUMNS), examples::surprises)
    }

    /// The examples of a file of games, game after game in order.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there are none, [`StoreError::Damaged`] when they cannot be read.
    pub fn read(&self, file: &FileRef) -> Result<ExampleRows, StoreError> {
        self.archives.read(self.folder, file, None, ExampleRows::from_batch)
    }

    /// As [`Examples::read`], for those who want a few rows: nothing is checked but the file's checksum.
    ///
    /// # Errors
    /// As [`Examples::read`].
    pub fn open(&self, file: &FileRef) -> Result<UncheckedRows, StoreError> {
        self.archives.read(self.folder, file, None, |batch| Ok(UncheckedRows::new(batch)))
    }

    /// The full name of a file of examples, for messages.
    pub fn name(&self, file: &FileRef) -> String {
        self.archives.name_of(self.folder, file)
    }
}
