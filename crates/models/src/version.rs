//! What tells a model from another one that had its name before.

use std::fs;
use std::path::Path;

use config::ModelId;

use crate::{ModelError, ModelName, Models};

impl Models {
    /// What changes when the model of a name is replaced: the SHA-256 of its weights in hexadecimal digits, or the time
    /// and the size of a file. `None` for built-in models. It takes a small read, and none of weights.
    ///
    /// # Errors
    /// There is no such model or file, or the store cannot be reached.
    pub fn version(&self, name: &ModelName) -> Result<Option<String>, ModelError> {
        let model = match name {
            ModelName::Model(model) => model,
            ModelName::File(path) => return of_file(path).map(Some),
        };
        let id = self.resolve(model)?;
        let ModelId::Trained { run, number } = &id else { return Ok(None) };
        let run = self.run(run)?;
        let described = run.models().described(*number);
        let (_, sha256) = described.map_err(|error| ModelError::of_model(&run, &id, error))?;
        Ok(Some(sha256))
    }
}

fn of_file(path: &Path) -> Result<String, ModelError> {
    let failed = |source| ModelError::File { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(failed)?;
    let modified = metadata.modified().map_err(failed)?;
    Ok(format!("{} bytes, {modified:?}", metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use sha2::{Digest, Sha256};
    use store::Store;

    use super::*;

    #[test]
    fn versions_are_those_of_weights_and_files() {
        let models = Models::new(Store::in_memory().unwrap());
        let version = |name: &str| models.version(&name.parse().unwrap());
        let weights = models.weights(&"9x9-demo".parse().unwrap()).unwrap().bytes;
        assert_eq!(version("9x9-demo-1").unwrap(), Some(format!("{:x}", Sha256::digest(&weights))));
        assert_eq!(version("uniform").unwrap(), None);
        assert!(matches!(version("9x9-demo-2"), Err(ModelError::Missing { .. })));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.safetensors");
        let name = path.to_str().unwrap();
        assert!(matches!(version(name), Err(ModelError::File { .. })));
        fs::write(&path, "one").unwrap();
        let first = version(name).unwrap();
        assert_eq!(version(name).unwrap(), first);
        // The clock of a file system may be a coarse one.
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_ne!(version(name).unwrap(), first);
    }
}
