//! Files of analyses, which are continued and written as SGF.
#![no_main]

#[path = "../analysed.rs"]
mod analysed;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use analysis::{AnalysisFile, Annotation, annotated, losses};
use libfuzzer_sys::fuzz_target;

/// The file, in the folder `scratch` of the working directory: analyses are read from files.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::current_dir().expect("the working directory exists").join("scratch");
    fs::create_dir_all(&folder).expect("the working directory can be written");
    folder.join("analysis.jsonl")
});

fuzz_target!(|bytes: &[u8]| {
    fs::write(&*FILE, bytes).expect("the folder can be written");
    let record = analysed::record();
    let header = analysed::header(&record);
    // An error is a result; a file that was opened is whole, and its reports can be shown.
    let Ok((_file, reports)) = AnalysisFile::open(&FILE, &header) else { return };
    let (_file, again) = AnalysisFile::open(&FILE, &header).expect("a file that was opened can be opened again");
    assert!(again == reports);
    let _losses = losses(&record, &reports);
    let _sgf = annotated(&record, &Annotation { model: "v15-330", reports: &reports });
});
