//! `tengen book`: an opening book, searched from the empty board.
//!
//! A round searches the positions that the book can reach most cheaply, and, with more visits, those whose search and
//! minimax disagree. Each is added to the file when its search ends.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

use analysis::book::{BookFile, BookHeader, BookKey, BookRow, Entry, Graph, book_json, book_rows, book_sgf};
use analysis::{BATCH, Engine, Event, Origin, Task};
use anyhow::{Context, anyhow};
use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array};
use go::{Game, MAX_SIDE, Scoring, Size};
use models::ConfiguredModel;
use runtime::{Classify, Progress, Stop};

use crate::player::{PlayerArgs, receive, rounding};

/// A position is searched again when search and minimax differ by more than this of the way from loss to win.
const DISPUTED: f64 = 0.1;

/// Visits of a position that is searched again, in multiples of those before, and at most in multiples of --visits.
const AGAIN: u32 = 4;
const MOST_AGAIN: u32 = 16;

/// A round adds one for so many positions of a book at least: following it takes time in proportion to it.
const SHARE: usize = 50;

/// Arguments of `tengen book`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Book: it is continued if it exists
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    model: PlayerArgs,
    /// Side of the board [default: the model's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(Size::MIN.side()..=MAX_SIDE))]
    size: Option<usize>,
    /// White's compensation, in points [default: the run's]
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true, value_parser = runtime::within(-go::MAX_KOMI..=go::MAX_KOMI))]
    komi: Option<f32>,
    /// Positions in the book, earlier ones included
    #[arg(long, default_value = "1000", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_usize..))]
    budget: usize,
    /// Visits per position [default: the model's own]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: Option<u32>,
    /// Write the book as an SGF tree to this file [default: none]
    #[arg(long, value_name = "FILE")]
    sgf: Option<PathBuf>,
    /// Write a row for each move of each position to this Parquet file [default: none]
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Write all positions as one JSON object to this file [default: none]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A book that grows.
struct Growing<'a> {
    size: Size,
    komi: f32,
    scoring: Scoring,
    visits: u32,
    file: BookFile,
    entries: BTreeMap<BookKey, Entry>,
    engine: Engine,
    /// Positions that are searched at a time.
    width: usize,
    /// Positions that were searched again.
    again: usize,
    stop: &'a Stop,
}

/// Searches a book until it has its budget of positions, and exports it.
///
/// # Errors
/// No such model, or one that cannot be opened; a book that cannot be used, or is of another origin, board, komi or
/// search.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let outputs = || [&args.sgf, &args.parquet, &args.json].into_iter().flatten();
    runtime::check_distinct(outputs(), [args.file.as_path()].into_iter().chain(args.model.model_file()))?;
    outputs().try_for_each(|path| runtime::check_output(path))?;
    let ConfiguredModel { config, searcher, any_size } = args.model.open(store, "book", BATCH, stop)?;
    let side = args.size.unwrap_or(config.game.size);
    if !any_size && side != config.game.size {
        let own = config.game.size;
        return Err(anyhow!("{} is for {own}x{own} boards; use --size {own}", searcher.name())).misconfigured();
    }
    let size = Size::new(side).misconfigured()?;
    let komi = args.komi.unwrap_or(config.game.komi);
    if !size.allows_komi(komi) {
        return Err(anyhow!("komi {komi} exceeds the area of a {size}x{size} board; use --komi")).misconfigured();
    }
    let weights = searcher.weights_digest();
    let evaluations = rounding(&searcher);
    let origin = Origin { model: searcher.name(), weights: weights.as_deref(), evaluations: evaluations.as_deref() };
    let header = BookHeader::new(origin, size, komi).with_settings(&searcher.settings());
    let (file, entries) = BookFile::open(&args.file, &header).misconfigured()?;
    let searcher = Arc::new(searcher);
    let (engine, options) = args.model.start_engine(&searcher, config.seed)?;
    let mut book = Growing {
        size,
        komi,
        scoring: options.settings.scoring,
        visits: args.visits.unwrap_or(config.search.visits),
        file,
        entries,
        engine,
        width: options.threads * options.positions,
        again: 0,
        stop,
    };
    book.grow(args.budget)?;
    let graph = Graph::new(size, std::mem::take(&mut book.entries));
    export(args, &header, &graph)?;
    summarise(&book, &graph)
}

