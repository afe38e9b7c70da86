//! A game between two players, played to measure them.

use config::PlayConfig;
use go::{Color, Game, Move, Scoring};
use mcts::{Evaluator, Purpose, Settings};
use record::{GameRecord, SearchKind, Turn};

use crate::external_player::{ExternalPlayer, ExternalPlayerError, Response};
use crate::opening::opening;
use crate::seed::{GameRng, game_seed, generator};
use crate::termination::{Ending, GameHeader, finished, searched};
use crate::{BatchedGame, Budget, SearchDriver};

/// One player of a match.
#[derive(Clone, Debug)]
pub struct Side {
    /// The player's name, for the record.
    pub name: String,
    /// Who finds its moves.
    pub by: By,
}

/// Who finds a side's moves.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// A model.
    Model {
        /// Its index in the list of models given to [`crate::run`].
        model: usize,
        /// How it searches.
        settings: Settings,
        /// Visits for each move, and leaves that may wait for the same batch.
        budget: Budget,
    },
    /// An [`ExternalPlayer`].
    ExternalPlayer,
}

/// Everything a match game depends on, besides the players' moves.
#[derive(Clone, Debug)]
pub struct MatchSpec {
    header: GameHeader,
    black: Side,
    white: Side,
    opening: u64,
    opening_moves: usize,
    move_limit: usize,
    /// How the referee counts.
    scoring: Scoring,
    komi: f32,
}

impl MatchSpec {
    /// The `index`-th game between `first` and `second`. Games 2k and 2k + 1 share an opening and swap the colours.
    pub fn new(config: &PlayConfig, first: &Side, second: &Side, index: u64) -> MatchSpec {
        let (black, white) = if index.is_multiple_of(2) { (first, second) } else { (second, first) };
        let series = format!("{} {}", first.name, second.name);
        let visits = [first, second].map(Side::visits).into_iter().max().unwrap_or(0);
        let seed = game_seed(config.seed, &series, "match", index);
        MatchSpec {
            header: GameHeader::new(
                &config.game,
                config.digest.clone(),
                [&black.name, &white.name],
                ("match", index),
                seed,
                visits,
            ),
            black: black.clone(),
            white: white.clone(),
            opening: game_seed(config.seed, &series, "opening", index / 2),
            opening_moves: config.evaluate.opening_moves,
            move_limit: config.game.move_limit,
            scoring: config.game.scoring,
            komi: config.game.komi,
        }
    }

    /// Whether the record says when the game began and ended, which no two games agree in.
    pub fn timed(mut self, timed: bool) -> MatchSpec {
        self.header.timed = timed;
        self
    }

    /// The number of the game among those of its two players.
    pub fn index(&self) -> u64 {
        self.header.record.index
    }

    /// The seed of the game.
    pub fn seed(&self) -> u64 {
        self.header.record.seed
    }
}

impl Side {
    fn visits(&self) -> u32 {
        match self.by {
            By::Model { budget, .. } => budget.visits,
            By::ExternalPlayer => 0,
        }
    }
}

/// A match game in progress. No noise and no drawing of moves; variety comes from the opening and from the symmetry
/// that each evaluation draws.
///
/// The match keeps the board and decides legality, the end of the game and the score. An external player that breaks
/// the rules has lost; a game whose external player breaks down is void, and so is one that ends by two passes after
/// which an external player names another winner.
#[derive(Debug)]
pub struct Match {
    spec: MatchSpec,
    rng: GameRng,
    game: Game,
    /// Black's and White's.
    seats: [Seat; 2],
    turns: Vec<Turn>,
    /// The game is over, and external players are asked for the score.
    ending: Option<Ending>,
    /// How the loser broke the rules.
    breach: Option<String>,
}

/// A match game that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// The game.
    pub record: GameRecord,
    /// The fault of the loser, of a game that ended by [`record::EndReason::Forfeit`].
    pub breach: Option<String>,
}

/// Who sits at one side of the board.
#[derive(Debug)]
enum Seat {
    Model { model: usize, driver: Box<SearchDriver> },
    ExternalPlayer { external: Box<dyn ExternalPlayer>, asked: Asked },
}

/// What an external player is thinking about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Nothing,
    Move,
    Score,
    /// It has sent the score.
    Done,
}

/// A game that was void.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Void {
    /// Its number among those of its two players.
    pub index: u64,
    /// Why it does not count.
    pub reason: String,
}

impl Match {
    /// Sets up the board and plays the opening. `externals` opens the players that are no models.
    pub fn new(mut spec: MatchSpec, externals: &mut dyn FnMut(&MatchSpec, Color) -> Box<dyn ExternalPlayer>) -> Match {
        spec.header.begin();
        let game = opening(Game::new(spec.header.record.size), spec.opening_moves, &mut generator(spec.opening));
        let mut seat = |color: Color, side: &Side| match side.by {
            By::Model { model, settings, budget } => {
                Seat::Model { model, driver: Box::new(SearchDriver::new(game.clone(), settings, budget, Purpose::Win)) }
            }
            By::ExternalPlayer => Seat::ExternalPlayer { external: externals(&spec, color), asked: Asked::Nothing },
        };
        let seats = [seat(Color::Black, &spec.black), seat(Color::White, &spec.white)];
        Match {
            rng: generator(spec.header.record.seed),
            turns: game.moves().iter().map(|&mv| Turn::unsearched(SearchKind::Given, mv)).collect(),
            seats,
            game,
            spec,
            ending: None,
            breach: None,
        }
    }

