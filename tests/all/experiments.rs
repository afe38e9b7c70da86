//! The records of `experiments/`: their form, their index, and their citations elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testing::{Tool, require};
use tests::{repository, succeed};

/// Headings of a record, in their order.
const HEADINGS: [&str; 4] = ["## Question", "## Configuration", "## Result", "## Verdict"];
/// Lines of a record, at most: a page.
const PAGE: usize = 80;
/// The folder of `experiments/` that is no record.
const PROGRAMS: &str = "peers";
/// Folders without prose of ours: build output, dependencies, stores of runs.
const SKIPPED: [&str; 4] = ["target", "node_modules", "libtorch", "store"];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of the records in `experiments/`: all folders but the programs of `make peers`.
fn records() -> BTreeSet<String> {
    let entries = fs::read_dir(repository().join("experiments")).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    folders.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != PROGRAMS).collect()
}

/// Adds the files below a folder. Links are not followed.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            collect(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}

/// Files below a folder of the repository whose names end like this.
fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(&repository().join(folder), &mut files);
    files.retain(|file| file.extension().is_some_and(|found| extensions.iter().any(|&extension| found == extension)));
    files
}

/// Records that a text cites as `experiments/NNNN-name`.
fn citations(text: &str) -> BTreeSet<&str> {
    let cited = text.split("experiments/").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        &rest[..end]
    });
    cited.filter(|name| name.len() > 4 && name.bytes().take(4).all(|byte| byte.is_ascii_digit())).collect()
}

/// Relative targets of the Markdown links in a text: `](target)`, `[name]: target`, and those of images in HTML.
fn targets(text: &str) -> BTreeSet<&str> {
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let html = ["src=\"", "srcset=\""].into_iter().flat_map(|key| text.split(key).skip(1));
    let html = html.filter_map(|rest| rest.split('"').next());
    let defined = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: ").map(|(_, target)| target));
    let all = inline.chain(html).chain(defined).map(|target| target.split('#').next().unwrap_or(target));
    all.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

#[test]
fn citations_end_after_the_name() {
    let text =
        "see `experiments/0008-pairing-rules`, experiments/0064-rating-curve-9x9/plot.py and experiments/README.md";
    assert_eq!(citations(text), BTreeSet::from(["0008-pairing-rules", "0064-rating-curve-9x9"]));
}

#[test]
fn every_experiment_has_its_headings_on_one_page() {
    let records = records();
    assert!(records.len() >= 64, "{records:?}");
    for name in records {
        let text = read(&repository().join("experiments").join(&name).join("README.md"));
        let (number, _) = name.split_once('-').unwrap_or_else(|| panic!("{name}: name the folder NNNN-question"));
        assert!(text.starts_with(&format!("# {number}: ")), "{name}: the title starts with its number");
        assert_eq!(text.matches("\nSuperseded by: ").count(), 1, "{name}: one line \"Superseded by: \"");
        assert!(text.contains("\n| date | commit | machine |\n"), "{name}: a table of date, commit and machine");
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(headings, HEADINGS, "{name}");
        assert!(text.lines().count() <= PAGE, "{name}: more than {PAGE} lines; move tables into CSV files");
    }
}

/// The number of fields in a line of CSV, without commas in quotes.
fn fields(line: &str) -> usize {
    let outside: String = line.split('"').step_by(2).collect();
    1 + outside.matches(',').count()
}

#[test]
fn every_experiment_has_its_raw_numbers() {
    assert_eq!(fields("a,\"b, c\",,d"), 4);
    for name in records() {
        let folder = repository().join("experiments").join(&name);
        let tables = files(&format!("experiments/{name}"), &["csv"]);
        assert!(!tables.is_empty(), "{name}: add the numbers of its tables as CSV");
        let readme = read(&folder.join("README.md"));
        for table in tables {
            let file = table.file_name().unwrap().to_string_lossy().into_owned();
            assert!(readme.contains(&format!("`{file}`")), "{name}: README.md does not name {file}");
            let text = read(&table);
            let columns: BTreeSet<usize> = text.lines().map(fields).collect();
            assert!(columns.len() == 1 && text.lines().count() > 1, "{name}/{file}: rows of {columns:?} columns");
        }
    }
}

#[test]
fn index_lists_every_experiment_newest_first() {
    let index = read(&repository().join("experiments/README.md"));
    let rows = index.lines().filter_map(|line| line.strip_prefix("| [")?.split_once("] |"));
    let listed: Vec<&str> = rows.map(|(number, _)| number).collect();
    let records = records();
    let newest_first: Vec<&str> = records.iter().rev().map(|name| name.split('-').next().unwrap_or(name)).collect();
    assert_eq!(listed, newest_first);
    for name in &records {
        let number = name.split('-').next().unwrap_or(name);
        let link = format!("[{number}]: {name}/README.md");
        assert!(index.lines().any(|line| line == link), "experiments/README.md lacks the line {link}");
    }
}

#[test]
fn links_of_experiments_lead_to_files() {
    for file in files("experiments", &["md"]) {
        let text = read(&file);
        let folder = file.parent().expect("a file is in a folder");
        for target in targets(&text) {
            assert!(folder.join(target).exists(), "{}: {target} does not exist", file.display());
        }
    }
}

#[test]
fn every_cited_experiment_exists() {
    let records = records();
    let mut cited = 0;
    for file in files("", &["md", "rs", "toml", "py", "yaml", "yml", "json"]) {
        let text = read(&file);
        for name in citations(&text) {
            assert!(records.contains(name), "{}: experiments/{name} does not exist", file.display());
            cited += 1;
        }
    }
    assert!(cited > records.len() / 4, "only {cited} citations were found");
}

#[test]
fn rating_curve_is_the_output_of_its_script() {
    if require(Tool::Python).is_none() {
        return;
    }
    let source = repository().join("experiments/0064-rating-curve-9x9");
    let folder = tempfile::tempdir().unwrap();
    for name in ["plot.py", "ratings.csv"] {
        fs::copy(source.join(name), folder.path().join(name)).unwrap();
    }
    succeed(Command::new("python3").arg(folder.path().join("plot.py")));
    for name in ["rating-curve-light.svg", "rating-curve-dark.svg"] {
        let drawn = read(&folder.path().join(name));
        assert!(drawn == read(&source.join(name)), "{name} differs: run plot.py");
    }
}
