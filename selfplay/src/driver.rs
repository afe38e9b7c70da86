//! The driver of selfplay: one job after the other, each with the newest model.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use config::{ModelId, ModelRef, RunConfig, RunName};
use exit_class::{Classified, ExitClass};
use models::{EvaluationCacheOptions, Model, Place};
use runtime::{Reporter, Step, Stop, Waiting};
use store::{Backoff, LeaseName, Run};

use crate::game_limit::Bound;
use crate::{Extent, Follow, InProgressGames, Job, JobProgress, OnShutdown, SelfplayError, Threshold, play};

/// How often a worker polls for a newer model and a newer resign threshold.
const POLL: Duration = Duration::from_secs(10);
/// … at most, when there has long been nothing new.
const LONGEST_POLL: Duration = Duration::from_secs(30);

/// What a worker plays, and with what.
#[derive(Clone, Debug)]
pub struct Options {
    /// The model; the newest one of a run is followed as it changes.
    pub model: ModelRef,
    /// Name of this worker; workers of one run need different ones.
    pub worker: String,
    /// How many games it plays with each model.
    pub games: Games,
    /// Games in progress at shutdown. With a hand-off it also resumes such games.
    pub on_shutdown: OnShutdown,
    /// Where the network runs.
    pub place: Place,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub cache: usize,
    /// How evaluations of the models outlive the process; `None`: not at all.
    pub evaluations: Option<EvaluationCacheOptions>,
    /// Whether games say when they were played.
    pub times: bool,
    /// How often a state of one of its games is published for viewers at most; `None`: never.
    pub live: Option<Duration>,
}

/// How many games a worker plays with each model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Games {
    /// As many as the next model waits for: it is the only worker of its run.
    Wanted,
    /// Its share of the games of several workers.
    Share {
        /// Games of this worker; `None` for no bound.
        own: Option<u64>,
        /// Games of all workers of a model that is followed: `None` for as many as the window of the next model holds,
        /// 0 for no bound.
        all: Option<u64>,
    },
}

/// What the driver reports.
#[derive(Clone, Debug)]
pub enum Event {
    /// A job begins.
    Playing {
        /// The model that plays.
        model: ModelId,
        /// Games this worker plays with it; `None` for no bound.
        games: Option<u64>,
    },
    /// So far the job is.
    Progress(JobProgress),
    /// The job has ended.
    Played(JobProgress),
    /// Games in progress were put down after a job: handed off, and discarded.
    GamesStopped {
        /// Handed off.
        handed_off: u64,
        /// Discarded.
        discarded: u64,
    },
}

/// Plays with a model, or with the newest one of a run until the run has all its models; with `random` before there is
/// any.
pub struct Driver<'a> {
    run: Run,
    config: RunConfig,
    options: Options,
    stop: Stop,
    reporter: Box<dyn Reporter<Event> + 'a>,
    in_progress: InProgressGames,
    played: Option<Played>,
}

/// A model of which there are enough games.
struct Played {
    model: u32,
    bound: Option<Bound>,
    /// Since when the next model is waited for.
    since: Option<Instant>,
}

/// The name of a worker, which one process has at a time: two would play the same games.
pub fn lease(worker: &str) -> LeaseName {
    LeaseName {
        stage: "selfplay",
        name: worker.to_owned(),
        remedy: "two workers of one name play the same games, so give each a name of its own with --worker NAME",
    }
}

