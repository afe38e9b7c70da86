//! The analysis of a game as a file of lines, to which positions are added one by one.
//!
//! The first line is a [`Header`], each other line the [`Report`] of a position, in the order in which they were
//! finished. A process that is killed leaves half a line at the end, at most; it is dropped when the file is opened
//! again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use go::Color;
use go::sgf::Record;
use serde::{Deserialize, Serialize};

use crate::Origin;
use crate::report::{Report, letter};

/// The name of the format of analysis files.
pub const FORMAT: &str = "tengen-analysis";
/// Its version that this crate reads and writes.
pub const VERSION: u32 = 1;

/// What was analysed, and how. A file is continued only by an analysis with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    format: String,
    version: u32,
    /// The model.
    pub model: String,
    /// The SHA-256 of its weights; `None` for a built-in model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// What rounds evaluations: symmetry and steps of the evaluation cache. `None` without a cache.
    pub evaluations: Option<String>,
    /// Visits below the root.
    pub visits: u32,
    /// Points of lead for a sure win.
    pub points: f32,
    /// White's compensation.
    pub komi: f32,
    /// The side of the board.
    pub board_size: usize,
    /// Stones before the first move, each with its player.
    pub initial_stones: Vec<[String; 2]>,
    /// Who plays first.
    pub initial_player: String,
    /// The moves, each with its player.
    pub moves: Vec<[String; 2]>,
}

impl Header {
    /// The header of the analysis of a game.
    pub fn new(record: &Record, origin: Origin<'_>, visits: u32, points: f32, komi: f32) -> Header {
        let Origin { model, weights, evaluations } = origin;
        let size = record.size;
        let pair = |color: Color, mv: go::Move| [letter(color).to_owned(), mv.to_gtp(size)];
        let stones = |color: Color| record.setup.of(color).iter().map(move |point| pair(color, go::Move::Play(point)));
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            model: model.to_owned(),
            weights: weights.map(str::to_owned),
            evaluations: evaluations.map(str::to_owned),
            visits,
            points,
            komi,
            board_size: size.side(),
            initial_stones: Color::BOTH.into_iter().flat_map(stones).collect(),
            initial_player: letter(record.first).to_owned(),
            moves: record.turns.iter().map(|turn| pair(turn.color, turn.mv)).collect(),
        }
    }

    /// What its searches come from.
    fn origin(&self) -> Origin<'_> {
        let (weights, evaluations) = (self.weights.as_deref(), self.evaluations.as_deref());
        Origin { model: &self.model, weights, evaluations }
    }
}

/// The file of an analysis. It is closed between two positions, since collections have more games than processes may
/// have open files, and locked only while it is opened or written: half a line is then of a process that was killed.
#[derive(Debug)]
pub struct AnalysisFile {
    path: PathBuf,
}

/// A file of an analysis that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is of another analysis.
    #[error("{path}: not an analysis of this game by this model with these settings ({what} differs); write to another \
             folder with --out, or delete the file", path = .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// Another version wrote it.
    #[error("{path}: its version is {found}, and this program reads {VERSION}; use the version of Tengen that wrote it, or \
             write to another folder with --out", path = .path.display())]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It is no book.
    #[error("{path}: not a book of `tengen book`{differs}", path = .path.display())]
    NoBook {
        /// The file.
        path: PathBuf,
        /// What is different from a book; empty when everything is.
        differs: String,
    },
    /// It is a book, and not the one that was asked for.
    #[error("{path}: a book of {found}, not of {asked}; continue it with the same, or name another file",
            path = .path.display())]
    OtherBook {
        /// The file.
        path: PathBuf,
        /// What it is of.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// It is a book that another process has open.
    #[error("{path}: another process writes this book; wait until it has finished, or name another file", path = .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A line in its middle is damaged.
    #[error("{path}: line {line} is damaged: {reason}; delete the line, and the position is searched again", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem with it.
        reason: String,
    },
}

