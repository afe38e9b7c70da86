//! Names of models as they are typed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use config::{ModelIdError, ModelRef};

/// Extensions of files of weights.
const EXTENSIONS: [&str; 3] = ["safetensors", "gz", "txt"];

/// A model as it is typed: an id or a run, or a file of weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelName {
    /// A model of a run, or a built-in one.
    Model(ModelRef),
    /// A file of weights.
    File(PathBuf),
}

impl FromStr for ModelName {
    type Err = ModelIdError;

    /// Names of runs may contain dots, so `net.txt` could be one. A text with the extension of a file of weights or a slash is a
    /// file even where there is none; a text with a dot is one where there is, and so is any that cannot be a model.
    fn from_str(text: &str) -> Result<ModelName, ModelIdError> {
        let path = Path::new(text);
        let has_extension = path.extension().is_some_and(|found| EXTENSIONS.iter().any(|known| found == *known));
        match text.parse() {
            _ if has_extension || text.contains('/') => Ok(ModelName::File(path.to_owned())),
            Ok(model) if !(text.contains('.') && path.is_file()) => Ok(ModelName::Model(model)),
            Err(error) if !path.is_file() => Err(error),
            _ => Ok(ModelName::File(path.to_owned())),
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelName::Model(model) => model.fmt(f),
            ModelName::File(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_models_unless_they_can_only_be_files() {
        let file = |text: &str| matches!(text.parse(), Ok(ModelName::File(path)) if path == Path::new(text));
        for text in ["v15-330", "v15", "uniform", "random", "9x9-demo", "v1.5"] {
            assert_eq!(text.parse(), text.parse().map(ModelName::Model), "{text}");
        }
        for text in ["net.safetensors", "net.txt", "best.txt.gz", "/tmp/Net.safetensors", "no/such"] {
            assert!(file(text), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let existing = folder.path().join("weights");
        std::fs::write(&existing, "").unwrap();
        assert!(file(existing.to_str().unwrap()));
        for text in ["", "Net", "v15-0"] {
            assert!(text.parse::<ModelName>().is_err(), "{text}");
        }
    }
}
