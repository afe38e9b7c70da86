//! The window: which games the next model learns from.

use std::collections::{BTreeMap, HashSet};

use record::games::Span;
use record::{GameId, GameSummary};
use store::{FileRef, Rejected, Run, StoreError, WindowSummary};

use crate::arrival::File;
use crate::limit::{Limit, Played};

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
    /// What it was to hold.
    limit: Option<Limit>,
    /// Games left out because they are short.
    short_games: usize,
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
    /// Rows that may be drawn: the first ones.
    pub(crate) usable: usize,
    pub(crate) calibration: bool,
    /// Whether it is in the window: others of the file may be too old, or published before.
    pub(crate) chosen: bool,
}

/// Reads each file of games once, since files do not change.
#[derive(Debug)]
pub(crate) struct Catalogue {
    run: Run,
    known: BTreeMap<FileRef, Vec<GameSummary>>,
    /// The lengths of these games, where games or positions are left out for that.
    spans: BTreeMap<FileRef, Vec<Span>>,
    /// What all files hold, where the size of the window depends on it.
    played: BTreeMap<FileRef, Played>,
    /// The oldest model of the last window. Windows move on, so the next needs to be looked for from here only.
    oldest: Option<u32>,
}

impl Window {
    /// The newest games of models before `generation`, newest model and newest file first, as many as the settings say,
    /// leaving out those that are set aside or too short and the files in `bad`. Of a game that was published twice the
    /// first counts.
    pub(crate) fn choose(
        catalogue: &mut Catalogue,
        generation: u32,
        settings: &config::Window,
        bad: &BTreeMap<FileRef, Rejected>,
    ) -> Result<Window, StoreError> {
        let newest_model = generation - 1;
        let mut limit = Limit::of(settings, generation, || catalogue.played_before(generation))?;
        let mut window =
            Window { newest_model, limit: Some(limit), rejected: bad.values().cloned().collect(), ..Window::default() };
        let listed_from = catalogue.oldest.map_or(generation, |oldest| oldest.min(generation));
        let mut listed = catalogue.files_since(listed_from)?;
        let mut oldest = newest_model;
        for model in (0..generation).rev() {
            if limit.is_full() {
                break;
            }
            oldest = model;
            let files = match model < listed_from {
                true => catalogue.run.game_files(model)?,
                false => listed.remove(&model).unwrap_or_default(),
            };
            let mut files = window.readable(catalogue, files, settings, bad)?;
            for file in files.iter_mut().rev() {
                file.choose_newest(&mut limit);
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
        settings: &config::Window,
        bad: &BTreeMap<FileRef, Rejected>,
    ) -> Result<Vec<WindowFile>, StoreError> {
        let mut files = Vec::new();
        let mut seen = HashSet::new();
        for file in listed {
            match catalogue.games(&file, settings) {
                Ok((games, spans)) => {
                    let games = self.first_seen(games, spans, settings.shortest_game, &mut seen);
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

    /// The games of a file that have examples, those seen before or too short marked as having none to give.
    fn first_seen(
        &mut self,
        games: &[GameSummary],
        spans: Option<&[Span]>,
        shortest: usize,
        seen: &mut HashSet<GameId>,
    ) -> Vec<WindowGame> {
        let mut found = Vec::with_capacity(games.len());
        for (i, game) in games.iter().enumerate() {
            let first = seen.insert(game.id);
            self.duplicates += usize::from(!first);
            if !game.holdout {
                let (rows, span) = (game.positions as usize, spans.map(|spans| spans[i]));
                let usable = span.map_or(rows, |span| span.examples.min(rows));
                let short = span.is_some_and(|span| span.moves < shortest);
                self.short_games += usize::from(short && first);
                let chosen = first && !short;
                found.push(WindowGame { id: game.id, rows, usable, calibration: game.calibration, chosen });
            }
        }
        found
    }

    /// The games of the window.
    pub(crate) fn games(&self) -> impl Iterator<Item = &WindowGame> {
        self.files.iter().flat_map(|file| &file.games).filter(|game| game.chosen)
    }

    /// How many models ago each game was played; 0 is the newest.
    pub(crate) fn ages(&self) -> BTreeMap<GameId, u32> {
        let games = |file: &WindowFile| file.games.iter().filter(|game| game.chosen).map(|game| game.id).collect();
        let ages = self.files.iter().map(|file| (self.newest_model - file.file.model, games(file)));
        ages.flat_map(|(age, games): (u32, Vec<GameId>)| games.into_iter().map(move |game| (game, age))).collect()
    }

    /// The positions of the window.
    pub(crate) fn positions(&self) -> usize {
        self.games().map(|game| game.usable).sum()
    }

    /// The positions that the newest model played, which no window had before.
    pub(crate) fn new_positions(&self) -> usize {
        let newest = self.files.iter().filter(|file| file.file.model == self.newest_model);
        newest.flat_map(|file| &file.games).filter(|game| game.chosen).map(|game| game.usable).sum()
    }

    pub(crate) fn summary(&self) -> WindowSummary {
        let models = || self.files.iter().map(|file| file.file.model);
        let calibration: usize = self.games().filter(|game| game.calibration).map(|game| game.usable).sum();
        WindowSummary {
            games: self.games().count(),
            from_model: models().min().unwrap_or_default(),
            to_model: models().max().unwrap_or_default(),
            positions: self.positions(),
            new_positions: self.new_positions(),
            duplicate_games: self.duplicates,
            limit: self.limit.map_or(0, |limit| limit.size),
            in_positions: self.limit.is_some_and(|limit| limit.in_positions),
            calibration_share: calibration as f64 / self.positions().max(1) as f64,
            short_games: self.short_games,
            late_positions: self.games().map(|game| game.rows - game.usable).sum(),
        }
    }
}

impl WindowFile {
    /// Of the games that may be chosen, keeps the newest for which there is room.
    fn choose_newest(&mut self, limit: &mut Limit) {
        for game in self.games.iter_mut().rev().filter(|game| game.chosen) {
            game.chosen = !limit.is_full();
            if game.chosen {
                limit.take(game.usable);
            }
        }
    }
}

impl Catalogue {
    pub(crate) fn new(run: &Run) -> Catalogue {
        Catalogue {
            run: run.clone(),
            known: BTreeMap::new(),
            spans: BTreeMap::new(),
            played: BTreeMap::new(),
            oldest: None,
        }
    }

    /// The files of games of a model: when each was published, and its games, those set aside included and those published
    /// before not.
    pub(crate) fn arrived(&mut self, model: u32) -> Result<Vec<File>, StoreError> {
        let mut seen = HashSet::new();
        let mut arrived = Vec::new();
        for file in self.run.game_files(model)? {
            match self.summaries(&file) {
                Ok(games) => {
                    let new = games.iter().filter(|game| seen.insert(game.id)).count();
                    arrived.push((file.stem.time(), new));
                }
                // The window will say what is wrong with it.
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(arrived)
    }

    /// All that models before a generation have played, those games left out that are set aside or cannot be read. Each
    /// file is read once by a process; what it holds is remembered.
    fn played_before(&mut self, generation: u32) -> Result<Played, StoreError> {
        let mut all = Played::default();
        for file in self.run.game_files_since(0)?.into_iter().filter(|file| file.model < generation) {
            let played = match self.played.get(&file) {
                Some(played) => *played,
                None => match self.run.read_summaries(&file) {
                    Ok(games) => *self.played.entry(file).or_insert(Played::of(&games)),
                    Err(error) if error.is_damage() => continue,
                    Err(error) => return Err(error),
                },
            };
            all.games += played.games;
            all.positions += played.positions;
        }
        Ok(all)
    }

    fn files_since(&self, first: u32) -> Result<BTreeMap<u32, Vec<FileRef>>, StoreError> {
        let mut files: BTreeMap<u32, Vec<FileRef>> = BTreeMap::new();
        for file in self.run.game_files_since(first)? {
            files.entry(file.model).or_default().push(file);
        }
        Ok(files)
    }

    /// The games of a file, and their lengths where the settings ask for them.
    fn games(
        &mut self,
        file: &FileRef,
        settings: &config::Window,
    ) -> Result<(&[GameSummary], Option<&[Span]>), StoreError> {
        self.summaries(file)?;
        let asked = settings.shortest_game > 0 || settings.last_move > 0;
        if asked && !self.spans.contains_key(file) {
            let turns = if settings.last_move > 0 { settings.last_move } else { usize::MAX };
            let spans = self.run.read_spans(file, turns)?;
            self.spans.insert(file.clone(), spans);
        }
        Ok((&self.known[file], asked.then(|| self.spans[file].as_slice())))
    }

    fn summaries(&mut self, file: &FileRef) -> Result<&[GameSummary], StoreError> {
        if !self.known.contains_key(file) {
            let games = self.run.read_summaries(file)?;
            self.known.insert(file.clone(), games);
        }
        Ok(&self.known[file])
    }

    /// Files that have left the window do not come back, but for those of a window that grows, which are read again.
    fn forget_before(&mut self, model: u32) {
        self.known.retain(|file, _| file.model >= model);
        self.spans.retain(|file, _| file.model >= model);
        self.oldest = Some(model);
    }
}

impl Played {
    fn of(games: &[GameSummary]) -> Played {
        let games = games.iter().filter(|game| !game.holdout);
        Played { games: games.clone().count(), positions: games.map(|game| game.positions as usize).sum() }
    }
}