impl AnalysisFile {
    /// Opens a file, or begins one, and returns the reports that it has, by their turns. One with all reports need not
    /// be writable.
    ///
    /// # Errors
    /// The file cannot be used, or is of another analysis.
    pub fn open(path: &Path, header: &Header) -> Result<(AnalysisFile, Vec<Option<Report>>), FileError> {
        let refused = match open_to_extend(path) {
            Ok(file) => return AnalysisFile::read(path, header, file, None),
            Err(refused) => refused,
        };
        let may_be_read = matches!(refused.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
        match File::open(path) {
            Ok(file) if may_be_read => AnalysisFile::read(path, header, file, Some(refused)),
            _ => Err(FileError::Io { path: path.to_owned(), source: refused }),
        }
    }

    /// Reads an open file, and prepares it for more reports. `refused` says why it cannot be written, if it cannot.
    fn read(
        path: &Path,
        header: &Header,
        file: File,
        refused: Option<io::Error>,
    ) -> Result<(AnalysisFile, Vec<Option<Report>>), FileError> {
        let io = |source| FileError::Io { path: path.to_owned(), source };
        let mut file = locked(path, file);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut reports = vec![None; header.moves.len() + 1];
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate();
        let opened = AnalysisFile { path: path.to_owned() };
        match lines.next() {
            None if is_cut_header(&bytes, FORMAT) => {
                refused.map_or(Ok(()), Err).map_err(io)?;
                file.set_len(0).and_then(|()| add_line(&mut file, header)).map_err(io)?;
                return Ok((opened, reports));
            }
            first => check(path, first.map_or(&bytes, |(_, line)| line), header)?,
        }
        for (number, line) in lines {
            let damaged = |reason| FileError::Damaged { path: path.to_owned(), line: number + 1, reason };
            let report: Report = serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
            let place = reports.get_mut(report.turn_number);
            *place.ok_or_else(|| damaged("the game has no such turn".to_owned()))? = Some(report);
        }
        let is_cut = whole < bytes.len();
        if let Some(refused) = refused
            && (is_cut || reports.iter().any(Option::is_none))
        {
            return Err(io(refused));
        }
        if is_cut {
            file.set_len(whole as u64).map_err(io)?;
        }
        Ok((opened, reports))
    }

    /// Adds the report of a position.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, report: &Report) -> Result<(), FileError> {
        let file = OpenOptions::new().append(true).open(&self.path);
        let written = file.and_then(|file| add_line(&mut locked(&self.path, file), report));
        written.map_err(|source| FileError::Io { path: self.path.clone(), source })
    }
}

/// Opens a file to read it and to add lines to it; an empty one where there is none.
pub(crate) fn open_to_extend(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).open(path)
}

/// The file, once no other process reads or writes a line of it. That takes a moment, unless the process was suspended
/// meanwhile.
fn locked(path: &Path, file: File) -> File {
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        tracing::warn!(file = %path.display(), "another process has locked the analysis; waiting for it");
        // Where the file system has no locks, the file is used without.
        let _ = file.lock();
    }
    file
}

fn add_line(file: &mut File, what: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(what).expect("plain fields are JSON") + "\n";
    file.write_all(line.as_bytes())
}

/// Whether a file without a whole line is a header of a format, or its beginning: of a process that was killed before
/// it searched anything.
pub(crate) fn is_cut_header(bytes: &[u8], format: &str) -> bool {
    let start = format!("{{\"format\":\"{format}\"");
    start.as_bytes().starts_with(bytes) || bytes.starts_with(start.as_bytes())
}

/// The version that a line names as the header of a format. Headers of other versions may have other keys.
pub(crate) fn version_of(line: &[u8], format: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Versioned {
        format: String,
        version: u32,
    }
    let found: Versioned = serde_json::from_slice(line).ok()?;
    (found.format == format).then_some(found.version)
}