impl Growing<'_> {
    fn grow(&mut self, budget: usize) -> anyhow::Result<()> {
        let progress = Progress::new("book", Some(budget as u64));
        progress.skip(self.entries.len() as u64);
        while !self.stop.requested() && self.round(budget, &progress)? {}
        Ok(())
    }

    /// Searches the positions of one round; whether there were any.
    fn round(&mut self, budget: usize, progress: &Progress) -> anyhow::Result<bool> {
        progress.set(self.entries.len() as u64);
        let graph = Graph::new(self.size, self.entries.clone());
        let most = self.visits.saturating_mul(MOST_AGAIN);
        // A difference of 2 is the way from loss to win.
        let disputed: Vec<(Game, u32)> = graph
            .disputed(2.0 * DISPUTED, most)
            .map(|spot| (graph.game(spot), spot.entry.visits.saturating_mul(AGAIN).min(most)))
            .collect();
        self.again += disputed.len();
        let room = room(budget, self.entries.len(), self.width);
        let fresh = match graph.spots().is_empty() {
            true => vec![Game::new(self.size)],
            false => graph.cheapest(room),
        };
        let games: Vec<(Game, u32)> =
            disputed.into_iter().chain(fresh.into_iter().map(|game| (game, self.visits))).collect();
        let any = !games.is_empty();
        self.search(games, progress)?;
        Ok(any)
    }

    /// Searches positions and adds them.
    fn search(&mut self, games: Vec<(Game, u32)>, progress: &Progress) -> anyhow::Result<()> {
        let (sender, finished) = mpsc::channel();
        let mut open = Vec::new();
        for (game, visits) in games {
            if game.is_over(self.scoring) {
                self.add(Entry::ended(&game, self.scoring, self.komi))?;
                continue;
            }
            let (game, sender, number) = (Arc::new(game), sender.clone(), open.len());
            let task = Task::new(Arc::clone(&game), game.turn(), self.komi, visits);
            let listener = move |event| {
                // Nothing listens after a failure.
                let _ = sender.send((number, event));
            };
            self.engine.submit(task, Box::new(listener));
            open.push((game, visits));
        }
        let mut left = open.len();
        while left > 0 {
            let Some((number, event)) = receive(&finished, &self.engine, self.stop) else { continue };
            left -= 1;
            match event {
                Event::Done(analysis) if !self.stop.requested() => {
                    let (game, visits) = &open[number];
                    self.add(Entry::new(game, &analysis, *visits))?;
                    progress.set(self.entries.len() as u64);
                }
                Event::Failed(error) if !models::lost_at_stop(&error, self.stop) => {
                    let class = models::evaluate_class(&error);
                    return Err(anyhow!("a position of the book: {error}")).class(class);
                }
                // Stopped before its visits, or lost.
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, entry: Entry) -> anyhow::Result<()> {
        self.file.add(&entry)?;
        self.entries.insert(entry.key, entry);
        Ok(())
    }
}

/// Positions that a round adds to a book: as many as are searched at a time, and more to a large book.
fn room(budget: usize, known: usize, width: usize) -> usize {
    budget.saturating_sub(known).min(width.max(known / SHARE))
}

fn export(args: &Args, header: &BookHeader, graph: &Graph) -> anyhow::Result<()> {
    let write = |path: &Option<PathBuf>, bytes: &dyn Fn() -> Vec<u8>| match path {
        Some(path) => runtime::write_whole(path, &bytes()).with_context(|| path.display().to_string()),
        None => Ok(()),
    };
    write(&args.sgf, &|| book_sgf(header, graph).into_bytes())?;
    write(&args.json, &|| book_json(header, graph).to_string().into_bytes())?;
    write(&args.parquet, &|| store::encode(&table(graph)).to_vec())
}

/// A row for each move of each position.
fn table(graph: &Graph) -> RecordBatch {
    let rows = book_rows(graph);
    let text = |of: fn(&BookRow) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().map(of))) };
    let float = |of: fn(&BookRow) -> f32| -> ArrayRef { Arc::new(Float32Array::from_iter_values(rows.iter().map(of))) };
    let columns: [(&str, ArrayRef); 9] = [
        ("key", text(|row| &row.key)),
        ("line", text(|row| &row.line)),
        ("to_move", text(|row| &row.to_move)),
        ("move", text(|row| &row.r#move)),
        ("next", text(|row| &row.next)),
        ("prior", float(|row| row.prior)),
        ("visits", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.visits)))),
        ("value", float(|row| row.value)),
        ("minimax", float(|row| row.minimax)),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of equal length")
}

