//! A network by its name.

use models::{ModelName, Models, NamedWeights};
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
        let NamedWeights { name, bytes, metadata } = models.weights(named)?;
        let first = match &metadata {
            Some(metadata) => Subject::first(models, metadata)?,
            None => None,
        };
        Ok(Subject { listing: read(&name, &bytes)?, name, bytes: bytes.len(), metadata, first })
    }

    /// The first model of the run of a later one.
    fn first(models: &Models, metadata: &ModelMetadata) -> Result<Option<ModelMetadata>, StudyError> {
        let run = models.run(&metadata.run)?;
        let has_first = metadata.number > 1 && run.models().exists(1)?;
        Ok(if has_first { Some(run.models().metadata(1)?) } else { None })
    }
}

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Listing, StudyError> {
    Listing::read(bytes).map_err(|source| StudyError::Weights { name: name.to_owned(), source: Box::new(source) })
}
