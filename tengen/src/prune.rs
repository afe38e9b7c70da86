//! `tengen prune`: deletes what a run need not keep.
//!
//! The cast: `needed` finds the oldest model whose games a stage, the validation set or the resign threshold still
//! needs; a `Plan` says of each kind what the policy would delete; `delete` does it. The policy is the section
//! `[retention]` of the run's configuration, with `--keep` over it.

mod kinds;
mod needed;
mod plan;
mod policy;

use std::cell::Cell;
use std::str::FromStr;
use std::time::Duration;

use config::{Keep, Retention, RunName};
use runtime::{Classify, Notes, Progress, Stop, format};
use store::{DeletedFiles, LeaseName, Run, Store, StoreError};

use plan::Plan;

/// The stage and the name of the lease.
const PRUNE: &str = "prune";
/// By how much this machine's clock may differ from the store's where a policy has ages, in milliseconds.
const SKEW: u64 = 24 * 3600 * 1000;

/// Arguments of `tengen prune`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Run to prune
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: RunName,
    /// Amount of a kind to keep, such as games=30d; may be repeated [default: section retention of the run's
    /// configuration]
    ///
    /// Kinds are games, sgf, models, shards, checkpoints, evalcache and quarantine. An amount is "all", a number, an
    /// age such as 12h, 30d or 4w, or a size such as 512MiB, 50GiB or 1TiB.
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
    let mut notes = Notes::default();
    if !args.delete {
        let plan = Plan::make(&run, &config, retention, runtime::unix_millis() as i64)?;
        notes.print(&plan);
        notes.print(if plan.is_empty() { "nothing to delete" } else { "nothing is deleted yet; --delete deletes it" });
        return notes.finish();
    }
    let began = Cell::new(false);
    let mut prune = |ahead: Option<i64>| -> anyhow::Result<DeletedFiles> {
        began.set(true);
        let retention = measured(retention, ahead).misconfigured()?;
        let plan = Plan::make(&run, &config, retention, runtime::unix_millis() as i64)?;
        notes.print(&plan);
        // How many files there are of the games is not known before they are listed.
        let progress = Progress::new("deleted files", None);
        let report = |done: DeletedFiles| {
            progress.set(done.files as u64);
            progress.note(format::bytes(done.bytes));
            stop.flow()
        };
        Ok(plan.delete(&run, &report)?)
    };
    // Two at once would do no harm, and count files twice.
    let lease = LeaseName { stage: PRUNE, name: PRUNE.to_owned(), remedy: "wait until it has finished" };
    let mut refusal = None;
    let deleted = match runtime::with_lease(&run, lease, stop, || prune(clock_ahead(&run)?)) {
        // A full store has no space for a lease.
        Err(error) if error.downcast_ref::<StoreError>().is_some_and(StoreError::is_refused) && !began.get() => {
            tracing::warn!(%error, "pruning without a lease");
            refusal = Some(error);
            Some(prune(None)?)
        }
        deleted => deleted?,
    };
    let Some(deleted) = deleted else { return Ok(()) };
    notes.print(format!("deleted {} files, {}", deleted.files, format::bytes(deleted.bytes)));
    notes.finish()?;
    // A job that runs every night is to fail where a part of its policy is not carried out.
    refusal.filter(|_| !by_age(retention).is_empty()).map_or(Ok(()), Err)
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

/// By how much the clock of this machine is ahead of the store's, in milliseconds, from the lease that was just
/// acquired; `None` where it is not listed.
fn clock_ahead(run: &Run) -> Result<Option<i64>, StoreError> {
    let leases = run.leases().observe()?;
    let own = leases.iter().find(|lease| lease.stage == PRUNE);
    Ok(own.map(|lease| runtime::unix_millis() as i64 - lease.since))
}

/// The kinds of which a policy keeps what is younger than some age.
fn by_age(mut retention: Retention) -> Vec<&'static str> {
    let kinds = retention.kinds().into_iter();
    kinds.filter(|(_, keep)| matches!(**keep, Keep::Seconds(_))).map(|(kind, _)| kind).collect()
}

/// The policy, if its ages can be measured by this machine's clock: with one that is a month ahead, all games are a
/// month older. Where the store's clock is not known, all of the kinds with ages is kept.
fn measured(mut retention: Retention, ahead: Option<i64>) -> anyhow::Result<Retention> {
    let by_age = by_age(retention);
    let kinds = by_age.join(", ");
    match ahead {
        _ if by_age.is_empty() => {}
        None => {
            tracing::warn!(kinds, "nothing is deleted by age: the clock of the store is not known");
            for (_, keep) in retention.kinds().into_iter().filter(|(kind, _)| by_age.contains(kind)) {
                *keep = Keep::All;
            }
        }
        Some(ahead) if ahead.unsigned_abs() > SKEW => {
            let by = format::duration(Duration::from_millis(ahead.unsigned_abs()));
            let side = if ahead > 0 { "ahead of" } else { "behind" };
            anyhow::bail!(
                "{kinds}: cannot delete by age: the clock of this machine is {by} {side} the store's; correct the wrong \
                 clock, or give numbers or sizes with --keep"
            );
        }
        Some(_) => {}
    }
    Ok(retention)
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
    fn ages_are_measured_by_a_right_clock_only() {
        let ages =
            Retention { games: Keep::Seconds(3600), shards: Keep::Count(1), sgf: Keep::Seconds(0), ..Retention::ALL };
        let others = Retention { games: Keep::All, sgf: Keep::All, ..ages };
        let day = SKEW as i64;
        for ahead in [0, day, -day] {
            assert_eq!(measured(ages, Some(ahead)).unwrap(), ages);
        }
        let said = |ahead| measured(ages, Some(ahead)).unwrap_err().to_string();
        assert_eq!(
            said(40 * day),
            "games, sgf: cannot delete by age: the clock of this machine is 40d 00h ahead of the store's; correct the \
             wrong clock, or give numbers or sizes with --keep"
        );
        assert!(said(-2 * day).contains("is 2d 00h behind the store's;"));
        assert_eq!(measured(others, Some(40 * day)).unwrap(), others);
        assert_eq!(measured(ages, None).unwrap(), others);
    }
}
