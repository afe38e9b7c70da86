//! The weights that a name means, as they are stored.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use store::ModelMetadata;

use crate::{ModelError, ModelName, Models};

/// The weights of a model or of a file, as they are stored.
pub struct NamedWeights {
    /// The id of the model, or the name of the file without its folder.
    pub name: String,
    /// The bytes of the file, of any kind that [`net::FileKind`] knows.
    pub bytes: Bytes,
    /// The metadata of the model; a file has none.
    pub metadata: Option<ModelMetadata>,
}

impl NamedWeights {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_file(path: &Path) -> Result<NamedWeights, ModelError> {
        let bytes = fs::read(path).map_err(|source| ModelError::File { path: path.to_owned(), source })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(NamedWeights { name, bytes: bytes.into(), metadata: None })
    }
}

impl Models {
    /// Reads the weights that a name means.
    ///
    /// # Errors
    /// There is no such model or file, the model is built in, or its weights are damaged.
    pub fn weights(&self, name: &ModelName) -> Result<NamedWeights, ModelError> {
        match name {
            ModelName::Model(model) => {
                let id = self.resolve(model)?;
                let (metadata, bytes) = self.published(&id)?;
                Ok(NamedWeights { name: id.to_string(), bytes, metadata: Some(metadata) })
            }
            ModelName::File(path) => NamedWeights::of_file(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use store::Store;

    use super::*;

    #[test]
    fn weights_are_those_of_a_model_or_of_a_file() {
        let models = Models::new(Store::in_memory().unwrap());
        let read = |name: &str| models.weights(&name.parse().unwrap());
        let demo = read("9x9-demo").unwrap();
        assert_eq!((demo.name.as_str(), demo.metadata.map(|metadata| metadata.number)), ("9x9-demo-1", Some(1)));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.safetensors");
        let name = path.to_str().unwrap();
        assert!(matches!(read(name), Err(ModelError::File { .. })));
        fs::write(&path, &demo.bytes).unwrap();
        let file = read(name).unwrap();
        assert_eq!((file.name.as_str(), file.metadata.is_none()), ("net.safetensors", true));
        assert_eq!(file.bytes, demo.bytes);
        assert!(matches!(read("uniform"), Err(ModelError::BuiltIn { .. })));
    }
}
