//! `docs/DATA.md` says what every column is, and what it tells people to type works.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use record::{EndReason, GameRecord, Outcome, examples, games, ratings};
use store::{Run, Store};
use testing::{Tool, require};
use tests::{TestStore, copy, games_of, repository, succeed};

fn document() -> String {
    fs::read_to_string(repository().join("docs/DATA.md")).unwrap()
}

/// The columns of a schema as the document lists them.
macro_rules! columns {
    ($schema:expr) => {
        $schema.fields().iter().map(|field| {
            let none = if field.is_nullable() { ", or none" } else { "" };
            let doc = field.metadata().get("doc").map(ToString::to_string).unwrap_or_default();
            assert!(doc.len() > 10, "{} says what it holds", field.name());
            format!("- `{}` ({}{none}): {doc}\n", field.name(), plain(&field.data_type().to_string()))
        })
    };
}

/// A type in words: `List(non-null UInt16)` is a list of UInt16.
fn plain(name: &str) -> String {
    let inside = name.strip_prefix("List(").and_then(|rest| rest.strip_suffix(')'));
    match inside {
        None => name.to_owned(),
        Some(item) => match item.strip_prefix("non-null ") {
            Some(item) => format!("list of {}", plain(item)),
            None => format!("list of {}, or none", plain(item)),
        },
    }
}

#[test]
fn every_column_of_every_table_is_documented() {
    let document = document();
    let tables = [
        ("Games", games::VERSION, columns!(games::schema()).collect::<String>()),
        ("Examples", examples::VERSION, columns!(examples::schema()).collect()),
        ("Unfinished games", games::unfinished::VERSION, columns!(games::unfinished::schema()).collect()),
        ("Ratings", ratings::VERSION, columns!(ratings::schema()).collect()),
    ];
    let mut missing = String::new();
    for (heading, version, rows) in tables {
        let list = format!("Version `{version}`:\n\n{rows}");
        let section = document.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
        // Lines are wrapped in the document.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !words(section).contains(&words(&list)) {
            missing += &format!("{heading} is to have this list:\n\n{list}\n");
        }
    }
    assert!(missing.is_empty(), "docs/DATA.md: {missing}");
}