impl<'a> Driver<'a> {
    /// A driver of a worker of a run that has this configuration.
    pub fn new(
        run: &Run,
        config: &RunConfig,
        options: Options,
        stop: &Stop,
        reporter: impl Reporter<Event> + 'a,
    ) -> Driver<'a> {
        Driver {
            run: run.clone(),
            config: config.clone(),
            options,
            stop: stop.clone(),
            reporter: Box::new(reporter),
            in_progress: InProgressGames::default(),
            played: None,
        }
    }

    /// Plays with the newest model until there is a newer one or there are enough games, or waits for a newer one.
    fn follow(&mut self, name: &RunName) -> Result<Step, SelfplayError> {
        if let Some(played) = &mut self.played
            && let Some(waiting) = played.wait(&self.run, self.options.games)?
        {
            return Ok(Step::Waiting(waiting));
        }
        let newest = self.run.models().newest()?;
        let models = self.config.run_loop.models;
        if newest.is_some_and(|newest| newest >= models) {
            tracing::info!(models, "the run has all its models");
            return Ok(Step::Finished);
        }
        let model = newest.map_or(ModelId::Random, |number| name.model(number));
        let number = model.number();
        let mut bound = match self.options.games {
            Games::Wanted => None,
            Games::Share { all, .. } => Bound::new(&self.config, number, all),
        };
        self.play(&model, &mut bound)?;
        self.played = Some(Played { model: number, bound, since: None });
        Ok(Step::Worked)
    }

    /// Plays one job.
    fn play(&mut self, model: &ModelId, bound: &mut Option<Bound>) -> Result<(), SelfplayError> {
        let follow = match self.options.model {
            ModelRef::Exact(_) => Follow::One,
            ModelRef::Newest(_) => Follow::Newest,
        };
        // Where a run is followed, a newer model or the games of other workers end the job earlier.
        let extent = match (self.options.games, follow) {
            (Games::Wanted, _) => Extent::Whole(self.config.selfplay.games_of(model.number()) as u64),
            (Games::Share { own: Some(own), .. }, Follow::One) => Extent::Whole(own),
            (Games::Share { own: Some(own), .. }, Follow::Newest) => Extent::AtMost(own),
            (Games::Share { own: None, .. }, _) => Extent::Open,
        };
        let opened = Model::open(&self.run, model, &self.options.place, self.config.selfplay.batch)?;
        let kept = self.options.evaluations.as_ref().map(|options| opened.kept(&model.to_string(), options));
        let job = Job {
            config: (&self.config).into(),
            model: model.clone(),
            worker: self.options.worker.clone(),
            extent,
            threads: self.options.threads,
            cache: self.options.cache,
            evaluations: kept.transpose()?.flatten(),
            times: self.options.times,
            live: self.options.live,
            on_shutdown: self.on_shutdown(),
            follow,
            threshold: Threshold::new(threshold(&self.run, model)?),
        };
        tracing::info!(%model, threshold = job.threshold.get(), threads = job.threads, "playing");
        let reporter = &mut *self.reporter;
        reporter.report(Event::Playing { model: model.clone(), games: extent.games() });
        let next = (follow == Follow::Newest).then(|| model.number() + 1);
        let mut polls = Polls::new(&self.run, &job, bound, next);
        let done = play(&self.run, &job, &opened, &mut self.in_progress, &self.stop, &mut |progress| {
            reporter.report(Event::Progress(progress));
            polls.poll(progress)
        })?;
        reporter.report(Event::Played(done));
        Ok(())
    }

    /// Games in progress at shutdown. A built-in model alone plays so fast that nothing is worth keeping.
    fn on_shutdown(&self) -> OnShutdown {
        let alone = matches!(&self.options.model, ModelRef::Exact(model) if model.number() == 0);
        if alone { OnShutdown::Discard } else { self.options.on_shutdown }
    }

    /// Hands off or discards the games in progress, if there are any, and releases the files of others.
    fn stop_games(&mut self) -> Result<(), SelfplayError> {
        if !self.in_progress.is_empty() {
            let on_shutdown = self.on_shutdown();
            let (handed_off, discarded) = self.in_progress.stop(&self.run, &self.options.worker, on_shutdown)?;
            self.reporter.report(Event::GamesStopped { handed_off, discarded });
        }
        Ok(())
    }
}

impl runtime::Driver for Driver<'_> {
    type Error = SelfplayError;

    fn step(&mut self) -> Result<Step, SelfplayError> {
        let step = match self.options.model.clone() {
            ModelRef::Exact(model) => self.play(&model, &mut None).map(|()| Step::Finished),
            ModelRef::Newest(name) => self.follow(&name),
        };
        // The loop does not shut down a driver that failed: others may have state that must not be saved. Games in
        // progress are whole at every move.
        if step.is_err()
            && let Err(error) = self.stop_games()
        {
            tracing::error!(%error, "cannot hand off games in progress; they are lost");
        }
        step
    }

    fn pause(&self) -> Backoff {
        Backoff::new(POLL, LONGEST_POLL)
    }

    /// Between two jobs, games are in progress where a newer model continues them.
    fn shut_down(&mut self) -> Result<(), SelfplayError> {
        self.stop_games()
    }
}

impl Games {
    /// The shards of the next model are overdue so long after all games are published: games are damaged, or there is
    /// no shuffler. On a machine of its own, no other process is waited for.
    fn overdue(self) -> Duration {
        match self {
            Games::Wanted => Duration::ZERO,
            Games::Share { .. } => Duration::from_secs(300),
        }
    }
}

