//! Opening books.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use analysis::book::{BookFile, Graph, book_json, book_rows, book_sgf};
use go::Size;
use libfuzzer_sys::fuzz_target;
use scratch::Scratch;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("book"));

fuzz_target!(|bytes: &[u8]| {
    SCRATCH.put("book.jsonl", bytes);
    // An error is a result; a book that is read can be followed and exported.
    let Ok((header, entries)) = BookFile::read(&SCRATCH.path("book.jsonl")) else { return };
    let Ok(size) = Size::new(header.board_size) else { return };
    let graph = Graph::new(size, entries);
    let _rows = book_rows(&graph);
    let _json = book_json(&header, &graph);
    let _sgf = book_sgf(&header, &graph);
});