fn check(path: &Path, line: &[u8], header: &Header) -> Result<(), FileError> {
    if let Some(found) = version_of(line, FORMAT).filter(|&found| found != VERSION) {
        return Err(FileError::OtherVersion { path: path.to_owned(), found });
    }
    let other = |what| Err(FileError::Other { path: path.to_owned(), what });
    let Ok(mut found) = serde_json::from_slice::<Header>(line) else { return other("its first line") };
    if found.origin().is_of_model(&header.origin()) {
        found.model.clone_from(&header.model);
    }
    let game = |header: &Header| (header.board_size, header.initial_player.clone(), header.initial_stones.clone());
    match () {
        () if found == *header => Ok(()),
        () if found.model != header.model => other("the model"),
        () if found.weights != header.weights => other("the SHA-256 of its weights"),
        () if found.evaluations != header.evaluations => other("the evaluation cache"),
        () if found.visits != header.visits => other("the number of visits"),
        () if game(&found) != game(header) || found.moves != header.moves => other("the game"),
        () if found.komi != header.komi => other("komi"),
        () => other("a setting"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::review::tests::reports;

    fn header(sgf: &str, visits: u32) -> Header {
        Header::new(&Record::parse(sgf.as_bytes()).expect("a game"), Origin::of("v1-2"), visits, 10.0, 7.5)
    }

    const GAME: &str = "(;SZ[2]AB[aa];W[bb];B[])";

    #[test]
    fn header_describes_game_and_settings() {
        let found = serde_json::to_value(header(GAME, 30)).expect("JSON");
        let expected = serde_json::json!({
            "format": "tengen-analysis", "version": 1, "model": "v1-2", "evaluations": null, "visits": 30,
            "points": 10.0, "komi": 7.5, "boardSize": 2, "initialStones": [["B", "A2"]], "initialPlayer": "W",
            "moves": [["W", "B1"], ["B", "pass"]],
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn other_weights_under_the_name_of_a_model_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let of = |weights: Option<&str>| Header { weights: weights.map(str::to_owned), ..header(GAME, 30) };
        drop(AnalysisFile::open(&path, &of(Some("ab"))).expect("a file"));
        assert!(AnalysisFile::open(&path, &of(Some("ab"))).is_ok());
        for other in [Some("cd"), None] {
            let refused = AnalysisFile::open(&path, &of(other)).expect_err("another").to_string();
            assert!(refused.contains("(the SHA-256 of its weights differs)"), "{other:?}: {refused}");
        }
    }

    #[test]
    fn analysis_by_a_file_of_weights_is_continued_by_another_path_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let open = |model: &str, weights: &str| {
            let (model, weights) = (model.to_owned(), Some(weights.to_owned()));
            let opened = AnalysisFile::open(&path, &Header { model, weights, ..header(GAME, 30) });
            opened.err().map(|error| error.to_string())
        };
        assert_eq!(open("./net.safetensors", "ab"), None, "it begins");
        assert_eq!(open("a/net.safetensors", "ab"), None, "it is continued");
        for (model, weights) in [("a/net.safetensors", "cd"), ("./other.safetensors", "ab")] {
            let refused = open(model, weights).expect("another");
            assert!(refused.contains("(the model differs)"), "{model} {weights}: {refused}");
        }
    }

    #[test]
    fn file_is_continued_with_the_same_symmetry_and_steps_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let of = |evaluations: Option<&str>| Header { evaluations: evaluations.map(str::to_owned), ..header(GAME, 30) };
        drop(AnalysisFile::open(&path, &of(Some("canonical 2048"))).expect("a file"));
        assert!(AnalysisFile::open(&path, &of(Some("canonical 2048"))).is_ok());
        for other in [Some("canonical 256"), Some("mean8 2048"), Some("canonical exact"), None] {
            let refused = AnalysisFile::open(&path, &of(other)).expect_err("another").to_string();
            assert!(refused.contains("(the evaluation cache differs)"), "{other:?}: {refused}");
        }
    }

    /// Cut at every byte, the file is continued, and nothing that was whole is lost.
    #[test]
    fn file_that_is_cut_anywhere_resumes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let (header, reports) = (header(GAME, 30), reports(&[Some(0.5), Some(0.6), Some(0.7)]));
        let (file, found) = AnalysisFile::open(&path, &header).expect("a file");
        assert_eq!(found, [None, None, None]);
        for turn in [2, 0, 1] {
            file.add(reports[turn].as_ref().expect("a report")).expect("it can be written");
        }
        let whole = fs::read(&path).expect("the file");
        let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
        let near = |cut: usize| ends.iter().any(|end| end.abs_diff(cut) < 3);
        for cut in (0..=whole.len()).filter(|cut| near(*cut) || cut % 41 == 0) {
            fs::write(&path, &whole[..cut]).expect("the file");
            let (file, found) = AnalysisFile::open(&path, &header).expect("a file");
            let lines = ends.iter().filter(|end| **end < cut).count();
            let expected = [lines > 2, lines > 3, lines > 1];
            assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), expected, "cut at {cut}");
            for turn in [2, 0, 1].into_iter().filter(|turn| found[*turn].is_none()) {
                file.add(reports[turn].as_ref().expect("a report")).expect("it can be written");
            }
            assert!(fs::read(&path).expect("the file") == whole, "cut at {cut}");
        }
    }

    /// As in an archive. Every file can be written by root, so the refusal is made up.
    #[test]
    fn finished_file_need_not_be_writable() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let (header, reports) = (header(GAME, 30), reports(&[Some(0.5), Some(0.6), Some(0.7)]));
        let open = || {
            let file = File::open(&path).expect("the file");
            let opened = AnalysisFile::read(&path, &header, file, Some(ErrorKind::PermissionDenied.into()));
            opened.map(|(_, found)| found).map_err(|error| error.to_string())
        };
        let is_refused = || open().is_err_and(|error| error.ends_with("game.jsonl: permission denied"));
        File::create(&path).expect("the file");
        assert!(is_refused(), "it lacks the header");
        let (file, _) = AnalysisFile::open(&path, &header).expect("a file");
        for report in reports.iter().flatten() {
            assert!(is_refused(), "it lacks a report");
            file.add(report).expect("it can be written");
        }
        assert_eq!(open().map(|found| found.iter().flatten().count()), Ok(3));
        open_to_extend(&path).expect("the file").write_all(b"{").expect("it can be written");
        assert!(is_refused(), "it has half a line");
        let missing = AnalysisFile::open(&folder.path().join("no/game.jsonl"), &header).expect_err("no such folder");
        assert!(matches!(missing, FileError::Io { source, .. } if source.kind() == ErrorKind::NotFound));
    }

    /// Half a line at the end may be one that another process is writing.
    #[test]
    fn file_that_another_process_writes_is_opened_after_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let (header, reports) = (header(GAME, 30), reports(&[Some(0.5), Some(0.6), Some(0.7)]));
        drop(AnalysisFile::open(&path, &header).expect("a file"));
        let line = serde_json::to_string(reports[2].as_ref().expect("a report")).expect("JSON") + "\n";
        let (start, end) = line.as_bytes().split_at(line.len() / 2);
        let mut other = locked(&path, open_to_extend(&path).expect("the file"));
        other.write_all(start).expect("it can be written");
        let (sender, opened) = mpsc::channel();
        let opening = thread::spawn(move || {
            let (_, found) = AnalysisFile::open(&path, &header).expect("a file");
            sender.send(found.iter().map(Option::is_some).collect::<Vec<_>>()).expect("the test waits");
        });
        let early = opened.recv_timeout(Duration::from_millis(100));
        assert_eq!(early, Err(RecvTimeoutError::Timeout), "it waits for the other process");
        other.write_all(end).expect("it can be written");
        drop(other);
        assert_eq!(opened.recv(), Ok(vec![false, false, true]));
        opening.join().expect("it has opened the file");
    }

    #[test]
    fn file_that_is_cut_in_another_header_begins_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let header = Header { weights: Some("ab".to_owned()), ..header(GAME, 30) };
        let others =
            [Header { weights: Some("cd".to_owned()), ..header.clone() }, Header { visits: 31, ..header.clone() }];
        let whole = serde_json::to_string(&header).expect("JSON") + "\n";
        for other in others.map(|other| serde_json::to_string(&other).expect("JSON")) {
            for cut in [1, other.len() / 2, other.len() - 1, other.len()] {
                fs::write(&path, &other[..cut]).expect("the file");
                let (_, found) = AnalysisFile::open(&path, &header).expect("a file");
                assert_eq!(found, [None, None, None]);
                assert_eq!(fs::read_to_string(&path).expect("the file"), whole, "{other} cut at {cut}");
            }
        }
    }

    #[test]
    fn files_of_other_analyses_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        drop(AnalysisFile::open(&path, &header(GAME, 30)).expect("a file"));
        let before = fs::read(&path).expect("the file");
        let refused = |header: &Header| AnalysisFile::open(&path, header).expect_err("another").to_string();
        assert!(refused(&header(GAME, 31)).contains("the number of visits differs"));
        assert!(refused(&header("(;SZ[2];B[aa])", 30)).contains("the game differs"));
        assert!(refused(&Header { evaluations: Some("set".to_owned()), ..header(GAME, 30) }).contains("cache"));
        assert_eq!(fs::read(&path).expect("the file"), before);
        for text in ["a shopping list", "{\"format\":\"tengen-book\",\"version\":1"] {
            fs::write(&path, text).expect("the file");
            assert!(refused(&header(GAME, 30)).contains("its first line"));
            assert_eq!(fs::read_to_string(&path).expect("the file"), text);
        }
        let later = String::from_utf8_lossy(&before).replace("\"version\":1", "\"version\":2");
        for text in ["{\"format\":\"tengen-analysis\",\"version\":2}\n", &later] {
            fs::write(&path, text).expect("the file");
            let said = refused(&header(GAME, 30));
            assert!(said.contains("game.jsonl: its version is 2, and this program reads 1"), "{said}");
            assert!(!said.contains("delete"), "{said}");
            assert_eq!(fs::read_to_string(&path).expect("the file"), text);
        }
        let damaged = [&before[..], b"{}\n"].concat();
        fs::write(&path, damaged).expect("the file");
        assert!(refused(&header(GAME, 30)).contains("line 2 is damaged"));
    }
}
