//! A whole run on one machine: the drivers of the stages, one step each in turn, and the matches of new models.
//!
//! Steps keep no state outside of the store, and every step does only the remaining work. So a
//! loop that is killed anywhere resumes when it is restarted.

use std::time::Duration;

use config::{ModelRef, RunConfig};
use evaluator::{Arena, Matches, RatedRun, RunSchedule, WhenIdle};
use gtp::engines::EngineSpecs;
use models::{Models, Place, Priority};
use net::{Precision, TrainDevice};
use play::FIRST_WORKER;
use runtime::{Driver, Step, Stop};
use selfplay::{Games, OnShutdown, Options};
use store::{Backoff, LeaseName, Run, Store};
use tracing::info;
use trainer::References;

/// The resources of this machine for a run.
#[derive(Clone, Debug)]
pub(crate) struct Resources<'a> {
    /// Where networks play; they are trained on the device of this machine.
    pub(crate) place: Place,
    /// Threads that search, and threads that train.
    pub(crate) search_threads: usize,
    pub(crate) threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub(crate) cache: usize,
    /// Whether games say when they were played.
    pub(crate) times: bool,
    /// How often a state of a game is published for viewers at most.
    pub(crate) live: Option<Duration>,
    /// What every model is measured on beside the validation set.
    pub(crate) references: &'a References,
}

/// A run on this machine.
struct RunLoop<'a> {
    stop: &'a Stop,
    selfplay: selfplay::Driver<'a>,
    shuffler: shuffler::Driver<'a>,
    trainer: trainer::Driver<'a>,
    matches: Matches<'a, RunSchedule, evaluator::Console>,
}

/// Runs until the run has all its models and the last is measured, or stop is requested. Takes the leases that
/// `selfplay` and `trainer` take, which may run beside this.
pub(crate) fn run(
    store: &Store,
    run: &Run,
    config: &RunConfig,
    resources: Resources<'_>,
    stop: &Stop,
) -> anyhow::Result<()> {
    let (name, digest, models) = (run.name(), config.digest(), config.run_loop.models);
    info!(run = %name, digest, store = store.root(), models, threads = resources.threads, "run");
    let work = || runtime::drive(&mut RunLoop::new(store, run, config, resources, stop)?, stop);
    // Unlike `selfplay` this command has no `--worker`.
    let worker = LeaseName {
        remedy: "stop that process, or begin another run with --run NAME",
        ..selfplay::lease(FIRST_WORKER)
    };
    runtime::with_lease(run, worker, stop, || runtime::with_lease(run, trainer::lease(), stop, work))?;
    Ok(())
}

impl<'a> RunLoop<'a> {
    fn new(
        store: &'a Store,
        run: &'a Run,
        config: &'a RunConfig,
        resources: Resources<'a>,
        stop: &'a Stop,
    ) -> anyhow::Result<RunLoop<'a>> {
        let Resources { place, search_threads, threads, cache, times, live, references } = resources;
        let options = Options {
            model: ModelRef::Newest(run.name().clone()),
            worker: FIRST_WORKER.to_owned(),
            games: Games::Wanted,
            on_shutdown: OnShutdown::Discard,
            place: place.clone(),
            threads: search_threads,
            cache,
            evaluations: None,
            times,
            live,
        };
        let train_device = TrainDevice { device: place.devices().first(), precision: Precision::Auto, threads };
        let here = evaluator::Resources {
            // Matches are few, and the next model waits for them.
            place: place.with_priority(Priority::Interactive),
            threads: search_threads,
            cache,
            times,
            engines: EngineSpecs::default(),
            worker: FIRST_WORKER.to_owned(),
            evaluations: None,
        };
        let arena = Arena::open(RatedRun::open(Models::new(store.clone()), run.name())?, here)?;
        let health = || stop.health().clone();
        let training = trainer::Console::new(run, config, health());
        Ok(RunLoop {
            stop,
            selfplay: selfplay::Driver::new(run, config, options, stop, selfplay::Console::new(health())),
            shuffler: shuffler::Driver::new(run, shuffler::Console::new(health()))?,
            trainer: trainer::Driver::new(run, config, train_device, references, stop, training),
            matches: Matches::new(arena, RunSchedule::new(WhenIdle::Wait), evaluator::Console::new(health()), stop),
        })
    }
}

impl Driver for RunLoop<'_> {
    type Error = anyhow::Error;

    /// A match of the newest model, or from one model to the next: one step of each stage.
    fn step(&mut self) -> anyhow::Result<Step> {
        match self.matches.step()? {
            Step::Worked => return Ok(Step::Worked),
            Step::Waiting(_) => {}
            Step::Finished => {
                self.matches.conclusion()?.iter().try_for_each(runtime::print)?;
                return Ok(Step::Finished);
            }
        }
        let stages: [&mut dyn FnMut() -> anyhow::Result<Step>; 3] =
            [&mut || Ok(self.selfplay.step()?), &mut || Ok(self.shuffler.step()?), &mut || Ok(self.trainer.step()?)];
        let (mut worked, mut waiting) = (false, None);
        for step in stages {
            if self.stop.requested() {
                break;
            }
            match step()? {
                Step::Worked => worked = true,
                Step::Waiting(what) => waiting = waiting.or(Some(what)),
                Step::Finished => {}
            }
        }
        Ok(waiting.filter(|_| !worked).map_or(Step::Worked, Step::Waiting))
    }

    /// The stages wait for each other only after failures, such as damaged games.
    fn pause(&self) -> Backoff {
        Backoff::new(Duration::from_secs(1), Duration::from_secs(30))
    }

    fn shut_down(&mut self) -> anyhow::Result<()> {
        Ok(self.selfplay.shut_down()?)
    }
}
