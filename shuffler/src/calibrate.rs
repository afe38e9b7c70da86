//! The resign threshold: computed from the newest calibration games whenever there are new games.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use config::Resign;
use record::calibration::ResignCalibration;
use record::{GameId, GameSummary};
use runtime::Reporter;
use store::{FileRef, ResignThreshold, Run, StoreError};

use crate::event::Event;

/// How many models back held-out games are searched.
const BACK: u32 = 3;

/// How long a threshold from games of a model holds at least, unless there are games of a newer model: as long as
/// workers may take to see it.
const HOLDS: Duration = Duration::from_secs(30);

/// Keeps the resign threshold of a run up to date.
#[derive(Debug)]
pub struct Calibrator {
    run: Run,
    settings: Resign,
    /// The newest games that were read, and how many files of their model there were.
    seen: Option<(FileRef, usize)>,
    /// By file of the models that the last threshold came from: its calibration games with a winner.
    known: BTreeMap<FileRef, Vec<Win>>,
    /// When the last threshold was published.
    published: Option<Instant>,
}

/// A calibration game with a winner.
#[derive(Clone, Copy, Debug)]
struct Win {
    /// The number of the game among those of its worker with this model, and its name.
    game: (u64, GameId),
    /// The winner's minimum root value.
    min_value: f32,
    /// Whether the winner would have resigned by the threshold in force; `None` where there was none yet.
    would_resign: Option<bool>,
}

impl Win {
    /// `None` for a game without a winner, or whose winner made no searched move.
    fn of(game: &GameSummary) -> Option<Win> {
        let (min_value, would_resign) = (game.winner_min_value?, game.would_resign_wrongly());
        Some(Win { game: (game.index, game.id), min_value, would_resign })
    }
}

/// The newest of them.
#[derive(Debug, Default)]
struct Wins {
    games: Vec<Win>,
    from_model: u32,
    to_model: u32,
}

impl Calibrator {
    /// A calibrator that has not seen any games.
    pub fn new(run: &Run, settings: &Resign) -> Calibrator {
        Calibrator { run: run.clone(), settings: settings.clone(), seen: None, known: BTreeMap::new(), published: None }
    }

    /// Updates the threshold if there are games that the last call has not seen, and it has held for a while. Games
    /// that cannot be read leave it as it is, and are logged once.
    pub(crate) fn poll(&mut self, reporter: &mut dyn Reporter<Event>) -> Result<(), StoreError> {
        let files = self.run.games().newest_files()?;
        let newest = files.last().map(|newest| (newest.clone(), files.len()));
        let model = |seen: &Option<(FileRef, usize)>| seen.as_ref().map(|(file, _)| file.model);
        let holds = self.published.is_some_and(|published| published.elapsed() < HOLDS);
        if newest == self.seen || (holds && model(&newest) == model(&self.seen)) {
            return Ok(());
        }
        if let Some((newest, _)) = &newest {
            reporter.report(Event::Games { time: newest.stem.time(), holdout: self.newest_holdout(newest.model)? });
        }
        match self.update() {
            Ok(found) => reporter.report(Event::Calibrated(found)),
            Err(error @ (StoreError::Damaged { .. } | StoreError::OtherVersion { .. })) => {
                tracing::error!(%error, "the resign threshold stays as it is");
            }
            Err(error) => return Err(error),
        }
        self.seen = newest;
        Ok(())
    }

    /// Computes the threshold from the newest calibration games, and publishes it unless it is the newest already.
    /// `None` while there are too few games.
    ///
    /// # Errors
    /// [`StoreError::OtherVersion`] for games of another version. Damaged ones are moved to quarantine.
    pub fn update(&mut self) -> Result<Option<ResignThreshold>, StoreError> {
        let wins = self.wins()?;
        let winner_min: Vec<f32> = wins.games.iter().map(|win| win.min_value).collect();
        let found = ResignCalibration::of(&winner_min, f64::from(self.settings.quantile), self.settings.min_games);
        let Some(found) = found.map(|found| self.describe(&found, &wins)) else { return Ok(None) };
        if self.run.resign().newest()?.as_ref() != Some(&found) {
            self.run.resign().publish(&found)?;
            self.published = Some(Instant::now());
            let ResignThreshold { threshold, games, in_force_games, in_force_wrong, .. } = found;
            tracing::info!(threshold, games, in_force_games, in_force_wrong, "resign threshold updated");
        }
        Ok(Some(found))
    }

    /// Takes games from the newest model backwards until there are enough, of a model those with the highest numbers:
    /// which file a game is in depends on when its worker was stopped. The values of `random`, model 0, mean nothing,
    /// so its games say nothing about when to resign.
    fn wins(&mut self) -> Result<Wins, StoreError> {
        let mut found = Wins::default();
        // All games of the run would be searched in vain.
        if self.settings.calibration_fraction == 0.0 {
            return Ok(found);
        }
        let newest = self.run.games().newest_model()?.unwrap_or_default();
        for model in (1..=newest).rev() {
            let games_left = self.settings.games - found.games.len();
            if games_left == 0 {
                self.known.retain(|known, _| known.model > model);
                break;
            }
            let mut wins = Vec::new();
            for file in self.run.games().files(model)? {
                wins.extend(self.wins_of(&file)?);
            }
            wins.sort_unstable_by_key(|win| Reverse(win.game));
            // A worker that was killed may have published a game twice.
            wins.dedup_by_key(|win| win.game);
            wins.truncate(games_left);
            if !wins.is_empty() {
                found.from_model = model;
                found.to_model = found.to_model.max(model);
            }
            found.games.extend(wins);
        }
        Ok(found)
    }

    /// The wins of a file, which is read once: hundreds of files have the calibration games of a threshold, and workers
    /// publish one every second.
    fn wins_of(&mut self, file: &FileRef) -> Result<Vec<Win>, StoreError> {
        if let Some(wins) = self.known.get(file) {
            return Ok(wins.clone());
        }
        let Some(games) = self.run.games().summaries_or_quarantine(file)? else { return Ok(Vec::new()) };
        let calibration = games.iter().filter(|game| game.sets_threshold(file.model));
        let wins: Vec<Win> = calibration.filter_map(Win::of).collect();
        self.known.insert(file.clone(), wins.clone());
        Ok(wins)
    }

    fn describe(&self, found: &ResignCalibration, wins: &Wins) -> ResignThreshold {
        let (rate_low, rate_high) = found.interval();
        let in_force = || wins.games.iter().filter_map(|win| win.would_resign);
        ResignThreshold {
            threshold: found.threshold,
            quantile: self.settings.quantile,
            games: found.games,
            from_model: wins.from_model,
            to_model: wins.to_model,
            in_force_games: in_force().count(),
            in_force_wrong: in_force().filter(|&wrong| wrong).count(),
            false_positive_rate: found.false_positive_rate(),
            rate_low,
            rate_high,
        }
    }

    /// When held-out games of this model or the last ones before it were published, in milliseconds since 1970.
    fn newest_holdout(&self, newest: u32) -> Result<Option<u64>, StoreError> {
        for model in (newest.saturating_sub(BACK)..=newest).rev() {
            if let Some(file) = self.run.games().holdout_files(model)?.last() {
                return Ok(Some(file.stem.time()));
            }
        }
        Ok(None)
    }
}
