//! `tengen import-sgf`: human games, as games of a run.
//!
//! They become games of model 0, played by `human`, so that a first model can be trained on them, or one be validated
//! with them. A record that cannot be used is omitted, counted and listed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use config::{RunConfig, RunName};
use go::sgf;
use record::{GameId, GameRecord, unpacked_sgf};
use runtime::{Classify, ConfigArgs, Notes, Stop};
use sha2::{Digest, Sha256};
use store::{Run, Store};

/// Arguments of `tengen import-sgf`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// SGF collections: .sgf or .sgf.gz
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Run that receives the games
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,
    #[command(flatten)]
    config: ConfigArgs,
}

/// Counts of imported records.
#[derive(Debug, Default)]
struct ImportTotals {
    games: usize,
    positions: usize,
    known: usize,
    skipped: usize,
}

/// Converts the records of all files and publishes them. Killed or run again, it publishes the missing games.
///
/// # Errors
/// A file that cannot be read, a run without configuration, a store that refuses the games, or no usable record at all.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    // Before the run begins: it would keep a configuration that was meant for other games.
    args.files.iter().try_for_each(|path| runtime::check_input(path))?;
    let run = Store::open(store)?.run(&args.run);
    let is_there = run.exists()?;
    let config = if is_there { args.config.open(&run)? } else { args.config.peek(&run)? };
    let mut importer = Importer {
        run: &run,
        config: &config,
        begins: Some(&args.config).filter(|_| !is_there),
        seen: published(&run)?,
        totals: ImportTotals::default(),
        notes: Notes::default(),
    };
    for path in args.files.iter().take_while(|_| !stop.requested()) {
        importer.file(path, stop)?;
    }
    let Importer { totals: ImportTotals { games, positions, known, skipped }, mut notes, .. } = importer;
    notes.print(format!("imported {games} games with {positions} positions, {known} duplicates, {skipped} skipped"));
    if games + known == 0 && !stop.requested() {
        let problem = format!("no game was imported: the files have {skipped} records, and none can be used");
        return Err(anyhow!(problem)).misconfigured();
    }
    notes.finish()
}

/// The games that need not be imported again.
fn published(run: &Run) -> anyhow::Result<HashSet<GameId>> {
    let mut seen = HashSet::new();
    for file in run.games().files(0)? {
        seen.extend(run.games().summaries(&file)?.iter().map(|game| game.id));
    }
    Ok(seen)
}

struct Importer<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    /// The configuration of a run that begins with its first games: it would keep one that was meant for other games.
    begins: Option<&'a ConfigArgs>,
    seen: HashSet<GameId>,
    totals: ImportTotals,
    /// The list of skipped records, of which a reader may have seen enough before the import is done.
    notes: Notes,
}

impl Importer<'_> {
    fn file(&mut self, path: &Path, stop: &Stop) -> anyhow::Result<()> {
        let file = std::fs::read(path).with_context(|| format!("cannot read {}", path.display())).misconfigured()?;
        let bytes = unpacked_sgf(&file).map_err(|why| anyhow!("cannot read {}: {why}", path.display()));
        let bytes = bytes.misconfigured()?;
        // The same collection has the same worker, independent of its file name.
        let worker = format!("sgf-{:.8x}", Sha256::digest(&bytes));
        let converter = trainer::converter(self.config, &worker);
        let mut games = Vec::new();
        for (number, found) in sgf::collection(&bytes).enumerate() {
            if stop.requested() {
                break;
            }
            let converted = found.and_then(|tree| converter.convert(number as u64, &tree));
            match converted {
                Ok(game) if self.seen.insert(game.id) => games.push(game),
                Ok(_) => self.totals.known += 1,
                Err(why) => {
                    self.totals.skipped += 1;
                    self.notes.print(format!("{}, game {}: skipped: {why}", path.display(), number + 1));
                }
            }
            if games.len() == self.config.selfplay.games_per_file {
                self.publish(&worker, &mut games)?;
            }
        }
        self.publish(&worker, &mut games)
    }

    /// Publishes games under the present time, since readers take the time in a file's name for that of publication.
    /// A number that is the same in every import would make them decades old.
    fn publish(&mut self, worker: &str, games: &mut Vec<GameRecord>) -> anyhow::Result<()> {
        if games.is_empty() {
            return Ok(());
        }
        if let Some(config) = self.begins.take() {
            config.open(self.run)?;
        }
        self.run.games().publish(0, worker, games)?;
        self.totals.games += games.len();
        self.totals.positions += games.iter().map(GameRecord::positions).sum::<usize>();
        games.clear();
        Ok(())
    }
}
