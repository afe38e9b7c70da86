//! What there is of each kind, the oldest first.

use std::collections::{BTreeMap, BTreeSet};

use store::{ArchiveContents, FileKind, FileOwner, Pruned, Run, StoreError, StoredFile};

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
    }
    // By the store's clock, as of all other files: the clock of a worker, which is in the name, may be far behind.
    let mut written: BTreeMap<u32, i64> = BTreeMap::new();
    for kind in [FileKind::Games, FileKind::Examples, FileKind::Holdout, FileKind::Sgf] {
        for file in run.pruning().files(kind)? {
            match file.owner {
                Some(FileOwner::Model(model)) => {
                    games.loose.entry(model).or_default().bytes += file.bytes;
                    if kind == FileKind::Games {
                        let newest = written.entry(model).or_insert(file.written);
                        *newest = file.written.max(*newest);
                    }
                }
                Some(FileOwner::Archive(number)) => {
                    let archive = games.archives.iter_mut().find(|(archive, _)| archive.number == number);
                    if let Some((_, all)) = archive {
                        all.bytes += file.bytes;
                    }
                }
                Some(FileOwner::Checkpoint(_) | FileOwner::Match) | None => {}
            }
        }
    }
    for (model, newest) in written {
        games.loose.entry(model).or_default().time = newest;
    }
    Ok(games)
}

/// SGF records, each with the number of its archive, if it is one. Those of games that are deleted go with them.
pub(super) fn sgf(run: &Run, deleted: &Pruned) -> Result<Named<(StoredFile, Option<u32>)>, StoreError> {
    let archives = run.pruning().archives()?;
    let named: BTreeMap<&str, u32> =
        archives.iter().filter_map(|archive| Some((archive.sgf.as_deref()?, archive.number))).collect();
    let mut found = Vec::new();
    for file in run.pruning().files(FileKind::Sgf)? {
        let number = named.get(file.path.as_str()).copied();
        let is_found = match file.owner {
            Some(FileOwner::Model(model)) => model >= deleted.games_before,
            // A part of no archive is being written, or was when its writer was killed.
            Some(FileOwner::Archive(archive)) => number.is_some() && archive >= deleted.first_archive,
            Some(FileOwner::Match) => true,
            // No program of a run wrote it.
            Some(FileOwner::Checkpoint(_)) | None => false,
        };
        if is_found {
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
    by_owner(run, FileKind::Weights, |owner| match owner {
        FileOwner::Model(number) if free.contains(&number) => Some(number),
        _ => None,
    })
}

/// Shards of published models, which no trainer reads.
pub(super) fn shards(run: &Run) -> Result<Named<u32>, StoreError> {
    let newest = run.models().newest()?.unwrap_or(0);
    by_owner(run, FileKind::Shards, |owner| match owner {
        FileOwner::Model(generation) if generation <= newest => Some(generation),
        _ => None,
    })
}

/// Checkpoints, the newest included.
pub(super) fn checkpoints(run: &Run) -> Result<Named<u64>, StoreError> {
    by_owner(run, FileKind::Checkpoints, |owner| match owner {
        FileOwner::Checkpoint(step) => Some(step),
        _ => None,
    })
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
    let mut files = run.pruning().files(FileKind::Quarantine)?;
    files.sort_by_key(|file| file.written);
    let item = |file: StoredFile| {
        let item = Item { count: 1, bytes: file.bytes, time: file.written };
        (file, item)
    };
    Ok(files.into_iter().map(item).collect())
}

/// The files of a kind by the number of what they belong to, ascending, with their size.
fn by_owner<T: Ord>(
    run: &Run,
    kind: FileKind,
    number: impl Fn(FileOwner) -> Option<T>,
) -> Result<Named<T>, StoreError> {
    let mut found: BTreeMap<T, Item> = BTreeMap::new();
    for file in run.pruning().files(kind)? {
        let Some(number) = file.owner.and_then(&number) else { continue };
        let item = found.entry(number).or_insert(Item { count: 1, bytes: 0, time: 0 });
        item.bytes += file.bytes;
        item.time = item.time.max(file.written);
    }
    Ok(found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{GameRecord, synthetic};
    use store::{FileRef, Stem, Store};

    use super::*;

    /// A worker whose clock was far behind named the file, and an age would delete its games at once.
    #[test]
    fn loose_games_are_as_old_as_their_file_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let run = Store::open(&folder.path().to_string_lossy()).unwrap().run(&"r".parse().unwrap());
        let size = Size::new(5).unwrap();
        let played: Vec<GameRecord> = (0..3).map(|index| synthetic::game("random", "w", index, size, 8)).collect();
        run.games().publish_as(&FileRef { model: 0, stem: Stem::new("w", 1).unwrap() }, &played).unwrap();
        let written = run.pruning().files(FileKind::Games).unwrap()[0].written;
        let found = games(&run).unwrap().loose[&0];
        assert_eq!((found.count, found.time), (3, written));
        assert_ne!(written, 1);
    }

    #[test]
    fn sgf_is_listed_when_a_program_of_the_run_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = Store::open(&folder.path().to_string_lossy()).unwrap().run(&"r".parse().unwrap());
        // No archive of games names the file of archive 1.
        for path in ["000001/a.sgf", "000002/b.sgf", "matches/c.sgf", "archive/000001.sgf.gz", "7/d.sgf", "notes.txt"] {
            let at = folder.path().join("r/sgf").join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, "(;)").unwrap();
        }
        let listed = |games_before: u32| -> BTreeSet<String> {
            let found = sgf(&run, &Pruned { games_before, ..Pruned::default() }).unwrap();
            found.into_iter().map(|((file, _), _)| file.path).collect()
        };
        let [one, two, of_match] = ["sgf/000001/a.sgf", "sgf/000002/b.sgf", "sgf/matches/c.sgf"].map(str::to_owned);
        assert_eq!(listed(2), BTreeSet::from([two.clone(), of_match.clone()]));
        assert_eq!(listed(0), BTreeSet::from([one, two, of_match]));
    }
}
