//! `tengen prune`: deletes what a run need not keep.
//!
//! The cast: `needed` finds the oldest model whose games a stage, the validation set or the resign threshold still needs; a
//! `Plan` says of each kind what the policy would delete; `delete` does it. The policy is the section
//! `[retention]` of the run's configuration, with `--keep` over it.

mod kinds;
mod needed;
mod plan;
mod policy;

use std::cell::Cell;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use config::{Keep, Retention, RunName};
use runtime::{Classify, Notes, Progress, Stop, format};
use store::{LeaseName, Store};

use plan::Plan;

/// By how much this machine's clock may differ from the store's where a policy has ages, in milliseconds.
const SKEW: u64 = 24 * 3600 * 1000;
/// The remedy where an age cannot be measured.
const OTHERWISE: &str = "cannot delete by age; give other amounts with --keep, such as games=200000 or games=all";

/// Arguments of `tengen prune`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Run to prune
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,
    /// Amount of a kind to keep, such as games=30d; may be repeated [default: section retention of the run's configuration]
    ///
    /// Kinds are games, sgf, models, shards, checkpoints, evalcache and quarantine. An amount is "all", a number, an age such
    /// as 12h, 30d or 4w, or a size such as 512MiB, 50GiB or 1TiB.
    #[arg(long, value_name = "KIND=AMOUNT")]
    keep: Vec<KeepKind>,
    /// Delete; without it, list what would be deleted
    #[arg(long)]
    delete: bool,
}

/// `--keep games=30d`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeepKind {
    kind: String,
    keep: Keep,
}

impl FromStr for KeepKind {
    type Err = String;

    fn from_str(text: &str) -> Result<KeepKind, String> {
        let (kind, keep) = text.split_once('=').ok_or("expected KIND=AMOUNT, such as games=30d")?;
        let mut all = Retention::ALL;
        let known = all.kinds().map(|(kind, _)| kind);
        if !known.contains(&kind) {
            return Err(format!("\"{kind}\" is none of {}", known.join(", ")));
        }
        Ok(KeepKind { kind: kind.to_owned(), keep: keep.parse()? })
    }
}

/// Lists what the policy would delete, or deletes it.
///
/// # Errors
/// No such run, or a store that cannot be used.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let run = Store::open_existing(store)?.run(&args.run);
    let config = runtime::run_config(&run)?;
    let retention = policy(config.retention, &args.keep).misconfigured()?;
    let now = runtime::unix_millis() as i64;
    let plan = Plan::make(&run, &config, retention, now)?;
    let mut notes = Notes::default();
    notes.print(&plan);
    if !args.delete {
        notes.print(if plan.is_empty() { "nothing to delete" } else { "nothing is deleted yet; --delete deletes it" });
        return notes.finish();
    }
    check_clock(run.store(), &kept_by_age(retention)).context(OTHERWISE)?;
    // Two at once would do no harm, and count files twice.
    let lease = LeaseName { stage: "prune", name: "prune".to_owned(), remedy: "wait until it has finished" };
    let began = Cell::new(false);
    let delete = || {
        began.set(true);
        // How many files there are of the games is not known before they are listed.
        let progress = Progress::new("deleted files", None);
        plan.delete(&run, &|done| {
            progress.set(done.files as u64);
            progress.note(format::bytes(done.bytes));
            stop.requested()
        })
    };
    let deleted = match runtime::leased(&run, lease, stop, delete) {
        // A full store has no space for a lease.
        Err(error) if error.is_refused() && !began.get() => {
            tracing::warn!(%error, "pruning without a lease");
            Some(delete()?)
        }
        deleted => deleted?,
    };
    let Some(deleted) = deleted else { return Ok(()) };
    notes.print(format!("deleted {} files, {}", deleted.files, format::bytes(deleted.bytes)));
    notes.finish()
}

/// The policy of the configuration with that of the command line over it.
fn policy(mut retention: Retention, keep: &[KeepKind]) -> anyhow::Result<Retention> {
    for (place, given) in keep.iter().enumerate() {
        if keep[..place].iter().any(|before| before.kind == given.kind) {
            anyhow::bail!("--keep has {} twice", given.kind);
        }
        for (kind, value) in retention.kinds() {
            if kind == given.kind {
                *value = given.keep;
            }
        }
    }
    Ok(retention)
}

/// The kinds of which a policy keeps what is younger than some age.
fn kept_by_age(mut retention: Retention) -> Vec<&'static str> {
    let kinds = retention.kinds().into_iter();
    kinds.filter(|(_, keep)| matches!(**keep, Keep::Seconds(_))).map(|(kind, _)| kind).collect()
}

/// Checks that ages by this machine's clock are right, if there are any: a clock that is a month ahead makes all games a month
/// older.
fn check_clock(store: &Store, by_age: &[&str]) -> anyhow::Result<()> {
    if by_age.is_empty() {
        return Ok(());
    }
    check_skew(store.probe()?.clock_ahead, by_age).misconfigured()
}

fn check_skew(ahead: Option<i64>, by_age: &[&str]) -> anyhow::Result<()> {
    let kinds = by_age.join(", ");
    let Some(ahead) = ahead else { anyhow::bail!("{kinds}: the clock of the store is not known") };
    if ahead.unsigned_abs() > SKEW {
        let (by, side) = (Duration::from_millis(ahead.unsigned_abs()), if ahead > 0 { "ahead of" } else { "behind" });
        anyhow::bail!("{kinds}: the clock of this machine is {} {side} the store's: set it", format::duration(by));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_overrides_the_configuration() {
        let own = Retention { games: Keep::Count(5), sgf: Keep::Count(6), ..Retention::ALL };
        let keep = ["sgf=2d", "models=0"].map(|text| text.parse().unwrap());
        let found = policy(own, &keep).unwrap();
        let expected = Retention { sgf: Keep::Seconds(172_800), models: Keep::Count(0), ..own };
        assert_eq!(found, expected);
        let twice = ["sgf=2d", "sgf=1"].map(|text| text.parse().unwrap());
        assert_eq!(policy(own, &twice).unwrap_err().to_string(), "--keep has sgf twice");
    }

    #[test]
    fn other_kinds_and_amounts_are_errors() {
        let cases = [
            ("games", "KIND=AMOUNT"),
            ("game=5", "none of games, sgf"),
            ("games=5m", "an age such as 30d"),
            ("=5", "none of"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<KeepKind>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn ages_by_a_wrong_clock_are_refused() {
        let ages =
            Retention { games: Keep::Seconds(3600), shards: Keep::Count(1), sgf: Keep::Seconds(0), ..Retention::ALL };
        assert_eq!(kept_by_age(ages), ["games", "sgf"]);
        assert!(kept_by_age(Retention::ALL).is_empty());
        let day = SKEW as i64;
        [0, day, -day].into_iter().for_each(|ahead| check_skew(Some(ahead), &["games"]).unwrap());
        let said = |ahead| check_skew(ahead, &["games", "sgf"]).unwrap_err().to_string();
        assert_eq!(
            said(Some(40 * day)),
            "games, sgf: the clock of this machine is 40d 00h ahead of the store's: set it"
        );
        assert_eq!(said(Some(-2 * day)), "games, sgf: the clock of this machine is 2d 00h behind the store's: set it");
        assert_eq!(said(None), "games, sgf: the clock of the store is not known");
        check_clock(&Store::in_memory().unwrap(), &["games"]).unwrap();
    }
}
