//! Files of a run by kind, and what each of them belongs to by its path.

use crate::archive::ARCHIVE;
use crate::checkpoints::{CHECKPOINTS, parse_step};
use crate::files::{EXAMPLES, GAMES, HOLDOUT, SGF};
use crate::matches::MATCHES;
use crate::models::{MODELS, SAFETENSORS};
use crate::names::parse_number;
use crate::quarantine::QUARANTINE;
use crate::shards::SHARDS;

/// Files of a run that may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Games, in files and in archives.
    Games,
    /// Their examples.
    Examples,
    /// Examples of the validation set.
    Holdout,
    /// Readable games, those of matches included.
    Sgf,
    /// Weights of models.
    Weights,
    /// Shards.
    Shards,
    /// Checkpoints.
    Checkpoints,
    /// Damaged files.
    Quarantine,
}

impl FileKind {
    /// The folder that these files are in.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            FileKind::Games => GAMES,
            FileKind::Examples => EXAMPLES,
            FileKind::Holdout => HOLDOUT,
            FileKind::Sgf => SGF,
            FileKind::Weights => MODELS,
            FileKind::Shards => SHARDS,
            FileKind::Checkpoints => CHECKPOINTS,
            FileKind::Quarantine => QUARANTINE,
        }
    }

    /// Whether a file of the folder is of this kind.
    pub(crate) fn has(self, path: &str) -> bool {
        let extension = path.rsplit_once('.').map(|(_, extension)| extension);
        self != FileKind::Weights || extension == Some(SAFETENSORS)
    }
}

/// What a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOwner {
    /// A model: its games, its weights, or the shards that it is trained on.
    Model(u32),
    /// An archive of games.
    Archive(u32),
    /// The checkpoint after so many steps.
    Checkpoint(u64),
    /// A match.
    Match,
}

impl FileOwner {
    /// What a file belongs to by its path in the folder of the run; `None` for a damaged file, or one that no program
    /// of a run wrote.
    pub(crate) fn of(path: &str) -> Option<FileOwner> {
        let mut parts = path.split('/');
        let (folder, group, name) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        match (folder, group) {
            (CHECKPOINTS, step) => parse_step(step).map(FileOwner::Checkpoint),
            (_, ARCHIVE) => parse_number(name.split(['.', '-']).next()?).map(FileOwner::Archive),
            (SGF, MATCHES) => Some(FileOwner::Match),
            (_, number) => parse_number(number).map(FileOwner::Model),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_of_files() {
        for (path, owner) in [
            ("games/000012/w-1700000000000.parquet", FileOwner::Model(12)),
            ("models/000012/weights.safetensors", FileOwner::Model(12)),
            ("sgf/archive/000003-abc.sgf.gz", FileOwner::Archive(3)),
            ("examples/archive/000003.parquet", FileOwner::Archive(3)),
            ("checkpoints/000000000012/manifest.toml", FileOwner::Checkpoint(12)),
            ("sgf/matches/w-1700000000000.sgf", FileOwner::Match),
        ] {
            assert_eq!(FileOwner::of(path), Some(owner), "{path}");
        }
        for other in [
            "games",
            "games/000012",
            "games/12/w-1700000000000.parquet",
            "games/000012/more/w-1700000000000.parquet",
            "games/archive/000003/notes.txt",
            "sgf/archive/notes.txt",
            "checkpoints/000012/manifest.toml",
            "quarantine/games/000012/w-1700000000000.parquet",
        ] {
            assert_eq!(FileOwner::of(other), None, "{other}");
        }
    }

    #[test]
    fn weights_are_the_files_of_models_with_tensors() {
        assert!(FileKind::Weights.has("models/000012/weights-abc.safetensors"));
        assert!(!FileKind::Weights.has("models/000012/model.toml"));
        assert!(FileKind::Games.has("games/000012/w-1700000000000.parquet"));
    }
}
