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

use crate::rate::AnchorChoice;
use crate::{EvaluatorError, RatedRun, pool};

pub use facts::{Counts, Curve, Facts, Game, Lengths, Model, Pairing, Player, Pool, RunFacts, Threshold};
pub use page::page;

/// Reads all that the page shows, with ratings on the scale of the anchors, if there are any. Ratings that are new are published, on the
/// run's own scale.
///
/// # Errors
/// The store cannot be read, an anchor has not played, or the results cannot be rated.
pub fn gather(rated: &RatedRun, anchors: &[AnchorChoice]) -> Result<Facts, EvaluatorError> {
    let (run, config) = (rated.run(), rated.config());
    let stored = rated.rate()?;
    let table = if anchors.is_empty() { stored } else { rated.rate_with(&[], anchors)? };
    let results = rated.pool()?.results([]);
    let hidden = table.hidden();
    let models = selfplay::models(run)?;
    let before = |number: u32| models.iter().filter(|model| model.number < number).map(|model| model.games).sum();
    let (logs, begun) = (losses::read_all(run)?, selfplay::begun(run)?);
    let hours = |number: &u32| Some((logs.ends.get(number)? - begun?) / 3600.0);
    let players = table.shown().into_iter().map(|row| {
        let (model, settings) = row.player.split_once('+').unwrap_or((&row.player, ""));
        let (number, settings) = (pool::age(run.name(), model), settings.to_owned());
        Player {
            number,
            settings,
            games_before: number.map(before),
            hours: number.as_ref().and_then(hours),
            rating: row.into(),
        }
    });
    let players: Vec<Player> = players.collect();
    let place = |name: &str| players.iter().position(|player| player.rating.player == name);
    let names = results.players();
    let pairings = results.scores().filter_map(|(black, white, score)| {
        Some(Pairing { black: place(&names[black])?, white: place(&names[white])?, results: score.into() })
    });
    let mut notes = table.notes().to_vec();
    if logs.unread > 0 {
        let unread = logs.unread;
        notes.push(format!("{unread} unreadable lines of the logs are omitted"));
    }
    Ok(Facts {
        run: RunFacts::new(run.name(), config, now()),
        pool: Pool { first_move: table.first_move().into(), ..selfplay::pool(run)? },
        pairings: pairings.collect(),
        players,
        scale: table.anchors().to_vec(),
        notes,
        models,
        thresholds: thresholds(rated)?,
        losses: logs.curves,
        games: games::games(run, &|player| hidden.contains(player))?,
    })
}

/// Milliseconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn thresholds(rated: &RatedRun) -> Result<Vec<Threshold>, EvaluatorError> {
    let names = rated.run().resign().list()?;
    let read = names.iter().map(|name| rated.run().resign().get(name));
    read.map(|read| read.map(|(time, resign)| Threshold { time, resign }).map_err(EvaluatorError::from)).collect()
}

/// Writes the page; a concurrent reader sees the previous page.
///
/// # Errors
/// The place cannot be written.
pub fn write(file: &Path, facts: &Facts) -> io::Result<()> {
    runtime::write_whole(file, page(facts).as_bytes())
}

#[cfg(test)]
mod tests;
