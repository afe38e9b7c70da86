//! Games from files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use go::Game;
use go::sgf::{Error, Notice, Record, ReplayError};

/// Bytes a file may have. Commented collections of thousands of games are smaller.
const LARGEST: u64 = 64 << 20;

/// Why a file does not become the game of the session.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("{0}")]
    File(#[from] io::Error),
    #[error("not a plain file of at most {LARGEST} bytes")]
    NotPlain,
    #[error("{0}")]
    Sgf(#[from] Error),
    #[error("{0}")]
    Rules(#[from] ReplayError),
    #[error("a {0}x{0} board cannot be played on here")]
    Size(usize),
}

/// The first game of a file as it was before the move with this number, from 1, or at its end; and its komi, unless
/// that is larger than the board.
pub(super) fn load(path: &Path, before: Option<usize>) -> Result<(Game, Option<f32>), LoadError> {
    let mut record = Record::parse(&read(path)?)?;
    for notice in record.notices() {
        let path = path.display();
        match notice {
            Notice::Komi(written) => tracing::warn!(%path, written, "komi is larger than the board, and is not used"),
            Notice::Handicap(stones) => {
                tracing::warn!(%path, stones, "the file has HA without the stones; there are none");
            }
        }
    }
    let kept = before.map_or(record.turns.len(), |before| before.saturating_sub(1));
    let next = record.turns.get(kept).map(|turn| turn.color);
    record.turns.truncate(kept);
    let mut game = record.replay_past()?;
    game.set_to_move(next.unwrap_or(game.to_move()));
    Ok((game, record.usable_komi()))
}

/// No path may block: neither an endless device nor a pipe without a writer.
fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(LoadError::NotPlain);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST { Err(LoadError::NotPlain) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn komi_that_is_larger_than_the_board_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.sgf");
        let komi = |written: &str| {
            std::fs::write(&path, format!("(;SZ[5]{written};B[cc])")).unwrap();
            load(&path, None).unwrap().1
        };
        let found = ["KM[100]", "KM[-25.5]", "KM[25]", "KM[6.5]", "KM[375]", ""].map(komi);
        assert_eq!(found, [None, None, Some(25.0), Some(6.5), Some(7.5), None]);
    }
}
