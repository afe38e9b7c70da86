//! A program in a game.

use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use go::{Color, Game, Move, Ruleset, Size};
use play::{ExternalPlayer, ExternalPlayerError, GameRng, Response, generator};
use rand::RngExt;

use super::baselines::random_move;
use super::{Client, ClientError, EngineSpec};

/// Programs that have finished a game and wait for the next.
pub(crate) type Idle = Arc<Mutex<Vec<Client>>>;

/// Board, komi and seed of a game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameSetup {
    pub(crate) size: Size,
    pub(crate) komi: f32,
    pub(crate) seed: u64,
}

/// A program in a game, and the thread that talks to it.
#[derive(Debug)]
pub(crate) struct GtpPlayer {
    requests: Sender<Request>,
    answers: Receiver<Result<Response, ExternalPlayerError>>,
    /// What it says at once, because it is not the program that has to find it.
    reply: Option<Response>,
    random_moves: f64,
    rng: GameRng,
}

#[derive(Debug)]
enum Request {
    /// The moves so far.
    Move(Vec<Move>),
    Score(Vec<Move>),
}

impl GtpPlayer {
    /// Acquires an idle process, or starts one, for a game.
    pub(crate) fn new(spec: &Arc<EngineSpec>, idle: &Idle, setup: GameSetup) -> GtpPlayer {
        let (requests, to_do) = mpsc::channel();
        let (done, answers) = mpsc::channel();
        let (spec, idle) = (Arc::clone(spec), Arc::clone(idle));
        let (random_moves, rng) = (spec.random_moves, generator(setup.seed));
        thread::spawn(move || serve(&spec, &idle, setup, &to_do, &done));
        GtpPlayer { requests, answers, reply: None, random_moves, rng }
    }

    fn request(&self, request: Request) {
        // Without a listener the next read of a response fails.
        drop(self.requests.send(request));
    }
}

impl ExternalPlayer for GtpPlayer {
    fn ask_move(&mut self, game: &Game) {
        if self.random_moves > 0.0 && self.rng.random::<f64>() < self.random_moves {
            self.reply = Some(Response::Move(random_move(game, &mut self.rng)));
        } else {
            self.request(Request::Move(game.moves().to_vec()));
        }
    }

    fn ask_score(&mut self, game: &Game) {
        self.request(Request::Score(game.moves().to_vec()));
    }

    fn answer(&mut self) -> Option<Result<Response, ExternalPlayerError>> {
        if let Some(reply) = self.reply.take() {
            return Some(Ok(reply));
        }
        match self.answers.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(ExternalPlayerError::Broken("its thread has exited".to_owned())))
            }
        }
    }
}

/// Serves the requests of one game. A program that did nothing wrong waits for the next game then.
fn serve(
    spec: &EngineSpec,
    idle: &Idle,
    setup: GameSetup,
    requests: &Receiver<Request>,
    answers: &Sender<Result<Response, ExternalPlayerError>>,
) {
    let mut board: Option<Board<'_>> = None;
    for request in requests {
        let acquired = board.take().map_or_else(|| acquire_process(spec, idle, setup), Ok);
        let answer = acquired.and_then(|acquired| board.insert(acquired).answer(&request));
        let broken = answer.is_err();
        if answers.send(answer).is_err() || broken {
            // A program that failed is not used for another game.
            if broken {
                return;
            }
            break;
        }
    }
    if let Some(board) = board {
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(board.client);
    }
}

/// Takes a program that waits for a game, if it still works, or starts one.
fn acquire_process<'a>(spec: &'a EngineSpec, idle: &Idle, setup: GameSetup) -> Result<Board<'a>, ExternalPlayerError> {
    let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    if let Some(board) = waiting.and_then(|client| Board::set_up(client, spec, setup).ok()) {
        return Ok(board);
    }
    let mut client = Client::start(&spec.command).map_err(broken)?;
    set_rules(&mut client, spec).map_err(broken)?;
    Board::set_up(client, spec, setup).map_err(broken)
}

/// Sends the rules to a program that takes them, once for all of its games; others have them in their arguments. One
/// that refuses them plays on: an illegal move loses its game.
pub(super) fn set_rules(client: &mut Client, spec: &EngineSpec) -> Result<(), ClientError> {
    let takes_rules = match client.ask("known_command kata-set-rules", spec.start_time()) {
        Err(ClientError::Refused { .. }) => false,
        said => said?.trim() == "true",
    };
    if !takes_rules {
        return Ok(());
    }
    match client.ask(&format!("kata-set-rules {}", Ruleset::KATAGO), spec.start_time()) {
        Err(error @ ClientError::Refused { .. }) => {
            tracing::warn!(engine = %spec.name, %error, "engine refuses the rules");
            Ok(())
        }
        said => said.map(drop),
    }
}

