//! Compaction: many small files of games become an archive.
//!
//! 1. The examples, the holdout examples and the readable games of some files are published as parts of the next archive.
//! 2. Its games are published under its number, naming the parts. They are the commit: from then on all these files are in
//!    the archive. Whoever else was about to make an archive of this number finds the name taken, and begins anew.
//! 3. Every file is read again, from its folder and from the archive, and deleted only where both are the same: its games
//!    at last, since they are what is looked for.
//!
//! Killed before the second step it has done nothing, but for parts that nobody reads; they are deleted when an archive of
//! their number exists. Killed later, the files lie in two places and are seen once, until the next compaction goes on.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use object_store::path::Path;

use crate::archive::{ARCHIVE, Archive, CONTENTS, Contents, FORMAT, Place, Source};
use crate::columns::{TableWriter, decode};
use crate::games::{EXAMPLES, GAMES, HOLDOUT, PARQUET, SGF};
use crate::names::{number_name, parse_number};
use crate::parts::Part;
use crate::{FileRef, Run, StoreError};

/// Bytes of Parquet in an archive, all tables together: what a compaction holds in memory. 100,000 games on 9x9 take
/// about 0.5 GB of them, as many on 19x19 about 1.9 GB, which makes two archives.
const LARGEST: usize = 3 << 29;

/// Bytes of Parquet in a row group: what a reader who wants a single source holds in memory is about ten times as much.
const GROUP: usize = 4 << 20;

/// What a compaction did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compaction {
    /// Archives made.
    pub archives: usize,
    /// Games in them.
    pub games: usize,
    /// Files of games in them.
    pub files: usize,
    /// Files of games deleted, those that an earlier compaction had left included.
    pub deleted: usize,
    /// Files of games that were left as they are, and why.
    pub left: Vec<(FileRef, String)>,
}

/// A file of games with all that goes with it.
struct Loaded {
    games: Weighed,
    examples: Option<Weighed>,
    holdout: Option<Weighed>,
    sgf: Option<Bytes>,
}

/// A table, and how many bytes its file has.
struct Weighed {
    table: RecordBatch,
    bytes: usize,
}

impl Run {
    /// Puts the files of games that are in no archive into archives of up to `most` games, in their order, as long as there
    /// are at least `least` games for one, or enough bytes for a full one. A file that cannot be read stays where it is.
    ///
    /// May be called at any time, by several processes at once, and be killed at any time: see the module.
    ///
    /// # Errors
    /// A store that cannot be reached, or an archive that is not what its sources are: nothing is deleted then.
    pub fn compact(&self, least: usize, most: usize) -> Result<Compaction, StoreError> {
        let mut done = Compaction::default();
        self.finish_archives(&mut done)?;
        while let Some(made) = self.make_archive(least, most, &mut done)? {
            done.archives += usize::from(made);
            self.finish_archives(&mut done)?;
        }
        Ok(done)
    }

