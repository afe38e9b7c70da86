//! What each stage of a run has to do, as far as its published objects say.

use config::{ModelId, RunConfig, RunName};
use serde::Serialize;

/// What was found of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub(super) run: RunName,
    /// The newest model; 0 before the first.
    pub(super) model: u32,
    /// Models after which the run is finished.
    pub(super) models: u32,
    /// Games of the newest model.
    pub(super) games: usize,
    /// Games of it that the next one waits for.
    pub(super) wanted: usize,
    /// Whether the shards for the next model are published.
    pub(super) shards: bool,
    /// The newest model with a rating.
    pub(super) rated: u32,
    /// The newest model that is to have one.
    pub(super) to_rate: u32,
    /// Pairs that evaluators are playing.
    pub(super) matches: Vec<(String, String)>,
}

/// What a stage is at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "what")]
pub(super) enum Activity {
    /// There is work, and what it is.
    Work(String),
    /// There is none before something is there, and what that is.
    Wait(String),
    /// There will be no more.
    Finished,
}

/// The stages in the order in which data pass through them.
pub(super) fn activities(facts: &Facts) -> [(&'static str, Activity); 4] {
    [
        ("selfplay", selfplay(facts)),
        ("shuffler", shuffler(facts)),
        ("trainer", trainer(facts)),
        ("evaluator", evaluator(facts)),
    ]
}

/// The newest model that `evaluate.every` wants a rating of.
pub(super) fn to_rate(config: &RunConfig, newest: u32) -> u32 {
    if newest >= config.run_loop.models { newest } else { newest - newest % config.evaluate.every }
}

fn selfplay(facts: &Facts) -> Activity {
    if facts.has_all_models() {
        Activity::Finished
    } else if facts.games < facts.wanted {
        Activity::Work(format!("{} of {} games of {} are published", facts.games, facts.wanted, facts.newest()))
    } else {
        Activity::Wait(facts.next())
    }
}

fn shuffler(facts: &Facts) -> Activity {
    if facts.has_all_models() {
        Activity::Finished
    } else if facts.shards {
        Activity::Wait(facts.next())
    } else if facts.games < facts.wanted {
        let missing = facts.wanted - facts.games;
        Activity::Wait(format!("{missing} more games of {}", facts.newest()))
    } else {
        Activity::Work(format!("shards for {}", facts.next()))
    }
}

fn trainer(facts: &Facts) -> Activity {
    if facts.has_all_models() {
        Activity::Finished
    } else if facts.shards {
        Activity::Work(format!("training of {}", facts.next()))
    } else {
        Activity::Wait(format!("shards for {}", facts.next()))
    }
}

fn evaluator(facts: &Facts) -> Activity {
    if let Some((first, second)) = facts.matches.first() {
        let others = match facts.matches.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more matches"),
        };
        Activity::Work(format!("{first} against {second}{others}"))
    } else if facts.rated < facts.to_rate {
        Activity::Work(format!("{} has no rating", facts.run.model(facts.to_rate)))
    } else if facts.has_all_models() {
        Activity::Finished
    } else {
        Activity::Wait("a newer model".to_owned())
    }
}

impl Facts {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let run = "v6".parse().unwrap();
        let (model, models, games, wanted) = (2, 5, 30, 100);
        Facts { run, model, models, games, wanted, shards: false, rated: 2, to_rate: 2, matches: Vec::new() }
    }

    fn said(facts: &Facts) -> [String; 4] {
        activities(facts).map(|(_, activity)| match activity {
            Activity::Work(what) => format!("work: {what}"),
            Activity::Wait(what) => format!("wait: {what}"),
            Activity::Finished => "finished".to_owned(),
        })
    }

    #[test]
    fn stages_wait_for_what_the_one_before_them_has_not_published() {
        let cases = [
            (
                facts(),
                [
                    "work: 30 of 100 games of v6-2 are published",
                    "wait: 70 more games of v6-2",
                    "wait: shards for v6-3",
                    "wait: a newer model",
                ],
            ),
            (
                Facts { games: 100, ..facts() },
                ["wait: v6-3", "work: shards for v6-3", "wait: shards for v6-3", "wait: a newer model"],
            ),
            (
                Facts { games: 101, shards: true, rated: 1, ..facts() },
                ["wait: v6-3", "wait: v6-3", "work: training of v6-3", "work: v6-2 has no rating"],
            ),
            (
                Facts { model: 0, rated: 0, to_rate: 0, ..facts() },
                [
                    "work: 30 of 100 games of random are published",
                    "wait: 70 more games of random",
                    "wait: shards for v6-1",
                    "wait: a newer model",
                ],
            ),
        ];
        for (facts, expected) in cases {
            assert_eq!(said(&facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn finished_run_still_plays_matches_until_its_last_model_is_rated() {
        let last = Facts { model: 5, rated: 5, to_rate: 5, ..facts() };
        assert_eq!(said(&last), ["finished"; 4]);
        let unrated = Facts { rated: 4, ..last.clone() };
        assert_eq!(said(&unrated)[3], "work: v6-5 has no rating");
        let pair = |other: &str| ("v6-5".to_owned(), other.to_owned());
        let playing = Facts { matches: vec![pair("random"), pair("v6-2")], ..last };
        assert_eq!(said(&playing)[3], "work: v6-5 against random, and 1 more matches");
    }

    #[test]
    fn every_nth_model_and_the_last_are_rated() {
        let mut config = config::Preset::Minigo.config();
        (config.run_loop.models, config.evaluate.every) = (10, 4);
        assert_eq!([0, 3, 4, 7, 9, 10].map(|newest| to_rate(&config, newest)), [0, 0, 4, 4, 8, 10]);
    }
}