/// A program, and the moves that were sent to it.
struct Board<'a> {
    client: Client,
    spec: &'a EngineSpec,
    size: Size,
    told: Vec<Move>,
}

impl Board<'_> {
    fn set_up(client: Client, spec: &EngineSpec, setup: GameSetup) -> Result<Board<'_>, ClientError> {
        let mut board = Board { client, spec, size: setup.size, told: Vec::new() };
        board.tell(&format!("boardsize {}", setup.size.side()))?;
        board.tell("clear_board")?;
        board.tell(&format!("komi {}", setup.komi))?;
        // A number that every program takes for one: most read a C int.
        let seed = (setup.seed % 0x7fff_fffe + 1).to_string();
        for command in &spec.before_game {
            board.tell(&command.replace("{seed}", &seed))?;
        }
        Ok(board)
    }

    fn tell(&mut self, command: &str) -> Result<String, ClientError> {
        self.client.ask(command, self.spec.start_time())
    }

    fn answer(&mut self, request: &Request) -> Result<Response, ExternalPlayerError> {
        match request {
            Request::Move(moves) => {
                self.show(moves)?;
                self.genmove()
            }
            Request::Score(moves) => {
                self.show(moves)?;
                self.score()
            }
        }
    }

    /// Sends the moves that it does not have.
    fn show(&mut self, moves: &[Move]) -> Result<(), ExternalPlayerError> {
        if !moves.starts_with(&self.told) {
            self.tell("clear_board").map_err(broken)?;
            self.told.clear();
        }
        for &mv in &moves[self.told.len()..] {
            let play = format!("play {} {}", color(self.told.len()), mv.to_gtp(self.size));
            self.tell(&play).map_err(|error| match error {
                // The referee has found the move to be legal.
                ClientError::Refused { .. } => ExternalPlayerError::Forfeit(error.to_string()),
                error => broken(error),
            })?;
            self.told.push(mv);
        }
        Ok(())
    }

    fn genmove(&mut self) -> Result<Response, ExternalPlayerError> {
        let command = format!("genmove {}", color(self.told.len()));
        let said = self.client.ask(&command, self.spec.move_time()).map_err(broken)?;
        let said = said.trim();
        if said.eq_ignore_ascii_case("resign") {
            return Ok(Response::Resign);
        }
        let mv = Move::from_gtp(self.size, said);
        let mv = mv.ok_or_else(|| {
            ExternalPlayerError::Broken(format!("the response to \"{command}\" is \"{}\", not a move", short(said)))
        })?;
        self.told.push(mv);
        Ok(Response::Move(mv))
    }

    /// A program that cannot count, or not now, has no objection.
    fn score(&mut self) -> Result<Response, ExternalPlayerError> {
        match self.client.ask("final_score", self.spec.move_time()) {
            Ok(said) => Ok(Response::Score(margin(said.trim()))),
            Err(ClientError::Refused { .. }) => Ok(Response::Score(None)),
            Err(error) => Err(broken(error)),
        }
    }
}

/// Who plays the move of this number.
fn color(turn: usize) -> Color {
    if turn.is_multiple_of(2) { Color::Black } else { Color::White }
}

/// Black's margin, from `B+3.5`, `W+12` or `0`.
pub(super) fn margin(text: &str) -> Option<f32> {
    let text = text.split_whitespace().next()?;
    if text.parse() == Ok(0.0_f32) {
        return Some(0.0);
    }
    let (sign, points) = match text.split_at_checked(2)? {
        ("B+" | "b+", points) => (1.0, points),
        ("W+" | "w+", points) => (-1.0, points),
        _ => return None,
    };
    points.parse().ok().filter(|points: &f32| points.is_finite()).map(|points| sign * points)
}

/// The beginning of an untrusted text.
fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

fn broken(error: ClientError) -> ExternalPlayerError {
    ExternalPlayerError::Broken(exit_class::chain(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_as_the_protocol_writes_them() {
        for (text, expected) in [
            ("B+3.5", Some(3.5)),
            ("W+12.0 (upper bound: -12)", Some(-12.0)),
            ("w+0.5", Some(-0.5)),
            ("0", Some(0.0)),
            ("", None),
            ("B+R", None),
            ("é", None),
            ("unknown", None),
        ] {
            assert_eq!(margin(text), expected, "{text}");
        }
    }
}
