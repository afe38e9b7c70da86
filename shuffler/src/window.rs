//! The window: the games that the next model is trained on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use config::WindowLimit;
use record::{GameId, GameSummary};
use store::{FileRef, Manifest, Rejected, StoreError, WindowSummary};

use crate::index::GameIndex;
use crate::window_size::WindowSize;

/// The newest games, in the files they are in.
#[derive(Debug)]
pub(crate) struct Window {
    /// Files with games of the window.
    pub(crate) files: Vec<WindowFile>,
    /// Files that could not be read.
    pub(crate) rejected: Vec<Rejected>,
    /// What it holds.
    pub(crate) summary: WindowSummary,
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

/// Reads which games there are.
struct Reading<'a> {
    bad: &'a BTreeMap<FileRef, Rejected>,
    rejected: Vec<Rejected>,
    /// Games that were published again.
    duplicates: usize,
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
        let mut size = WindowSize::of(settings, generation, || index.played_before(generation))?;
        let before = index.manifest_before(generation)?;
        let mut reading = Reading { bad, rejected: bad.values().cloned().collect(), duplicates: 0 };
        let mut files: Vec<WindowFile> = Vec::new();
        let mut listed = index.list(generation)?;
        let mut oldest = newest_model;
        for model in (0..generation).rev() {
            if size.is_full() {
                break;
            }
            oldest = model;
            let of_model = listed.of(index, model)?;
            let mut of_model = reading.readable(index, of_model)?;
            choose_newest(&mut of_model, &mut size);
            of_model.retain(|file| file.chosen().next().is_some());
            files.extend(of_model.into_iter().rev());
        }
        index.forget_before(oldest);
        let summary = WindowSummary {
            duplicate_games: reading.duplicates,
            limit: size.limit.size(),
            in_positions: matches!(size.limit, WindowLimit::Positions(_)),
            ..counted(&files, newest_model, before.as_ref())
        };
        Ok(Window { files, rejected: reading.rejected, summary })
    }

    /// The games of the window.
    pub(crate) fn games(&self) -> impl Iterator<Item = &WindowGame> {
        self.files.iter().flat_map(WindowFile::chosen)
    }
}

impl WindowFile {
    /// Its games of the window.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &WindowGame> {
        self.games.iter().filter(|game| game.chosen)
    }
}

impl Reading<'_> {
    /// The readable files among those of a model, oldest first, with no game chosen yet but none twice.
    fn readable(&mut self, index: &mut GameIndex, listed: Vec<FileRef>) -> Result<Vec<WindowFile>, StoreError> {
        let mut files = Vec::new();
        let mut seen = HashSet::new();
        let bad = self.bad;
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
}

/// What a window of these files holds. `before` is what the window before had.
fn counted(files: &[WindowFile], newest_model: u32, before: Option<&Manifest>) -> WindowSummary {
    let (mut games, mut calibration, mut by_model) = (0_usize, 0_usize, BTreeMap::<u32, usize>::new());
    for (model, game) in files.iter().flat_map(|file| file.chosen().map(move |game| (file.file.model, game))) {
        games += 1;
        calibration += if game.calibration { game.rows } else { 0 };
        *by_model.entry(model).or_default() += game.rows;
    }
    let positions: usize = by_model.values().sum();
    let new_of = |(&model, &positions): (&u32, &usize)| match model == newest_model {
        true => positions,
        false => new_of_older(before, model, positions),
    };
    WindowSummary {
        games,
        from_model: by_model.keys().next().copied().unwrap_or_default(),
        to_model: by_model.keys().next_back().copied().unwrap_or_default(),
        positions,
        new_positions: by_model.iter().map(new_of).sum(),
        calibration_fraction: calibration as f64 / positions.max(1) as f64,
        ..WindowSummary::default()
    }
}

/// How many of the positions of a model no window had before, where a newer model has played: those that came after the
/// window before. Workers play on while a model is trained.
fn new_of_older(before: Option<&Manifest>, model: u32, positions: usize) -> usize {
    match before {
        Some(before) if had_all(&before.window, model) => {
            let known = before.ages.iter().find(|age| age.model == model).map_or(0, |age| age.positions);
            // Games that were in the window before may be too old for this one.
            positions.saturating_sub(known)
        }
        // What the window before did not have of a model may have been in an earlier one.
        _ => 0,
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
