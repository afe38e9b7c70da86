//! The memory of a search: counted, not estimated from the system's figures.

use std::fmt;

use config::Preset;
use serde::Serialize;

use super::Bench;
use super::search::UniformGame;

/// Moves after which a game is looked at, so that its tree was kept and its history is as long as the network sees.
const MOVES: usize = 20;

/// Arguments of `tengen bench memory`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Board size; may be repeated
    #[arg(long, default_values = ["9", "19"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(2..=19_usize))]
    size: Vec<usize>,
    /// Visits per move; may be repeated
    #[arg(long, default_values = ["16", "800"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: Vec<u32>,
    /// Override a key of configs/9x9.toml, such as search.algorithm=puct; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "memory")]
struct Case {
    board: usize,
    visits: u32,
    bytes_per_node: f64,
    /// A game before its first search.
    bytes_per_fresh_game: usize,
    /// A game that waits for its next evaluation: the tree, the room for the next one, and all history.
    bytes_per_idle_game: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Case { board, visits, bytes_per_node, bytes_per_fresh_game, bytes_per_idle_game } = self;
        write!(f, "memory {board}x{board}, {visits} visits a move: {bytes_per_node:.0} bytes a node, ")?;
        write!(f, "a game {bytes_per_fresh_game} bytes when fresh and {bytes_per_idle_game} after {MOVES} moves")
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    for size in &args.size {
        for &visits in &args.visits {
            if !bench.stop.requested() {
                bench.report(&measure(args, *size, visits)?)?;
            }
        }
    }
    Ok(())
}

fn measure(args: &Args, board: usize, visits: u32) -> anyhow::Result<Case> {
    let size = [format!("game.size={board}")];
    let config = Preset::NineByNine.with(&[&size[..], &args.overrides].concat())?;
    let mut game = UniformGame::new(&config, visits)?;
    let bytes_per_fresh_game = game.thinker().search().footprint();
    for _ in 0..MOVES {
        game.think_and_move()?;
    }
    let (nodes, bytes) = game.size;
    Ok(Case {
        board,
        visits,
        bytes_per_node: bytes as f64 / nodes as f64,
        bytes_per_fresh_game,
        bytes_per_idle_game: game.thinker().search().footprint(),
    })
}
