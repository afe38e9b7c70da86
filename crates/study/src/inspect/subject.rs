//! A network by its name.

use std::fs;
use std::path::Path;

use config::ModelRef;
use models::{ModelName, Models};
use net::Listing;
use store::ModelMetadata;

use crate::StudyError;

/// A network and its metadata.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) listing: Listing,
    /// Bytes of its file.
    pub(super) bytes: usize,
    pub(super) metadata: Option<ModelMetadata>,
    /// The first model of its run, where that is another one.
    pub(super) first: Option<ModelMetadata>,
}

impl Subject {
    pub(super) fn open(models: &Models, named: &ModelName) -> Result<Subject, StudyError> {
        match named {
            ModelName::Model(model) => Subject::of_model(models, model),
            ModelName::File(path) => Subject::of_file(path),
        }
    }

    pub(super) fn of_model(models: &Models, model: &ModelRef) -> Result<Subject, StudyError> {
        let (run, number) = models.trained(model)?;
        let (metadata, bytes) = run.models().get(number)?;
        let first = if number > 1 && run.models().exists(1)? { Some(run.models().metadata(1)?) } else { None };
        let name = metadata.id().to_string();
        Ok(Subject { listing: read(&name, &bytes)?, name, bytes: bytes.len(), metadata: Some(metadata), first })
    }

    fn of_file(path: &Path) -> Result<Subject, StudyError> {
        let bytes = fs::read(path).map_err(|source| StudyError::File { path: path.to_owned(), source })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Subject { listing: read(&name, &bytes)?, name, bytes: bytes.len(), metadata: None, first: None })
    }
}

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Listing, StudyError> {
    Listing::read(bytes).map_err(|source| StudyError::Weights { name: name.to_owned(), source: Box::new(source) })
}
