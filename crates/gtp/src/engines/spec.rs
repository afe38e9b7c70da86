//! How a program is started, and what else decides how it plays.

use std::time::Duration;

use config::EngineName;
use exit_class::{Classified, ExitClass};
use serde::Deserialize;

/// A program that speaks GTP, and how it is to be used.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineSpec {
    /// The name of the player; it begins with a capital letter.
    pub name: EngineName,
    /// The program and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// GTP commands before each game, after board, rules and komi are set. `{seed}` stands for a number that is the
    /// game's own, 1 to 2^31 - 1.
    #[serde(default)]
    pub before_game: Vec<String>,
    /// Share of its moves that are drawn instead, all legal points alike but its own one-point eyes: 0 to 1. It makes a
    /// program weaker by as much as is wanted.
    #[serde(default)]
    pub random_moves: f64,
    /// Time limit of a response to `genmove` or `final_score`, in seconds.
    #[serde(default = "minute")]
    pub seconds_per_move: f64,
    /// Seconds in which it has to respond to anything else, starting up included.
    #[serde(default = "minute")]
    pub seconds_to_start: f64,
}

/// A file of declarations: `[[engine]]` tables.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineSpecs {
    /// The programs, in the order of the file.
    #[serde(default)]
    pub engine: Vec<EngineSpec>,
}

/// Engine specs that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineSpecError {
    /// Not TOML, or not of the right shape.
    #[error("{0}")]
    Toml(String),
    /// A value out of range.
    #[error("engine {name}: {problem}")]
    Value {
        /// The engine.
        name: EngineName,
        /// The problem with it.
        problem: String,
    },
}

impl Classified for EngineSpecError {
    fn class(&self) -> ExitClass {
        ExitClass::Configuration
    }
}

fn minute() -> f64 {
    60.0
}

/// The longest time that anything may take, in seconds: a day.
const MOST_SECONDS: f64 = 86_400.0;

impl EngineSpecs {
    /// GNU Go as `configs/engines/gnugo.toml` declares it.
    pub(crate) fn gnugo() -> EngineSpecs {
        EngineSpecs::from_toml(include_str!("../../../../configs/engines/gnugo.toml")).expect("a test reads the file")
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is not TOML, a key is missing or unknown, a value is out of range, or a name is there twice or built in.
    pub fn from_toml(text: &str) -> Result<EngineSpecs, EngineSpecError> {
        let read: EngineSpecs = toml::from_str(text).map_err(|error| EngineSpecError::Toml(error.to_string()))?;
        for (place, engine) in read.engine.iter().enumerate() {
            engine.check()?;
            if read.engine[..place].iter().any(|other| other.name == engine.name) {
                return Err(engine.wrong("it is declared twice"));
            }
        }
        Ok(read)
    }
}

impl EngineSpec {
    /// Time to respond to a request for a move.
    pub(crate) fn move_time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds_per_move)
    }

    /// Time to respond to anything else.
    pub(crate) fn start_time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds_to_start)
    }

    fn check(&self) -> Result<(), EngineSpecError> {
        if super::baselines::Baseline::named(&self.name).is_some() {
            return Err(self.wrong("this is the name of a built-in player"));
        }
        if self.command.first().is_none_or(String::is_empty) {
            return Err(self.wrong("its command names no program"));
        }
        if !(0.0..=1.0).contains(&self.random_moves) {
            return Err(self.wrong(format!("random_moves is {}: must be from 0 to 1", self.random_moves)));
        }
        let times = [("seconds_per_move", self.seconds_per_move), ("seconds_to_start", self.seconds_to_start)];
        for (key, seconds) in times {
            if !(seconds > 0.0 && seconds <= MOST_SECONDS) {
                return Err(self.wrong(format!("{key} is {seconds}: must be above 0, and at most {MOST_SECONDS}")));
            }
        }
        match self.before_game.iter().find(|command| command.trim().is_empty() || command.contains('\n')) {
            Some(command) => Err(self.wrong(format!("before_game has {command:?}, which is no command"))),
            None => Ok(()),
        }
    }

    fn wrong(&self, problem: impl Into<String>) -> EngineSpecError {
        EngineSpecError::Value { name: self.name.clone(), problem: problem.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_programs() {
        let read = EngineSpecs::from_toml(
            "[[engine]]\nname = 'GnuGo-0'\ncommand = ['gnugo', '--mode', 'gtp']\nrandom_moves = 0.5\nbefore_game = ['x {seed}']\n",
        )
        .unwrap();
        let engine = &read.engine[0];
        assert_eq!((engine.name.as_str(), engine.command.len(), engine.random_moves), ("GnuGo-0", 3, 0.5));
        assert_eq!(engine.move_time(), Duration::from_secs(60));
        assert_eq!(EngineSpecs::from_toml("").unwrap(), EngineSpecs::default());
    }

    #[test]
    fn files_that_ship_are_good() {
        let players = |text: &str| EngineSpecs::from_toml(text).unwrap().engine.len();
        assert_eq!(EngineSpecs::gnugo().engine.len(), 6);
        assert_eq!(players(include_str!("../../../../configs/engines/pachi.toml")), 2);
        assert_eq!(players(include_str!("../../../../configs/engines/katago.toml")), 1);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |lines: &str| {
            let text = format!("[[engine]]\nname = 'A'\ncommand = ['a']\n{lines}");
            EngineSpecs::from_toml(&text).unwrap_err().to_string()
        };
        assert_eq!(error("random_moves = 2.0"), "engine A: random_moves is 2: must be from 0 to 1");
        assert!(error("seconds_per_move = 0").starts_with("engine A: seconds_per_move is 0: must be above 0"));
        assert!(error("seconds_to_start = inf").starts_with("engine A: seconds_to_start is inf"));
        assert_eq!(error("[[engine]]\nname = 'A'\ncommand = ['b']"), "engine A: it is declared twice");
        assert_eq!(error("[[engine]]\nname = 'B'\ncommand = []"), "engine B: its command names no program");
        assert!(error("[[engine]]\nname = 'Random'\ncommand = ['b']").contains("built-in"));
        assert!(error("[[engine]]\nname = 'b'\ncommand = ['b']").contains("capital letter"));
        assert!(error("colour = 1").contains("unknown field `colour`"));
        assert!(error("before_game = ['']").contains("which is no command"));
    }
}
