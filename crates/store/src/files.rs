//! Names of files of games.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::error::StoreError;
use crate::names::{Stem, number_name, parse_number};

pub(crate) const GAMES: &str = "games";
pub(crate) const EXAMPLES: &str = "examples";
pub(crate) const HOLDOUT: &str = "holdout";
pub(crate) const SGF: &str = "sgf";
pub(crate) const PARQUET: &str = "parquet";

/// A published file of games.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileRef {
    /// The number of the model that played; 0 is `random`. Files order by it first.
    pub model: u32,
    /// The name of the file.
    pub stem: Stem,
}

impl FileRef {
    /// The files among the names in one of the folders of games. Names that are no [`Stem`]s are not ours.
    pub(crate) fn all_in<'a>(folder: &str, names: &'a BTreeSet<String>) -> impl Iterator<Item = FileRef> + use<'a> {
        let model = parse_number(folder);
        let stems = names.iter().filter_map(|name| Stem::of_file(name, PARQUET));
        stems.filter_map(move |stem| Some(FileRef { model: model?, stem }))
    }
}

impl FromStr for FileRef {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<FileRef, StoreError> {
        let expected = "the name of a file of games, such as 000330/w0-1700000000000";
        let bad = || StoreError::Malformed { text: text.to_owned(), expected };
        let (model, stem) = text.split_once('/').ok_or_else(bad)?;
        Ok(FileRef { model: parse_number(model).ok_or_else(bad)?, stem: stem.parse()? })
    }
}

impl fmt::Display for FileRef {
    /// As in the store: `000330/w0-1700000000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", number_name(self.model), self.stem)
    }
}
