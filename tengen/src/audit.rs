//! `tengen audit`: reads all objects of a run once, and lists damage and contradictions.
//!
//! The cast: `Audit` holds what the parts need to know of each other; `shards` notes which examples were trained on;
//! `files` reads every archive and every file of games and compares the games with their examples and with those notes;
//! `rules` replays a single game; `lineage` checks models, checkpoints, thresholds and results. Shards come before
//! games and games before models, since each is made from the next: so a run may be audited while it runs.

mod files;
mod findings;
mod lineage;
mod rules;
mod shards;
mod trained;

use std::collections::HashSet;
use std::fmt::Display;

use anyhow::anyhow;
use config::{RunConfig, RunName};
use record::GameId;
use runtime::{Notes, Stop};
use store::{Run, Store, StoreError};

pub use findings::Findings;

use trained::Trained;

/// Arguments of `tengen audit`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Run to audit
    run: RunName,
    /// Move damaged files of games and matches and inconsistent sets of games to quarantine/ of the run, then audit
    /// again
    #[arg(long)]
    repair: bool,
}

/// Audits a run and prints every problem, and then what was read.
///
/// # Errors
/// There is no such run, its store cannot be reached, or there are problems.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let run = Store::open_existing(store)?.run(&args.run);
    let config = runtime::run_config(&run)?;
    let mut findings = audit(&run, &config, stop)?;
    let mut notes = Notes::default();
    if args.repair && findings.can_be_repaired() {
        findings = repaired(&run, &config, findings, &mut notes, stop)?;
    } else if findings.can_be_repaired() {
        let files = findings.damaged.len() + findings.damaged_unfinished.len() + findings.damaged_results.len();
        let command = format!("tengen audit {} --repair", run.name());
        tracing::info!(files, command, "a repair moves damaged files to quarantine");
    }
    for problem in &findings.problems {
        notes.print(problem);
    }
    notes.print(&findings);
    // Problems have their exit code although the reader of the list has seen enough.
    match findings.problems.len() {
        0 => notes.finish(),
        1 => Err(anyhow!("the run has a problem")),
        count => Err(anyhow!("the run has {count} problems")),
    }
}

/// Moves damaged files to quarantine, and audits again. When a stop is requested before or meanwhile, these are the
/// findings of the first audit: those of the second lack what it did not read.
fn repaired(
    run: &Run,
    config: &RunConfig,
    findings: Findings,
    notes: &mut Notes,
    stop: &Stop,
) -> anyhow::Result<Findings> {
    if stop.requested() {
        return Ok(findings);
    }
    repair(run, &findings, notes)?;
    let again = audit(run, config, stop)?;
    Ok(if again.stopped { Findings { stopped: true, ..findings } } else { again })
}

/// Moves damaged files to quarantine.
fn repair(run: &Run, findings: &Findings, notes: &mut Notes) -> anyhow::Result<()> {
    for (file, why) in &findings.damaged {
        match run.games().quarantine(file)? {
            0 => notes.print(format!("{}: it is in an archive and stays there: {why}", run.games().name(file))),
            moved => notes.print(format!("moved {moved} files of {file} to quarantine: {why}")),
        }
    }
    for (file, why) in &findings.damaged_unfinished {
        run.unfinished().quarantine(file)?;
        notes.print(format!("moved {} to quarantine: {why}", run.unfinished().name(file)));
    }
    for (stem, why) in &findings.damaged_results {
        run.matches().quarantine(stem)?;
        notes.print(format!("moved {} to quarantine: {why}", run.matches().name(stem)));
    }
    Ok(())
}

/// Reads everything that `run` has stored, until `stop` is requested.
///
/// # Errors
/// A store that cannot be reached; problems of single files are among the findings.
pub fn audit(run: &Run, config: &RunConfig, stop: &Stop) -> Result<Findings, StoreError> {
    let digest = config.digest();
    let mut audit =
        Audit { run, config, digest, ids: HashSet::new(), trained: Trained::default(), found: Findings::default() };
    let parts = [
        Audit::shards,
        Audit::archives,
        // Before the finished ones, which they become.
        Audit::unfinished,
        Audit::games,
        Audit::quarantine,
        Audit::leftovers,
        Audit::models,
        Audit::state,
        Audit::results,
    ];
    parts.into_iter().take_while(|_| !stop.requested()).try_for_each(|part| part(&mut audit, stop))?;
    audit.found.stopped = stop.requested();
    Ok(audit.found)
}

/// An audit at work.
struct Audit<'a> {
    run: &'a Run,
    config: &'a RunConfig,
    digest: String,
    /// The games read so far.
    ids: HashSet<GameId>,
    /// The examples in shards whose games were not read yet.
    trained: Trained,
    found: Findings,
}

impl Audit<'_> {
    /// What was read; `None`, and a problem, when it cannot be used.
    fn note<T>(&mut self, read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match read {
            Ok(read) => Ok(Some(read)),
            // These name the file themselves.
            Err(error) if error.is_of_one_object() => {
                let problem = error.to_string();
                // An archive that cannot be opened is in the way of all that ask for games.
                if !self.found.problems.contains(&problem) {
                    self.found.problems.push(problem);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes what is wrong with a file, or with a game in it.
    fn problem(&mut self, place: impl Display, what: impl Display) {
        self.found.problems.push(format!("{place}: {what}"));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use config::Preset;
    use go::Size;
    use record::{GameRecord, synthetic};
    use store::{FileRef, Stem};

    use super::*;

    #[test]
    fn stopped_repair_moves_nothing_and_keeps_the_problems() {
        let run = Store::in_memory().unwrap().run(&"tiny".parse().unwrap());
        let config = Preset::Tiny.config();
        run.create(&config).unwrap();
        let size = Size::new(5).unwrap();
        let games: Vec<GameRecord> = (0..3).map(|index| synthetic::game("random", "w", index, size, 8)).collect();
        let file = FileRef { model: 0, stem: Stem::new("w", 1).unwrap() };
        run.games().publish_as(&file, &games).unwrap();
        let damaged = BTreeMap::from([(file.clone(), "cut off".to_owned())]);
        let findings = Findings { problems: vec!["cut off".to_owned()], damaged, ..Findings::default() };

        let stop = Stop::never();
        stop.request();
        let mut notes = Notes::default();
        assert_eq!(repaired(&run, &config, findings.clone(), &mut notes, &stop).unwrap(), findings);
        assert_eq!(run.games().files(0).unwrap(), [file]);

        let found = repaired(&run, &config, findings, &mut notes, &Stop::never()).unwrap();
        assert_eq!((found.problems, found.quarantined > 0), (Vec::new(), true));
        assert!(run.games().files(0).unwrap().is_empty());
    }
}