    /// Moves made so far, the opening included.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// The turn that the player to move has decided on; `None` while it is thinking.
    fn decision(&mut self) -> Option<Result<Turn, Early>> {
        let mover = self.game.to_move();
        match &mut self.seats[mover.index()] {
            Seat::Model { driver, .. } => driver.is_done().then(|| {
                let mv = driver.search().best_move().map_or(Move::Pass, |root| root.mv);
                Ok(searched(driver, SearchKind::Full, 1.0, mv))
            }),
            Seat::ExternalPlayer { external, asked } => external.answer().map(|reply| {
                *asked = Asked::Nothing;
                match reply {
                    Ok(Response::Move(mv)) => Ok(Turn::unsearched(SearchKind::Given, mv)),
                    Ok(Response::Resign) => Err(Early::Ending(Ending::Resignation { by: mover })),
                    Ok(Response::Score(_)) => {
                        Err(Early::Void("the response to a request for a move is a score".to_owned()))
                    }
                    Err(ExternalPlayerError::Forfeit(breach)) => Err(Early::Forfeit(breach)),
                    Err(ExternalPlayerError::Broken(reason)) => Err(Early::Void(reason)),
                }
            }),
        }
    }

    /// Plays what the player to move has decided on.
    fn play(&mut self, turn: Turn) -> Result<(), Early> {
        let (mover, mv) = (self.game.to_move(), turn.mv);
        if self.game.play(mv).is_err() {
            let at = mv.to_gtp(self.game.size());
            return Err(Early::Forfeit(format!("{} plays {at}, which is not legal", self.side(mover).name)));
        }
        self.turns.push(turn);
        for seat in &mut self.seats {
            if let Seat::Model { driver, .. } = seat {
                driver.advance(mv).expect("the move is legal");
            }
        }
        match Ending::of_board(&self.game, self.spec.scoring, self.spec.komi, self.spec.move_limit) {
            Some(ending) => Err(Early::Ending(ending)),
            None => Ok(()),
        }
    }

    /// Whether every external player has sent the score of a finished game; an error if a player has another
    /// winner.
    fn poll_scores(&mut self, margin: f32) -> Option<Result<(), String>> {
        for (seat, side) in self.seats.iter_mut().zip([&self.spec.black, &self.spec.white]) {
            let Seat::ExternalPlayer { external, asked } = seat else { continue };
            if *asked == Asked::Nothing {
                external.ask_score(&self.game);
                *asked = Asked::Score;
            }
            if *asked == Asked::Score {
                let answer = external.answer()?;
                *asked = Asked::Done;
                let sign = |score: f32| score.partial_cmp(&0.0);
                match answer {
                    Ok(Response::Score(Some(score))) if sign(score) != sign(margin) => {
                        return Some(Err(format!("{} counts {score:+}, and the board shows {margin:+}", side.name)));
                    }
                    Ok(_) => {}
                    Err(error) => return Some(Err(error.to_string())),
                }
            }
        }
        Some(Ok(()))
    }

    /// The end of the game, after all responses.
    fn close(&mut self) -> Option<Result<Finish, Void>> {
        let ending = self.ending?;
        if let Some(margin) = ending.passed_out()
            && let Err(reason) = self.poll_scores(margin)?
        {
            return Some(Err(self.void(reason)));
        }
        let record = finished(&self.spec.header, ending, std::mem::take(&mut self.turns), None, None);
        Some(Ok(Finish { record, breach: self.breach.take() }))
    }

    fn side(&self, color: Color) -> &Side {
        match color {
            Color::Black => &self.spec.black,
            Color::White => &self.spec.white,
        }
    }

    fn void(&self, reason: String) -> Void {
        Void { index: self.spec.index(), reason }
    }
}

/// How a game ends before the next move.
enum Early {
    Ending(Ending),
    /// The player to move has broken the rules so.
    Forfeit(String),
    Void(String),
}

impl BatchedGame for Match {
    type Finished = Result<Finish, Void>;

    fn model(&self) -> Option<usize> {
        match &self.seats[self.game.to_move().index()] {
            Seat::Model { model, .. } if self.ending.is_none() => Some(*model),
            _ => None,
        }
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if self.ending.is_some() {
            return;
        }
        match &mut self.seats[self.game.to_move().index()] {
            Seat::Model { model, driver } => driver.submit(models[*model], &mut self.rng),
            Seat::ExternalPlayer { external, asked } if *asked == Asked::Nothing => {
                external.ask_move(&self.game);
                *asked = Asked::Move;
            }
            Seat::ExternalPlayer { .. } => {}
        }
    }

    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<Result<Finish, Void>> {
        if self.ending.is_none() {
            let mover = self.game.to_move();
            if let Seat::Model { model, driver } = &mut self.seats[mover.index()] {
                driver.take(models[*model]);
            }
            let decided = self.decision()?;
            match decided.and_then(|turn| self.play(turn)) {
                Ok(()) => return None,
                Err(Early::Void(reason)) => return Some(Err(self.void(reason))),
                Err(Early::Ending(ending)) => self.ending = Some(ending),
                Err(Early::Forfeit(breach)) => {
                    self.ending = Some(Ending::Forfeit { by: mover });
                    self.breach = Some(breach);
                }
            }
        }
        self.close()
    }
}
