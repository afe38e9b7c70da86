//! Making shards for one model after the other, for as long as the run lasts.

use std::fmt;
use std::mem::discriminant;
use std::time::{Duration, Instant};

use cli::Stop;
use config::RunConfig;
use store::{Backoff, Manifest, Run};

use crate::calibrate::Calibrator;
use crate::{Arrival, Shuffler, ShufflerError, compact_when_due, monitor};

/// The shortest time between two looks at the store.
const SOON: Duration = Duration::from_secs(1);
/// The longest.
const LATE: Duration = Duration::from_secs(30);
/// What a writer left behind this long ago is not being written any more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What has to happen before there is something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    Run,
    Games { model: u32, games: usize, wanted: usize, expected: Option<Arrival> },
    Model(u32),
}

/// How a look at the store ended.
enum Look {
    Published(Box<Manifest>),
    Waiting(Waiting),
    Finished,
}

/// Makes the shards for each new model as soon as the games for it are there, and keeps the resign threshold up to date, until the run has all its models or `stop`
/// is requested. Waits for a run that does not exist yet.
///
/// # Errors
/// As [`Shuffler::publish`], games that are missing excepted.
pub fn follow(run: &Run, stop: &Stop) -> Result<(), ShufflerError> {
    run.store().reach()?;
    let Some(config) = wait_for_config(run, stop)? else { return Ok(()) };
    let swept = run.sweep(ABANDONED)?;
    if swept > 0 {
        tracing::info!(files = swept, "deleted what killed writers had left behind");
    }
    cli::ready();
    let mut shuffler = Shuffler::new(run, &config);
    let mut calibrator = Calibrator::new(run, &config.resign);
    let mut patience = Patience::new();
    while !stop.requested() {
        calibrator.look()?;
        match look(&mut shuffler, run, &config)? {
            Look::Published(manifest) => {
                log(&manifest);
                compact_when_due(run)?;
            }
            Look::Waiting(waiting) => {
                cli::alive();
                monitor::note_waiting(&waiting, &config);
                patience.wait(waiting, stop);
            }
            Look::Finished => {
                tracing::info!(models = config.cycle.models, "the run has all its models");
                return Ok(());
            }
        }
    }
    Ok(())
}

fn look(shuffler: &mut Shuffler, run: &Run, config: &RunConfig) -> Result<Look, ShufflerError> {
    let generation = next_generation(run)?;
    if generation > config.cycle.models {
        return Ok(Look::Finished);
    }
    if run.shards().manifest(generation)?.is_some() {
        return Ok(Look::Waiting(Waiting::Model(generation)));
    }
    match shuffler.publish(generation) {
        Ok(manifest) => Ok(Look::Published(Box::new(manifest))),
        Err(ShufflerError::NotReady { model, games, wanted, expected }) => {
            Ok(Look::Waiting(Waiting::Games { model, games, wanted, expected }))
        }
        Err(error) => Err(error),
    }
}

/// The generation that trains the model after the newest.
///
/// # Errors
/// A store that cannot be reached.
pub fn next_generation(run: &Run) -> Result<u32, ShufflerError> {
    Ok(run.models().newest()?.unwrap_or_default() + 1)
}

fn wait_for_config(run: &Run, stop: &Stop) -> Result<Option<RunConfig>, ShufflerError> {
    let mut patience = Patience::new();
    while !stop.requested() {
        match run.config()? {
            Some(config) => return Ok(Some(config)),
            None => {
                cli::alive();
                patience.wait(Waiting::Run, stop);
            }
        }
    }
    Ok(None)
}

fn log(manifest: &Manifest) {
    for rejected in &manifest.rejected {
        tracing::error!(path = rejected.path, reason = rejected.reason, "left out a file that cannot be read");
    }
    tracing::info!(
        generation = manifest.generation,
        examples = manifest.drawn.examples,
        wanted = manifest.drawn.wanted,
        games = manifest.window.games,
        positions = manifest.window.positions,
        new_positions = manifest.window.new_positions,
        "published shards"
    );
}

/// Waits longer and longer while nothing changes, and says what for when that changes, though not for every game.
struct Patience {
    waiting: Option<Waiting>,
    backoff: Backoff,
    said: Option<Instant>,
}

impl Patience {
    fn new() -> Patience {
        Patience { waiting: None, backoff: Backoff::new(SOON, LATE), said: None }
    }

    fn wait(&mut self, waiting: Waiting, stop: &Stop) {
        if !self.waiting.as_ref().is_some_and(|before| before.is_still(&waiting)) {
            self.backoff.reset();
            self.say(&waiting);
            self.waiting = Some(waiting);
        }
        stop.wait(self.backoff.pause());
    }

    fn say(&mut self, waiting: &Waiting) {
        let same_kind = self.waiting.as_ref().is_some_and(|before| discriminant(before) == discriminant(waiting));
        let recent = self.said.is_some_and(|said| said.elapsed() < LATE);
        if !(same_kind && recent) {
            tracing::info!("waiting for {waiting}");
            self.said = Some(Instant::now());
        }
    }
}

impl Waiting {
    /// Whether nothing has happened since, but that time has gone by.
    fn is_still(&self, later: &Waiting) -> bool {
        match (self, later) {
            (Waiting::Games { model, games, .. }, Waiting::Games { model: later, games: more, .. }) => {
                (model, games) == (later, more)
            }
            _ => self == later,
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Waiting::Run => f.write_str("the run to be created"),
            Waiting::Games { model, games, wanted, expected } => {
                write!(f, "{} more games of model {model}: {games} of {wanted} are there", wanted - games)?;
                expected.map_or(Ok(()), |expected| write!(f, ", the others are {expected}"))
            }
            Waiting::Model(number) => write!(f, "model {number} to be trained on the shards"),
        }
    }
}
