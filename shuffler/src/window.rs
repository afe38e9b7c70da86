//! The window: the games that the next model is trained on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use config::WindowLimit;
use record::{GameId, GameSummary};
use store::{FileRef, Manifest, Rejected, StoreError, WindowSummary};

use crate::index::GameIndex;
use crate::window_size::WindowSize;

/// The newest games, in the files they are in.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Files with games of the window.
    pub(crate) files: Vec<WindowFile>,
    /// Games that were published again.
    pub(crate) duplicates: usize,
    /// Files that could not be read.
    pub(crate) rejected: Vec<Rejected>,
    /// The model before the generation.
    pub(crate) newest_model: u32,
    /// What the window before had.
    before: Option<Manifest>,
    /// What it was to hold.
    limit: Option<WindowSize>,
}

/// A file with games of the window.
#[derive(Debug)]
pub(crate) struct WindowFile {
    pub(crate) file: FileRef,
    /// Its training games in order, each with the rows of its examples.
    pub(crate) games: Vec<WindowGame>,
}

/// A game whose examples are in a file of examples.
#[derive(Clone, Debug)]
pub(crate) struct WindowGame {
    pub(crate) id: GameId,
    /// Its number among those of its worker with this model.
    pub(crate) number: u64,
    pub(crate) rows: usize,
    pub(crate) calibration: bool,
    /// Whether it is in the window: others of the file may be too old, or published before.
    pub(crate) chosen: bool,
}

impl Window {
    /// The newest games of models before `generation`, as many as the settings say, without the validation set and the
    /// files in `bad`. The newest model comes first, and of a model the highest number. Of a game that was published
    /// twice the first counts.
    pub(crate) fn choose(
        index: &mut GameIndex,
        generation: u32,
        settings: &config::Window,
        bad: &BTreeMap<FileRef, Rejected>,
    ) -> Result<Window, StoreError> {
        let newest_model = generation - 1;
        let mut limit = WindowSize::of(settings, generation, || index.played_before(generation))?;
        let mut window = Window {
            newest_model,
            before: index.manifest_before(generation)?,
            limit: Some(limit),
            rejected: bad.values().cloned().collect(),
            ..Window::default()
        };
        let mut listed = index.list(generation)?;
        let mut oldest = newest_model;
        for model in (0..generation).rev() {
            if limit.is_full() {
                break;
            }
            oldest = model;
            let files = listed.of(index, model)?;
            let mut files = window.readable(index, files, bad)?;
            choose_newest(&mut files, &mut limit);
            files.retain(|file| file.games.iter().any(|game| game.chosen));
            window.files.extend(files.into_iter().rev());
        }
        index.forget_before(oldest);
        Ok(window)
    }

    /// The readable files among those of a model, oldest first, with no game chosen yet but none twice.
    fn readable(
        &mut self,
        index: &mut GameIndex,
        listed: Vec<FileRef>,
        bad: &BTreeMap<FileRef, Rejected>,
    ) -> Result<Vec<WindowFile>, StoreError> {
        let mut files = Vec::new();
        let mut seen = HashSet::new();
        // A game of a bad file may be in another one, too.
        for file in listed.into_iter().filter(|file| !bad.contains_key(file)) {
            match index.summaries(&file) {
                Ok(games) => {
                    let games = self.first_seen(games, &mut seen);
                    files.push(WindowFile { file, games });
                }
                Err(error) if error.is_skippable() => {
                    let path = index.name(&file);
                    self.rejected.push(Rejected { path, reason: error.to_string() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    /// The games of a file that have examples, those seen before marked as having none to give.
    fn first_seen(&mut self, games: &[GameSummary], seen: &mut HashSet<GameId>) -> Vec<WindowGame> {
        let mut found = Vec::with_capacity(games.len());
        for game in games {
            let first = seen.insert(game.id);
            self.duplicates += usize::from(!first);
            if !game.holdout {
                let (id, rows, calibration) = (game.id, game.positions as usize, game.calibration);
                found.push(WindowGame { id, number: game.index, rows, calibration, chosen: first });
            }
        }
        found
    }

    /// The games of the window.
    pub(crate) fn games(&self) -> impl Iterator<Item = &WindowGame> {
        self.files.iter().flat_map(|file| &file.games).filter(|game| game.chosen)
    }

    /// The positions of the window.
    pub(crate) fn positions(&self) -> usize {
        self.games().map(|game| game.rows).sum()
    }

    /// The positions that no window had before: those of the newest model, and those of older ones that came after the
    /// window before. Workers play on while a model is trained.
    pub(crate) fn new_positions(&self) -> usize {
        let mut positions: BTreeMap<u32, usize> = BTreeMap::new();
        for file in &self.files {
            let games = file.games.iter().filter(|game| game.chosen);
            *positions.entry(file.file.model).or_default() += games.map(|game| game.rows).sum::<usize>();
        }
        positions.into_iter().map(|(model, positions)| self.new_of(model, positions)).sum()
    }

    /// How many of the positions of a model are new.
    fn new_of(&self, model: u32, positions: usize) -> usize {
        match &self.before {
            _ if model == self.newest_model => positions,
            Some(before) if had_all(&before.window, model) => {
                let known = before.ages.iter().find(|age| age.model == model).map_or(0, |age| age.positions);
                // Games that were in the window before may be too old for this one.
                positions.saturating_sub(known)
            }
            // What the window before did not have of a model may have been in an earlier one.
            _ => 0,
        }
    }

    pub(crate) fn summary(&self) -> WindowSummary {
        let models = || self.files.iter().map(|file| file.file.model);
        let calibration: usize = self.games().filter(|game| game.calibration).map(|game| game.rows).sum();
        WindowSummary {
            games: self.games().count(),
            from_model: models().min().unwrap_or_default(),
            to_model: models().max().unwrap_or_default(),
            positions: self.positions(),
            new_positions: self.new_positions(),
            duplicate_games: self.duplicates,
            limit: self.limit.map_or(0, |size| size.limit.size()),
            in_positions: self.limit.is_some_and(|size| matches!(size.limit, WindowLimit::Positions(_))),
            calibration_fraction: calibration as f64 / self.positions().max(1) as f64,
        }
    }
}

/// Whether a window had all games of a model that were there.
fn had_all(window: &WindowSummary, model: u32) -> bool {
    let used = if window.in_positions { window.positions } else { window.games };
    model > window.from_model || used < window.limit
}

/// Of the games of a model that may be chosen, keeps those with the highest numbers that fit. Which file a game is in
/// depends on when its worker was stopped and on what was finished beside it; the window must not.
fn choose_newest(files: &mut [WindowFile], limit: &mut WindowSize) {
    let mut games: Vec<&mut WindowGame> =
        files.iter_mut().flat_map(|file| &mut file.games).filter(|game| game.chosen).collect();
    games.sort_unstable_by_key(|game| Reverse((game.number, game.id)));
    for game in games {
        game.chosen = !limit.is_full();
        if game.chosen {
            limit.take(game.rows);
        }
    }
}
