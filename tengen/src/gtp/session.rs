//! The game that a controller and we talk about.

use go::{Color, Game, Move, Scoring, Size};

use super::answer::{self, Failure};
use super::commands::COMMANDS;
use super::parse::Request;
use super::{Decision, Line, Player};

/// What the session begins with and keeps to.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The size of the first board.
    pub size: Size,
    /// Whether boards of other sizes may be asked for.
    pub any_size: bool,
    /// White's compensation until the controller says otherwise.
    pub komi: f32,
    /// How games end and are counted.
    pub scoring: Scoring,
    /// What the program calls itself.
    pub name: String,
    /// Its version, and what else tells it from others.
    pub version: String,
}

/// One conversation.
pub struct Session<'a> {
    pub(super) setup: Setup,
    pub(super) game: Game,
    pub(super) komi: f32,
    pub(super) player: &'a mut dyn Player,
    pub(super) over: bool,
}

impl<'a> Session<'a> {
    /// Begins with an empty board.
    pub fn new(setup: Setup, player: &'a mut dyn Player) -> Session<'a> {
        Session { game: Game::new(setup.size), komi: setup.komi, setup, player, over: false }
    }

    /// The answer to a line, as it is to be sent; `None` when there is nothing on the line to answer.
    pub fn answer(&mut self, line: &Line) -> Option<String> {
        let Request { id, words } = Request::of(line)?;
        let answer = words.and_then(|words| self.perform(&words));
        if let Err(failure) = &answer {
            tracing::debug!(line = %String::from_utf8_lossy(&line.bytes), %failure, "command failed");
        }
        Some(answer::format(id, &answer))
    }

    /// Whether the controller said `quit`.
    pub fn is_over(&self) -> bool {
        self.over
    }

    fn perform(&mut self, words: &[String]) -> Result<String, Failure> {
        let (command, arguments) = words.split_first().ok_or(Failure::UnknownCommand)?;
        let (_, perform) = COMMANDS.iter().find(|(name, _)| name == command).ok_or(Failure::UnknownCommand)?;
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        perform(self, &arguments)
    }

    /// Puts a game in the place of the present one.
    pub(super) fn begin(&mut self, game: Game) {
        self.game = game;
        self.player.new_game();
    }

    /// Whether boards of this size may be played on.
    pub(super) fn accepts(&self, size: Size) -> bool {
        self.setup.any_size || size == self.setup.size
    }

    /// Plays a move for `color`, whoever's turn it is. An illegal move changes nothing.
    pub(super) fn play(&mut self, color: Color, mv: Move) -> Result<(), Failure> {
        let turn = self.game.to_move();
        self.game.set_to_move(color);
        self.game.play(mv).map_err(|_| {
            self.game.set_to_move(turn);
            Failure::IllegalMove
        })
    }

    /// What the player does for `color`. In a game that is over it passes: there is nothing left to think about.
    pub(super) fn decide(&mut self, color: Color) -> Result<Decision, Failure> {
        if self.game.is_over(self.setup.scoring) {
            return Ok(Decision::Move(Move::Pass));
        }
        let mut game = self.game.clone();
        game.set_to_move(color);
        self.player.genmove(&game, self.komi).map_err(|error| {
            tracing::error!(%error, "the player has no move");
            Failure::Player(error.to_string())
        })
    }
}
