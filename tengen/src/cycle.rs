//! Round and round: play, calibrate, shuffle, train, measure.
//!
//! Nothing is remembered between two steps but what the store holds, and every step does only what is still to be
//! done. So a cycle that is killed anywhere goes on where it was when it is started again.

use std::ops::ControlFlow;
use std::time::Duration;

use cli::{Progress, Stop};
use config::{ModelId, PlayerId, RunConfig};
use evaluator::Arena;
use gtp::engines::Declarations;
use net::{Device, Precision, Workshop};
use selfplay::{Job, Model, Threshold, Unfinished};
use store::{Run, Store};
use tracing::info;
use trainer::{Reference, Setting};

/// The one worker of a run on one machine.
const WORKER: &str = "0";

/// What a killed process left half written is no longer being written after this time.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A run on this machine.
pub(crate) struct Cycle<'a> {
    pub(crate) store: &'a Store,
    pub(crate) run: &'a Run,
    pub(crate) config: &'a RunConfig,
    pub(crate) device: Device,
    pub(crate) threads: usize,
    /// Bytes for evaluations that are needed again, for each thread.
    pub(crate) cache: usize,
    /// Whether games say when they were played.
    pub(crate) times: bool,
    /// Games of people that every model is measured on.
    pub(crate) reference: Option<&'a Reference>,
    pub(crate) stop: &'a Stop,
}

