//! `tengen status`: what the runs of a store are doing, from what they have published.
//!
//! The cast: an `Observer` reads one run; [`facts::Progress`] concludes from that what each stage does or
//! waits for; `report` has the result, as text and as JSON. Nothing is written, and no process is contacted.

mod observer;
mod report;

use std::time::{Duration, Instant};

use anyhow::anyhow;
use config::RunName;
use exit_class::{Classified, ExitClass};
use runtime::{Classify, Stop, within};
use store::{Store, StoreError};

use observer::Observer;
use report::RunStatus;

/// Arguments of `tengen status`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Runs [default: all runs of --store]
    #[arg(value_name = "RUN")]
    runs: Vec<RunName>,
    /// Refresh until Ctrl-C, every so many seconds [default with --watch alone: 5]
    #[arg(
        long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5",
        allow_negative_numbers = true,
        value_parser = within(0.1..=86_400.0_f64)
    )]
    watch: Option<f64>,
    /// Print a JSON array with an object for each run
    #[arg(long)]
    json: bool,
}

/// Prints the state of the runs, once or until `stop` is requested.
///
/// # Errors
/// A store that cannot be reached, unless it was before, or a run that does not exist. What is wrong with a single run
/// is part of its state.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let store = Store::open_existing(store)?;
    let mut observers = Vec::new();
    let mut reached = None;
    loop {
        match (look(&store, args, &mut observers), reached) {
            (Ok(states), _) => {
                reached = Some(Instant::now());
                show(&page(&states, store.root(), args)?, args)?;
            }
            (Err(error), Some(last)) if is_outage(&error) => outage(&error, last.elapsed(), args)?,
            (Err(error), _) => return Err(error),
        }
        let Some(seconds) = args.watch else { return Ok(()) };
        if stop.wait(Duration::from_secs_f64(seconds)) {
            return Ok(());
        }
    }
}

/// The states of the runs.
fn look(store: &Store, args: &Args, observers: &mut Vec<Observer>) -> anyhow::Result<Vec<RunStatus>> {
    let runs = if args.runs.is_empty() { store.runs()? } else { named(store, &args.runs)? };
    observers.retain(|observer| runs.contains(observer.name()));
    for name in runs {
        if !observers.iter().any(|observer| *observer.name() == name) {
            observers.push(Observer::new(store.run(&name)));
        }
    }
    observers.sort_by(|one, other| one.name().cmp(other.name()));
    let now = runtime::unix_millis() as i64;
    Ok(observers.iter_mut().map(|observer| observer.look(now)).collect::<Result<_, _>>()?)
}

fn is_outage(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(|error| error.class() == ExitClass::StoreUnreachable)
}

/// Says that the store is unreachable; scripts, which read objects, see it in the log.
fn outage(error: &anyhow::Error, time: Duration, args: &Args) -> anyhow::Result<()> {
    if args.json {
        tracing::warn!(error = %format_args!("{error:#}"), "the store is unreachable");
        return Ok(());
    }
    let time = runtime::format::duration(time);
    show(&format!("store unreachable, last read {time} ago: {error:#}"), args)
}

/// The runs that were named, each of which must exist.
fn named(store: &Store, runs: &[RunName]) -> anyhow::Result<Vec<RunName>> {
    for name in runs {
        if !store.run(name).exists()? {
            return Err(anyhow!("there is no run {name} in {}; `tengen status` lists all", store.root()))
                .misconfigured();
        }
    }
    Ok(runs.to_vec())
}

fn page(states: &[RunStatus], root: &str, args: &Args) -> anyhow::Result<String> {
    if args.json {
        return Ok(serde_json::to_string(states)?);
    }
    if states.is_empty() {
        return Ok(format!("no runs in {root}"));
    }
    let blocks: Vec<String> = states.iter().map(ToString::to_string).collect();
    Ok(blocks.join("\n\n"))
}

/// Prints a page, which replaces the one before it.
fn show(page: &str, args: &Args) -> anyhow::Result<()> {
    if args.watch.is_some() && !args.json { runtime::print_anew(page) } else { runtime::print(page) }
}
