//! Files of games: the games, their examples, and what was trained on.

use std::cell::OnceCell;

use config::ModelId;
use record::{Example, ExampleRows, GameRecord};
use runtime::{Progress, Stop};
use store::{FileRef, StoreError};

use super::{Audit, rules};

impl Audit<'_> {
    /// Reads every archive as a whole; its content is read with the games.
    pub(super) fn archives(&mut self, stop: &Stop) -> Result<(), StoreError> {
        let progress = OnceCell::new();
        let read = self.run.archives().check(&|read, all| {
            progress.get_or_init(|| Progress::new("archives", Some(all as u64))).set(read as u64);
            stop.flow()
        });
        let Some((archives, problems)) = self.note(read)? else { return Ok(()) };
        self.found.archives = archives;
        for problem in problems {
            self.note::<()>(Err(problem))?;
        }
        Ok(())
    }

    /// Reads the handed-off games.
    pub(super) fn unfinished(&mut self, _stop: &Stop) -> Result<(), StoreError> {
        let files = self.run.unfinished().files();
        for (file, _) in self.note(files)?.into_iter().flatten() {
            let read = match self.run.unfinished().read(&file) {
                // Another process has just finished them.
                Err(StoreError::NotFound { .. }) => continue,
                read => read,
            };
            if let Err(error @ StoreError::Damaged { .. }) = &read
                && self.run.unfinished().is_altered(&file)?
            {
                self.found.damaged_unfinished.insert(file.clone(), error.to_string());
            }
            let Some(games) = self.note(read)? else { continue };
            self.found.left += games.len();
            for game in games {
                for problem in rules::check_unfinished(&game, self.config) {
                    self.problem(self.run.unfinished().name(&file), format!("game {}: {problem}", game.id));
                }
            }
        }
        Ok(())
    }

    /// Counts what was moved out of the way.
    pub(super) fn quarantine(&mut self, _stop: &Stop) -> Result<(), StoreError> {
        self.found.quarantined = self.run.quarantine().files()?.len();
        Ok(())
    }

    /// A set of files of games is damaged, or its parts are not of each other.
    fn note_damage(&mut self, file: &FileRef, why: impl Into<String>) {
        self.found.damaged.entry(file.clone()).or_insert_with(|| why.into());
    }

    /// A file of a set cannot be read. One that another version wrote is not damaged.
    fn note_unreadable(&mut self, file: &FileRef, error: &StoreError) -> Result<(), StoreError> {
        let missing = matches!(error, StoreError::NotFound { .. });
        if missing || (error.is_damage() && self.run.games().is_altered(file)?) {
            self.note_damage(file, error.to_string());
        }
        Ok(())
    }

    /// Reads every published game, exactly once.
    pub(super) fn games(&mut self, stop: &Stop) -> Result<(), StoreError> {
        let files = self.run.games().files_since(0);
        let files = self.note(files)?.unwrap_or_default();
        let progress = Progress::new("files of games", Some(files.len() as u64));
        for (file, number) in files.iter().zip(1..).take_while(|_| !stop.requested()) {
            self.file(file)?;
            progress.set(number);
        }
        Ok(())
    }

    fn file(&mut self, file: &FileRef) -> Result<(), StoreError> {
        self.found.files += 1;
        let read = self.run.games().read(file);
        if let Err(error) = &read {
            self.note_unreadable(file, error)?;
        }
        let Some(games) = self.note(read)? else { return Ok(()) };
        let (holdout, training): (Vec<GameRecord>, Vec<GameRecord>) = games.into_iter().partition(|game| game.holdout);
        let (examples, aside) = (self.run.examples().read(file), self.run.holdout().read(file));
        self.found.examples += self.side(file, training, &self.run.examples().name(file), examples)?;
        self.found.holdout += self.side(file, holdout, &self.run.holdout().name(file), aside)?;
        Ok(())
    }

    /// Audits the games for training, or those of the validation set, with the policies that their examples
    /// have; returns how many these are.
    fn side(
        &mut self,
        file: &FileRef,
        games: Vec<GameRecord>,
        name: &str,
        read: Result<ExampleRows, StoreError>,
    ) -> Result<usize, StoreError> {
        let expected = games.iter().map(GameRecord::positions).sum();
        let rows = self.read_rows(file, expected, name, read)?;
        let mut rest = rows.as_deref();
        for game in games {
            let own = rest.map(|rows| rows.split_at(game.positions()));
            rest = own.map(|(_, rest)| rest);
            match own.filter(|(rows, _)| are_of(rows, &game)) {
                Some((rows, _)) => self.game_with_examples(file, game.with_policies(rows), name, rows),
                None => {
                    self.game(file, &game);
                    // Whether they are what was sampled cannot be said.
                    self.trained.forget(game.id);
                    if own.is_some() {
                        self.note_damage(file, format!("{name}: rows of other turns"));
                        self.problem(name, format!("game {}: its rows are of other turns", game.id));
                    }
                }
            }
        }
        Ok(rows.map_or(0, |rows| rows.len()))
    }

    /// The rows of a file of examples; `None`, and a problem, when there are not as many as expected.
    fn read_rows(
        &mut self,
        file: &FileRef,
        expected: usize,
        name: &str,
        read: Result<ExampleRows, StoreError>,
    ) -> Result<Option<Vec<Example>>, StoreError> {
        let found = match read {
            // A file without rows is not published.
            Err(StoreError::NotFound { .. }) if expected == 0 => return Ok(Some(Vec::new())),
            read => {
                if let Err(error) = &read {
                    self.note_unreadable(file, error)?;
                }
                self.note(read)?
            }
        };
        let Some(found) = found else { return Ok(None) };
        if found.len() == expected {
            return Ok(Some(found.to_examples()));
        }
        let problem = format!("{} rows, and its games have {expected}", found.len());
        self.note_damage(file, format!("{name}: {problem}"));
        self.problem(name, problem);
        Ok(None)
    }

    /// Checks whether the examples of a game match it.
    fn game_with_examples(&mut self, file: &FileRef, game: GameRecord, name: &str, rows: &[Example]) {
        self.game(file, &game);
        // What makes no examples of a game was said of the game.
        let Ok(expected) = game.examples() else { return };
        self.trained_on(file, &game, &expected);
        if let Some((example, _)) = expected.iter().zip(rows).find(|(expected, found)| expected != found) {
            self.note_damage(file, format!("{name}: differs from the games"));
            self.problem(name, format!("game {}, turn {}: differs from the game", example.game, example.turn));
        }
    }

    fn game(&mut self, file: &FileRef, game: &GameRecord) {
        let place = format!("{}, game {}", self.run.games().name(file), game.id);
        if self.ids.insert(game.id) {
            self.found.games += 1;
        } else {
            self.problem(&place, "it is published twice");
        }
        let mut problems = rules::check(game, self.config);
        problems.extend(self.players(file.model, game));
        if game.config_digest != self.digest {
            problems.push(format!("played with configuration {}, not {}", game.config_digest, self.digest));
        }
        let side = game.share() < f64::from(self.config.selfplay.holdout_fraction);
        if game.holdout != side {
            let side = if side { "the validation set" } else { "the training set" };
            problems.push(format!("belongs to {side}; the record differs"));
        }
        problems.into_iter().for_each(|what| self.problem(&place, what));
    }

    /// Games lie in the folder of the model that played them.
    fn players(&self, model: u32, game: &GameRecord) -> Option<String> {
        let own = self.run.name().model(model).to_string();
        let fits = |name: &String| if model == 0 { rules::plays_model_0(name) } else { *name == own };
        let foreign = [&game.black, &game.white].into_iter().find(|name| !fits(name))?;
        let folder = if model == 0 { ModelId::Random.to_string() } else { own };
        Some(format!("played by {foreign}, in the folder of {folder}"))
    }

    /// Compares what was sampled for training with the game.
    fn trained_on(&mut self, file: &FileRef, game: &GameRecord, examples: &[Example]) {
        for example in examples {
            let Some((generation, same)) = self.trained.take(example) else { continue };
            let place = format!("{}, game {}, turn {}", self.run.shards().name(generation), game.id, example.turn);
            if game.holdout {
                self.problem(&place, "trained on, and the game is in the validation set");
            }
            if file.model >= generation {
                self.problem(&place, format!("played by model {}, after the training", file.model));
            }
            if !same {
                self.problem(&place, format!("not the same as in {}", self.run.games().name(file)));
            }
        }
    }
}

/// Whether these are the rows of the turns of a game that are for training.
fn are_of(rows: &[Example], game: &GameRecord) -> bool {
    let turns = game.turns.iter().enumerate().filter(|(_, turn)| turn.is_example());
    rows.iter().map(|row| (row.game, usize::from(row.turn))).eq(turns.map(|(number, _)| (game.id, number)))
}
