//! What there is of each kind, the oldest first.

use std::collections::{BTreeMap, BTreeSet};

use store::{ArchiveContents, Pruned, Run, StoreError, StoredFile};

use super::policy::Item;

/// Games in folders, by model, and in archives.
#[derive(Debug, Default)]
pub(super) struct Games {
    pub(super) loose: BTreeMap<u32, Item>,
    pub(super) archives: Vec<(ArchiveContents, Item)>,
    /// Files whose games cannot be counted. They go with their model.
    pub(super) damaged: usize,
}

impl Games {
    /// The games of each model, the oldest first. Games of an archive share its bytes, and the time of its newest.
    pub(super) fn by_model(&self) -> Named<u32> {
        let mut models = self.loose.clone();
        for (archive, all) in &self.archives {
            for (&model, &games) in &archive.games {
                let of = models.entry(model).or_default();
                of.count += games as u64;
                of.bytes += all.bytes * games as u64 / all.count.max(1);
                of.time = of.time.max(all.time);
            }
        }
        models.into_iter().collect()
    }

    /// What is deleted with a bound on models and on archives.
    pub(super) fn before(&self, model: u32, archive: u32) -> Item {
        let loose = self.loose.range(..model).map(|(_, item)| item);
        let archives = self.archives.iter().filter(|(contents, _)| contents.number < archive).map(|(_, item)| item);
        loose.chain(archives).sum()
    }
}

/// Things with their names.
pub(super) type Named<T> = Vec<(T, Item)>;

/// All games.
pub(super) fn games(run: &Run) -> Result<Games, StoreError> {
    let mut games = Games::default();
    for archive in run.pruning().archives()? {
        let count = archive.games.values().sum::<usize>() as u64;
        let time = archive.newest as i64;
        games.archives.push((archive, Item { count, bytes: 0, time }));
    }
    let loose = run.archives().loose_files()?;
    for file in &loose {
        let of = games.loose.entry(file.model).or_default();
        match run.games().count(file) {
            Ok(count) => of.count += count as u64,
            // It was moved to quarantine just now.
            Err(StoreError::NotFound { .. }) => {}
            Err(error) if error.is_damage() => games.damaged += 1,
            Err(error) => return Err(error),
        }
        of.time = of.time.max(file.stem.time() as i64);
    }
    for folder in ["games", "examples", "holdout", "sgf"] {
        for file in run.pruning().files(folder)? {
            match place(&file.path) {
                Some(Place::Model(model)) => games.loose.entry(model).or_default().bytes += file.bytes,
                Some(Place::Archive(number)) => {
                    let archive = games.archives.iter_mut().find(|(archive, _)| archive.number == number);
                    if let Some((_, all)) = archive {
                        all.bytes += file.bytes;
                    }
                }
                None => {}
            }
        }
    }
    Ok(games)
}

/// Where a file of games lies.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Model(u32),
    Archive(u32),
}

/// `games/000330/…` or `games/archive/000001….parquet`.
fn place(path: &str) -> Option<Place> {
    let mut parts = path.split('/').skip(1);
    let (folder, name) = (parts.next()?, parts.next()?);
    match folder {
        "archive" => name.split(['.', '-']).next()?.parse().ok().map(Place::Archive),
        model => model.parse().ok().map(Place::Model),
    }
}

/// SGF records, each with the number of its archive, if it is one. Those of games that are deleted go with them.
pub(super) fn sgf(run: &Run, deleted: &Pruned) -> Result<Named<(StoredFile, Option<u32>)>, StoreError> {
    let archives = run.pruning().archives()?;
    let named: BTreeMap<&str, u32> =
        archives.iter().filter_map(|archive| Some((archive.sgf.as_deref()?, archive.number))).collect();
    let mut found = Vec::new();
    for file in run.pruning().files("sgf")? {
        let with_games = match place(&file.path) {
            Some(Place::Model(model)) => model < deleted.games_before,
            Some(Place::Archive(number)) => number < deleted.first_archive,
            None => false,
        };
        if with_games {
            continue;
        }
        let number = named.get(file.path.as_str()).copied();
        // A part of no archive is being written, or was when its writer was killed.
        if number.is_some() || !file.path.starts_with("sgf/archive/") {
            let item = Item { count: 1, bytes: file.bytes, time: file.written };
            found.push(((file, number), item));
        }
    }
    // Archives go in their order.
    found.sort_by_key(|((file, number), item)| (item.time, *number, file.path.clone()));
    Ok(found)
}

