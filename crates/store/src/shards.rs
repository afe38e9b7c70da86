//! Shards: the examples that one model is trained on, mixed.

use object_store::path::Path;
use record::ExampleRows;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::files::PARQUET;
use crate::folder::RunFolder;
use crate::names::{MANIFEST, parse_number};
use crate::parts::Part;
use crate::projection::{self, encode};

pub(crate) const SHARDS: &str = "shards";

/// What to do about damaged shards.
const REMEDY: &str = "delete its folder, and the shuffler samples these shards again";

/// Content and origin of the shards of one generation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The number of the model that is trained on them.
    pub generation: u32,
    /// The seed of the run, which with the generation decides what was sampled, and in which order.
    pub seed: u64,
    /// Digest of the run's configuration.
    pub config_digest: String,
    /// Which games the examples could come from.
    pub window: WindowSummary,
    /// Which examples were sampled.
    pub sampled: SampleSummary,
    /// Files of games or examples that could not be read, and why. Their games are not in the window.
    pub rejected: Vec<Rejected>,
    /// How the games of each model were sampled, the newest model first.
    pub ages: Vec<AgeSummary>,
    /// The files, in the order in which they are to be read. Filled in when they are published.
    pub parts: Vec<ShardPart>,
}

/// The window that was sampled from: the newest games without the validation set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowSummary {
    /// Games in it.
    pub games: usize,
    /// The oldest model that played one of them; 0 is `random`.
    pub from_model: u32,
    /// The newest model that played one of them.
    pub to_model: u32,
    /// Positions in these games.
    pub positions: usize,
    /// Those of them that were not in any window before: all that the newest model played, and what older ones played
    /// after the last window was chosen.
    pub new_positions: usize,
    /// Games that were published more than once, beyond their first appearance.
    pub duplicate_games: usize,
    /// Bound of the window: games, or positions if `in_positions`.
    pub limit: usize,
    /// Whether the window is counted in positions.
    pub in_positions: bool,
    /// Share of the positions that are of calibration games.
    pub calibration_fraction: f64,
}

/// The part of one model in a window and in what was sampled from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgeSummary {
    /// The model that played; 0 is `random`.
    pub model: u32,
    /// Its games in the window.
    pub games: usize,
    /// Positions in these games.
    pub positions: usize,
    /// Examples sampled from them.
    pub examples: usize,
}

/// What was sampled from a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleSummary {
    /// Examples the training requested.
    pub wanted: usize,
    /// Examples sampled, some of them more than once: as wanted, or fewer when that would have been too often.
    pub examples: usize,
    /// Whether the bounds on how often positions or games are sampled made it fewer than wanted.
    pub bounded: bool,
    /// How often a position of the window was sampled, on average.
    pub mean_per_position: f64,
    /// How many examples were sampled for each new position: how often a position is sampled in its life, on average.
    pub reuse: f64,
    /// Share of the examples that come from calibration games.
    pub calibration_fraction: f64,
}

/// A file that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Its full name.
    pub path: String,
    /// The problem with it.
    pub reason: String,
}

/// One file of examples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardPart {
    /// Examples in it.
    pub rows: usize,
    /// The file.
    #[serde(flatten)]
    pub part: Part,
}

/// The shards of a run.
#[derive(Debug)]
pub struct Shards {
    pub(crate) at: RunFolder,
}

impl Shards {
    /// Publishes the shards of a generation: the parts first, in order, and then the manifest that names them, with
    /// which they exist. Returns the manifest with its parts.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`] when there are other shards of this generation; the same ones are no error.
    pub fn publish(
        &self,
        parts: impl IntoIterator<Item = ExampleRows>,
        mut manifest: Manifest,
    ) -> Result<Manifest, StoreError> {
        let folder = self.at.numbered(SHARDS, manifest.generation);
        manifest.parts.clear();
        for (i, rows) in parts.into_iter().enumerate() {
            let part = self.at.store.publish_part(&folder, &format!("part-{i:04}"), PARQUET, encode(rows.batch()))?;
            manifest.parts.push(ShardPart { rows: rows.len(), part });
        }
        self.at.store.publish_toml(&folder.join(MANIFEST), &manifest)?;
        Ok(manifest)
    }

    /// The manifest of a generation's shards; `None` before they are published.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it cannot be read.
    pub fn manifest(&self, generation: u32) -> Result<Option<Manifest>, StoreError> {
        self.at.store.find_toml(&self.manifest_path(generation)).map_err(|error| error.with_remedy(REMEDY))
    }

    /// The examples of one part of a generation's shards.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they are not the ones that were published.
    pub fn read(&self, generation: u32, part: &ShardPart) -> Result<ExampleRows, StoreError> {
        let folder = self.at.numbered(SHARDS, generation);
        let bytes = self.at.store.read_part(&folder, &part.part).map_err(|error| error.with_remedy(REMEDY))?;
        let name = || self.at.store.name(&folder.clone().join(part.part.file.as_str()));
        let batch = projection::decode(bytes, None).map_err(|reason| StoreError::Damaged { path: name(), reason })?;
        ExampleRows::from_batch(&batch).map_err(|error| StoreError::of_records(name(), &error))
    }

    /// The full name of a generation's manifest, for messages.
    pub fn name(&self, generation: u32) -> String {
        self.at.store.name(&self.manifest_path(generation))
    }

    /// The generations that have shards, whole or not, ascending.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn generations(&self) -> Result<Vec<u32>, StoreError> {
        let folders = self.at.store.folders(&self.at.path([SHARDS]))?;
        let mut generations: Vec<u32> = folders.iter().filter_map(|name| parse_number(name)).collect();
        generations.sort_unstable();
        Ok(generations)
    }

    /// When the shards of a generation were published by the clock of the place, in milliseconds since 1970; `None`
    /// before.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn published_at(&self, generation: u32) -> Result<Option<i64>, StoreError> {
        self.at.store.written_at(&self.manifest_path(generation))
    }

    /// Deletes the shards of all generations before `first`: they can be made again from the games.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn prune(&self, first: u32) -> Result<(), StoreError> {
        for generation in self.generations()?.into_iter().filter(|&generation| generation < first) {
            self.at.store.delete_folder(&self.at.numbered(SHARDS, generation), MANIFEST)?;
        }
        Ok(())
    }

    fn manifest_path(&self, generation: u32) -> Path {
        self.at.numbered(SHARDS, generation).join(MANIFEST)
    }
}
