//! A model that was found by its name.

use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use config::{ModelId, RunName};
use net::{FileKind, Shape, Weights};

use crate::{ModelError, ModelName, Models, NamedWeights};

/// A model that was found by its [name](ModelName).
#[derive(Clone, Debug, PartialEq)]
pub enum ModelSource {
    /// A model of a run, or a built-in one.
    Id(ModelId),
    /// A file of weights.
    File(WeightsFile),
}

/// The weights of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightsFile {
    path: PathBuf,
    /// As the file has them.
    pub(crate) bytes: Bytes,
    pub(crate) weights: Weights,
}

impl WeightsFile {
    /// Reads a file of any kind that [`FileKind`] knows.
    ///
    /// # Errors
    /// The file cannot be read, or is no network.
    pub fn read(path: &Path) -> Result<WeightsFile, ModelError> {
        let NamedWeights { bytes, .. } = NamedWeights::of_file(path)?;
        let (_, weights, _) = FileKind::read(&bytes).map_err(|source| ModelError::unusable_file(path, source))?;
        Ok(WeightsFile { path: path.to_owned(), bytes, weights })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The shape of its network.
    pub fn shape(&self) -> Shape {
        self.weights.shape()
    }
}

impl ModelSource {
    /// Whether it is a built-in model, which has no network and plays on any board.
    pub fn is_built_in(&self) -> bool {
        matches!(self, ModelSource::Id(ModelId::Uniform | ModelId::Random))
    }

    /// Warns that a run, as `--run` names it, has no effect: a model of a run has the rules and settings of its own.
    pub fn check_run(&self, named: Option<&RunName>) {
        if let (ModelSource::Id(ModelId::Trained { run, .. }), Some(named)) = (self, named)
            && run != named
        {
            tracing::warn!(model = %self, run = %named, "--run has no effect: the model has the settings of its own run");
        }
    }

    /// Its weights, as models are stored.
    ///
    /// # Errors
    /// There is no such model, its weights are damaged, or it is built in.
    pub fn weights(&self, models: &Models) -> Result<Bytes, ModelError> {
        match self {
            ModelSource::Id(id) => Ok(models.published(id)?.1),
            ModelSource::File(file) => Ok(file.weights.to_bytes().into()),
        }
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelSource::Id(id) => id.fmt(f),
            ModelSource::File(file) => file.path.display().fmt(f),
        }
    }
}

impl Models {
    /// The model that a name means: the one of its id, the newest of its run, or a file, which is read.
    ///
    /// # Errors
    /// The run does not exist or has no model yet, the store cannot be reached, or the file cannot be used.
    pub fn find(&self, name: &ModelName) -> Result<ModelSource, ModelError> {
        match name {
            ModelName::Model(model) => self.resolve(model).map(ModelSource::Id),
            ModelName::File(path) => WeightsFile::read(path).map(ModelSource::File),
        }
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use store::Store;

    use super::*;

    #[test]
    fn find_reads_files_and_resolves_runs() {
        let models = Models::new(Store::in_memory().unwrap());
        let find = |name: &str| models.find(&name.parse().unwrap());
        for (name, id, is_built_in) in [("9x9-demo", "9x9-demo-1", false), ("random", "random", true)] {
            let found = find(name).unwrap();
            assert_eq!((found.to_string().as_str(), found.is_built_in()), (id, is_built_in));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.safetensors");
        let name = path.to_str().unwrap();
        assert!(matches!(find(name), Err(ModelError::File { .. })));
        std::fs::write(&path, "no network").unwrap();
        assert!(matches!(find(name), Err(ModelError::OpenFile { .. })));
        let weights = Weights::synthetic(Shape::plain(Size::new(7).unwrap()), 1).to_bytes();
        std::fs::write(&path, &weights).unwrap();
        let found = find(name).unwrap();
        assert_eq!((found.to_string().as_str(), found.is_built_in()), (name, false));
        assert_eq!(found.weights(&models).unwrap(), weights);
        assert!(matches!(find("random").unwrap().weights(&models), Err(ModelError::BuiltIn { .. })));
    }
}
