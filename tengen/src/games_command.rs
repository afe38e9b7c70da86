//! `tengen games`: the games of a run for which a condition in SQL holds, as a list or as SGF.
//!
//! The cast: a `Filter` holds the condition and the columns that it needs; `source`
//! reads the games, file by file; a `Collection` writes them.

mod collection;
mod filter;
mod source;

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::anyhow;
use config::RunName;
use facts::search::GamesFile;
use record::GameId;
use runtime::{Classify, Progress, Stop, within};
use store::{Run, Store, StoreError};

use collection::Collection;
use filter::Filter;

/// Arguments of `tengen games`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Run to search
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,
    /// Condition in SQL (SQLite) over the columns of games, such as "outcome = -1 AND n_moves > 80" [default: all
    /// games]
    #[arg(long = "where", value_name = "SQL", default_value = "TRUE", hide_default_value = true)]
    condition: String,
    /// Games of matches between models instead of those of self-play
    #[arg(long)]
    matches: bool,
    /// Maximum number of games, the oldest first [default: all]
    #[arg(long, value_name = "GAMES", allow_negative_numbers = true, value_parser = within(1..=usize::MAX))]
    limit: Option<usize>,
    /// Write the games to this file: .zip with one SGF file per game, or .sgf or .sgf.gz with all of them [default:
    /// list them]
    #[arg(long, value_name = "FILE")]
    sgf: Option<PathBuf>,
}

/// Lists the games, or writes them.
///
/// # Errors
/// A condition that is no SQL, no such run, a store that cannot be reached, a file that cannot be written; damaged
/// files, and those of another version, after the games of all others.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let filter = Filter::new(&args.condition, stop).misconfigured()?;
    if args.matches && filter.is_of_model() {
        let condition = &args.condition;
        return Err(anyhow!("--where \"{condition}\": games of matches have no model; use black and white"))
            .misconfigured();
    }
    let collection = args.sgf.as_deref().map(Collection::create).transpose().misconfigured()?;
    let run = Store::open_existing(store)?.run(&args.run);
    if !run.exists()? {
        return Err(runtime::RunError::absent(&run).into());
    }
    let files = source::files(&run, args.matches)?;
    let mut search = Search { filter, collection, seen: HashSet::new(), limit: args.limit.unwrap_or(usize::MAX) };
    search.header()?;
    let (mut searched, mut damaged, mut foreign) = (0, 0, 0);
    let progress = Progress::new("files of games", Some(files.len() as u64));
    for (file, number) in files.iter().zip(1..) {
        if stop.requested() {
            // The file that was begun is deleted.
            if let Some(out) = &args.sgf {
                tracing::warn!(file = %out.display(), "stopped before all games were found; the file is not written");
            }
            return Ok(());
        }
        if search.is_full() {
            break;
        }
        match search.file(&run, file) {
            Ok(games) => searched += games,
            Err(error) => {
                match error.downcast_ref::<StoreError>() {
                    Some(of_store) if of_store.is_damage() => damaged += 1,
                    Some(of_store) if of_store.is_skippable() => foreign += 1,
                    _ => return Err(error),
                }
                tracing::warn!(error = %format_args!("{error:#}"), "the file is skipped");
            }
        }
        progress.set(number);
    }
    drop(progress);
    if let Some(collection) = search.collection {
        let out = collection.finish()?;
        runtime::print(format!("{} of {searched} games are in {}", search.seen.len(), out.display()))?;
    }
    let foreign = (foreign > 0).then(|| format!("games in {foreign} files of other versions are missing"));
    let damaged = (damaged > 0).then(|| {
        format!(
            "games of damaged files are missing, {damaged} of them; `tengen audit {} --repair` moves them to quarantine",
            run.name()
        )
    });
    match (damaged, foreign) {
        (None, None) => Ok(()),
        (None, Some(foreign)) => Err(anyhow!(foreign)).misconfigured(),
        (Some(damaged), None) => Err(anyhow!(damaged)),
        (Some(damaged), Some(foreign)) => Err(anyhow!("{damaged}; {foreign}")),
    }
}

/// A search at work.
struct Search {
    filter: Filter,
    collection: Option<Collection>,
    /// The games found. One that was published twice counts once.
    seen: HashSet<GameId>,
    limit: usize,
}

impl Search {
    fn is_full(&self) -> bool {
        self.seen.len() >= self.limit
    }

    fn header(&self) -> anyhow::Result<()> {
        if self.collection.is_some() { Ok(()) } else { runtime::print(filter::LISTED.join("\t")) }
    }

    /// Searches a file, and returns how many games it has. Nothing is put out of a file that turns out to be damaged.
    fn file(&mut self, run: &Run, file: &GamesFile) -> anyhow::Result<usize> {
        let Some(table) = source::columns(run, file, &self.filter.columns())? else { return Ok(0) };
        let rows = self.filter.rows(&table, source::model(file))?;
        if rows.is_empty() {
            return Ok(table.num_rows());
        }
        let games = if self.collection.is_some() { file.games(run)? } else { Vec::new() };
        for row in rows {
            if self.is_full() || !self.seen.insert(row.id) {
                continue;
            }
            match &mut self.collection {
                Some(collection) => {
                    let game = games.get(row.number).filter(|game| game.id == row.id);
                    let game = game.ok_or_else(|| anyhow!("{file}: its rows differ between two reads"))?;
                    collection.put(&source::folder(file, game), game)?;
                }
                None => runtime::print(row.listed.join("\t"))?,
            }
        }
        Ok(table.num_rows())
    }
}