/// The blocks of the document in one language. Those of `py` need PyTorch.
pub(crate) fn blocks(language: &str) -> Vec<String> {
    let text = document();
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// A finished run `tiny` in the folder `store`, from which the document's commands are typed beside it.
struct Finished {
    folder: TestStore,
    site: PathBuf,
}

/// `None` where tests with Python are skipped.
fn finished() -> Option<Finished> {
    static MADE: OnceLock<TestStore> = OnceLock::new();
    let site = require(Tool::Python)?;
    let made = MADE.get_or_init(|| {
        let store = TestStore::shared();
        let larger = ["--set", "loop.models=3", "--set", "resign.games=10", "--set", "loop.final_games=2"];
        succeed(store.program("tengen").arg("run").arg(repository().join("configs/tiny.toml")).args(larger));
        store
    });
    let folder = TestStore::new();
    copy(made.path(), &folder.path().join("store"));
    Some(Finished { folder, site })
}

impl Finished {
    fn run(&self) -> Run {
        let place = self.folder.path().join("store");
        Store::open(&place.to_string_lossy()).unwrap().run(&"tiny".parse().unwrap())
    }

    /// What a Python script prints.
    fn python(&self, script: &str) -> String {
        let mut python = Command::new("python3");
        succeed(python.env("PYTHONPATH", &self.site).current_dir(self.folder.path()).args(["-c", script]))
    }

    /// The resign threshold by the document's SQL statement.
    fn threshold(&self) -> f64 {
        let [sql] = &blocks("sql")[..] else { panic!("one statement gives the threshold") };
        let said = self.python(&format!("import duckdb; print(duckdb.sql(r'''{sql}''').fetchall()[0][0])"));
        said.trim().parse().unwrap()
    }
}

/// Whether numbers are what is expected, but for their rounding.
fn are_near(found: &[f64], expected: &[f64], rounding: f64) -> bool {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < 0.51 * rounding;
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

/// The first script: results by model.
fn shows_results(said: &str, run: &Run) {
    let models = run.games().models().unwrap();
    assert_eq!(models, [0, 1, 2]);
    for model in models {
        let games = games_of(run, model);
        let mean = |of: fn(&GameRecord) -> f64| games.iter().map(of).sum::<f64>() / games.len() as f64;
        let row = said.lines().find(|line| line.contains(&games[0].black)).unwrap_or_default();
        let cells: Vec<f64> = row.split('│').filter_map(|cell| cell.trim().parse().ok()).collect();
        let [count, moves, black_wins, resigned] = cells[..] else { panic!("{row:?} in\n{said}") };
        assert_eq!(count, games.len() as f64, "{row}");
        assert!(are_near(&[moves], &[mean(|game| game.turns.len() as f64)], 0.1), "{row}");
        let wins = mean(|game| f64::from(u8::from(game.outcome == Outcome::Black)));
        let resignations = mean(|game| f64::from(u8::from(game.end == EndReason::Resignation)));
        assert!(are_near(&[black_wins, resigned], &[wins, resignations], 0.01), "{row}");
    }
}

/// The second: the policy target of an example of the file that is last by its path.
fn shows_a_policy(said: &str, run: &Run) {
    let (head, body) = said.split_once('\n').unwrap();
    // All games of a file may be in the validation set.
    let files = run.games().files_since(0).unwrap().into_iter().filter(|file| run.examples().read(file).is_ok());
    let file = files.max_by_key(ToString::to_string).unwrap();
    let example = run.examples().read(&file).unwrap().to_examples().remove(0);
    let (model, turn, to_move) = (&example.model, example.turn, example.to_move.sign());
    assert_eq!(head, format!("{model} turn {turn} to move {to_move}"));
    let visits: u32 = example.visits.iter().map(|&(_, count)| count).sum();
    let mut expected = vec![0.0; example.size.moves()];
    for &(mv, count) in &example.visits {
        expected[usize::from(mv)] = f64::from(count) / f64::from(visits);
    }
    let numbers = body.split(|c: char| !c.is_ascii_digit() && c != '.');
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    assert!(are_near(&numbers, &expected, 0.01), "{said}\n{expected:?}");
}

/// The third: the columns as the document lists them.
fn shows_the_columns(said: &str) {
    let described: String = columns!(games::schema()).collect();
    assert_eq!(said.lines().next(), Some(games::VERSION));
    for line in said.lines().skip(1) {
        let (name, doc) = line.split_once(": ").unwrap();
        let is_described = |row: &str| row.starts_with(&format!("- `{name}` (")) && row.ends_with(&format!("): {doc}"));
        assert!(described.lines().any(is_described), "{line}");
    }
    assert_eq!(said.lines().count(), 1 + described.lines().count());
}

#[test]
fn python_scripts_of_the_document_print_what_the_run_has() {
    let Some(finished) = finished() else { return };
    let [results, policy, columns] = &blocks("python")[..] else { panic!("the document has three scripts") };
    shows_results(&finished.python(results), &finished.run());
    shows_a_policy(&finished.python(policy), &finished.run());
    shows_the_columns(&finished.python(columns));
}

#[test]
fn sql_of_the_document_gives_the_published_threshold_from_files_and_archives() {
    let Some(finished) = finished() else { return };
    let found = finished.threshold();
    let (place, run) = (finished.folder.path().join("store"), finished.run());
    let published = run.resign().newest().unwrap().unwrap();
    assert_eq!(published.games, 10, "the newest of more");
    assert!((found - f64::from(published.threshold)).abs() < 1e-6, "DuckDB: {found}, published: {published:?}");

    let mut shuffler = tests::program("shuffler");
    succeed(shuffler.arg("--store").arg(&place).args(["--run", "tiny", "--compact=1"]));
    assert!(run.archives().loose_files().unwrap().is_empty());
    assert_eq!(finished.threshold(), found);
}
