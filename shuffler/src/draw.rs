//! The draw: how many examples, and which.

use std::collections::BTreeMap;

use config::RunConfig;
use record::{ExampleRows, GameId};
use store::{DrawSummary, Run, StoreError};

use crate::ShufflerError;
use crate::random::Random;
use crate::window::{Window, WindowFile, WindowGame};

/// How many examples a generation draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) wanted: usize,
    pub(crate) examples: usize,
}

/// The examples that were drawn: the rows that are needed, each once, and where each example is among them.
pub(crate) struct Drawn {
    pub(crate) rows: Vec<ExampleRows>,
    pub(crate) places: Vec<(u32, u32)>,
    calibration: usize,
}

/// How often each position of each game is drawn.
type Shares = BTreeMap<GameId, Vec<usize>>;

/// A file of examples that could not be read.
pub(crate) struct BadFile {
    /// Its place among the files of the window.
    pub(crate) index: usize,
    pub(crate) error: StoreError,
}

impl Size {
    /// As many examples as the training of a model takes, unless a position would be drawn too often in its life.
    ///
    /// A position is drawn examples / positions times from each of the windows it is in, and it is in as many windows as
    /// the window is larger than what is new in it. So over its life it is drawn examples / new positions times, on
    /// average, and that is what is bounded. Only whole batches are drawn.
    pub(crate) fn of(config: &RunConfig, generation: u32, new_positions: usize) -> Result<Size, ShufflerError> {
        let batch = config.train.batch;
        let wanted = config.train.steps * batch;
        let allowed = (f64::from(config.window.samples_per_position) * new_positions as f64) as usize;
        if wanted <= allowed {
            return Ok(Size { wanted, examples: wanted });
        }
        match allowed / batch * batch {
            0 => Err(ShufflerError::TooFew { generation, allowed, new_positions, batch }),
            examples => Ok(Size { wanted, examples }),
        }
    }

    pub(crate) fn summary(self, window: &Window, calibration_share: f64) -> DrawSummary {
        let per = |positions: usize| self.examples as f64 / positions as f64;
        DrawSummary {
            wanted: self.wanted,
            examples: self.examples,
            bounded: self.examples < self.wanted,
            mean_per_position: per(window.positions()),
            mean_per_new_position: per(window.new_positions()),
            calibration_share,
        }
    }
}

impl Drawn {
    /// Draws examples from the positions of a window: each position as often as every other, or once more, and mixes
    /// them.
    pub(crate) fn draw(run: &Run, window: &Window, examples: usize, random: &mut Random) -> Result<Drawn, BadFile> {
        let positions = window.positions();
        let often = examples / positions;
        let once_more = random.choose(examples % positions, positions);
        let mut copies = once_more.into_iter().map(|more| often + usize::from(more));
        let shares: Shares = by_id(window).map(|game| (game.id, copies.by_ref().take(game.rows).collect())).collect();
        let mut drawn = Drawn { rows: Vec::new(), places: Vec::with_capacity(examples), calibration: 0 };
        let mut places = BTreeMap::new();
        for (index, file) in window.files.iter().enumerate() {
            drawn.take(run, file, &shares, &mut places).map_err(|error| BadFile { index, error })?;
        }
        drawn.places.extend(places.into_values().flatten());
        random.shuffle(&mut drawn.places);
        Ok(drawn)
    }

    /// Takes the rows of a file that are drawn, and leaves the others.
    fn take(
        &mut self,
        run: &Run,
        file: &WindowFile,
        shares: &Shares,
        places: &mut BTreeMap<GameId, Vec<(u32, u32)>>,
    ) -> Result<(), StoreError> {
        let part = self.rows.len() as u32;
        let (mut first_row, mut taken) = (0, Vec::new());
        for game in &file.games {
            let share = shares.get(&game.id).filter(|_| game.chosen);
            for (row, &count) in share.into_iter().flatten().enumerate().filter(|(_, count)| **count > 0) {
                let place = (part, taken.len() as u32);
                places.entry(game.id).or_default().extend(std::iter::repeat_n(place, count));
                taken.push((first_row + row) as u32);
                self.calibration += if game.calibration { count } else { 0 };
            }
            first_row += game.rows;
        }
        if !taken.is_empty() {
            self.rows.push(read(run, file)?.take(&taken));
        }
        Ok(())
    }

    /// Share of the examples that come from calibration games.
    pub(crate) fn calibration_share(&self) -> f64 {
        self.calibration as f64 / self.places.len() as f64
    }

    /// The examples in their mixed order, `rows` at a time.
    pub(crate) fn parts(&self, rows: usize) -> impl Iterator<Item = ExampleRows> {
        self.places.chunks(rows).map(|places| {
            let places: Vec<(usize, usize)> = places.iter().map(|&(p, row)| (p as usize, row as usize)).collect();
            ExampleRows::gather(&self.rows, &places)
        })
    }
}

/// The games of a window in the order of their ids. Which file a game is in, and where, depends on when its worker was
/// stopped; what is drawn must not.
fn by_id(window: &Window) -> impl Iterator<Item = &WindowGame> {
    let mut games: Vec<&WindowGame> = window.games().collect();
    games.sort_unstable_by_key(|game| game.id);
    games.into_iter()
}

/// The examples of a file, which must be those of its games.
fn read(run: &Run, file: &WindowFile) -> Result<ExampleRows, StoreError> {
    let rows = run.read_examples(&file.file)?;
    let mut expected: Vec<_> = file.games.iter().map(|game| (game.id, game.rows)).filter(|run| run.1 > 0).collect();
    // The same game twice in a row has its rows in one run.
    expected.dedup_by(|next, run| {
        let same = next.0 == run.0;
        run.1 += if same { next.1 } else { 0 };
        same
    });
    if rows.runs() == expected {
        return Ok(rows);
    }
    let reason = "its rows are not those of the games of the same name".to_owned();
    Err(StoreError::Damaged { path: run.examples_name(&file.file), reason })
}
