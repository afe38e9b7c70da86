//! The window: which games the next model learns from.

use std::collections::{BTreeMap, HashSet};

use record::{GameId, GameSummary};
use store::{FileRef, Rejected, Run, StoreError, WindowSummary};

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
    newest_model: u32,
}

/// A file with games of the window.
#[derive(Debug)]
pub(crate) struct WindowFile {
    pub(crate) file: FileRef,
    /// Its games that are not set aside, in order, each with its examples' rows.
    pub(crate) games: Vec<WindowGame>,
}

/// A game whose examples are in a file of examples.
#[derive(Clone, Debug)]
pub(crate) struct WindowGame {
    pub(crate) id: GameId,
    pub(crate) rows: usize,
    pub(crate) calibration: bool,
    /// Whether it is in the window: others of the file may be too old, or published before.
    pub(crate) chosen: bool,
}

/// Reads each file of games once, since files do not change.
#[derive(Debug)]
pub(crate) struct Catalogue {
    run: Run,
    known: BTreeMap<FileRef, Vec<GameSummary>>,
    /// The oldest model of the last window. Windows move on, so the next needs to be looked for from here only.
    oldest: Option<u32>,
}

impl Window {
    /// The newest `games` games of models before `generation`, newest model and newest file first, leaving out those that
    /// are set aside and the files in `bad`. Of a game that was published twice the first counts.
    pub(crate) fn choose(
        catalogue: &mut Catalogue,
        generation: u32,
        games: usize,
        bad: &BTreeMap<FileRef, Rejected>,
    ) -> Result<Window, StoreError> {
        let newest_model = generation - 1;
        let mut window = Window { newest_model, rejected: bad.values().cloned().collect(), ..Window::default() };
        let mut left = games;
        let listed_from = catalogue.oldest.map_or(generation, |oldest| oldest.min(generation));
        let mut listed = catalogue.files_since(listed_from)?;
        let mut oldest = newest_model;
        for model in (0..generation).rev() {
            if left == 0 {
                break;
            }
            oldest = model;
            let files = match model < listed_from {
                true => catalogue.run.game_files(model)?,
                false => listed.remove(&model).unwrap_or_default(),
            };
            let mut files = window.readable(catalogue, files, bad)?;
            for file in files.iter_mut().rev() {
                left -= file.choose_newest(left);
            }
            files.retain(|file| file.games.iter().any(|game| game.chosen));
            window.files.extend(files.into_iter().rev());
        }
        catalogue.forget_before(oldest);
        Ok(window)
    }

    /// The readable files among those of a model, oldest first, with no game chosen yet but none twice.
    fn readable(
        &mut self,
        catalogue: &mut Catalogue,
        listed: Vec<FileRef>,
        bad: &BTreeMap<FileRef, Rejected>,
    ) -> Result<Vec<WindowFile>, StoreError> {
        let mut files = Vec::new();
        let mut seen = HashSet::new();
        for file in listed {
            match catalogue.games(&file) {
                Ok(games) => {
                    let games = self.first_seen(games, &mut seen);
                    if !bad.contains_key(&file) {
                        files.push(WindowFile { file, games });
                    }
                }
                Err(error) if error.is_damage() => {
                    let path = catalogue.run.games_name(&file);
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
                let (rows, calibration) = (game.positions as usize, game.calibration);
                found.push(WindowGame { id: game.id, rows, calibration, chosen: first });
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

    /// The positions that the newest model played, which no window had before.
    pub(crate) fn new_positions(&self) -> usize {
        let newest = self.files.iter().filter(|file| file.file.model == self.newest_model);
        newest.flat_map(|file| &file.games).filter(|game| game.chosen).map(|game| game.rows).sum()
    }

    pub(crate) fn summary(&self) -> WindowSummary {
        let models = || self.files.iter().map(|file| file.file.model);
        WindowSummary {
            games: self.games().count(),
            from_model: models().min().unwrap_or_default(),
            to_model: models().max().unwrap_or_default(),
            positions: self.positions(),
            new_positions: self.new_positions(),
            duplicate_games: self.duplicates,
        }
    }
}

impl WindowFile {
    /// Of the games that may be chosen, keeps the newest `left`, and answers how many that are.
    fn choose_newest(&mut self, left: usize) -> usize {
        let candidates = self.games.iter_mut().rev().filter(|game| game.chosen);
        let mut kept = 0;
        for game in candidates {
            game.chosen = kept < left;
            kept += usize::from(game.chosen);
        }
        kept
    }
}

impl Catalogue {
    pub(crate) fn new(run: &Run) -> Catalogue {
        Catalogue { run: run.clone(), known: BTreeMap::new(), oldest: None }
    }

    /// How many games of a model are published, those set aside included and those published again not.
    pub(crate) fn count(&mut self, model: u32) -> Result<usize, StoreError> {
        let mut seen = HashSet::new();
        for file in self.run.game_files(model)? {
            match self.games(&file) {
                Ok(games) => seen.extend(games.iter().map(|game| game.id)),
                // The window will say what is wrong with it.
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(seen.len())
    }

    fn files_since(&self, first: u32) -> Result<BTreeMap<u32, Vec<FileRef>>, StoreError> {
        let mut files: BTreeMap<u32, Vec<FileRef>> = BTreeMap::new();
        for file in self.run.game_files_since(first)? {
            files.entry(file.model).or_default().push(file);
        }
        Ok(files)
    }

    fn games(&mut self, file: &FileRef) -> Result<&[GameSummary], StoreError> {
        if !self.known.contains_key(file) {
            let games = self.run.read_summaries(file)?;
            self.known.insert(file.clone(), games);
        }
        Ok(&self.known[file])
    }

    /// Files that have left the window do not come back.
    fn forget_before(&mut self, model: u32) {
        self.known.retain(|file, _| file.model >= model);
        self.oldest = Some(model);
    }
}
