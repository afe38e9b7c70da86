//! Names of models as they are typed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use config::{ModelIdError, ModelRef, PlayerId, PlayerIdError, PlayerRef, split_settings};

/// Extensions of files of weights.
const EXTENSIONS: [&str; 4] = ["safetensors", "onnx", "gz", "txt"];

/// A model as it is typed: an id or a run, or a file of weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelName {
    /// A model of a run, or a built-in one.
    Model(ModelRef),
    /// A file of weights.
    File(PathBuf),
}

impl ModelName {
    /// The file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            ModelName::Model(_) => None,
            ModelName::File(path) => Some(path.as_path()),
        }
    }
}

impl FromStr for ModelName {
    type Err = ModelIdError;

    /// Names of runs may contain dots, so `net.txt` could be one. A text with the extension of a file of weights or a
    /// slash is a file even where there is none; a text with a dot is one where there is, and so is any that cannot be
    /// a model.
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

/// A name that means no model with an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoIdError {
    /// It is no name of a model.
    #[error(transparent)]
    Model(#[from] ModelIdError),
    /// It is no name of a player.
    #[error(transparent)]
    Player(#[from] PlayerIdError),
    /// It is a file, which other workers of the run may lack.
    #[error(
        "{0} is a file, and results are stored under the id of a model; `trainer import {0} --run NAME --config FILE` makes \
         it model 1 of a run"
    )]
    File(String),
}

/// Reads the name of a model whose games are stored.
///
/// # Errors
/// No name of a model, or a file.
pub fn model_with_id(text: &str) -> Result<ModelRef, NoIdError> {
    match text.parse::<ModelName>()? {
        ModelName::Model(model) => Ok(model),
        ModelName::File(path) => Err(NoIdError::File(path.display().to_string())),
    }
}

/// Reads the name of a player whose matches are stored: a model, one with other settings, or an engine.
///
/// # Errors
/// No name of a player, one with a setting in another spelling than its own, or a file of weights.
pub fn player_with_id(text: &str) -> Result<PlayerRef, NoIdError> {
    let player = text.parse::<PlayerRef>();
    // The name of an engine may be that of a file, too.
    if !matches!(player, Ok(PlayerRef::Exact(PlayerId::Engine(_)))) {
        model_with_id(split_settings(text).0)?;
    }
    let player = player?;
    player.check_spelling()?;
    Ok(player)
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
        for text in ["net.safetensors", "net.onnx", "net.txt", "best.txt.gz", "/tmp/Net.safetensors", "no/such"] {
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

    #[test]
    fn results_of_files_cannot_be_stored() {
        for text in ["v15-330", "v15", "uniform", "9x9-demo"] {
            assert_eq!(model_with_id(text), Ok(text.parse().unwrap()));
            assert_eq!(player_with_id(text), Ok(text.parse().unwrap()));
        }
        for text in ["GnuGo-10", "v15-330+visits=400"] {
            assert_eq!(player_with_id(text), Ok(text.parse().unwrap()));
        }
        for text in ["net.safetensors", "./weights"] {
            assert_eq!(model_with_id(text), Err(NoIdError::File(text.to_owned())));
            assert_eq!(player_with_id(text), Err(NoIdError::File(text.to_owned())));
            let with_settings = format!("{text}+visits=400");
            assert_eq!(player_with_id(&with_settings), Err(NoIdError::File(text.to_owned())));
        }
        assert!(matches!(model_with_id("v15-0"), Err(NoIdError::Model(_))));
        for text in ["v15-1+visits", "v15-1+fpu_reduction=0.20", "v15+gumbel_c_scale=1.0"] {
            assert!(matches!(player_with_id(text), Err(NoIdError::Player(_))), "{text}");
        }
        let remedy = model_with_id("net.gz").unwrap_err().to_string();
        assert!(remedy.contains("`trainer import net.gz --run NAME"), "{remedy}");
    }
}
