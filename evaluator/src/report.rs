//! Everything that is known of a run, as one page for a browser.
//!
//! The cast: [`gather`] reads the store into [`Facts`]; [`page`] puts them, as JSON, into a page that draws them by
//! itself. The page needs nothing from elsewhere, and shows no number that is not among the facts; the facts are counted
//! from the run's Parquet and TOML, or stand there.

mod facts;
mod games;
mod losses;
mod page;
mod selfplay;

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Arena, EvaluatorError, pool};

pub use facts::{Counts, Curve, Facts, Game, Lengths, Model, Pairing, Player, Pool, RunFacts, Threshold};
pub use page::page;

/// Reads all that the page shows. Ratings that are new are published.
///
/// # Errors
/// The store cannot be read, or the results cannot be rated.
pub fn gather(arena: &Arena) -> Result<Facts, EvaluatorError> {
    let (run, config) = (arena.run(), arena.config());
    let table = arena.rate()?;
    let tally = arena.pool()?.tally([]);
    let models = selfplay::models(run)?;
    let before = |number: u32| models.iter().filter(|model| model.number < number).map(|model| model.games).sum();
    let players = table.rows().into_iter().map(|row| {
        let number = pool::age(run.name(), &row.player);
        Player { number, games_before: number.map(before), rating: row.into() }
    });
    let players: Vec<Player> = players.collect();
    let place = |name: &str| players.iter().position(|player| player.rating.player == name);
    let names = tally.players();
    let pairings = tally.scores().filter_map(|(black, white, score)| {
        Some(Pairing { black: place(&names[black])?, white: place(&names[white])?, results: score.into() })
    });
    let (losses, unread) = losses::curves(run)?;
    let mut notes = table.notes().to_vec();
    if unread > 0 {
        notes.push(format!("{unread} lines of the logs are no losses, and are left out"));
    }
    Ok(Facts {
        run: RunFacts::new(run.name(), config, now()),
        pool: Pool { first_move: table.first_move().into(), ..selfplay::pool(run)? },
        pairings: pairings.collect(),
        players,
        notes,
        models,
        thresholds: thresholds(arena)?,
        losses,
        games: games::games(run)?,
    })
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn thresholds(arena: &Arena) -> Result<Vec<Threshold>, EvaluatorError> {
    let names = arena.run().resigns()?;
    let read = names.iter().map(|name| arena.run().resign_at(name));
    read.map(|read| read.map(|(time, resign)| Threshold { time, resign }).map_err(EvaluatorError::from)).collect()
}

/// Writes the page; whoever reads the file meanwhile sees the page that was there before.
///
/// # Errors
/// The place cannot be written.
pub fn write(file: &Path, facts: &Facts) -> io::Result<()> {
    cli::write_whole(file, page(facts).as_bytes())
}

#[cfg(test)]
mod tests;
