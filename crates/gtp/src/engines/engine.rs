//! Programs and baselines, which play any number of games.

use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};
use std::thread;

use config::EngineName;
use exit_class::{Classified, ExitClass};
use go::Size;
use play::ExternalPlayer;
use serde::{Deserialize, Serialize};

use super::baselines::{Baseline, BaselinePlayer};
use super::player::{GameSetup, GtpPlayer, Idle, set_rules};
use super::process::is_installed;
use super::{Client, ClientError, EngineSpec, EngineSpecs};

/// An opponent, ready for any number of boards and threads.
#[derive(Clone, Debug)]
pub struct Engine {
    name: EngineName,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Baseline(Baseline),
    Program { spec: Arc<EngineSpec>, idle: Idle },
}

/// Everything about an opponent that affects how it plays, to be kept beside its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The name that the program reports.
    pub program: String,
    /// The version it names.
    pub version: String,
    /// Its arguments. Where it lies is omitted: that may differ from machine to machine.
    pub arguments: Vec<String>,
    /// GTP commands before each game.
    pub before_game: Vec<String>,
    /// Share of random moves.
    pub random_moves: f64,
}

/// An opponent that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine is not declared.
    #[error("there is no engine {name}; known are {}; declare others in a file and name it with --engines", known.join(", "))]
    Unknown {
        /// Its name.
        name: EngineName,
        /// The names that there are.
        known: Vec<String>,
    },
    /// It does not do what every program that speaks GTP does.
    #[error("engine {name} does not work")]
    Client {
        /// Its name.
        name: EngineName,
        /// What it does.
        source: ClientError,
    },
    /// It speaks another version of the protocol.
    #[error("engine {name}: GTP version \"{version}\", expected 2")]
    Protocol {
        /// Its name.
        name: EngineName,
        /// The version.
        version: String,
    },
}

impl Classified for EngineError {
    fn class(&self) -> ExitClass {
        ExitClass::Configuration
    }
}

