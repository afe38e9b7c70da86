//! What was trained on: every row of a shard must be an example of a training game.

use std::collections::{BTreeMap, BTreeSet};

use record::{Example, GameId, Replay};
use runtime::Stop;
use store::{Manifest, StoreError};

use super::Audit;

impl Audit<'_> {
    /// Reads all shards.
    pub(super) fn shards(&mut self, stop: &Stop) -> Result<(), StoreError> {
        for generation in self.run.shards().generations()? {
            let read = self.run.shards().manifest(generation);
            // Without a manifest they are being made, or were when their maker was killed.
            let Some(Some(manifest)) = self.note(read)? else { continue };
            self.found.generations += 1;
            self.manifest(generation, &manifest);
            let mut rows = 0;
            for part in manifest.parts.iter().take_while(|_| !stop.requested()) {
                let read = self.run.shards().read(generation, part);
                if matches!(read, Err(StoreError::NotFound { .. })) && self.run.shards().manifest(generation)?.is_none()
                {
                    // A shuffler that is at work has just deleted them.
                    break;
                }
                let Some(shard) = self.note(read)? else { continue };
                if shard.len() != part.rows {
                    let what = format!("{} has {} rows, not {}", part.part.file, shard.len(), part.rows);
                    self.problem(self.run.shards().name(generation), what);
                }
                rows += shard.len();
                self.rows(generation, &part.part.file, &shard.to_examples());
            }
            self.found.shard_rows += rows;
        }
        Ok(())
    }

    fn manifest(&mut self, generation: u32, manifest: &Manifest) {
        let name = self.run.shards().name(generation);
        if manifest.generation != generation {
            self.problem(&name, format!("it is of generation {}", manifest.generation));
        }
        if manifest.config_digest != self.digest {
            self.problem(&name, format!("made with configuration {}, not {}", manifest.config_digest, self.digest));
        }
        let sampled = manifest.sampled.examples;
        let aged: usize = manifest.ages.iter().map(|age| age.examples).sum();
        if aged != sampled {
            self.problem(&name, format!("{sampled} examples were sampled, and {aged} by age"));
        }
        let rows: usize = manifest.parts.iter().map(|part| part.rows).sum();
        if rows != sampled {
            self.problem(&name, format!("{sampled} examples were sampled, and its parts have {rows}"));
        }
    }

    fn rows(&mut self, generation: u32, file: &str, examples: &[Example]) {
        let Some(first) = examples.first() else { return };
        let mut replay = Replay::new(first.size);
        for example in examples {
            let problem = match replay.rebuild(example) {
                Err(error) => error.to_string(),
                Ok(()) if !self.trained.put(example, generation) => {
                    format!("game {}, turn {}: sampled twice, with different contents", example.game, example.turn)
                }
                Ok(()) => continue,
            };
            self.problem(format!("{}, {file}", self.run.shards().name(generation)), problem);
        }
    }

    /// Rows of shards whose games are nowhere. Shards whose oldest games were deleted on request may have such rows.
    pub(super) fn leftovers(&mut self, _stop: &Stop) -> Result<(), StoreError> {
        let mut games: BTreeMap<(u32, GameId), usize> = BTreeMap::new();
        self.trained.left().for_each(|row| *games.entry(row).or_default() += 1);
        let pruned = self.run.pruning().newest()?.games_before;
        let mut lacking = BTreeSet::new();
        for generation in games.keys().map(|(generation, _)| *generation).collect::<BTreeSet<u32>>() {
            let read = self.run.shards().manifest(generation);
            let manifest = self.note(read)?.flatten();
            if manifest.is_some_and(|manifest| manifest.window.from_model < pruned) {
                lacking.insert(generation);
            }
        }
        for ((generation, game), rows) in games.into_iter().filter(|((generation, _), _)| !lacking.contains(generation))
        {
            let what = format!("{rows} rows of game {game}, which is not there or has no such turns");
            self.problem(self.run.shards().name(generation), what);
        }
        Ok(())
    }
}
