//! Games as they are played: for each worker that has viewers in mind, the present state of one of its games.
//!
//! `live/<worker>-<time>.parquet` has one row, as files of unfinished games have. With every state a worker publishes a
//! file and deletes the one before. Only viewers read these files, so losing one loses nothing.

use std::collections::BTreeMap;

use object_store::path::Path;
use record::GameRecord;
use record::games::unfinished;

use crate::error::StoreError;
use crate::files::PARQUET;
use crate::folder::RunFolder;
use crate::names::Stem;
use crate::projection::encode;

const LIVE: &str = "live";

/// The live games of a run.
#[derive(Debug)]
pub struct LiveGames {
    pub(crate) at: RunFolder,
}

impl LiveGames {
    /// Publishes the state of a game instead of the one that is known as `before`. Returns the new one; `None` when the
    /// put fails. A call may take the time-outs of two requests; finished games wait for it, games in progress do not.
    ///
    /// # Errors
    /// [`StoreError::BadName`] for a worker whose name cannot be that of a file.
    pub fn publish(&self, worker: &str, game: &GameRecord, before: Option<&Stem>) -> Result<Option<Stem>, StoreError> {
        let stem = Stem::new(worker, self.at.store.now())?;
        let table = unfinished::to_batch(std::slice::from_ref(game));
        if !self.at.store.publish_if_reachable(&self.file(&stem), encode(&table)) {
            return Ok(None);
        }
        before.into_iter().for_each(|before| self.at.store.delete_if_reachable(&self.file(before)));
        Ok(Some(stem))
    }

    /// Deletes the states that a worker has published, those of a killed process of its name included.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn clear(&self, worker: &str) -> Result<(), StoreError> {
        let names = self.at.store.files_beginning(&self.at.path([LIVE]), &format!("{worker}-"))?;
        let stems = names.iter().filter_map(|name| Stem::of_file(name, PARQUET));
        stems.filter(|stem| stem.worker() == worker).try_for_each(|stem| self.at.store.delete(&self.file(&stem)))
    }

    /// Deletes the state of a finished game, if the store is reachable at once.
    pub fn end(&self, state: &Stem) {
        self.at.store.delete_if_reachable(&self.file(state));
    }

    /// The newest state of each worker, in order of the workers' names.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn list(&self) -> Result<Vec<Stem>, StoreError> {
        let mut newest: BTreeMap<String, Stem> = BTreeMap::new();
        for stem in self.at.store.files(&self.at.path([LIVE]))?.iter().filter_map(|name| Stem::of_file(name, PARQUET)) {
            let known = newest.entry(stem.worker().to_owned()).or_insert_with(|| stem.clone());
            *known = stem.max(known.clone());
        }
        Ok(newest.into_values().collect())
    }

    /// The game in a state; `None` when a newer state has replaced it. Its end means nothing.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when it cannot be read; a store that cannot be reached.
    pub fn read(&self, stem: &Stem) -> Result<Option<GameRecord>, StoreError> {
        match self.at.store.read_records(&self.file(stem), None, unfinished::from_batch) {
            Ok(games) => Ok(games.into_iter().next()),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn file(&self, stem: &Stem) -> Path {
        self.at.path([LIVE]).join(format!("{stem}.{PARQUET}"))
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::synthetic;

    use super::*;

    fn game(index: u64) -> GameRecord {
        synthetic::game("run-1", "w", index, Size::new(5).unwrap(), 8)
    }

    fn live() -> LiveGames {
        LiveGames { at: RunFolder::in_memory() }
    }

    #[test]
    fn newest_state_of_each_worker_is_listed() {
        let live = live();
        let mut before = None;
        for index in 0..3 {
            before = live.publish("w", &game(index), before.as_ref()).unwrap();
        }
        live.publish("w-2", &game(7), None).unwrap();
        let listed = live.list().unwrap();
        let read: Vec<u64> = listed.iter().map(|stem| live.read(stem).unwrap().unwrap().index).collect();
        assert_eq!(read, [2, 7]);
        // One file a worker: the states before are deleted.
        assert_eq!(live.at.store.files(&live.at.path([LIVE])).unwrap().len(), 2);
    }

    #[test]
    fn states_of_a_killed_process_are_cleared_by_the_next_of_its_name() {
        let live = live();
        live.publish("w", &game(0), None).unwrap();
        live.publish("w", &game(1), None).unwrap();
        let other = live.publish("w-2", &game(2), None).unwrap().unwrap();
        live.clear("w").unwrap();
        assert_eq!(live.list().unwrap(), std::slice::from_ref(&other));
        live.clear("w-2").unwrap();
        assert_eq!(live.read(&other).unwrap(), None);
    }
}