impl Engine {
    /// The opponent of this name: built in, or one of the declared programs, which is not started yet. GNU Go needs no
    /// declaration: the ones of `configs/engines/gnugo.toml` come with the program.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn find(name: &EngineName, declared: &EngineSpecs) -> Result<Engine, EngineError> {
        if let Some(baseline) = Baseline::named(name) {
            return Ok(Engine { name: name.clone(), kind: Kind::Baseline(baseline) });
        }
        let shipped = EngineSpecs::gnugo();
        match declared.engine.iter().chain(&shipped.engine).find(|engine| engine.name == *name) {
            Some(spec) => {
                let kind = Kind::Program { spec: Arc::new(spec.clone()), idle: Idle::default() };
                Ok(Engine { name: name.clone(), kind })
            }
            None => {
                let mut known: Vec<String> = Engine::names(declared).iter().map(EngineName::to_string).collect();
                let undeclared = shipped.engine.iter().map(|engine| engine.name.to_string());
                known.extend(
                    undeclared.filter(|name| !declared.engine.iter().any(|engine| engine.name.as_str() == name)),
                );
                Err(EngineError::Unknown { name: name.clone(), known })
            }
        }
    }

    /// The names of all opponents, built-in ones first.
    pub fn names(declared: &EngineSpecs) -> Vec<EngineName> {
        let built_in =
            Baseline::ALL.iter().map(|baseline| baseline.name().parse::<EngineName>().expect("a capitalised word"));
        built_in.chain(declared.engine.iter().map(|engine| engine.name.clone())).collect()
    }

    /// Whether an opponent may play on this machine: built in, or installed, and declared or one that needs no
    /// declaration.
    pub fn is_available(name: &EngineName, declared: &EngineSpecs) -> bool {
        let shipped = EngineSpecs::gnugo();
        let spec = declared.engine.iter().chain(&shipped.engine).find(|spec| spec.name == *name);
        Baseline::named(name).is_some() || spec.is_some_and(|spec| is_installed(&spec.command[0]))
    }

    /// Its name.
    pub fn name(&self) -> &EngineName {
        &self.name
    }

    /// How many processes of it should run at once: one for each core that this process may use. With more, each has a
    /// part of a core for its moves. `None` for a player that is built in.
    pub fn processes(&self) -> Option<usize> {
        match self.kind {
            Kind::Baseline(_) => None,
            Kind::Program { .. } => Some(thread::available_parallelism().map_or(1, NonZeroUsize::get)),
        }
    }

    /// Starts it, sees whether it works on such a board, and says who it is; `None` for a player that is built in.
    ///
    /// # Errors
    /// It cannot be started, ends, stays silent, or refuses what every program has to take.
    pub fn identify(&self, size: Size) -> Result<Option<Identity>, EngineError> {
        let Kind::Program { spec, idle } = &self.kind else { return Ok(None) };
        let fail = |source| EngineError::Client { name: self.name.clone(), source };
        let mut client = Client::start(&spec.command).map_err(fail)?;
        let mut ask = |command: &str| client.ask(command, spec.start_time()).map_err(fail);
        let protocol = ask("protocol_version")?;
        if protocol.trim() != "2" {
            return Err(EngineError::Protocol { name: self.name.clone(), version: protocol });
        }
        let (program, version) = (ask("name")?, ask("version")?);
        ask(&format!("boardsize {}", size.side()))?;
        ask("clear_board")?;
        set_rules(&mut client, spec).map_err(fail)?;
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        Ok(Some(Identity {
            program,
            version,
            arguments: spec.command[1..].to_vec(),
            before_game: spec.before_game.clone(),
            random_moves: spec.random_moves,
        }))
    }

    /// Sits down at a board, with a seed for what it leaves to chance.
    pub fn player(&self, size: Size, komi: f32, seed: u64) -> Box<dyn ExternalPlayer> {
        match &self.kind {
            Kind::Baseline(baseline) => Box::new(BaselinePlayer::new(*baseline, seed)),
            Kind::Program { spec, idle } => Box::new(GtpPlayer::new(spec, idle, GameSetup { size, komi, seed })),
        }
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Move};
    use play::{ExternalPlayerError, Response};
    use testing::{wait_for, wait_until};

    use super::*;

    /// Plays A1, and B2 in the third game after one move if it was sent two seeds.
    const SCRIPT: &str = r#"
        say() { printf '=%s %s\n\n' "$id" "$1"; }
        while read -r id command arguments; do
            case $command in
                protocol_version) say 2 ;;
                clear_board) games=$((games + 1)); moves=0; say '' ;;
                seed) seeds="$seeds $arguments"; say '' ;;
                play) moves=$((moves + 1)); say '' ;;
                genmove) if [ "$games" = 3 ] && [ "$moves" = 1 ] && [ "$seeds" != "${seeds% * *}" ]; then say B2; else say A1; fi ;;
                final_score) say W+2.5 ;;
                *) say '' ;;
            esac
        done
    "#;

    /// Plays B2 if it was sent the rules, else A1. Its response to them is inserted.
    const WITH_RULES: &str = r#"
        move=A1
        respond() { printf '%s%s %s\n\n' "$1" "$id" "$2"; }
        while read -r id command arguments; do
            case $command in
                protocol_version) respond = 2 ;;
                known_command) respond = true ;;
                kata-set-rules) case $arguments in *POSITIONAL*) RESPONSE ;; esac ;;
                genmove) respond = $move ;;
                *) respond = '' ;;
            esac
        done
    "#;

    fn response(external: &mut dyn ExternalPlayer) -> Result<Response, ExternalPlayerError> {
        wait_for("a response", || external.answer())
    }

    #[test]
    fn engines_are_available_that_are_built_in_or_declared_and_installed() {
        let program = std::env::current_exe().expect("it has a path");
        let engine = |name: &str, program: &str| format!("[[engine]]\nname = '{name}'\ncommand = ['{program}']\n");
        let declared = engine("Fish", "sh")
            + &engine("Whale", program.to_str().expect("its path is UTF-8"))
            + &engine("Eel", "no-such-program")
            + &engine("GnuGo-10", "./no-such-program");
        let declared = EngineSpecs::from_toml(&declared).expect("engines");
        let is_available = |name: &str| Engine::is_available(&name.parse().expect("a name"), &declared);
        assert!(["Captures", "Fish", "Whale"].into_iter().all(is_available));
        assert!(!["Shark", "Eel", "GnuGo-10"].into_iter().any(is_available));
    }

    #[test]
    fn programs_have_a_process_for_each_core() {
        let processes = |name: &str| {
            Engine::find(&name.parse().expect("a name"), &EngineSpecs::default()).expect("it is known").processes()
        };
        assert_eq!(processes("Captures"), None);
        assert_eq!(processes("GnuGo-10"), Some(thread::available_parallelism().expect("it is known").get()));
    }

    #[test]
    fn rules_are_sent_to_programs_that_take_them() {
        let size = Size::new(5).expect("a size");
        for (to_rules, expected) in [("move=B2; respond = ''", "B2"), ("respond '?' 'unknown rules'", "A1")] {
            let script = WITH_RULES.replace("RESPONSE", to_rules);
            let declared = ["[[engine]]\nname = 'Script'\ncommand = ['sh', '-c', \'\'\'", &script, "\'\'\']"].concat();
            let declared = EngineSpecs::from_toml(&declared).expect("an engine");
            let engine = Engine::find(&"Script".parse().expect("a name"), &declared).expect("it is declared");
            let Kind::Program { idle, .. } = &engine.kind else { panic!("a script is a program") };
            // In one game the process is new, and in the other it was introduced.
            for is_introduced in [false, true] {
                idle.lock().expect("no thread panicked").clear();
                if is_introduced {
                    engine.identify(size).expect("it works");
                }
                let mut external = engine.player(size, 7.5, 1);
                external.ask_move(&Game::new(size));
                let mv = Move::from_gtp(size, expected).expect("a point");
                assert_eq!(response(&mut *external), Ok(Response::Move(mv)));
                drop(external);
                // Its thread hands the process on, which the next game is not to have.
                wait_until("an idle process", || idle.lock().expect("no thread panicked").len() == 1);
            }
        }
    }

    /// Each game begins with an empty board and the commands that were declared.
    #[test]
    fn process_serves_many_games() {
        let size = Size::new(5).expect("a size");
        let name: EngineName = "Script".parse().expect("a name");
        let engine = [
            "[[engine]]\nname = 'Script'\ncommand = ['sh', '-c', \'\'\'",
            SCRIPT,
            "\'\'\']\nseconds_per_move = 60\nseconds_to_start = 60\nbefore_game = ['seed {seed}']",
        ];
        let declared = EngineSpecs::from_toml(&engine.concat()).expect("an engine");
        let engine = Engine::find(&name, &declared).expect("it is declared");
        let Kind::Program { idle, .. } = &engine.kind else { panic!("a script is a program") };
        let waits = || idle.lock().expect("no thread panicked").len() == 1;
        let identity = engine.identify(size).expect("it works").expect("a program has one");
        assert_eq!((identity.before_game.len(), identity.random_moves), (1, 0.0));
        let mut game = Game::new(size);
        let point = |name: &str| Move::from_gtp(size, name).expect("a point");
        game.play(point("C3")).expect("a legal move");
        for (seed, expected) in [(5, "A1"), (6, "B2")] {
            assert!(waits(), "the process of the game before is idle");
            let mut external = engine.player(size, 7.5, seed);
            external.ask_move(&game);
            assert_eq!(response(&mut *external), Ok(Response::Move(point(expected))));
            if seed == 6 {
                external.ask_score(&game);
                assert_eq!(response(&mut *external), Ok(Response::Score(Some(-2.5))));
            }
            drop(external);
            // Its thread hands the process on when it sees that the game is over.
            wait_until("an idle process", waits);
        }
    }
}
