//! The sample: how many examples, and which.

use std::collections::BTreeMap;

use config::RunConfig;
use record::examples::Surprise;
use record::{ExampleRows, GameId};
use store::{AgeSummary, Run, SampleSummary, StoreError};

use crate::ShufflerError;
use crate::random::Random;
use crate::weighted_sampler;
use crate::window::{Window, WindowFile, WindowGame};

/// How many examples a generation samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) wanted: usize,
    pub(crate) examples: usize,
}

/// The examples that were sampled: the rows that are needed, each once, and where each example is among them.
pub(crate) struct Sample {
    pub(crate) rows: Vec<ExampleRows>,
    pub(crate) places: Vec<(u32, u32)>,
    /// How often each position of each game was sampled.
    pub(crate) shares: Shares,
    calibration: usize,
}

/// How often each position of each game is sampled.
pub(crate) type Shares = BTreeMap<GameId, Vec<u32>>;

/// A file of examples that could not be read.
pub(crate) struct BadFile {
    /// Its place among the files of the window.
    pub(crate) index: usize,
    pub(crate) error: StoreError,
}

impl Size {
    /// As many examples as the training of a model takes, unless positions or games would be sampled too often.
    ///
    /// A position is sampled examples / positions times from each of the windows it is in, and it is in
    /// positions / new positions windows. So over its life it is sampled examples / new positions times, on average,
    /// and that number is bounded. Only whole batches are sampled.
    pub(crate) fn of(config: &RunConfig, generation: u32, window: &Window) -> Result<Size, ShufflerError> {
        let (settings, batch) = (&config.window, config.train.batch);
        let wanted = config.train.steps * batch;
        let new_positions = window.summary.new_positions;
        let bounded = |rate: f32, things: usize| (rate > 0.0).then(|| (f64::from(rate) * things as f64) as usize);
        let bounds =
            [bounded(settings.reuse_limit, new_positions), bounded(settings.samples_per_game, window.summary.games)];
        let allowed = bounds.into_iter().flatten().min().unwrap_or(wanted);
        if wanted <= allowed {
            return Ok(Size { wanted, examples: wanted });
        }
        match allowed / batch * batch {
            0 => Err(ShufflerError::TooFew { generation, allowed, new_positions, batch }),
            examples => Ok(Size { wanted, examples }),
        }
    }

    pub(crate) fn summary(self, window: &Window, calibration_fraction: f64) -> SampleSummary {
        let per = |positions: usize| self.examples as f64 / positions as f64;
        SampleSummary {
            wanted: self.wanted,
            examples: self.examples,
            bounded: self.examples < self.wanted,
            mean_per_position: per(window.summary.positions),
            reuse: per(window.summary.new_positions),
            calibration_fraction,
        }
    }
}

impl Sample {
    /// Samples examples from the positions of a window, and mixes them.
    pub(crate) fn choose(
        run: &Run,
        config: &config::Window,
        window: &Window,
        examples: usize,
        random: &mut Random,
    ) -> Result<Sample, BadFile> {
        let shares = if is_even(config) {
            even(window, examples, random)
        } else {
            weighted(run, config, window, examples, random)?
        };
        let mut sample = Sample { rows: Vec::new(), places: Vec::with_capacity(examples), shares, calibration: 0 };
        let mut places = BTreeMap::new();
        for (index, file) in window.files.iter().enumerate() {
            sample.take(run, file, &mut places).map_err(|error| BadFile { index, error })?;
        }
        sample.places.extend(places.into_values().flatten());
        random.shuffle(&mut sample.places);
        Ok(sample)
    }

    /// Takes the rows of a file that are sampled, and leaves the others.
    fn take(
        &mut self,
        run: &Run,
        file: &WindowFile,
        places: &mut BTreeMap<GameId, Vec<(u32, u32)>>,
    ) -> Result<(), StoreError> {
        let part = self.rows.len() as u32;
        let (mut first_row, mut taken) = (0, Vec::new());
        for game in &file.games {
            let share = self.shares.get(&game.id).filter(|_| game.chosen);
            for (row, &count) in share.into_iter().flatten().enumerate().filter(|(_, count)| **count > 0) {
                let place = (part, taken.len() as u32);
                places.entry(game.id).or_default().extend(std::iter::repeat_n(place, count as usize));
                taken.push((first_row + row) as u32);
                self.calibration += if game.calibration { count as usize } else { 0 };
            }
            first_row += game.rows;
        }
        if !taken.is_empty() {
            self.rows.push(read(run, file, &taken)?);
        }
        Ok(())
    }

