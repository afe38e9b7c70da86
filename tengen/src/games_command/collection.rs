//! Games as SGF: one file for each in a ZIP archive, or all in one file. The file appears when it is whole.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use flate2::Compression;
use flate2::write::GzEncoder;
use record::GameRecord;
use tempfile::NamedTempFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A file that is being written.
pub(super) struct Collection {
    path: PathBuf,
    /// Where the file appears; none where a device or a pipe gets what is written aside.
    target: Option<PathBuf>,
    aside: NamedTempFile,
    writer: Writer,
}

enum Writer {
    Zip(Box<ZipWriter<BufWriter<File>>>),
    Sgf(BufWriter<File>),
    SgfGz(GzEncoder<BufWriter<File>>),
}

impl Collection {
    /// # Errors
    /// A name with another ending, or a folder that cannot be written.
    pub(super) fn create(path: &Path) -> anyhow::Result<Collection> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let of = || path.display().to_string();
        if path.is_dir() {
            return Err(anyhow!("{}: it is a folder; name a file", of()));
        }
        if !folder.is_dir() {
            return Err(anyhow!("{}: there is no folder {}", of(), folder.display()));
        }
        let new: fn(BufWriter<File>) -> Writer = if name.ends_with(".zip") {
            |file| Writer::Zip(Box::new(ZipWriter::new(file)))
        } else if name.ends_with(".sgf") {
            Writer::Sgf
        } else if name.ends_with(".sgf.gz") {
            |file| Writer::SgfGz(GzEncoder::new(file, Compression::default()))
        } else {
            return Err(anyhow!("{}: the name must end in .zip, .sgf or .sgf.gz", of()));
        };
        let target = runtime::renamed_place(path).with_context(of)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tengen-games-");
        let aside = match target.as_deref().and_then(Path::parent) {
            // Temporary files are for their owner alone, and this one becomes a file as all others: the umask bounds
            // its mode.
            Some(folder) => builder.permissions(Permissions::from_mode(0o666)).tempfile_in(folder),
            None => builder.tempfile(),
        };
        // Its message has the name of the temporary file.
        let aside = aside.map_err(|error| io::Error::from(error.kind())).with_context(of)?;
        let file = aside.reopen().with_context(of)?;
        Ok(Collection { path: path.to_owned(), target, writer: new(BufWriter::new(file)), aside })
    }

    /// Adds a game; in an archive it is `folder/<id>.sgf`.
    pub(super) fn put(&mut self, folder: &str, game: &GameRecord) -> anyhow::Result<()> {
        self.write(folder, game).with_context(|| self.path.display().to_string())
    }

    fn write(&mut self, folder: &str, game: &GameRecord) -> anyhow::Result<()> {
        let text = game.to_sgf();
        match &mut self.writer {
            Writer::Zip(zip) => {
                // Without the time of day: equal games make equal files.
                zip.start_file(format!("{folder}/{}.sgf", game.id), SimpleFileOptions::default())?;
                zip.write_all(text.as_bytes())?;
            }
            Writer::Sgf(file) => file.write_all(text.as_bytes())?,
            Writer::SgfGz(file) => file.write_all(text.as_bytes())?,
        }
        Ok(())
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> anyhow::Result<PathBuf> {
        let Collection { path, target, aside, writer } = self;
        let put = || -> anyhow::Result<()> {
            let file = match writer {
                Writer::Zip(zip) => zip.finish()?,
                Writer::Sgf(file) => file,
                Writer::SgfGz(file) => file.finish()?,
            };
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            match target {
                Some(target) => aside.persist(target).map(drop)?,
                None => {
                    let mut open = OpenOptions::new().append(true).open(&path)?;
                    io::copy(&mut aside.reopen()?, &mut open)?;
                }
            }
            Ok(())
        };
        put().with_context(|| path.display().to_string())?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;
    use std::thread;

    use go::{Size, sgf};
    use record::synthetic;

    use super::*;

    fn games() -> Vec<GameRecord> {
        (0..3).map(|index| synthetic::game("a-3", "w", index, Size::new(5).unwrap(), 8)).collect()
    }

    fn written(path: &Path) -> Vec<u8> {
        let mut collection = Collection::create(path).unwrap();
        games().iter().for_each(|game| collection.put("a-3", game).unwrap());
        assert!(!path.exists(), "it appears when it is whole");
        collection.finish().unwrap();
        fs::read(path).unwrap()
    }

    #[test]
    fn collections_hold_the_games() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let plain = written(&at("all.sgf"));
        assert_eq!(sgf::collection(&plain).filter(Result::is_ok).count(), 3);
        let packed = written(&at("all.SGF.gz"));
        assert_eq!(record::unpacked(&packed, 1 << 20).unwrap(), plain);
        let archive = written(&at("all.zip"));
        assert_eq!(written(&at("again.zip")), archive, "equal games make equal files");
        let mut zip = zip::ZipArchive::new(io::Cursor::new(archive)).unwrap();
        assert_eq!(zip.len(), 3);
        for game in games() {
            let mut text = String::new();
            zip.by_name(&format!("a-3/{}.sgf", game.id)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, game.to_sgf());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing else stays");
    }

    #[test]
    fn links_stay_and_pipes_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let [inside, link, pipe] = ["inside", "link.sgf", "pipe.sgf"].map(|name| folder.path().join(name));
        fs::create_dir(&inside).unwrap();
        symlink("inside/target", &link).unwrap();
        let write = |path: &Path| {
            let mut collection = Collection::create(path).unwrap();
            games().iter().for_each(|game| collection.put("a-3", game).unwrap());
            collection.finish().unwrap();
        };
        // At first the link leads to no file.
        for _ in 0..2 {
            write(&link);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        let plain = fs::read(inside.join("target")).unwrap();
        assert_eq!(sgf::collection(&plain).filter(Result::is_ok).count(), 3);

        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write(&pipe);
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), plain);
        let count = |path: &Path| fs::read_dir(path).unwrap().count();
        assert_eq!((count(folder.path()), count(&inside)), (3, 1), "nothing else stays");
    }
}
