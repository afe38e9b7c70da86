//! Games to analyse, and the files of their analyses.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use analysis::{
    AnalysisFile, Annotation, FileError, Header, Loss, Origin, Report, ReportStyle, annotated, candidates, losses,
    position_after,
};
use anyhow::{Context, anyhow};
use go::sgf::{self, Notice, Record, Tree};
use go::{Game, Move, Size};
use runtime::{Classify, Notes};

/// Losses of a game that are printed.
const LISTED: usize = 5;

/// A loss below this is none.
const LEAST_LOSS: f64 = 0.01;

/// Who analyses, and how.
pub(super) struct Analyst {
    pub(super) model: String,
    /// The SHA-256 of its weights.
    pub(super) weights: Option<String>,
    /// Symmetry and steps of the evaluation cache.
    pub(super) evaluations: Option<String>,
    /// The only board, if there is only one.
    pub(super) size: Option<Size>,
    /// White's compensation in games that do not say.
    pub(super) komi: f32,
    pub(super) visits: u32,
    /// Other candidate moves of each position whose positions are searched.
    pub(super) candidates: usize,
    pub(super) style: ReportStyle,
}

/// A game, and the results of its positions.
pub(super) struct AnalyzedGame {
    /// The file, and the number of the game in it where there are several.
    name: String,
    record: Record,
    game: Arc<Game>,
    komi: f32,
    /// The results, without the end of their names.
    stem: PathBuf,
    /// While it is analysed.
    open: Option<Open>,
}

/// The analysis of a game.
struct Open {
    file: AnalysisFile,
    reports: Vec<Option<Report>>,
    /// Positions that an earlier process analysed.
    known: usize,
}

impl AnalyzedGame {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn game(&self) -> Arc<Game> {
        Arc::clone(&self.game)
    }

    pub(super) fn komi(&self) -> f32 {
        self.komi
    }

    /// Its positions.
    pub(super) fn positions(&self) -> usize {
        self.game.turn() + 1
    }

    /// Opens the file of the analysis. Returns the turns that it lacks.
    ///
    /// # Errors
    /// The file cannot be used, or is of another analysis.
    pub(super) fn begin(&mut self, analyst: &Analyst) -> Result<Vec<usize>, FileError> {
        let Analyst { model, weights, evaluations, visits, style, .. } = analyst;
        let origin = Origin { model, weights: weights.as_deref(), evaluations: evaluations.as_deref() };
        let header = Header::new(&self.record, origin, *visits, style.points, self.komi);
        let (file, reports) = AnalysisFile::open(&self.stem.with_added_extension("analysis.jsonl"), &header)?;
        let left: Vec<usize> = (0..reports.len()).filter(|turn| reports[*turn].is_none()).collect();
        self.open = Some(Open { file, known: reports.len() - left.len(), reports });
        Ok(left)
    }

    /// The candidates of a position beside the move that was played, `most` at most; `None` for a position without a
    /// report, and once the game is finished.
    pub(super) fn candidates(&self, turn: usize, most: usize) -> Option<Vec<Move>> {
        let report = self.open.as_ref()?.reports[turn].as_ref()?;
        Some(candidates(&self.game, report, most))
    }

    /// The game after so many of its moves and then another one; `None` when that is illegal.
    pub(super) fn after(&self, turn: usize, mv: Move) -> Option<Game> {
        position_after(&self.game, turn, mv)
    }

    /// Adds the report of a position of a game that has begun.
    pub(super) fn add(&mut self, report: Report) -> anyhow::Result<()> {
        let open = self.open.as_mut().context("a game has begun before its positions are analysed")?;
        open.file.add(&report)?;
        let turn = report.turn_number;
        open.reports[turn] = Some(report);
        Ok(())
    }

    /// Once all positions are analysed, writes the SGF and prints what the game lost.
    pub(super) fn finish_when_whole(&mut self, analyst: &Analyst, notes: &mut Notes) -> anyhow::Result<()> {
        let is_whole = |open: &mut Open| open.reports.iter().all(Option::is_some);
        let Some(Open { reports, known, .. }) = self.open.take_if(is_whole) else { return Ok(()) };
        let text = annotated(&self.record, &Annotation { model: &analyst.model, reports: &reports });
        let sgf = self.stem.with_added_extension("analysis.sgf");
        runtime::write_whole(&sgf, text.as_bytes()).with_context(|| sgf.display().to_string())?;
        let known = if known > 0 { format!(", {known} of them known") } else { String::new() };
        notes.print(format!("{}: {} positions{known}; {}", self.name, reports.len(), sgf.display()));
        let listed = losses(&self.record, &reports);
        for loss in listed.iter().filter(|loss| loss.loss >= LEAST_LOSS).take(LISTED) {
            notes.print(self.described(loss));
        }
        Ok(())
    }