    /// Share of the examples that come from calibration games.
    pub(crate) fn calibration_fraction(&self) -> f64 {
        self.calibration as f64 / self.places.len() as f64
    }

    /// What each model has in the window and among the examples, the newest model first.
    pub(crate) fn ages(&self, window: &Window) -> Vec<AgeSummary> {
        let mut ages: BTreeMap<u32, AgeSummary> = BTreeMap::new();
        for file in &window.files {
            let model = file.file.model;
            let age = ages.entry(model).or_insert(AgeSummary { model, games: 0, positions: 0, examples: 0 });
            for game in file.chosen() {
                age.games += 1;
                age.positions += game.rows;
                age.examples +=
                    self.shares.get(&game.id).map_or(0, |share| share.iter().map(|&count| count as usize).sum());
            }
        }
        ages.into_values().rev().collect()
    }

    /// The examples in their mixed order, `rows` at a time.
    pub(crate) fn parts(&self, rows: usize) -> impl Iterator<Item = ExampleRows> {
        self.places.chunks(rows).map(|places| {
            let places: Vec<(usize, usize)> = places.iter().map(|&(p, row)| (p as usize, row as usize)).collect();
            ExampleRows::gather(&self.rows, &places)
        })
    }
}

/// Whether every position of the window is as likely as every other.
fn is_even(settings: &config::Window) -> bool {
    settings.calibration_fraction == 0.0
        && settings.value_surprise_weight == 0.0
        && settings.policy_surprise_weight == 0.0
}

/// Samples each position equally often, or one time more.
fn even(window: &Window, examples: usize, random: &mut Random) -> Shares {
    let positions = window.summary.positions;
    let often = (examples / positions) as u32;
    let once_more = random.choose(examples % positions, positions);
    of_games(window, once_more.into_iter().map(|more| often + u32::from(more)))
}

/// Samples positions by their weights.
fn weighted(
    run: &Run,
    settings: &config::Window,
    window: &Window,
    examples: usize,
    random: &mut Random,
) -> Result<Shares, BadFile> {
    let surprises = surprises(run, settings, window)?;
    let mut all = Vec::new();
    let (mut calibration, mut others) = (Vec::new(), Vec::new());
    for game in by_id(window) {
        let first = all.len() as u32;
        all.extend(weights(settings, game, surprises.get(&game.id)));
        let kind = if game.calibration { &mut calibration } else { &mut others };
        kind.extend(first..all.len() as u32);
    }
    let mut counts = vec![0; all.len()];
    if settings.calibration_fraction > 0.0 {
        let wanted = (f64::from(settings.calibration_fraction) * examples as f64).round() as usize;
        let rest = match (calibration.is_empty(), others.is_empty()) {
            (true, _) => examples,
            (false, true) => 0,
            (false, false) => examples - wanted,
        };
        weighted_sampler::sample(&all, calibration, examples - rest, &mut counts, random);
        weighted_sampler::sample(&all, others, rest, &mut counts, random);
    } else {
        weighted_sampler::sample(&all, (0..all.len() as u32).collect(), examples, &mut counts, random);
    }
    Ok(of_games(window, counts.into_iter()))
}

/// Gives each game the counts of its positions, which are in the order of [`by_id`].
fn of_games(window: &Window, mut counts: impl Iterator<Item = u32>) -> Shares {
    by_id(window).map(|game| (game.id, counts.by_ref().take(game.rows).collect())).collect()
}

/// The weights of the positions of a game.
fn weights(
    settings: &config::Window,
    game: &WindowGame,
    surprises: Option<&Vec<Surprise>>,
) -> impl Iterator<Item = f32> {
    let of = |row: usize| surprises.and_then(|all| all.get(row)).copied();
    let values = relative((0..game.rows).map(|row| of(row).map(|own| own.value)));
    let policies = relative((0..game.rows).map(|row| of(row).and_then(|own| own.policy)));
    let (by_value, by_policy) = (settings.value_surprise_weight, settings.policy_surprise_weight);
    values
        .into_iter()
        .zip(policies)
        .map(move |(value, policy)| 1.0 - by_value - by_policy + by_value * value + by_policy * policy)
}

