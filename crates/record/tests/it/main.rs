//! Games, examples and their tables.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect, in its helpers too")]

mod games;
mod sgf;
mod tables;

use go::Size;
use record::{GameRecord, synthetic};

fn some_games(count: u64) -> Vec<GameRecord> {
    (0..count).map(|index| synthetic::game("run-1", "w", index, Size::new(9).unwrap(), 100)).collect()
}