    fn described(&self, loss: &Loss) -> String {
        let turn = &self.record.turns[loss.turn];
        let [before, after] = loss.winrates.map(|winrate| 100.0 * winrate);
        let better = loss.best.as_ref().map(|best| format!("; better: {best}")).unwrap_or_default();
        let (number, color, vertex) = (loss.turn + 1, turn.color, turn.mv.to_gtp(self.record.size));
        let change = -100.0 * loss.loss;
        format!("  move {number}, {color} {vertex}: {change:+.1} % (Black {before:.1} % to {after:.1} %){better}")
    }
}

/// Opens the games of files, and prints why others cannot be analysed. Returns how many these are, too.
pub(super) fn open(
    files: &[PathBuf],
    out: Option<&Path>,
    analyst: &Analyst,
) -> anyhow::Result<(Vec<AnalyzedGame>, usize)> {
    if let Some(out) = out {
        fs::create_dir_all(out).with_context(|| out.display().to_string()).misconfigured()?;
    }
    // Patterns of a shell may overlap.
    let mut named = HashSet::new();
    let mut is_new = |path: &PathBuf| named.insert(path::absolute(path).unwrap_or_else(|_| path.clone()));
    let files: Vec<PathBuf> = files.iter().filter(|path| is_new(path) && !is_result(path)).cloned().collect();
    distinct(files.iter().map(|file| (results(file, out), file.display().to_string())))?;
    let (mut games, mut failed) = (Vec::new(), 0);
    for path in &files {
        for game in of_file(path, out, analyst) {
            match game {
                Ok(game) => games.push(game),
                Err(error) => {
                    failed += 1;
                    tracing::error!(error = format!("{error:#}"), "file cannot be analysed");
                }
            }
        }
    }
    // The first game of the collection `a.sgf` has the results of the file `a-1.sgf`.
    distinct(games.iter().map(|game| (game.stem.clone(), game.name.clone())))?;
    Ok((games, failed))
}

/// The path of the results of a file, without the end of their names.
fn results(file: &Path, out: Option<&Path>) -> PathBuf {
    let folder = out.or(file.parent()).unwrap_or(Path::new(""));
    let name = file.file_name().and_then(OsStr::to_str).unwrap_or("game");
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    folder.join(stem.strip_suffix(".sgf").unwrap_or(stem))
}

/// Whether a file is a result of this command, which `*.sgf` names beside its game when the command is repeated.
fn is_result(path: &Path) -> bool {
    let is = path.to_string_lossy().ends_with(".analysis.sgf") && path.with_extension("jsonl").is_file();
    if is {
        tracing::warn!(file = %path.display(), "omitted: it is the result of an analysis");
    }
    is
}

/// Two games whose results have the same names would overwrite each other. Each comes with the path of its results.
fn distinct(games: impl IntoIterator<Item = (PathBuf, String)>) -> anyhow::Result<()> {
    let mut seen = BTreeMap::new();
    for (stem, one) in games {
        if let Some(other) = seen.insert(stem, one.clone()) {
            let remedy = "analyse them one after the other with different --out";
            return Err(anyhow!("the results of {other} and of {one} have the same name; {remedy}")).misconfigured();
        }
    }
    Ok(())
}