/// Numbers by the mean of those that are known; 1 for those that are not. The mean is 1, so that every game keeps the
/// weight of its positions.
fn relative(numbers: impl Iterator<Item = Option<f32>> + Clone) -> Vec<f32> {
    let known = numbers.clone().flatten().count();
    let mean = numbers.clone().flatten().sum::<f32>() / known.max(1) as f32;
    let even = (1.0 - mean.max(0.0) / LEAST_SURPRISE).max(0.0);
    numbers.map(|own| own.map_or(1.0, |own| own.max(0.0) / mean.max(LEAST_SURPRISE) + even)).collect()
}

/// Games in which search and network agree better than this, on average, are not searched for what little surprise
/// there is: the less there is, the larger is the part that is shared evenly. KataGo has this bound for values, of
/// which it takes a divergence in nats (`cpp/program/play.cpp`).
const LEAST_SURPRISE: f32 = 0.01;

/// The surprises of the positions of each game of the window, where weights depend on them.
fn surprises(
    run: &Run,
    settings: &config::Window,
    window: &Window,
) -> Result<BTreeMap<GameId, Vec<Surprise>>, BadFile> {
    let mut found = BTreeMap::new();
    if settings.value_surprise_weight == 0.0 && settings.policy_surprise_weight == 0.0 {
        return Ok(found);
    }
    for (index, file) in window.files.iter().enumerate() {
        if file.games.iter().all(|game| game.rows == 0) {
            continue;
        }
        let all = run.examples().surprises(&file.file).map_err(|error| BadFile { index, error })?;
        let mut rows = all.into_iter();
        for game in &file.games {
            let own: Vec<Surprise> = rows.by_ref().take(game.rows).collect();
            if game.chosen {
                found.insert(game.id, own);
            }
        }
    }
    Ok(found)
}

/// The games of a window in the order of their ids. Which file a game is in, and where, depends on when its worker was
/// stopped; the sample must not.
fn by_id(window: &Window) -> impl Iterator<Item = &WindowGame> {
    let mut games: Vec<&WindowGame> = window.games().collect();
    games.sort_unstable_by_key(|game| game.id);
    games.into_iter()
}

/// Rows of the examples of a file, which must be those of its games.
fn read(run: &Run, file: &WindowFile, taken: &[u32]) -> Result<ExampleRows, StoreError> {
    let damaged = |reason: String| StoreError::Damaged { path: run.examples().name(&file.file), reason };
    let rows = run.examples().open(&file.file)?;
    let mut expected: Vec<_> = file.games.iter().map(|game| (game.id, game.rows)).filter(|run| run.1 > 0).collect();
    // The same game twice in a row has its rows in one run.
    expected.dedup_by(|next, run| {
        let same = next.0 == run.0;
        run.1 += if same { next.1 } else { 0 };
        same
    });
    if rows.runs().map_err(|e| damaged(e.to_string()))? != expected {
        return Err(damaged("its rows are not those of the games of the same name".to_owned()));
    }
    rows.pick(taken).map_err(|e| damaged(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_surprises_of_a_game_have_the_mean_one() {
        let cases: [(&[Option<f32>], &[f32]); 6] = [
            (&[Some(0.25), Some(0.75)], &[0.5, 1.5]),
            // A mean of half the bound: half is in proportion to the surprise, 0 and 2, and half is even.
            (&[Some(0.0), Some(0.01)], &[0.5, 1.5]),
            (&[Some(0.0), Some(0.0)], &[1.0, 1.0]),
            (&[Some(0.5), None, Some(1.5)], &[0.5, 1.0, 1.5]),
            (&[None, None], &[1.0, 1.0]),
            (&[], &[]),
        ];
        for (numbers, expected) in cases {
            let found = relative(numbers.iter().copied());
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        }
        // A divergence that rounding made negative is none.
        let found = relative([Some(-1e-4), Some(1e-4)].into_iter());
        assert!(found[0] == 1.0 && (found[1] - 1.01).abs() < 1e-6, "{found:?}");
    }
}
