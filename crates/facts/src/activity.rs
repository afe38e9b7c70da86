//! What each stage of a run has to do, as far as its published objects say.

use std::fmt;

use config::{ModelId, RunName};
use serde::Serialize;

use crate::pool::own_model;
use crate::reader::Facts;

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The run.
    pub run: RunName,
    /// The newest model; 0 before the first.
    pub model: u32,
    /// Models after which the run is finished.
    pub models: u32,
    /// Games of the newest model.
    pub games: u64,
    /// Games of it that the next one waits for.
    pub wanted: u64,
    /// Whether the shards for the next model are published.
    pub shards: bool,
    /// The newest model with a rating.
    pub rated: u32,
    /// The newest model that is to have one.
    pub to_rate: u32,
    /// Pairs that evaluators are playing.
    pub matches: Vec<(String, String)>,
}

/// What a stage is at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "what")]
pub enum Activity {
    /// There is work, and what it is.
    Work(String),
    /// There is none before something is there, and what that is.
    Wait(String),
    /// There will be no more.
    Finished,
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Activity::Work(what) => f.write_str(what),
            Activity::Wait(what) => write!(f, "waits for {what}"),
            Activity::Finished => f.write_str("finished"),
        }
    }
}

impl Progress {
    /// How far the run of these facts is; they know no matches that are being played.
    pub fn of(facts: &Facts) -> Progress {
        let model = facts.newest_model.unwrap_or_default();
        Progress {
            run: facts.run.clone(),
            model,
            models: facts.config.run_loop.models,
            // Imported games count towards the first window.
            games: facts.games.get(&model).map_or(0, |games| games.counts.games() + games.imported),
            wanted: facts.config.selfplay.games_of(model) as u64,
            shards: facts.shards.is_some_and(|shards| shards > model),
            rated: facts.ratings.iter().filter_map(|row| own_model(&facts.run, &row.player)).max().unwrap_or(0),
            to_rate: facts.config.last_evaluated(model),
            matches: Vec::new(),
        }
    }

    /// The stages in the order in which data pass through them.
    pub fn activities(&self) -> [(&'static str, Activity); 4] {
        [
            ("selfplay", selfplay(self)),
            ("shuffler", shuffler(self)),
            ("trainer", trainer(self)),
            ("evaluator", evaluator(self)),
        ]
    }

    fn has_all_models(&self) -> bool {
        self.model >= self.models
    }

    fn newest(&self) -> ModelId {
        if self.model == 0 { ModelId::Random } else { self.run.model(self.model) }
    }

    fn next(&self) -> String {
        self.run.model(self.model + 1).to_string()
    }
}

fn selfplay(run: &Progress) -> Activity {
    if run.has_all_models() {
        Activity::Finished
    } else if run.games < run.wanted {
        Activity::Work(format!("{} of {} games of {} are published", run.games, run.wanted, run.newest()))
    } else {
        Activity::Wait(run.next())
    }
}

fn shuffler(run: &Progress) -> Activity {
    if run.has_all_models() {
        Activity::Finished
    } else if run.shards {
        Activity::Wait(run.next())
    } else if run.games < run.wanted {
        let missing = run.wanted - run.games;
        Activity::Wait(format!("{missing} more games of {}", run.newest()))
    } else {
        Activity::Work(format!("shards for {}", run.next()))
    }
}

fn trainer(run: &Progress) -> Activity {
    if run.has_all_models() {
        Activity::Finished
    } else if run.shards {
        Activity::Work(format!("training of {}", run.next()))
    } else {
        Activity::Wait(format!("shards for {}", run.next()))
    }
}

fn evaluator(run: &Progress) -> Activity {
    if let Some((first, second)) = run.matches.first() {
        let others = match run.matches.len() - 1 {
            0 => String::new(),
            1 => ", and 1 more match".to_owned(),
            others => format!(", and {others} more matches"),
        };
        Activity::Work(format!("{first} against {second}{others}"))
    } else if run.rated < run.to_rate {
        Activity::Work(format!("{} has no rating", run.run.model(run.to_rate)))
    } else if run.has_all_models() {
        Activity::Finished
    } else {
        Activity::Wait("a newer model".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress {
        let run = "v6".parse().unwrap();
        let (model, models, games, wanted) = (2, 5, 30, 100);
        Progress { run, model, models, games, wanted, shards: false, rated: 2, to_rate: 2, matches: Vec::new() }
    }

    fn said(progress: &Progress) -> [String; 4] {
        progress.activities().map(|(_, activity)| match activity {
            Activity::Work(what) => format!("work: {what}"),
            Activity::Wait(what) => format!("wait: {what}"),
            Activity::Finished => "finished".to_owned(),
        })
    }

    #[test]
    fn stages_wait_for_what_the_one_before_them_has_not_published() {
        let cases = [
            (
                progress(),
                [
                    "work: 30 of 100 games of v6-2 are published",
                    "wait: 70 more games of v6-2",
                    "wait: shards for v6-3",
                    "wait: a newer model",
                ],
            ),
            (
                Progress { games: 100, ..progress() },
                ["wait: v6-3", "work: shards for v6-3", "wait: shards for v6-3", "wait: a newer model"],
            ),
            (
                Progress { games: 101, shards: true, rated: 1, ..progress() },
                ["wait: v6-3", "wait: v6-3", "work: training of v6-3", "work: v6-2 has no rating"],
            ),
            (
                Progress { model: 0, rated: 0, to_rate: 0, ..progress() },
                [
                    "work: 30 of 100 games of random are published",
                    "wait: 70 more games of random",
                    "wait: shards for v6-1",
                    "wait: a newer model",
                ],
            ),
        ];
        for (progress, expected) in cases {
            assert_eq!(said(&progress), expected, "{progress:?}");
        }
    }

    #[test]
    fn finished_run_still_plays_matches_until_its_last_model_is_rated() {
        let last = Progress { model: 5, rated: 5, to_rate: 5, ..progress() };
        assert_eq!(said(&last), ["finished"; 4]);
        let unrated = Progress { rated: 4, ..last.clone() };
        assert_eq!(said(&unrated)[3], "work: v6-5 has no rating");
        let pair = |other: &str| ("v6-5".to_owned(), other.to_owned());
        let playing = Progress { matches: vec![pair("random"), pair("v6-2")], ..last };
        assert_eq!(said(&playing)[3], "work: v6-5 against random, and 1 more match");
    }
}
