//! `tengen evalcache`: what an evaluation cache has, its compaction, its damage, and its evaluations as a table.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use evalcache::{Key, KomiCoding, ReadError, Set, Symmetries, View};
use go::{Game, sgf};
use mcts::Value;
use models::{EvaluationCache, EvaluationCacheError};
use play::EvaluationStore;
use runtime::{Classify, Notes, Progress, Stop};
use store::{EvaluationRow, Store, evaluation_table};

/// Arguments of `tengen evalcache`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List the sets of evaluations in --store
    List,
    /// Merge the segments of all sets
    Compact,
    /// Read all segments of all sets and list damage
    Check,
    /// Write the cached evaluations of the positions of games to a Parquet file
    Export(ExportArgs),
}

#[derive(clap::Args, Debug)]
struct ExportArgs {
    /// Set, as `tengen evalcache list` names it
    set: String,
    /// Games: .sgf or .sgf.gz; may be repeated
    #[arg(long, required = true, value_name = "FILE")]
    sgf: Vec<PathBuf>,
    /// Komi where the network sees it, in points [default: that of each game, which must have one]
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true, value_parser = runtime::within(-400.0..=400.0_f32))]
    komi: Option<f32>,
    /// Parquet file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command of the arguments.
///
/// # Errors
/// A store that cannot be reached, a set or games that are not there, a file that cannot be read or written; damage
/// that was found.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let store = Store::open_existing(store)?;
    match &args.command {
        Command::List => on_each(&store, stop, |name, opened| runtime::print(described(name, opened.as_ref().ok()))),
        Command::Compact => compact(&store, stop),
        Command::Check => check(&store, stop),
        Command::Export(args) => export(&store, args),
    }
}

fn compact(store: &Store, stop: &Stop) -> anyhow::Result<()> {
    // The other sets are compacted although the reader of the notes has seen enough.
    let mut notes = Notes::default();
    on_each(store, stop, |name, opened| {
        let Ok(cache) = opened else {
            // The only writer so far may have been killed. The other sets are compacted even if this fails.
            if let Err(error) = store.evaluations(name, None)?.sweep() {
                tracing::warn!(%error, "segments of killed writers cannot be deleted");
            }
            notes.print(described(name, None));
            return Ok(());
        };
        let progress = Progress::new(format!("merged segments of {name}"), None);
        let done = cache.compact(&|done| {
            progress.set(done.merged as u64);
            stop.flow()
        })?;
        drop(progress);
        let counts =
            format!("{} segments merged, {} deleted, {} damaged blocks", done.merged, done.deleted, done.damaged);
        notes.print(format!("{name}: {counts}; {}", contents(&cache)));
        Ok(())
    })?;
    notes.finish()
}

