//! `docs/DATA.md` says what every column is, and what it tells people to type works.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use record::{examples, games, ratings};
use testing::{Tool, require};
use tests::{TestStore, repository, succeed};

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

/// The blocks of the document in one language.
fn blocks(language: &str) -> Vec<String> {
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
    let site = require(Tool::Python)?;
    let store = TestStore::new();
    fs::create_dir(store.path().join("store")).unwrap();
    let larger = ["--set", "loop.models=3", "--set", "resign.games=10", "--set", "loop.final_games=2"];
    let mut tengen = tests::program("tengen");
    tengen.arg("--store").arg(store.path().join("store")).arg("run").arg(repository().join("configs/tiny.toml"));
    succeed(tengen.args(larger));
    Some(Finished { folder: store, site })
}

impl Finished {
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

#[test]
fn python_scripts_of_the_document_print_the_documented_output() {
    let Some(finished) = finished() else { return };
    let scripts = blocks("python");
    assert_eq!(scripts.len(), 3);
    for (script, expected) in scripts.iter().zip(["black_wins", "pass", "winner_min_value: worst root value"]) {
        let said = finished.python(script);
        assert!(said.contains(expected), "{script}\n{said}");
    }
}

#[test]
fn sql_of_the_document_gives_the_published_threshold_from_files_and_archives() {
    let Some(finished) = finished() else { return };
    let found = finished.threshold();
    let place = finished.folder.path().join("store");
    let run = store::Store::open(&place.to_string_lossy()).unwrap().run(&"tiny".parse().unwrap());
    let published = run.resign().newest().unwrap().unwrap();
    assert_eq!(published.games, 10, "the newest of more");
    assert!((found - f64::from(published.threshold)).abs() < 1e-6, "DuckDB: {found}, published: {published:?}");

    let mut shuffler = tests::program("shuffler");
    succeed(shuffler.arg("--store").arg(&place).args(["--run", "tiny", "--compact=1"]));
    assert!(run.archives().loose_files().unwrap().is_empty());
    assert_eq!(finished.threshold(), found);
}
