//! Files of weights that the operator offers: visitors choose one by its name, and never by a path.

use std::path::{Path, PathBuf};

use config::Preset;
use models::{ModelError, WeightsFile};
use net::Shape;

use super::model_list::ModelChoice;
use crate::WebError;

/// A file of weights that visitors can choose.
#[derive(Clone, Debug)]
pub(super) struct OfferedFile {
    /// The name that visitors know it by.
    pub(super) name: String,
    /// Where it is.
    pub(super) path: PathBuf,
    shape: Shape,
}

impl OfferedFile {
    /// Reads the files once, so that a bad one is an error when the server starts.
    ///
    /// # Errors
    /// A file that is no network, or two of the same name.
    pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<OfferedFile>, WebError> {
        let mut files: Vec<OfferedFile> = Vec::new();
        for path in paths {
            let file = OfferedFile::read(path)?;
            if let Some(other) = files.iter().find(|other| other.name == file.name) {
                return Err(WebError::SameName { one: other.path.clone(), other: file.path });
            }
            files.push(file);
        }
        Ok(files)
    }

    fn read(path: &Path) -> Result<OfferedFile, ModelError> {
        let shape = WeightsFile::read(path)?.shape();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(OfferedFile { name, path: path.to_owned(), shape })
    }

    /// Its place in the lists of pages.
    pub(super) fn choice(&self) -> ModelChoice {
        let plain = Preset::NineByNine.config();
        ModelChoice {
            run: self.name.clone(),
            models: None,
            size: Some(self.shape.size.side()),
            komi: plain.game.komi,
            visits: plain.search.visits,
            predicts: self.shape.ownership || self.shape.score,
        }
    }
}
