//! The game that a controller and we talk about.

use std::ops::ControlFlow;
use std::time::Instant;

use go::{Color, Game, HandicapBonus, Move, Scoring, Size, Stones, handicap_stones};
use mcts::Avoid;

use super::analysis::{AnalysisRequest, Ticker};
use super::clock::{Clock, Deadline, System};
use super::controller::Controller;
use super::response::Failure;
use super::status::ChainStatus;
use super::{Decision, Player, PlayerError, Task};

/// Settings of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The size of the first board.
    pub size: Size,
    /// Whether boards of other sizes may be requested.
    pub any_size: bool,
    /// White's compensation until the controller says otherwise.
    pub komi: f32,
    /// How games end and are counted.
    pub scoring: Scoring,
    /// The name of the program.
    pub name: String,
    /// Its version and further identification.
    pub version: String,
    /// Visits that a position is shown with where no time is said.
    pub visits: u32,
    /// Whether to think while the opponent does.
    pub ponder: bool,
}

/// Whether the clock of a player runs while it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    Timed,
    Untimed,
}

/// One conversation.
pub struct Session<'a> {
    pub(super) setup: Setup,
    pub(super) game: Game,
    pub(super) komi: f32,
    /// What the rules that were accepted last give White for handicap stones.
    pub(super) bonus: HandicapBonus,
    pub(super) clock: Clock,
    pub(super) player: &'a mut dyn Player,
    pub(super) over: bool,
    /// The status of stones of a board, after so many moves: so that all requests about one board get the same
    /// response.
    pub(super) judged: Option<((Stones, usize), Vec<ChainStatus>)>,
    /// The time of day, for the clocks of the players.
    pub(super) now: Box<dyn Fn() -> Instant>,
    /// Whether there is something to ponder: we have moved, the opponent has not, and `stop` was not said.
    waits: bool,
}

