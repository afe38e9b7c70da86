//! Files of games: the games, their examples, and what was trained on.

use cli::Stop;
use record::{Example, GameRecord};
use store::{FileRef, StoreError};

use super::{Audit, rules};

impl Audit<'_> {
    /// Reads every archive as a whole; what is in it is read with the games.
    pub(super) fn archives(&mut self, _stop: &Stop) -> Result<(), StoreError> {
        let read = self.run.check_archives();
        let Some((archives, problems)) = self.note(read)? else { return Ok(()) };
        self.found.archives = archives;
        for problem in problems {
            self.note::<()>(Err(problem))?;
        }
        Ok(())
    }

    /// Reads every published game, exactly once.
    pub(super) fn games(&mut self, stop: &Stop) -> Result<(), StoreError> {
        let files = self.run.game_files_since(0);
        for file in self.note(files)?.iter().flatten().take_while(|_| !stop.requested()) {
            self.file(file)?;
        }
        Ok(())
    }

    fn file(&mut self, file: &FileRef) -> Result<(), StoreError> {
        self.found.files += 1;
        let read = self.run.read_games(file);
        let Some(games) = self.note(read)? else { return Ok(()) };
        let mut expected = Some((Vec::new(), Vec::new()));
        for game in &games {
            self.game(file, game);
            match (game.examples(), &mut expected) {
                (Ok(examples), Some((training, holdout))) => {
                    self.trained_on(file, game, &examples);
                    if game.holdout { holdout } else { training }.extend(examples);
                }
                // What is wrong with it was said already; there is nothing to compare the examples with.
                (Err(_), _) => expected = None,
                (Ok(_), None) => {}
            }
        }
        let Some((training, holdout)) = expected else { return Ok(()) };
        self.examples(&training, self.run.examples_name(file), self.run.read_examples(file).map(|e| e.to_examples()))?;
        self.examples(&holdout, self.run.holdout_name(file), self.run.read_holdout(file).map(|e| e.to_examples()))?;
        self.found.examples += training.len();
        self.found.holdout += holdout.len();
        Ok(())
    }

    fn game(&mut self, file: &FileRef, game: &GameRecord) {
        let place = format!("{}, game {}", self.run.games_name(file), game.id);
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
        let side = game.id.share() < f64::from(self.config.selfplay.holdout);
        if game.holdout != side {
            let side = if side { "set aside" } else { "trained on" };
            problems.push(format!("its id says that it is to be {side}, and its record says that it is not"));
        }
        problems.into_iter().for_each(|what| self.problem(&place, what));
    }

    /// Games lie in the folder of the model that played them.
    fn players(&self, model: u32, game: &GameRecord) -> Option<String> {
        let own = self.run.name().model(model).to_string();
        let fits = |name: &String| if model == 0 { rules::BUILT_IN.contains(&name.as_str()) } else { *name == own };
        let foreign = [&game.black, &game.white].into_iter().find(|name| !fits(name))?;
        Some(format!("played by {foreign}, in the folder of {}", if model == 0 { "random" } else { &own }))
    }

    /// Compares what was drawn for training with the game.
    fn trained_on(&mut self, file: &FileRef, game: &GameRecord, examples: &[Example]) {
        for example in examples {
            let Some((generation, same)) = self.trained.take(example) else { continue };
            let place = format!("{}, game {}, turn {}", self.run.shards_name(generation), game.id, example.turn);
            if game.holdout {
                self.problem(&place, "trained on, and the game is set aside");
            }
            if file.model >= generation {
                self.problem(&place, format!("played by model {}, after the training", file.model));
            }
            if !same {
                self.problem(&place, format!("not the same as in {}", self.run.games_name(file)));
            }
        }
    }

    fn examples(
        &mut self,
        expected: &[Example],
        name: String,
        read: Result<Vec<Example>, StoreError>,
    ) -> Result<(), StoreError> {
        let found = match read {
            // A file without rows is not published.
            Err(StoreError::NotFound { .. }) if expected.is_empty() => return Ok(()),
            read => self.note(read)?,
        };
        let Some(found) = found else { return Ok(()) };
        if found.len() != expected.len() {
            self.problem(&name, format!("{} rows, and its games have {}", found.len(), expected.len()));
        } else if let Some((example, _)) = expected.iter().zip(&found).find(|(expected, found)| expected != found) {
            self.problem(&name, format!("game {}, turn {}: not what the game says", example.game, example.turn));
        }
        Ok(())
    }
}