impl Cycle<'_> {
    /// Goes on until the run has all its models and the last is measured, or stop is requested.
    pub(crate) fn go(&self) -> anyhow::Result<()> {
        self.run.sweep(ABANDONED)?;
        cli::metrics::NEWEST_MODEL_TIME.set_to_now();
        let (run, digest) = (self.run.name(), self.config.digest());
        info!(%run, digest, store = self.store.root(), models = self.config.cycle.models, threads = self.threads, "run");
        let wait = |time| self.stop.wait(time);
        let lost = || {
            let stop = self.stop.clone();
            move || stop.request()
        };
        // What `selfplay` and `trainer` take, which may run beside this.
        self.run.leases().hold(selfplay::command::lease(WORKER), &wait, lost(), || {
            self.run.leases().hold(trainer::command::lease(), &wait, lost(), || self.generations())
        })?;
        Ok(())
    }

    /// From generation to generation.
    fn generations(&self) -> anyhow::Result<()> {
        while !self.stop.requested() {
            let newest = self.run.models().newest()?.unwrap_or(0);
            let finished = newest >= self.config.cycle.models;
            if newest > 0 && (finished || newest % self.config.evaluate.every == 0) {
                self.measure(newest)?;
            }
            if finished {
                return self.finish(newest);
            }
            self.learn(newest)?;
        }
        Ok(())
    }

    /// From one model to the next.
    fn learn(&self, newest: u32) -> anyhow::Result<()> {
        let steps: [&dyn Fn() -> anyhow::Result<()>; 4] =
            [&|| self.play(newest), &|| self.calibrate(), &|| self.shuffle(newest + 1), &|| self.train()];
        steps.iter().take_while(|_| !self.stop.requested()).try_for_each(|step| step())
    }

    fn model(&self, number: u32) -> ModelId {
        if number == 0 { ModelId::Random } else { self.run.name().model(number) }
    }

    fn play(&self, number: u32) -> anyhow::Result<()> {
        let model = self.model(number);
        let games = if number == 0 { self.config.selfplay.first_games } else { self.config.selfplay.games };
        let threshold = self.run.resign().newest()?.map(|resign| resign.threshold).filter(|_| number > 0);
        let job = Job {
            config: self.config.clone(),
            model: model.clone(),
            worker: WORKER.to_owned(),
            games: games as u64,
            threads: self.threads,
            cache: self.cache,
            times: self.times,
            hand_on: false,
            follows: false,
            threshold: Threshold::new(threshold),
        };
        let opened = Model::open(self.run, &model, self.device, self.config.selfplay.batch)?;
        let resigning = threshold.map_or("nobody resigns".to_owned(), |bound| format!("resigns below {bound:.2}"));
        let bar = Progress::new(format!("{model} plays"), Some(job.games));
        let done = selfplay::play(self.run, &job, &opened, &mut Unfinished::default(), self.stop, &mut |progress| {
            bar.set(progress.games);
            bar.note(format!("{}, {resigning}", selfplay::rates(&progress)));
            ControlFlow::Continue(())
        })?;
        if done.finished > 0 {
            bar.finish();
        }
        Ok(())
    }

    /// Recomputes the resign threshold from the games that are there now.
    fn calibrate(&self) -> anyhow::Result<()> {
        let found = self.run.update_resign(&self.config.resign)?;
        shuffler::note_threshold(found.as_ref());
        shuffler::note_games(self.run)?;
        if let Some(resign) = found {
            let (games, rate) = (resign.games, resign.false_positive_rate);
            info!(threshold = resign.threshold, games, false_positive_rate = rate, "resign threshold");
        }
        Ok(())
    }

    fn shuffle(&self, generation: u32) -> anyhow::Result<()> {
        let made = shuffler::run(self.run, self.config, generation)?;
        let (window, drawn) = (&made.window, &made.drawn);
        info!(
            examples = drawn.examples,
            games = window.games,
            positions = window.positions,
            new_positions = window.new_positions,
            samples_per_new_position = drawn.mean_per_new_position,
            rejected = made.rejected.len(),
            "shuffled for model {generation}"
        );
        Ok(shuffler::compact_when_due(self.run)?)
    }

    fn train(&self) -> anyhow::Result<()> {
        let workshop = Workshop { device: self.device, precision: Precision::Auto, threads: self.threads };
        let setting = Setting { workshop, reference: self.reference };
        trainer::command::train(self.run, self.config, setting, self.stop)?;
        Ok(())
    }

    fn arena(&self) -> anyhow::Result<Arena> {
        let place = evaluator::Place {
            device: self.device,
            threads: self.threads,
            cache: self.cache,
            times: self.times,
            engines: Declarations::default(),
            worker: WORKER.to_owned(),
        };
        Ok(Arena::open(self.store, self.run.name(), place)?)
    }

    /// Plays the matches of a new model, and rates all.
    fn measure(&self, newest: u32) -> anyhow::Result<()> {
        let mut arena = self.arena()?;
        arena.measure(newest, self.stop, &mut |arena, pair, games| self.meet(arena, pair, games))?;
        if self.stop.requested() {
            return Ok(());
        }
        let table = arena.rate()?;
        let rows = table.rows();
        let name = self.model(newest).to_string();
        if let Some(row) = rows.iter().find(|row| row.player == name) {
            info!(model = name, "rated {:+.0} ± {:.0} Elo", row.elo, 1.96 * row.error);
        }
        Ok(())
    }

    fn meet(&self, arena: &mut Arena, [one, other]: [&PlayerId; 2], games: u64) -> anyhow::Result<()> {
        if arena.score([one, other])?.games >= games || self.stop.requested() {
            return Ok(());
        }
        let left = arena.left([one, other], games)?;
        let bar = Progress::new(format!("{one} against {other}"), Some(left));
        arena.meet([one, other], games, self.stop, &mut |progress| {
            bar.set(progress.finished);
            bar.note(format!("{} : {}", progress.points, progress.finished as f64 - progress.points));
        })?;
        bar.finish();
        let score = arena.score([one, other])?;
        info!("{one} has {} points of {} against {other}", score.points, score.games);
        Ok(())
    }

    /// The last matches, and the table.
    fn finish(&self, newest: u32) -> anyhow::Result<()> {
        let mut arena = self.arena()?;
        arena.measure_last(newest, self.stop, &mut |arena, pair, games| self.meet(arena, pair, games))?;
        if self.stop.requested() {
            return Ok(());
        }
        cli::print(arena.rate()?)?;
        for [one, other] in arena.final_meetings(newest) {
            let score = arena.score([&one, &other])?;
            cli::print(format!("{one} won {} of {} games against {other}", score.points, score.games))?;
        }
        Ok(())
    }
}