    /// Files of games that lie in their folders: what a compaction finds to do.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn loose_files(&self) -> Result<Vec<FileRef>, StoreError> {
        let mut files = Vec::new();
        for (folder, names) in self.store().after(&self.path([GAMES]), None)? {
            files.extend(FileRef::all_in(&folder, &names));
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Makes the next archive; `None` when there is too little for one, and whether it was this process that made it.
    fn make_archive(&self, least: usize, most: usize, done: &mut Compaction) -> Result<Option<bool>, StoreError> {
        let loose = self.loose_files()?;
        let archives = self.archives()?;
        let number = archives.last().map_or(1, |archive| archive.number + 1);
        let (mut batch, mut full) = (Builder::default(), false);
        for file in loose {
            let known = archives.iter().any(|archive| archive.sources.contains_key(&file));
            if known || done.left.iter().any(|(left, _)| *left == file) {
                continue;
            }
            match self.load(&file) {
                Ok(loaded) if batch.is_full(&loaded, most) => {
                    full = true;
                    break;
                }
                Ok(loaded) => {
                    if let Err(why) = batch.put(&file, loaded) {
                        done.left.push((file, why));
                    }
                }
                Err(error) if error.is_damage() => done.left.push((file, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        let (games, files) = (batch.games.rows, batch.sources.len());
        if games < least.max(1) && !full {
            return Ok(None);
        }
        match batch.publish(self, number) {
            Ok(()) => {
                done.games += games;
                done.files += files;
                Ok(Some(true))
            }
            Err(StoreError::AlreadyExists { path })
                if path.ends_with(&format!("{}.{PARQUET}", number_name(number))) =>
            {
                Ok(Some(false))
            }
            Err(error) => Err(error),
        }
    }

    fn load(&self, file: &FileRef) -> Result<Loaded, StoreError> {
        let optional = |folder| match self.load_table(folder, file) {
            Ok(table) => Ok(Some(table)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let (examples, holdout) = (optional(EXAMPLES)?, optional(HOLDOUT)?);
        let sgf = self.store().find(&self.file(SGF, file, SGF))?;
        Ok(Loaded { games: self.load_table(GAMES, file)?, examples, holdout, sgf })
    }

    fn load_table(&self, folder: &str, file: &FileRef) -> Result<Weighed, StoreError> {
        let path = self.file(folder, file, PARQUET);
        let bytes = self.store().get(&path)?;
        let size = bytes.len();
        let table =
            decode(bytes, None).map_err(|reason| StoreError::Damaged { path: self.store().name(&path), reason })?;
        Ok(Weighed { table, bytes: size })
    }

    /// Deletes the files that are in archives, and the parts of archives that never were.
    fn finish_archives(&self, done: &mut Compaction) -> Result<(), StoreError> {
        let loose = self.loose_files()?;
        let archives = self.archives()?;
        for archive in &archives {
            let sources: Vec<&FileRef> = loose.iter().filter(|file| archive.sources.contains_key(file)).collect();
            if sources.is_empty() {
                continue;
            }
            if let Some(part) = archive.part(SGF) {
                self.store().read_part(&self.path([SGF, ARCHIVE]), part)?;
            }
            for file in sources {
                self.replace(archive, file)?;
                done.deleted += 1;
            }
        }
        self.delete_leftovers(&archives)
    }

    /// Deletes a file, since an archive has the same.
    fn replace(&self, archive: &Archive, file: &FileRef) -> Result<(), StoreError> {
        for folder in [EXAMPLES, HOLDOUT, GAMES] {
            let loose = match self.load_table(folder, file) {
                // A compaction that was killed had gone on to the next.
                Err(StoreError::NotFound { .. }) => continue,
                loose => loose?.table,
            };
            if self.read_archived(archive, folder, file, None)? != loose {
                let path = self.store().name(&self.file(folder, file, PARQUET));
                let archive = number_name(archive.number);
                return Err(StoreError::Damaged { path, reason: format!("it is another in archive {archive}") });
            }
        }
        let all = [(SGF, SGF), (HOLDOUT, PARQUET), (EXAMPLES, PARQUET), (GAMES, PARQUET)];
        all.iter().try_for_each(|(folder, extension)| self.store().delete(&self.file(folder, file, extension)))
    }

    /// Deletes parts with the number of an archive that does not name them: whoever wrote them was killed or came late, and
    /// cannot commit them any more.
    fn delete_leftovers(&self, archives: &[Arc<Archive>]) -> Result<(), StoreError> {
        for folder in [EXAMPLES, HOLDOUT, SGF] {
            let path = self.path([folder, ARCHIVE]);
            for name in self.store().files(&path)? {
                let number = name.split(['.', '-']).next().and_then(parse_number);
                let archive = archives.iter().find(|archive| Some(archive.number) == number);
                if archive.is_some_and(|archive| archive.part(folder).is_none_or(|part| part.file != name)) {
                    self.store().delete(&path.clone().join(name.as_str()))?;
                }
            }
        }
        Ok(())
    }
}

/// An archive in the making.
#[derive(Default)]
struct Builder {
    sources: Vec<Source>,
    games: Table,
    examples: Table,
    holdout: Table,
    sgf: Option<GzEncoder<Vec<u8>>>,
    bytes: usize,
}

/// One of its tables: the row groups that are written, and the rows of the next one.
#[derive(Default)]
struct Table {
    writer: Option<TableWriter>,
    group: usize,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
    rows: usize,
}

impl Loaded {
    fn bytes(&self) -> usize {
        let rest = [&self.examples, &self.holdout].into_iter().flatten().map(|table| table.bytes).sum::<usize>();
        self.games.bytes + rest
    }
}

impl Builder {
    /// Whether one more file would make it too large.
    fn is_full(&self, next: &Loaded, most: usize) -> bool {
        let games = self.games.rows + next.games.table.num_rows();
        !self.sources.is_empty() && (games > most || self.bytes + next.bytes() > LARGEST)
    }

    /// Adds a file, or says why it cannot be put together with those before.
    fn put(&mut self, file: &FileRef, loaded: Loaded) -> Result<(), String> {
        if loaded.games.table.num_rows() == 0 {
            return Err("it has no games".to_owned());
        }
        let pairs = [
            (&self.games, Some(&loaded.games)),
            (&self.examples, loaded.examples.as_ref()),
            (&self.holdout, loaded.holdout.as_ref()),
        ];
        if pairs.iter().any(|(table, next)| next.is_some_and(|next| !table.fits(&next.table))) {
            return Err("its columns are not those of the files before it".to_owned());
        }
        self.bytes += loaded.bytes();
        if let Some(text) = &loaded.sgf {
            let sgf = self.sgf.get_or_insert_with(|| GzEncoder::new(Vec::new(), Compression::default()));
            sgf.write_all(text).expect("writing to memory does not fail");
        }
        let games = self.games.put(loaded.games);
        let examples = loaded.examples.map(|table| self.examples.put(table)).unwrap_or_default();
        let holdout = loaded.holdout.map(|table| self.holdout.put(table)).unwrap_or_default();
        self.sources.push(Source { file: file.clone(), games, examples, holdout });
        Ok(())
    }

    /// Publishes the parts, and then the games, which name them.
    fn publish(self, run: &Run, number: u32) -> Result<(), StoreError> {
        let part = |folder: &str, extension: &str, bytes: Option<Bytes>| -> Result<Option<Part>, StoreError> {
            let folder: Path = run.path([folder, ARCHIVE]);
            bytes.map(|bytes| run.store().publish_part(&folder, &number_name(number), extension, bytes)).transpose()
        };
        let sgf = self.sgf.map(|sgf| sgf.finish().expect("writing to memory does not fail").into());
        let contents = Contents {
            format: FORMAT,
            sources: self.sources.iter().map(Source::to_string).collect(),
            examples: part(EXAMPLES, PARQUET, self.examples.finish(&[]))?,
            holdout: part(HOLDOUT, PARQUET, self.holdout.finish(&[]))?,
            sgf: part(SGF, "sgf.gz", sgf)?,
        };
        let contents = toml::to_string(&contents).expect("our own types can be written as TOML");
        let games = self.games.finish(&[(CONTENTS, contents)]).unwrap_or_default();
        run.store().publish(&run.archive_path(GAMES, number), games)
    }
}

impl Table {
    fn fits(&self, next: &RecordBatch) -> bool {
        self.waiting.first().is_none_or(|first| first.schema() == next.schema())
    }

    /// Adds rows to this row group or the next, and answers where they are.
    fn put(&mut self, next: Weighed) -> Place {
        if self.waiting_bytes > 0 && self.waiting_bytes + next.bytes > GROUP {
            self.write();
        }
        let place = Place { group: self.group, first: self.waiting_rows, rows: next.table.num_rows() };
        self.waiting_bytes += next.bytes;
        self.waiting_rows += place.rows;
        self.rows += place.rows;
        self.waiting.push(next.table);
        place
    }

    /// Writes the rows that wait, all but the columns of one of them forgotten.
    fn write(&mut self) {
        let Some(first) = self.waiting.first() else { return };
        let schema = first.schema();
        let rows = arrow_select::concat::concat_batches(&schema, &self.waiting).expect("they have the same columns");
        self.writer.get_or_insert_with(|| TableWriter::new(&schema)).put(&rows);
        self.waiting = vec![RecordBatch::new_empty(schema)];
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        self.group += 1;
    }

    /// The bytes of the file; `None` when there are no rows.
    fn finish(mut self, entries: &[(&str, String)]) -> Option<Bytes> {
        if self.waiting_rows > 0 {
            self.write();
        }
        self.writer.map(|writer| writer.finish(entries))
    }
}

impl Run {
    /// What is wrong with the archives: files that are not what was published, and files of games in two of them. Answers
    /// how many archives there are, too.
    ///
    /// # Errors
    /// A store that cannot be reached; an archive that cannot be opened.
    pub fn check_archives(&self) -> Result<(usize, Vec<StoreError>), StoreError> {
        let archives = self.archives()?;
        let (mut problems, mut seen) = (Vec::new(), BTreeSet::new());
        for archive in &archives {
            let parts = [EXAMPLES, HOLDOUT, SGF].into_iter().filter_map(|folder| Some((folder, archive.part(folder)?)));
            for (folder, part) in parts {
                match self.store().read_part(&self.path([folder, ARCHIVE]), part) {
                    Err(error) if error.is_damage() => problems.push(error),
                    read => drop(read?),
                }
            }
            for file in archive.sources.keys().filter(|file| !seen.insert((*file).clone())) {
                let path = self.store().name(&self.archive_path(GAMES, archive.number));
                problems.push(StoreError::Damaged { path, reason: format!("an archive before it has {file}, too") });
            }
        }
        Ok((archives.len(), problems))
    }
}