fn of_file(path: &Path, out: Option<&Path>, analyst: &Analyst) -> Vec<anyhow::Result<AnalyzedGame>> {
    let file = path.display();
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return vec![Err(anyhow!("{file}: {error}; name an SGF file"))],
    };
    let trees = match record::unpacked_sgf(&bytes) {
        Ok(text) => {
            if let Some(encoding) = sgf::unread_encoding(&text) {
                tracing::warn!(%file, encoding, "text in this encoding is not read; convert the file to UTF-8");
            }
            trees(&text)
        }
        Err(reason) => return vec![Err(anyhow!("{file}: {reason}; unpack it, or fetch it again"))],
    };
    let several = trees.len() > 1;
    let name = |number: usize| if several { format!("{file}, game {number}") } else { file.to_string() };
    let stem = |number: usize| {
        let mut stem = results(path, out).into_os_string();
        if several {
            stem.push(format!("-{number}"));
        }
        PathBuf::from(stem)
    };
    let one = |(index, tree): (usize, Result<Tree, String>)| {
        let number = index + 1;
        tree.map_err(|reason| anyhow!("{}: {reason}; correct the file", name(number)))
            .and_then(|tree| of_tree(&tree, name(number), &stem(number), analyst))
    };
    trees.into_iter().enumerate().map(one).collect()
}

/// The games of a collection. The error of a file of one game says its line.
fn trees(text: &[u8]) -> Vec<Result<Tree, String>> {
    match sgf::collection(text).collect::<Vec<_>>() {
        games if games.len() > 1 => games,
        _ => match sgf::parse(text) {
            Ok(trees) => trees.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error.to_string())],
        },
    }
}

fn of_tree(tree: &Tree, name: String, stem: &Path, analyst: &Analyst) -> anyhow::Result<AnalyzedGame> {
    let record = Record::from_tree(tree).map_err(|error| anyhow!("{name}: {error}; correct the file"))?;
    if let Some(size) = analyst.size.filter(|size| *size != record.size) {
        let (found, model) = (record.size, &analyst.model);
        return Err(anyhow!(
            "{name}: the board is {found}x{found}, and {model} is for {size}x{size}; use a model for {found}x{found}"
        ));
    }
    let game = record
        .replay_past()
        .map_err(|error| anyhow!("{name}: {error}; correct the move, or end the game before it"))?;
    let branches = tree.nodes().len() - tree.main_line().count();
    if branches > 0 {
        tracing::warn!(game = name, nodes = branches, "variations are neither analysed nor kept");
    }
    for notice in record.notices() {
        match notice {
            Notice::Komi(written) => {
                tracing::warn!(game = name, written, used = analyst.komi, "komi is larger than the board");
            }
            Notice::Handicap(stones) => {
                tracing::warn!(game = name, stones, "the file has HA without the stones; there are none");
            }
        }
    }
    let komi = record.usable_komi().unwrap_or(analyst.komi);
    Ok(AnalyzedGame { name, record, game: Arc::new(game), komi, stem: stem.to_owned(), open: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_beside_the_game_or_in_the_folder() {
        let of = |file: &str, out: Option<&str>| results(Path::new(file), out.map(Path::new));
        assert_eq!(of("games/a.sgf", None), Path::new("games/a"));
        assert_eq!(of("a.b.sgf.gz", None), Path::new("a.b"));
        assert_eq!(of("games/a", Some("out")), Path::new("out/a"));
        let named = |out| ["x/a.sgf", "y/a.sgf.gz"].map(|file| (of(file, out), file.to_owned()));
        assert!(distinct(named(None)).is_ok());
        let error = distinct(named(Some("out"))).expect_err("the same name").to_string();
        assert!(error.contains("the results of x/a.sgf and of y/a.sgf.gz have the same name"), "{error}");
    }

    #[test]
    fn file_that_is_named_twice_is_analysed_once() {
        let analyst = Analyst {
            model: "uniform".to_owned(),
            weights: None,
            evaluations: None,
            size: None,
            komi: 7.0,
            visits: 1,
            candidates: 0,
            style: ReportStyle::STANDARD,
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.sgf");
        fs::write(&file, "(;SZ[9];B[aa])").expect("the file can be written");
        let again = PathBuf::from(format!("{}/./a.sgf", folder.path().display()));
        let (games, failed) = open(&[file.clone(), again, file], None, &analyst).expect("one game");
        assert_eq!((games.len(), failed), (1, 0));
    }

    #[test]
    fn errors_in_collections_leave_the_other_games() {
        let found = trees(b"(;SZ[9];B[aa])\n(;SZ[9];B[aa\n(;SZ[9];W[bb])");
        assert_eq!(found.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
        let alone = trees(b"(;SZ[9]\n;B[aa");
        assert!(alone[0].as_ref().is_err_and(|reason| reason.starts_with("line 2 ")), "{alone:?}");
    }
}