/// Calls `work` with the name of each set, and the set, or why none of its segments can be read.
fn on_each(
    store: &Store,
    stop: &Stop,
    mut work: impl FnMut(&str, Result<EvaluationCache, Vec<EvaluationCacheError>>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let sets = store.evaluation_sets()?;
    if sets.is_empty() {
        tracing::warn!(store = store.root(), "no evaluations here; --store is what --evalcache is for other commands");
    }
    for name in sets {
        if stop.requested() {
            return Ok(());
        }
        match EvaluationCache::open_named(store, &name) {
            Err(EvaluationCacheError::Unreadable { problems, .. }) => work(&name, Err(problems))?,
            opened => work(&name, Ok(opened?))?,
        }
    }
    Ok(())
}

fn described(name: &str, cache: Option<&EvaluationCache>) -> String {
    format!("{name}: {}", cache.map_or_else(|| "no readable segment".to_owned(), contents))
}

fn contents(cache: &EvaluationCache) -> String {
    let (segments, evaluations, bytes) = (cache.segments(), cache.evaluations(), cache.bytes());
    let each = bytes as f64 / evaluations.max(1) as f64;
    format!("evaluations: {evaluations}; segments: {segments}; bytes: {bytes}, {each:.1} each")
}

/// A problem, with the remedy where there is one.
fn advised(problem: &EvaluationCacheError) -> String {
    match problem {
        EvaluationCacheError::Segment { source: ReadError::NoSegment(_), .. } => {
            format!("{problem}; delete this file while no program uses the set, unless a newer release wrote it")
        }
        EvaluationCacheError::Segment { source: ReadError::Head | ReadError::Length { .. }, .. } => {
            format!("{problem}; harmless: `tengen evalcache compact` replaces this file once the set has another")
        }
        EvaluationCacheError::OtherSet { .. } => {
            format!("{problem}; move this file out of the folder while no program uses the set")
        }
        _ => problem.to_string(),
    }
}

fn check(store: &Store, stop: &Stop) -> anyhow::Result<()> {
    let mut problems = 0;
    on_each(store, stop, |name, opened| {
        let (found, cache) = match opened {
            Ok(cache) => (cache.check(&|| stop.flow())?, Some(cache)),
            Err(found) => (found, None),
        };
        problems += found.len();
        found.iter().try_for_each(|problem| runtime::print(advised(problem)))?;
        if cache.is_some() && stop.requested() {
            tracing::warn!(set = name, "stopped: segments of this set may not have been read");
            return Ok(());
        }
        runtime::print(described(name, cache.as_ref()))
    })?;
    if problems == 0 {
        Ok(())
    } else {
        Err(anyhow!("problems found: {problems}; evaluations that they cost are made again when needed"))
    }
}

fn export(store: &Store, args: &ExportArgs) -> anyhow::Result<()> {
    runtime::check_distinct([&args.out], &args.sgf)?;
    let cache = match EvaluationCache::open_named(store, &args.set) {
        Err(EvaluationCacheError::Unreadable { problems, .. }) if problems.is_empty() => {
            let missing =
                anyhow!("there is no set {} in {}; `tengen evalcache list` names them", args.set, store.root());
            return Err(missing).misconfigured();
        }
        opened => opened?,
    };
    if cache.set().symmetries == Symmetries::Requested {
        let why = "requested symmetries were drawn at random; export a set of canonical or mean8";
        return Err(anyhow!("{}: {why}", args.set)).misconfigured();
    }
    runtime::check_output(&args.out)?;
    let (mut rows, mut positions) = (Vec::new(), 0);
    for listed in games(args, cache.set()).misconfigured()? {
        positions += listed.game.turn() + 1;
        rows.extend(of_game(&cache, listed));
    }
    runtime::write_whole(&args.out, &evaluation_table(&rows)).with_context(|| args.out.display().to_string())?;
    runtime::print(format!("{} of {positions} positions are in {}", rows.len(), args.out.display()))
}

/// A game of the board of a set.
struct Listed {
    /// Its index among all games of the files, from 0.
    index: u32,
    game: Game,
    /// Its komi, where the network sees that.
    komi: Option<f32>,
}

/// The games of the board of a set. Those that are omitted are logged.
fn games(args: &ExportArgs, set: &Set) -> anyhow::Result<Vec<Listed>> {
    let (mut games, mut indices) = (Vec::new(), 0_u32..);
    for path in &args.sgf {
        let name = path.display();
        let file = std::fs::read(path).with_context(|| name.to_string())?;
        let unpacked = record::unpacked_sgf(&file).map_err(|reason| anyhow!("{name}: {reason}"))?;
        let before = games.len();
        for ((number, found), index) in (1_u32..).zip(sgf::games(&unpacked, set.size)).zip(&mut indices) {
            let (game, komi) = match found {
                Ok(game) => game,
                Err(reason) => {
                    tracing::warn!(file = %name, game = number, reason, "game omitted");
                    continue;
                }
            };
            let komi = match set.komi {
                KomiCoding::Unseen => None,
                // A guess would find none of the evaluations.
                KomiCoding::Seen => {
                    // `analyze` searches games with a komi that is larger than the board under that of the run.
                    let komi = args.komi.or(komi);
                    Some(komi.with_context(|| format!("{name}: game {number} has no komi; use --komi"))?)
                }
            };
            games.push(Listed { index, game, komi });
        }
        if games.len() == before {
            return Err(anyhow!("{name}: no legal game on {0}x{0}", set.size.side()));
        }
    }
    Ok(games)
}

/// The evaluations of the positions of a game, the last first.
fn of_game(cache: &EvaluationCache, listed: Listed) -> Vec<EvaluationRow> {
    let Listed { index, mut game, komi } = listed;
    let (mut rows, mut buffer, size) = (Vec::new(), Vec::new(), game.size());
    loop {
        let (symmetry, key) = Key::canonical(&game, komi);
        let mut seen = vec![0.0; size.moves()];
        if let Some(value) = cache.get(key, &View::new(&game, symmetry), &mut seen, &mut buffer) {
            let mut policy = vec![0.0; size.moves()];
            symmetry.inverse().apply_values(size, &seen, &mut policy);
            let mut bytes = [0; 10];
            bytes.copy_from_slice(&key.bits().to_be_bytes()[6..]);
            let value = Value::for_mover(game.to_move(), value).black();
            rows.push(EvaluationRow { game: index, turn: game.turn() as u32, key: bytes, value, policy });
        }
        if game.undo().is_none() {
            rows.reverse();
            return rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use evalcache::Steps;
    use go::Size;

    use super::*;

    #[test]
    fn games_have_their_places_among_those_that_are_omitted() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let first = "(;SZ[9];B[ee];W[ee])\n(;SZ[19])\n(;SZ[9];B[aa\n(;SZ[9]KM[7];B[ee])\n(;SZ[9])\n(;SZ[5])";
        let sgf = vec![file("a.sgf", first), file("b.sgf", "(;SZ[9]KM[7])")];
        let args = ExportArgs { set: String::new(), sgf, komi: None, out: PathBuf::new() };
        let (size, komi) = (Size::new(9).unwrap(), KomiCoding::Unseen);
        let set = Set { model: [0; 32], size, komi, symmetries: Symmetries::Canonical, steps: Steps::S2048 };
        let found = games(&args, &set).unwrap();
        assert_eq!(found.iter().map(|listed| listed.index).collect::<Vec<_>>(), [3, 4, 6]);
        let set = Set { komi: KomiCoding::Seen, ..set };
        let refused = games(&args, &set).err().unwrap().to_string();
        assert!(refused.ends_with("a.sgf: game 5 has no komi; use --komi"), "{refused}");
        let args = ExportArgs { sgf: vec![file("c.sgf", "(;SZ[9]KM[7])\n(;SZ[9]KM[100])")], ..args };
        let refused = games(&args, &set).err().unwrap().to_string();
        assert!(refused.ends_with("c.sgf: game 2 has no komi; use --komi"), "larger than the board: {refused}");
        let komi = Some(6.5);
        let found = games(&ExportArgs { komi, ..args }, &set).unwrap();
        assert_eq!(found.iter().map(|listed| listed.komi).collect::<Vec<_>>(), [komi; 2]);
    }
}
