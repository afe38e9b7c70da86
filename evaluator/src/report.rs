//! Everything that is known of a run, as one page for a browser.
//!
//! The cast: [`gather`] reads the store into a [`Report`]; [`page`] puts it together from the parts that the web
//! application is made of (crates `facts` and `page`). The page needs nothing from elsewhere, and shows no number that
//! is not among its facts as JSON.

mod contents;
mod games;
mod page;

use std::io;
use std::path::Path;
use std::sync::Arc;

use facts::{Facts, Reader, Strength};

use crate::rate::AnchorChoice;
use crate::{EvaluatorError, RatedRun};

use contents::Report;
use page::page;

/// Reads all that the page shows, with ratings on the scale of the anchors, if there are any. Ratings that are new are
/// published, on the run's own scale.
///
/// # Errors
/// The store cannot be read, an anchor has not played, or the results cannot be rated.
pub(crate) fn gather(rated: &RatedRun, anchors: &[AnchorChoice]) -> Result<Report, EvaluatorError> {
    let stored = rated.rate_to_show()?;
    let table = if anchors.is_empty() { stored } else { rated.rate_with(&[], anchors)? };
    let hidden = table.hidden();
    let mut reader = Reader::open(rated.run().clone())?;
    reader.refresh()?;
    reader.list()?;
    while !reader.is_done() {
        reader.read(usize::MAX)?;
    }
    let mut facts = Facts { ratings: Arc::new(table.shown()), ..reader.facts() };
    Arc::make_mut(&mut facts.pool).pairs.retain(|(black, white), _| !hidden.contains(black) && !hidden.contains(white));
    let (scale, has_models) = (table.anchors().to_vec(), table.has_models());
    let strength = Strength { scale, has_models, ..Strength::of(&facts) };
    Ok(Report {
        strength,
        facts,
        first_move: table.first_move(),
        notes: table.notes().to_vec(),
        games: games::games(rated.run(), &|player| hidden.contains(player))?,
        written: runtime::unix_millis(),
    })
}

/// Writes the page; a concurrent reader sees the previous page.
///
/// # Errors
/// The place cannot be written.
pub(crate) fn write(file: &Path, report: &Report) -> io::Result<()> {
    runtime::write_whole(file, page(report).as_bytes())
}

#[cfg(test)]
mod tests;