impl<'a> Session<'a> {
    /// Begins with an empty board.
    pub fn new(setup: Setup, player: &'a mut dyn Player) -> Session<'a> {
        let (game, clock) = (Game::new(setup.size), Clock::new(System::Unlimited));
        let now = Box::new(Instant::now);
        let (komi, bonus) = (setup.komi, HandicapBonus::default());
        Session { game, komi, bonus, clock, setup, player, over: false, judged: None, now, waits: false }
    }

    /// Points that White gets for handicap stones.
    pub(super) fn bonus_points(&self) -> usize {
        self.bonus.points(handicap_stones(&self.game))
    }

    /// All points that White gets: the komi of the search and of the score.
    pub(super) fn compensation(&self) -> f32 {
        self.komi + self.bonus_points() as f32
    }

    /// Whether the controller said `quit`.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Thinks about what the opponent may do, until something comes in; only after a move of ours, and if that is
    /// wanted.
    pub(super) fn ponder(&mut self, controller: &mut dyn Controller) {
        if !self.setup.ponder || !self.waits || self.game.is_over(self.setup.scoring) {
            return;
        }
        let komi = self.compensation();
        let thought = self.player.think(&self.game, komi, &[], &mut |_| enough(controller.called()));
        if let Err(error) = thought {
            tracing::error!(%error, "pondering failed");
            self.waits = false;
        }
    }

    /// Thinks no more about what the opponent may do until the next move of ours.
    pub(super) fn stop_pondering(&mut self) {
        self.waits = false;
    }

    /// Replaces the present game.
    pub(super) fn begin(&mut self, game: Game) {
        self.game = game;
        self.waits = false;
        // On a board of another size the same points are others.
        self.judged = None;
        self.clock.restart();
        self.player.new_game();
    }

    /// Whether boards of this size may be played on.
    pub(super) fn accepts(&self, size: Size) -> bool {
        self.setup.any_size || size == self.setup.size
    }

    /// Plays a move for `color`, also out of turn. An illegal move changes nothing.
    pub(super) fn play(&mut self, color: Color, mv: Move) -> Result<(), Failure> {
        play(&mut self.game, color, mv)?;
        self.waits = false;
        Ok(())
    }

    /// Continues the present game.
    pub(super) fn continue_with(&mut self, game: Game) {
        self.game = game;
        self.waits = false;
    }

    /// Takes the last move back.
    pub(super) fn undo(&mut self) -> Result<(), Failure> {
        self.waits = false;
        self.game.undo().map(drop).ok_or(Failure::CannotUndo)
    }

    /// The position with `color` to move.
    pub(super) fn seen_by(&self, color: Option<Color>) -> Game {
        let mut game = self.game.clone();
        game.set_to_move(color.unwrap_or(game.to_move()));
        game
    }

    /// What the player does for `color`, shown as `request` says. In a game that is over it passes: there is nothing
    /// left to think about.
    pub(super) fn decide(
        &mut self,
        color: Color,
        timing: Timing,
        request: Option<&AnalysisRequest>,
        controller: &mut dyn Controller,
    ) -> Result<Decision, Failure> {
        let game = self.seen_by(Some(color));
        self.decide_in(&game, timing, request, controller)
    }

    /// The same for the player to move in a game that need not be the present one.
    pub(super) fn decide_in(
        &mut self,
        game: &Game,
        timing: Timing,
        request: Option<&AnalysisRequest>,
        controller: &mut dyn Controller,
    ) -> Result<Decision, Failure> {
        if game.is_over(self.setup.scoring) {
            return Ok(Decision::Move(Move::Pass));
        }
        let (color, timed) = (game.to_move(), timing == Timing::Timed);
        let began = (self.now)();
        let until = self.clock.budget(color, game).filter(|_| timed).map(|time| began + time);
        let avoid = request.map(AnalysisRequest::avoid).unwrap_or_default();
        let task = Task { game, komi: self.compensation(), timed: until.is_some(), avoid };
        let mut ticker = request.map(Ticker::new);
        let (mut deadline, mut is_searched) = (until.map(Deadline::new), false);
        let decision = self.player.genmove(&task, &mut |search| {
            if let Some(ticker) = &mut ticker {
                ticker.tick(controller, search);
            }
            is_searched = true;
            enough(controller.interrupted() || deadline.as_mut().is_some_and(|deadline| deadline.is_over((self.now)())))
        });
        if timed {
            self.clock.spend(color, (self.now)().saturating_duration_since(began));
        }
        let decision = decision.map_err(|error| failed(&error))?;
        // After the decision, since a line takes as long as several visits. A move without a search has none.
        if is_searched && let Some(request) = request {
            self.player.seen(&mut |search| {
                if let Some(line) = request.line(search) {
                    controller.say(&line);
                }
            });
        }
        Ok(decision)
    }

    /// Plays what the player decided on, and returns how GTP writes it.
    pub(super) fn carry_out(&mut self, color: Color, decision: Decision) -> Result<String, Failure> {
        let Decision::Move(mv) = decision else { return Ok("resign".to_owned()) };
        self.play(color, mv).map_err(|_| Failure::Player("the player chose an illegal move".to_owned()))?;
        self.waits = true;
        Ok(mv.to_gtp(self.game.size()))
    }

    /// Lets the player think about the position as `color` sees it, without some moves, until `watch` breaks.
    pub(super) fn think(
        &mut self,
        color: Option<Color>,
        avoid: &[Avoid],
        watch: &mut super::Watch<'_>,
    ) -> Result<(), Failure> {
        let (game, komi) = (self.seen_by(color), self.compensation());
        self.player.think(&game, komi, avoid, watch).map_err(|error| failed(&error))
    }
}

/// Plays a move for `color`, also out of turn. An illegal move changes nothing.
pub(super) fn play(game: &mut Game, color: Color, mv: Move) -> Result<(), Failure> {
    let turn = game.to_move();
    game.set_to_move(color);
    game.play(mv).map_err(|_| {
        game.set_to_move(turn);
        Failure::IllegalMove
    })
}

pub(super) fn enough(is_enough: bool) -> ControlFlow<()> {
    if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

pub(super) fn failed(error: &PlayerError) -> Failure {
    tracing::error!(%error, "search failed");
    Failure::Player(error.to_string())
}
