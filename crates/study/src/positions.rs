//! Positions of studies, from games that a model plays against itself as in self-play, and games of files.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use config::RunConfig;
use go::{Game, Size, sgf};
use mcts::Evaluator;
use play::{Selfplay, SelfplaySpec, game_seed, generator};
use rand::RngExt;
use record::{GameRecord, unpacked_sgf};
use runtime::{Classify, Progress, Stop};

use crate::batched_search::BATCH;

/// Omitted games of a file that have a warning each. A collection for another board would have thousands.
const NAMED: usize = 5;

/// One position from each of `count` games, at some move of its game; fewer when the program is to stop. `worker` names
/// the series of games: another name, other games. Below `threshold` the mover resigns, and without one neither side
/// resigns.
///
/// # Errors
/// The model fails.
pub(crate) fn positions(
    config: &RunConfig,
    id: &str,
    worker: &str,
    count: u32,
    threshold: Option<f32>,
    model: &mut dyn Evaluator,
    stop: &Stop,
) -> anyhow::Result<Vec<Game>> {
    let config = config.at(0);
    let mut started =
        (0..u64::from(count)).map(|i| Selfplay::new(SelfplaySpec::new(&config, id, worker, i, threshold)));
    let mut records: Vec<GameRecord> = Vec::new();
    let slots = (BATCH / config.search.leaves).max(1);
    let progress = Progress::new("games", Some(count.into()));
    play::run(
        &mut [model],
        &mut Vec::new(),
        slots,
        &mut || started.next(),
        &mut |record| {
            records.push(record);
            progress.set(records.len() as u64);
        },
        &mut |_| {
            if stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
    .map_err(|error| anyhow::anyhow!(error))?;
    records.sort_by_key(|record| record.index);
    records.iter().map(|record| Ok(some_position(record)?)).collect()
}

/// The games on boards of this size in files of SGF, packed or not. Those that are omitted are logged.
///
/// # Errors
/// A file that cannot be read or unpacked, or files without such a game.
pub(crate) fn recorded(paths: &[PathBuf], size: Size) -> anyhow::Result<Vec<Game>> {
    let (mut games, mut all) = (Vec::new(), 0);
    for path in paths {
        let name = path.display();
        let file = fs::read(path).with_context(|| name.to_string()).misconfigured()?;
        let text = unpacked_sgf(&file).map_err(|reason| anyhow!("{name}: {reason}")).misconfigured()?;
        let mut omitted = 0;
        for (number, found) in (1_u64..).zip(sgf::games(&text, size)) {
            all += 1;
            match found {
                Ok((game, _)) => games.push(game),
                Err(reason) => {
                    omitted += 1;
                    if omitted <= NAMED {
                        tracing::warn!(file = %name, game = number, reason, "game omitted");
                    }
                }
            }
        }
        if omitted > NAMED {
            tracing::warn!(file = %name, games = omitted - NAMED, "more games omitted");
        }
    }
    if games.is_empty() {
        return Err(anyhow!("no legal game on {size}x{size} among {all}; name other files")).misconfigured();
    }
    Ok(games)
}

/// The position before some move, each as likely as any other.
fn some_position(record: &GameRecord) -> Result<Game, record::RecordError> {
    let mut rng = generator(game_seed(record.seed, "", "turn", record.index));
    let turns = record.turns[..rng.random_range(0..record.turns.len().max(1))].to_vec();
    GameRecord { turns, ..record.clone() }.replay()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_that_cannot_be_played_are_omitted_and_files_without_others_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        let mixed = file("mixed.sgf", "(;SZ[9];B[ee])\n(;SZ[9];B[aa\n(;SZ[19])\n(;SZ[9];B[cc];W[ee])");
        let broken = file("broken.sgf", "(;SZ[9];B[ee];W[ee])\n(;SZ[19];B[ee])");
        let size = Size::new(9).expect("a size");
        let turns = |paths: &[PathBuf]| {
            let games = recorded(paths, size).map_err(|error| error.to_string())?;
            Ok::<_, String>(games.iter().map(Game::turn).collect::<Vec<_>>())
        };
        assert_eq!(turns(&[broken.clone(), mixed]), Ok(vec![1, 2]));
        assert_eq!(turns(&[broken]), Err("no legal game on 9x9 among 2; name other files".to_owned()));
    }
}