/// Prints the size of the book and its best line.
fn summarise(book: &Growing<'_>, graph: &Graph) -> anyhow::Result<()> {
    let spots = graph.spots();
    let deepest = spots.iter().map(|spot| spot.line.len()).max().unwrap_or(0);
    let (count, again) = (spots.len(), book.again);
    runtime::print(format!("{count} positions, lines of up to {deepest} moves, {again} searched again"))?;
    let line: Vec<String> = graph.best_line(&Game::new(book.size)).iter().map(|mv| mv.to_gtp(book.size)).collect();
    let root = spots.first().map_or(0.0, |root| 50.0 * (1.0 + root.bounds.value));
    runtime::print(format!("Black wins {root:.1} %; best line: {}", line.join(" ")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use analysis::AnalysisOptions;
    use analysis::book::BookMove;
    use config::Preset;
    use go::Move;
    use mcts::Settings;
    use play::Uniform;

    use super::*;

    #[test]
    fn table_has_the_columns_of_the_guide() {
        let table = table(&Graph::new(Size::MIN, BTreeMap::new()));
        let schema = table.schema();
        let names: Vec<String> = schema.fields().iter().map(|field| format!("`{}`", field.name())).collect();
        assert!(include_str!("../../docs/guide/book.md").contains(&names.join(", ")), "{names:?}");
    }

    #[test]
    fn rounds_of_a_large_book_are_few() {
        let (budget, width) = (1_000_000, 16);
        let (mut known, mut followed, mut rounds) = (1, 0, 0);
        while known < budget {
            followed += known;
            rounds += 1;
            known += room(budget, known, width);
        }
        assert_eq!(known, budget);
        assert!(followed < 60 * budget && rounds < 500, "{followed} positions in {rounds} rounds");
        assert_eq!([room(1000, 40, width), room(1000, 990, width), room(1000, 1001, width)], [16, 10, 0]);
    }

    /// The search of the empty board differs from the position after B2 for ever, and ends before the visits that it is
    /// to have.
    #[test]
    fn position_whose_tree_is_full_is_searched_again_once() {
        let folder = tempfile::tempdir().unwrap();
        let (path, size) = (folder.path().join("book.jsonl"), Size::new(3).unwrap());
        let header = BookHeader::new(Origin::of("uniform"), size, 0.5);
        let (empty, mv) = (Game::new(size), Move::from_gtp(size, "B2").unwrap());
        let mut after = empty.clone();
        after.play(mv).unwrap();
        let key = BookKey::new(&empty).1;
        let moves = vec![BookMove { r#move: "B2".to_owned(), prior: 0.5, visits: 90, value: -1.0 }];
        let root = Entry { key, to_move: "B".to_owned(), visits: 100, value: -1.0, full: false, moves };
        let won = Entry { key: BookKey::new(&after).1, to_move: "W".to_owned(), visits: 0, value: 1.0, ..root.clone() };
        let (mut file, _) = BookFile::open(&path, &header).unwrap();
        file.add(&root).unwrap();
        file.add(&Entry { moves: Vec::new(), ..won }).unwrap();
        drop(file);

        let config = Preset::Minigo.config();
        let settings = Settings::new(&config.search, &config.game);
        let options = AnalysisOptions { settings, leaves: 4, threads: 1, positions: 4, tree: 10_000, seed: 1 };
        let stop = Stop::never();
        let grow = || {
            let (file, entries) = BookFile::open(&path, &header).unwrap();
            let engine = Engine::start(options, || Box::new(Uniform::new())).unwrap();
            let (scoring, visits, stop) = (settings.scoring, 100, &stop);
            let mut book =
                Growing { size, komi: 0.5, scoring, visits, file, entries, engine, width: 4, again: 0, stop };
            let progress = Progress::new("book", None);
            let rounds = (0..3).take_while(|_| book.round(2, &progress).unwrap()).count();
            (rounds, book.again, book.entries[&key].clone())
        };
        let (rounds, again, found) = grow();
        assert_eq!((rounds, again), (1, 1), "{found:?}");
        assert!(found.full && (9..400).contains(&found.visits), "{found:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(grow(), (0, 0, found), "what was full is full when the book is continued");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn columns_of_the_table_are_the_fields_of_the_rows() {
        use arrow_array::cast::AsArray;
        use arrow_array::types::{Float32Type, UInt32Type};

        let key = BookKey::new(&Game::new(Size::MIN)).1;
        let moves = vec![BookMove { r#move: "A1".to_owned(), prior: 0.75, visits: 30, value: 0.25 }];
        let entry = Entry { key, to_move: "B".to_owned(), visits: 40, value: 0.5, full: false, moves };
        let graph = Graph::new(Size::MIN, BTreeMap::from([(key, entry)]));
        let (rows, table) = (book_rows(&graph), table(&graph));
        let row = &rows[0];
        let text = |name: &str| table.column_by_name(name).unwrap().as_string::<i32>().value(0).to_owned();
        let texts = ["key", "line", "to_move", "move", "next"].map(text);
        assert_eq!(texts, [&row.key, &row.line, &row.to_move, &row.r#move, &row.next].map(String::clone));
        let float = |name: &str| table.column_by_name(name).unwrap().as_primitive::<Float32Type>().value(0);
        assert_eq!(["prior", "value", "minimax"].map(float), [row.prior, row.value, row.minimax]);
        assert_eq!(table.column_by_name("visits").unwrap().as_primitive::<UInt32Type>().value(0), row.visits);
    }
}
