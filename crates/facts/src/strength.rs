//! Players of matches with their ratings, and what it took to train them.

use std::collections::BTreeMap;

use config::{RunConfig, split_settings};
use record::ratings::compared;
use record::statistics::margin;
use store::RatingRow;

use crate::pool::players_model;
use crate::reader::{Facts, ModelGames};

/// A player of matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Its row of the ratings.
    pub rating: RatingRow,
    /// Its number, if it is a model of the run.
    pub model: Option<u32>,
    /// Settings that differ from those of the model, as `visits=100+q_init=loss`; mostly empty.
    pub settings: String,
}

impl Player {
    /// Whether it is a model of the run as it was published, without other settings.
    fn is_published(&self) -> bool {
        self.model.is_some() && self.settings.is_empty()
    }
}

/// All players, strongest first, and how their ratings read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strength {
    /// All players, strongest first.
    pub players: Vec<Player>,
    /// The players whose ratings are given, as `GnuGo-10 = 0`; without any, errors are against the mean of others.
    pub scale: Vec<String>,
    /// Whether these are the run's other models, some of which may be retired and not shown, or all other players.
    pub has_models: bool,
    /// What it took to get to each model: sums over all models before it.
    pub effort: BTreeMap<u32, Effort>,
}

/// What it took to get to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Games of self-play by the models before it, without imported ones.
    pub games: u64,
    /// Visits of their searches: an upper bound of evaluations, for cached ones and inherited visits cost none.
    pub visits: f64,
    /// Hours from the first games of the run to the last step of its training, pauses included.
    pub hours: Option<f64>,
}

impl Strength {
    /// The players of the newest ratings.
    pub fn of(facts: &Facts) -> Strength {
        let player = |rating: &RatingRow| Player {
            model: players_model(&facts.run, &rating.player),
            settings: split_settings(&rating.player).1.unwrap_or_default().to_owned(),
            rating: rating.clone(),
        };
        let mut players: Vec<Player> = facts.ratings.iter().map(player).collect();
        players.sort_by(|one, other| other.rating.elo.total_cmp(&one.rating.elo));
        let has_models = compared(players.iter().map(|player| (player.rating.games, player.is_published()))).are_models;
        Strength { players, scale: Vec::new(), has_models, effort: effort(facts) }
    }

    /// Standard error of a rating: on its own scale, or on that of the given ratings.
    fn error(&self, rating: &RatingRow) -> f64 {
        if self.scale.is_empty() { rating.above_pool_error } else { rating.error }
    }

    /// Half of the 95 % interval of a rating, in Elo.
    pub fn margin(&self, rating: &RatingRow) -> f64 {
        margin(self.error(rating))
    }

    /// Models of the run as they are, without other settings, oldest first.
    pub fn models(&self) -> Vec<&Player> {
        let mut models: Vec<&Player> = self.players.iter().filter(|player| player.is_published()).collect();
        models.sort_by_key(|player| player.model);
        models
    }

    /// What the intervals are against.
    pub fn against(&self) -> &'static str {
        match (self.scale.is_empty(), self.has_models) {
            (false, _) => "the given ratings",
            (true, true) => "the mean of the run’s other models",
            (true, false) => "the mean of the other players",
        }
    }

    /// What zero is.
    pub fn zero(&self) -> Option<String> {
        if !self.scale.is_empty() {
            return Some(format!("Elo where {}", self.scale.join(", ")));
        }
        let zero = self.players.iter().find(|player| player.rating.error == 0.0)?;
        Some(format!("Elo above {}", zero.rating.player))
    }
}

/// What it took to get to each model.
fn effort(facts: &Facts) -> BTreeMap<u32, Effort> {
    let begun = facts.games.values().filter_map(|games| games.first).min().map(|time| time as f64 / 1e3);
    let newest = facts.newest_model.unwrap_or_default();
    let (mut sum, mut efforts) = (Effort::default(), BTreeMap::new());
    for model in 0..=newest {
        let end = facts.curves.ends.get(&model);
        let hours = end.zip(begun).map(|(end, begun)| (end - begun) / 3600.0).filter(|hours| *hours >= 0.0);
        efforts.insert(model, Effort { hours, ..sum });
        if let Some(games) = facts.games.get(&model) {
            sum.games += games.counts.games();
            sum.visits += visits(&facts.config, model, games);
        }
    }
    efforts
}

/// Visits of all searches of some games of a model.
fn visits(config: &RunConfig, model: u32, games: &ModelGames) -> f64 {
    let positions = games.counts.positions;
    let full = positions as f64 * f64::from(config.search.at(model).visits);
    if config.selfplay.full_search_fraction >= 1.0 {
        return full;
    }
    let fast = games.counts.moves().saturating_sub(positions) as f64;
    full + fast * f64::from(config.selfplay.fast_visits)
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;
    use record::{GameRecord, HUMAN, synthetic};
    use store::{FileRef, Run, Stem, Store};

    use super::*;
    use crate::reader::Reader;

    /// In milliseconds.
    const HOUR: u64 = 3_600_000;

    fn publish(run: &Run, player: &str, worker: &str, time: u64, count: u64) {
        let game = |index| synthetic::game(player, worker, index, Size::new(5).unwrap(), 8);
        let file = FileRef { model: 0, stem: Stem::new(worker, time).unwrap() };
        run.games().publish_as(&file, &(0..count).map(game).collect::<Vec<GameRecord>>()).unwrap();
    }

    fn read(run: &Run) -> Facts {
        let mut reader = Reader::open(run.clone()).unwrap();
        reader.list().unwrap();
        while !reader.is_done() {
            reader.read(8).unwrap();
        }
        Facts { newest_model: Some(1), ..reader.facts() }
    }

    #[test]
    fn imported_games_took_no_self_play() {
        let run = Store::in_memory().unwrap().run(&"tiny".parse().unwrap());
        run.create(&Preset::Tiny.config()).unwrap();
        publish(&run, "random", "w", 25 * HOUR, 5);
        let log = r#"{"set":"train","generation":1,"step":10,"time":93600.0,"policy":1.5}"#;
        run.logs().publish("000001-1.jsonl", log.into()).unwrap();
        let before = effort(&read(&run))[&1];
        assert!(before.games == 5 && before.visits > 0.0 && before.hours == Some(1.0), "{before:?}");
        // A day before.
        publish(&run, HUMAN, "sgf-1", HOUR, 7);
        let facts = read(&run);
        assert_eq!((facts.games[&0].counts.games(), facts.games[&0].imported), (5, 7));
        assert_eq!(effort(&facts)[&1], before);
        let tiles = crate::sections::tiles(&facts, &Strength::of(&facts)).into_string();
        for (name, games) in [("self-play games", 5), ("imported games", 7)] {
            assert!(tiles.contains(&format!("<dt>{name}</dt><dd>{games}</dd>")), "{tiles}");
        }
    }
}
