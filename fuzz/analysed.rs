//! The analysis that the target `analysis_file` continues, for it and for its seed.

use analysis::{Header, Origin};
use go::sgf::Record;

/// The game.
pub fn record() -> Record {
    Record::parse(b"(;SZ[5]KM[7];B[cc];W[bb];B[])").expect("the text is a game")
}

/// How it is analysed.
pub fn header(record: &Record) -> Header {
    Header::new(record, Origin::of("v15-330"), 30, 10.0, 7.0)
}
