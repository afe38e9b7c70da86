//! The games that are needed, whatever the policy says.
//!
//! Readers go from the newest game backwards, so what they need is bounded by a model: the one at which the last of
//! them has enough.

use std::collections::HashSet;
use std::fmt;

use config::{Growth, RunConfig, WindowLimit};
use record::GameSummary;
use shuffler::{Played, window_reach};
use store::{Run, StoreError};

/// A claim on handed-off games is abandoned when it is so many milliseconds older than the newest model: a week, in
/// which its worker would have finished them, or would have been started anew.
const ABANDONED: i64 = 7 * 24 * 3600 * 1000;

/// The oldest model whose games are needed, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) model: u32,
    pub(super) by: Reader,
}

/// What needs games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// Workers play with the newest model, and the shuffler counts its games.
    Workers,
    /// Windows of this generation and later ones.
    Window,
    /// Shards that no model was trained on come from them.
    Shards,
    /// The resign threshold.
    Threshold,
    /// The validation set that models are measured on.
    Holdout,
    /// Games that were handed off and not abandoned.
    Unfinished,
}

/// What readers that go backwards have seen so far.
#[derive(Default)]
struct Seen {
    ids: HashSet<record::GameId>,
    played: Played,
    calibration: usize,
    holdout: usize,
}

/// All games before the mark and after it, where the size of the window depends on them.
pub(super) fn played(run: &Run, config: &RunConfig, models: std::ops::Range<u32>) -> Result<Played, StoreError> {
    let mut played = Played::default();
    if config.window.growth != Growth::PowerLaw {
        return Ok(played);
    }
    for file in run.games().files_since(models.start)?.into_iter().filter(|file| file.model < models.end) {
        match run.games().summaries(&file) {
            Ok(games) => {
                let more = Played::of(&games);
                played.games += more.games;
                played.positions += more.positions;
            }
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(played)
}

/// The oldest model whose games are needed.
///
/// # Errors
/// A store that cannot be reached.
pub(super) fn needed(run: &Run, config: &RunConfig) -> Result<Needed, StoreError> {
    let newest = run.games().newest_model()?.unwrap_or(0).min(run.models().newest()?.unwrap_or(0));
    let mut needed = Needed { model: newest.saturating_sub(1), by: Reader::Workers };
    let mut lower = |model: u32, by: Reader| {
        if model < needed.model {
            needed = Needed { model, by };
        }
    };
    let published = run.models().newest()?.unwrap_or(0);
    // Both times are of the clock of the place: that of this machine may be wrong.
    let old = run.models().published_at(published)?.map(|time| time - ABANDONED);
    for (file, _) in run.unfinished().files()? {
        let claimed = run.unfinished().claimed_at(&file)?;
        if claimed.zip(old).is_none_or(|(claimed, old)| claimed >= old) {
            lower(file.model, Reader::Unfinished);
        }
    }
    for generation in run.shards().generations()?.into_iter().filter(|&generation| generation > published) {
        if let Some(manifest) = run.shards().manifest(generation)? {
            lower(manifest.window.from_model, Reader::Shards);
        }
    }
    let pruned = run.pruning().newest()?;
    let mut all = played(run, config, pruned.games_before..u32::MAX)?;
    all.games += pruned.games as usize;
    all.positions += pruned.positions as usize;
    let reach = window_reach(&config.window, all);
    let mut waiting = vec![(Reader::Window, reach.size())];
    if config.resign.calibration_fraction > 0.0 {
        waiting.push((Reader::Threshold, config.resign.games));
    }
    if config.selfplay.holdout_fraction > 0.0 {
        waiting.push((Reader::Holdout, trainer::MOST_HOLDOUT_POSITIONS));
    }
    let mut seen = Seen::default();
    let mut model = run.games().newest_model()?.map_or(0, |newest| newest + 1);
    while model > pruned.games_before && !waiting.is_empty() {
        model -= 1;
        for file in run.games().files(model)? {
            match run.games().summaries(&file) {
                Ok(games) => games.iter().for_each(|game| seen.take(model, game)),
                // Readers pass over it, too.
                Err(error) if error.is_damage() => {}
                Err(error) => return Err(error),
            }
        }
        waiting.retain(|&(reader, enough)| {
            lower(model, reader);
            seen.of(reader, reach) < enough
        });
    }
    // There are not enough games for some reader.
    if let Some(&(reader, _)) = waiting.first() {
        lower(pruned.games_before, reader);
    }
    Ok(needed)
}

impl Seen {
    fn take(&mut self, model: u32, game: &GameSummary) {
        if !self.ids.insert(game.id) {
            return;
        }
        if game.holdout {
            self.holdout += game.positions as usize;
        } else {
            self.played.games += 1;
            self.played.positions += game.positions as usize;
        }
        if game.sets_threshold(model) {
            self.calibration += 1;
        }
    }

    fn of(&self, reader: Reader, window: WindowLimit) -> usize {
        match reader {
            Reader::Window => window.of(self.played.games, self.played.positions),
            Reader::Threshold => self.calibration,
            Reader::Holdout => self.holdout,
            Reader::Workers | Reader::Shards | Reader::Unfinished => usize::MAX,
        }
    }
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reader::Workers => "workers play with the newest models",
            Reader::Window => "the window needs them",
            Reader::Shards => "shards of the next model come from them",
            Reader::Threshold => "the resign threshold needs them",
            Reader::Holdout => "the validation set needs them",
            Reader::Unfinished => "games in progress are of them",
        })
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;
    use record::synthetic;
    use store::{Manifest, ModelMetadata, Store, WindowSummary};

    use super::*;

    #[test]
    fn shards_that_no_model_was_trained_on_need_the_games_of_their_window() {
        let run = Store::in_memory().unwrap().run(&"tiny".parse().unwrap());
        // The newest model has a window full of games, and no other reader wants more.
        let settings = ["window.games=10", "resign.calibration_fraction=0.0", "selfplay.holdout_fraction=0.0"];
        let config = Preset::Tiny.with(&settings).unwrap();
        let size = Size::new(5).unwrap();
        for number in 1..=5 {
            let player = format!("tiny-{number}");
            let games: Vec<_> = (0..10).map(|index| synthetic::game(&player, "w", index, size, 8)).collect();
            run.games().publish(number, "w", &games).unwrap();
            let metadata = ModelMetadata::new(run.name(), number, 10, &config);
            run.models().publish(&metadata, "weights".into()).unwrap();
        }
        let publish = |generation, from_model| {
            let window = WindowSummary { from_model, ..WindowSummary::default() };
            run.shards().publish([], Manifest { generation, window, ..Manifest::default() }).unwrap();
        };
        publish(5, 0);
        assert_eq!(needed(&run, &config).unwrap(), Needed { model: 4, by: Reader::Workers });
        publish(6, 2);
        assert_eq!(needed(&run, &config).unwrap(), Needed { model: 2, by: Reader::Shards });
    }
}