impl Played {
    /// The reason to wait; `None` when there is a newer model, or when games may be damaged and have to be counted and
    /// replayed. Thousands of workers wait, so this requests one small object: the metadata of the next model.
    fn wait(&mut self, run: &Run, games: Games) -> Result<Option<Waiting>, SelfplayError> {
        let next = self.model + 1;
        if run.models().exists(next)? {
            return Ok(None);
        }
        let overdue = self.since.is_some_and(|since| since.elapsed() >= games.overdue());
        if overdue && run.shards().manifest(next)?.is_none() {
            let enough = self.bound.as_mut().map(|bound| bound.count_all(run)).transpose()?;
            if enough != Some(true) {
                return Ok(None);
            }
            self.since = None;
        }
        self.since.get_or_insert_with(Instant::now);
        let counted = self.bound.as_ref().map(Bound::games).filter(|&games| games > 0);
        let detail = counted.map_or_else(
            || "all games are published".to_owned(),
            |games| format!("enough games are published ({games})"),
        );
        Ok(Some(Waiting { what: format!("a newer model than {}", self.model), there: 0, detail }))
    }
}

/// What a job polls for while it plays: a newer threshold, a newer model, and whether there are enough games.
struct Polls<'a> {
    run: &'a Run,
    job: &'a Job,
    bound: &'a mut Option<Bound>,
    /// The number of the next model, where models are followed.
    next: Option<u32>,
    pause: Backoff,
    last: Instant,
    patience: Duration,
}

impl<'a> Polls<'a> {
    fn new(run: &'a Run, job: &'a Job, bound: &'a mut Option<Bound>, next: Option<u32>) -> Polls<'a> {
        let mut pause = Backoff::new(POLL, LONGEST_POLL);
        let patience = pause.pause();
        Polls { run, job, bound, next, pause, last: Instant::now(), patience }
    }

    /// Whether to go on.
    fn poll(&mut self, progress: JobProgress) -> Result<ControlFlow<()>, SelfplayError> {
        if self.bound.as_mut().is_some_and(|bound| bound.note_own(progress)) {
            return Ok(ControlFlow::Break(()));
        }
        if self.last.elapsed() < self.patience {
            return Ok(ControlFlow::Continue(()));
        }
        let found = self.look();
        (self.last, self.patience) = (Instant::now(), self.pause.pause());
        match found {
            // Games need no store until they are published.
            Err(error) if error.class() == ExitClass::StoreUnreachable => {
                tracing::warn!(%error, "cannot poll for a newer model and threshold; trying again later");
                Ok(ControlFlow::Continue(()))
            }
            found => Ok(if found? { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }),
        }
    }

    /// Takes over a newer threshold, and returns whether there is a newer model or there are enough games.
    fn look(&mut self) -> Result<bool, SelfplayError> {
        let threshold = threshold(self.run, &self.job.model)?;
        if threshold != self.job.threshold.get() {
            self.job.threshold.set(threshold);
            self.pause.reset();
        }
        let enough = self.bound.as_mut().map(|bound| bound.poll(self.run)).transpose()?;
        let newer = self.next.map(|next| self.run.models().exists(next)).transpose()?;
        Ok(enough == Some(true) || newer == Some(true))
    }
}

/// The resign threshold in force. Values of built-in models mean nothing, so they play to the end.
fn threshold(run: &Run, model: &ModelId) -> Result<Option<f32>, SelfplayError> {
    match model {
        ModelId::Trained { .. } => Ok(run.resign().newest()?.map(|resign| resign.threshold)),
        ModelId::Uniform | ModelId::Random => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bytes::Bytes;
    use config::Preset;
    use store::{ModelMetadata, Store};

    use super::*;
    use crate::shares::tests::job;

    #[test]
    fn store_that_is_out_of_reach_ends_no_job() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().to_str().expect("its name")).expect("a store");
        let run = store.run(&"tiny".parse().expect("a name"));
        // A file where a folder belongs.
        let obstacle = folder.path().join("tiny/models");
        fs::create_dir(folder.path().join("tiny")).expect("the folder of the run");
        fs::write(&obstacle, "").expect("the file");
        let config = Preset::Tiny.config();
        let (job, mut bound) = (job(&config, Extent::Open), None);
        let mut polls = Polls::new(&run, &job, &mut bound, Some(1));
        let mut poll = || {
            polls.patience = Duration::ZERO;
            polls.poll(JobProgress::default())
        };
        assert_eq!(poll().expect("the job continues"), ControlFlow::Continue(()));
        fs::remove_file(&obstacle).expect("the file");
        let metadata = ModelMetadata::new(run.name(), 1, 1, &config);
        run.models().publish(&metadata, Bytes::from_static(b"none")).expect("the store can be written");
        assert_eq!(poll().expect("the store can be read"), ControlFlow::Break(()));
    }
}
