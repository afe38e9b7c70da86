//! Opening books.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use analysis::book::{BookFile, Graph, book_json, book_rows, book_sgf};
use libfuzzer_sys::fuzz_target;

/// The book, in the folder `scratch` of the working directory: books are read from files.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::current_dir().expect("the working directory exists").join("scratch");
    fs::create_dir_all(&folder).expect("the working directory can be written");
    folder.join("book.jsonl")
});

fuzz_target!(|bytes: &[u8]| {
    fs::write(&*FILE, bytes).expect("the folder can be written");
    // An error is a result; a book that is read can be followed and exported.
    let Ok((header, entries)) = BookFile::read(&FILE) else { return };
    let graph = Graph::new(header.size(), entries);
    let _rows = book_rows(&graph);
    let _json = book_json(&header, &graph);
    let _sgf = book_sgf(&header, &graph);
});
