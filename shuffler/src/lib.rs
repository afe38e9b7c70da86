//! The shuffler stage: turns the newest games into the examples that the next model is trained on.
//!
//! The cast: the `window` is chosen from the summaries of the games (`index`), newest first, up to its `window_size`;
//! the `sampler` decides how often each of its positions is taken, all alike or by weight (`weighted_sampler`); it
//! reads those rows and mixes them; the store publishes them in parts with a manifest that says where they come from.
//! The `driver` does that for one model after the other, and has the resign threshold computed (`calibrate`) when games
//! arrive, for the workers that play.
//!
//! Generation g is what model g is trained on. It is made when all games of model g − 1 are there (model 0 is
//! `random`), and from games of models before g only. The sample depends on nothing but the games in the store, the
//! run's configuration and g: made again, the shards are the same, byte for byte. Where workers play on while a model
//! is trained, the number of examples depends on the manifest of generation g − 1, too, by which the games that came
//! late are told.
//!
//! Memory is bounded by [`memory_bound`].

mod archive;
mod calibrate;
pub mod command;
mod driver;
mod error;
mod eta;
mod event;
mod index;
mod plan;
mod random;
mod report;
mod sampler;
mod weighted_sampler;
mod window;
mod window_size;

use std::collections::BTreeMap;

use config::RunConfig;
use store::{Manifest, Rejected, Run, StoreError, WindowSummary};

pub use archive::{compact, compact_when_due};
pub use calibrate::Calibrator;
pub use driver::Driver;
pub use error::ShufflerError;
pub use eta::Eta;
pub use event::Event;
pub use plan::Plan;
pub use report::Console;
pub use window_size::{Played, window_reach};

use index::{Arrived, GameIndex};
use random::Random;
use sampler::{BadFile, Sample, Size};
use window::Window;

/// Rows in a part: a few megabytes, so that a reader may hold some of them.
const ROWS_PER_PART: usize = 16 * 1024;

/// Generations whose shards are kept: the newest, and the one before it, which a trainer may still be reading.
const KEPT_GENERATIONS: u32 = 2;

/// The most memory that [`Shuffler::publish`] needs for a window, in bytes: twice the columns of the rows that are
/// sampled, each once; 16 bytes for each position of the window; 400 bytes for each of its games; and 96 MiB for the
/// files that are read, several at once, and the part that is written. `tengen bench data` compares.
pub fn memory_bound(columns: usize, window: &WindowSummary) -> usize {
    2 * columns + 16 * window.positions + 400 * window.games + (96 << 20)
}

/// Makes shards, and remembers which games it has seen.
#[derive(Debug)]
pub struct Shuffler {
    run: Run,
    config: RunConfig,
    index: GameIndex,
}

impl Shuffler {
    /// A shuffler for a run with this configuration.
    pub fn new(run: &Run, config: &RunConfig) -> Shuffler {
        Shuffler { run: run.clone(), config: config.clone(), index: GameIndex::new(run) }
    }

    /// Makes the shards of a generation, from 1, and deletes those of generations long past. If the shards exist,
    /// returns what they are.
    ///
    /// A file that is damaged, or of another version, is omitted, and listed in the manifest.
    ///
    /// # Errors
    /// [`ShufflerError::NotReady`] while games are missing, [`ShufflerError::TooFew`] when the configuration allows no
    /// batch, or a store that cannot be reached.
    pub fn publish(&mut self, generation: u32) -> Result<Manifest, ShufflerError> {
        if let Some(published) = self.run.shards().manifest(generation)? {
            return Ok(published);
        }
        self.ready(generation)?;
        let mut bad = BTreeMap::new();
        loop {
            let window = Window::choose(&mut self.index, generation, &self.config.window, &bad)?;
            let size = Size::of(&self.config, generation, &window)?;
            let mut random = Random::new(self.config.seed, generation);
            let settings = &self.config.window;
            match Sample::choose(&self.run, settings, &window, size.examples, &mut random) {
                Ok(sample) => return self.publish_sample(generation, window, size, &sample),
                Err(BadFile { index, error }) if error.is_skippable() => {
                    let file = window.files[index].file.clone();
                    let rejected = Rejected { path: self.run.examples().name(&file), reason: error.to_string() };
                    bad.insert(file, rejected);
                }
                Err(BadFile { error, .. }) => return Err(error.into()),
            }
        }
    }

    /// What [`Shuffler::publish`] would do now. Does not read any examples.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn plan(&mut self, generation: u32) -> Result<Plan, ShufflerError> {
        let window = Window::choose(&mut self.index, generation, &self.config.window, &BTreeMap::new())?;
        let ready = self.ready(generation);
        let size = ready.and_then(|_| Size::of(&self.config, generation, &window));
        let asked = f64::from(self.config.window.calibration_fraction);
        let share = if asked > 0.0 { asked } else { window.summary.calibration_fraction };
        Ok(Plan {
            generation,
            published: self.run.shards().manifest(generation)?.is_some(),
            sampled: size.map(|size| size.summary(&window, share)),
            window: window.summary,
            rejected: window.rejected,
        })
    }

    /// The games of the model before the generation, once all that are wanted are there. Lists the games of that model
    /// only, since this is called repeatedly while they are played.
    ///
    /// # Errors
    /// [`ShufflerError::NotReady`] while games are missing, or a store that cannot be reached.
    pub(crate) fn ready(&mut self, generation: u32) -> Result<usize, ShufflerError> {
        let model = generation - 1;
        let Arrived { games, files } = self.index.arrived(model)?;
        let wanted = self.config.selfplay.games_of(model);
        if games >= wanted {
            return Ok(games);
        }
        let now = runtime::unix_millis();
        let expected = Eta::expected(&files, wanted - games, now);
        Err(ShufflerError::NotReady { model, games, wanted, expected })
    }

    /// The games of a model that are published.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub(crate) fn arrived(&mut self, model: u32) -> Result<usize, ShufflerError> {
        Ok(self.index.arrived(model)?.games)
    }

    fn publish_sample(
        &self,
        generation: u32,
        window: Window,
        size: Size,
        sample: &Sample,
    ) -> Result<Manifest, ShufflerError> {
        let manifest = Manifest {
            generation,
            seed: self.config.seed,
            config_digest: self.config.digest(),
            sampled: size.summary(&window, sample.calibration_fraction()),
            ages: sample.ages(&window),
            window: window.summary,
            rejected: window.rejected,
            parts: Vec::new(),
        };
        let published = match self.run.shards().publish(sample.parts(ROWS_PER_PART), manifest) {
            // Another shuffler was faster, and saw other games.
            Err(StoreError::AlreadyExists { path }) => {
                self.run.shards().manifest(generation)?.ok_or(StoreError::AlreadyExists { path })?
            }
            published => published?,
        };
        self.run.shards().prune((generation + 1).saturating_sub(KEPT_GENERATIONS))?;
        Ok(published)
    }
}