/// Retired models whose weights may be deleted.
pub(super) fn weights(run: &Run) -> Result<Named<u32>, StoreError> {
    let free: BTreeSet<u32> = evaluator::retired_weights(run)?
        .into_iter()
        .filter(|deletion| deletion.kept.is_none())
        .map(|deletion| deletion.model.number())
        .collect();
    let mut found: BTreeMap<u32, Item> = BTreeMap::new();
    for file in run.pruning().files("models")?.iter().filter(|file| file.path.ends_with(".safetensors")) {
        if let Some(Place::Model(number)) = place(&file.path)
            && free.contains(&number)
        {
            let item = found.entry(number).or_insert(Item { count: 1, bytes: 0, time: file.written });
            item.bytes += file.bytes;
        }
    }
    Ok(found.into_iter().collect())
}

/// Shards of published models, which no trainer reads.
pub(super) fn shards(run: &Run) -> Result<Named<u32>, StoreError> {
    let newest = run.models().newest()?.unwrap_or(0);
    let folders = folders(run, "shards")?;
    let numbered = folders.into_iter().filter_map(|(name, item)| Some((name.parse().ok()?, item)));
    Ok(numbered.filter(|&(generation, _): &(u32, Item)| generation <= newest).collect())
}

/// Checkpoints, the newest included.
pub(super) fn checkpoints(run: &Run) -> Result<Named<u64>, StoreError> {
    let folders = folders(run, "checkpoints")?;
    Ok(folders.into_iter().filter_map(|(name, item)| Some((name.parse().ok()?, item))).collect())
}

/// Sets of evaluations of the models of the run, by model.
pub(super) fn evaluations(run: &Run) -> Result<Named<Vec<String>>, StoreError> {
    let sets = run.store().evaluation_sets()?;
    let mut found = Vec::new();
    if sets.is_empty() {
        return Ok(found);
    }
    for number in run.models().list()? {
        let (_, sha256) = run.models().described(number)?;
        // A damaged `model.toml` may have too few digits.
        let Some(begin) = models::set_prefix(&sha256) else { continue };
        let own: Vec<String> = sets.iter().filter(|set| set.starts_with(begin)).cloned().collect();
        let mut item = Item { count: 1, bytes: 0, time: 0 };
        for set in &own {
            let segments = run.store().evaluations(set, None)?;
            for number in segments.numbers()? {
                let (bytes, written) = segments.dated(number)?.unwrap_or_default();
                item.bytes += bytes;
                item.time = item.time.max(written);
            }
        }
        if !own.is_empty() {
            found.push((own, item));
        }
    }
    Ok(found)
}

/// Damaged files.
pub(super) fn quarantine(run: &Run) -> Result<Named<StoredFile>, StoreError> {
    let mut files = run.pruning().files("quarantine")?;
    files.sort_by_key(|file| file.written);
    let item = |file: StoredFile| {
        let item = Item { count: 1, bytes: file.bytes, time: file.written };
        (file, item)
    };
    Ok(files.into_iter().map(item).collect())
}

/// The folders in a folder of the run, in order of name, each with the size of what is in it.
fn folders(run: &Run, folder: &str) -> Result<BTreeMap<String, Item>, StoreError> {
    let mut found: BTreeMap<String, Item> = BTreeMap::new();
    for file in run.pruning().files(folder)? {
        let Some(name) = file.path.split('/').nth(1) else { continue };
        let item = found.entry(name.to_owned()).or_insert(Item { count: 1, bytes: 0, time: 0 });
        item.bytes += file.bytes;
        item.time = item.time.max(file.written);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_files() {
        assert_eq!(place("games/000012/w-1700000000000.parquet"), Some(Place::Model(12)));
        assert_eq!(place("sgf/archive/000003-abc.sgf.gz"), Some(Place::Archive(3)));
        assert_eq!(place("examples/archive/000003.parquet"), Some(Place::Archive(3)));
        assert_eq!([place("sgf/matches/w-1.sgf"), place("games"), place("games/notes.txt")], [None, None, None]);
    }
}
