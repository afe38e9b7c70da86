//! The driver of the shuffler: the resign threshold whenever there are new games, and the shards of one generation
//! after the other.

use std::time::Duration;

use config::RunConfig;
use runtime::{Reporter, Step, Waiting};
use store::{Backoff, Run};

use crate::archive::compact_if_possible;
use crate::calibrate::Calibrator;
use crate::event::Event;
use crate::{Shuffler, ShufflerError};

/// The shortest interval between two polls of the store.
const POLL: Duration = Duration::from_secs(1);
/// The longest.
const LONGEST_POLL: Duration = Duration::from_secs(30);
/// Files of a writer that began longer ago than this are not being written any more, although the clocks of this
/// machine and of a file server may be hours apart.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Makes the shards for each new model as soon as the games for it are there, and keeps the resign threshold up to
/// date, until the run has all its models. Waits for a run that does not exist yet.
pub struct Driver<'a> {
    run: Run,
    /// The only generation to make the shards of.
    only: Option<u32>,
    work: Option<Work>,
    reporter: Box<dyn Reporter<Event> + 'a>,
}

/// What a driver has once the run exists.
struct Work {
    config: RunConfig,
    shuffler: Shuffler,
    calibrator: Calibrator,
}

impl<'a> Driver<'a> {
    /// A driver of the shuffler of a run.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn new(run: &Run, reporter: impl Reporter<Event> + 'a) -> Result<Driver<'a>, ShufflerError> {
        run.store().reach()?;
        Ok(Driver { run: run.clone(), only: None, work: None, reporter: Box::new(reporter) })
    }

    /// Finishes when the shards of this generation are published. Missing games are an error, and are not waited for.
    pub fn once(self, generation: u32) -> Driver<'a> {
        Driver { only: Some(generation), ..self }
    }

    fn begin(&mut self, config: RunConfig) -> Work {
        match self.run.pruning().sweep(ABANDONED) {
            Ok(0) => {}
            Ok(swept) => tracing::info!(files = swept, "deleted files of killed writers"),
            // They only take space.
            Err(error) => tracing::warn!(%error, "cannot delete files of killed writers"),
        }
        self.reporter.report(Event::Ready);
        let shuffler = Shuffler::new(&self.run, &config);
        Work { shuffler, calibrator: Calibrator::new(&self.run, &config.resign), config }
    }
}

impl runtime::Driver for Driver<'_> {
    type Error = ShufflerError;

    fn step(&mut self) -> Result<Step, ShufflerError> {
        if self.work.is_none() {
            let Some(config) = self.run.config()? else {
                return Ok(Step::Waiting(Waiting::new("the run to be created")));
            };
            self.work = Some(self.begin(config));
        }
        let Some(Work { config, shuffler, calibrator }) = &mut self.work else { unreachable!("it has just begun") };
        calibrator.poll(&mut *self.reporter)?;
        if let Some(generation) = self.only {
            publish(&self.run, shuffler, generation, &mut *self.reporter)?;
            return Ok(Step::Finished);
        }
        let generation = next_generation(&self.run)?;
        if generation > config.run_loop.models {
            tracing::info!(models = config.run_loop.models, "the run has all its models");
            return Ok(Step::Finished);
        }
        let model = generation - 1;
        let wanted = config.selfplay.games_of(model);
        if self.run.shards().manifest(generation)?.is_some() {
            let games = shuffler.arrived(model)?;
            self.reporter.report(Event::Waiting { model, games, wanted, published: true });
            return Ok(Step::Waiting(Waiting::new(format!("model {generation}"))));
        }
        match publish_when_ready(&self.run, shuffler, generation, wanted, &mut *self.reporter) {
            Ok(()) => Ok(Step::Worked),
            Err(ShufflerError::NotReady { model, games, wanted, expected }) => {
                let later = expected.map_or_else(String::new, |expected| format!("; the others are {expected}"));
                let detail = format!("{games} of {wanted} are published{later}");
                self.reporter.report(Event::Waiting { model, games, wanted, published: false });
                Ok(Step::Waiting(Waiting { what: format!("games of model {model}"), there: games as u64, detail }))
            }
            Err(error) => Err(error),
        }
    }

    fn pause(&self) -> Backoff {
        Backoff::new(POLL, LONGEST_POLL)
    }
}

/// Publishes shards once their games are there. Reports these before the work: a process that is killed while it makes
/// the shards, whenever it is restarted, shows nothing else of that.
fn publish_when_ready(
    run: &Run,
    shuffler: &mut Shuffler,
    generation: u32,
    wanted: usize,
    reporter: &mut dyn Reporter<Event>,
) -> Result<(), ShufflerError> {
    let games = shuffler.ready(generation)?;
    reporter.report(Event::Waiting { model: generation - 1, games, wanted, published: false });
    publish(run, shuffler, generation, reporter)
}

fn publish(
    run: &Run,
    shuffler: &mut Shuffler,
    generation: u32,
    reporter: &mut dyn Reporter<Event>,
) -> Result<(), ShufflerError> {
    let manifest = shuffler.publish(generation)?;
    reporter.report(Event::Published(Box::new(manifest)));
    compact_if_possible(run)?;
    Ok(())
}

/// The generation that trains the model after the newest.
///
/// # Errors
/// A store that cannot be reached.
pub(crate) fn next_generation(run: &Run) -> Result<u32, ShufflerError> {
    Ok(run.models().newest()?.unwrap_or_default() + 1)
}
