//! A finished game.

use std::fmt;
use std::str::FromStr;

use go::{Color, Game, Move, Scoring, Size, Stones};

use crate::game_id::share;
use crate::{Example, GameId, Outcome, RecordError, Turn};

/// Who plays the human games, as the store knows players.
pub const HUMAN: &str = "human";

/// Everything that is known of a finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct GameRecord {
    /// The name of the game.
    pub id: GameId,
    /// Id of the model that played Black, such as `v15-330` or `random`.
    pub black: String,
    /// Id of the model that played White.
    pub white: String,
    /// Digest of the configuration the game was played with.
    pub config_digest: String,
    /// Seed of the game's generator.
    pub seed: u64,
    /// Number of the game among those its worker plays with this model, from 0.
    pub index: u64,
    /// Name of the worker that played it.
    pub worker: String,
    /// When it began, in milliseconds since 1970 (UTC); `None` if times are not recorded.
    pub started_at: Option<u64>,
    /// When it ended, in the same way.
    pub ended_at: Option<u64>,
    /// The board.
    pub size: Size,
    /// Points added to White's area; the game's own where komi differs from game to game.
    pub komi: f32,
    /// How the end was found and counted.
    pub scoring: Scoring,
    /// Visits below the root that each full search was given.
    pub visits_budget: u32,
    /// Whether this is a calibration game: resignation is disabled.
    pub calibration: bool,
    /// Whether the game is in the validation set.
    pub holdout: bool,
    /// Root value for the mover below which it resigned, the game's own where thresholds differ from game to game;
    /// `None` without resignation.
    pub resign_threshold: Option<f32>,
    /// First turn whose root value for the mover was below the threshold in force, in calibration games too. In a
    /// resigned game it is the number of moves: the search of that turn is not recorded.
    pub would_resign_turn: Option<u16>,
    /// Worst root value the winner saw on its own turns, for the winner; `None` for draws, for human games
    /// and without a search of the winner.
    pub winner_min_value: Option<f32>,
    /// Mean over its searches of the mean depth of their leaves, in moves from the root; `None` without searches.
    pub mean_depth: Option<f32>,
    /// Who won.
    pub outcome: Outcome,
    /// Black's area minus White's after komi, in points; `None` when the board was not counted.
    pub score: Option<f32>,
    /// Why the game ended.
    pub end: EndReason,
    /// Models that went on with both sides after `black` and `white` had begun, earliest first; as a rule there are
    /// none. From each on, the game's generator is one that its seed and that turn give.
    pub handoffs: Vec<Handoff>,
    /// The moves from the empty board, Black first.
    pub turns: Vec<Turn>,
}

/// A model or process resumes the game of another one: it searches from there on with an empty tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Its first turn.
    pub turn: u16,
    /// Its id.
    pub model: String,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndReason {
    /// Two passes in a row.
    Passes,
    /// Every point was pass-alive for one side.
    PassAlive,
    /// A player resigned.
    Resignation,
    /// The move limit was reached and the board counted as it stood.
    MoveLimit,
    /// A player broke the rules; it happens in matches with other programs only.
    Forfeit,
}

impl GameRecord {
    /// Whose turn it is after `turn` moves.
    pub fn to_move(turn: usize) -> Color {
        if turn.is_multiple_of(2) { Color::Black } else { Color::White }
    }

    /// Id of the model that is to move after `turn` moves.
    fn model_at(&self, turn: usize) -> &str {
        match self.handoffs.iter().rfind(|handoff| usize::from(handoff.turn) <= turn) {
            Some(handoff) => &handoff.model,
            None if GameRecord::to_move(turn) == Color::Black => &self.black,
            None => &self.white,
        }
    }

    /// A number in [0, 1), spread evenly over the games. A game belongs to the validation set when it is below the
    /// configured fraction. A fraction that grows later only adds games to the set.
    ///
    /// It is that of the id. That of a human game is of its moves, komi and result, so that the same games are held out
    /// in every run: one may begin with the weights of another.
    pub fn share(&self) -> f64 {
        if self.black == HUMAN && self.white == HUMAN { share(self.seed) } else { self.id.share() }
    }

    /// The player of Black as the name of a folder. A table may have any text there, and no name leads out of the
    /// folder that an archive is unpacked to.
    pub fn folder(&self) -> String {
        let plain = |c: char| if matches!(c, '/' | '\\' | ':') || c.is_control() { '_' } else { c };
        // File systems bound names by 255 bytes.
        let mut name: String = self.black.chars().take(100).map(plain).collect();
        name.truncate(name.floor_char_boundary(200));
        if name.is_empty() || name.starts_with('.') { format!("_{name}") } else { name }
    }

    /// The number of turns that are examples.
    pub fn positions(&self) -> usize {
        self.turns.iter().filter(|turn| turn.is_example()).count()
    }

    /// The game as a table of games holds it: without the visits and notes of its turns.
    pub fn as_stored(&self) -> GameRecord {
        let mut stored = self.clone();
        for turn in &mut stored.turns {
            turn.visits.clear();
            turn.note = None;
        }
        stored
    }

    /// Gives turns the visits that their examples have, since a table of games holds none. Rows of other games, and of
    /// turns that this game does not have, are passed over.
    pub fn with_policies(mut self, examples: &[Example]) -> GameRecord {
        for example in examples.iter().filter(|example| example.game == self.id) {
            if let Some(turn) = self.turns.get_mut(usize::from(example.turn)) {
                turn.visits.clone_from(&example.visits);
            }
        }
        self
    }

    /// Plays the game again.
    ///
    /// # Errors
    /// A move that is not legal.
    pub fn replay(&self) -> Result<Game, RecordError> {
        let mut game = Game::new(self.size);
        for (turn, played) in self.turns.iter().enumerate() {
            self.play(&mut game, turn, played.mv)?;
        }
        Ok(game)
    }

    /// Examples of this game: one per turn that yields one, in order.
    ///
    /// # Errors
    /// A move is illegal, a turn with an example has no visits, or visits are of invalid or unordered moves. A value is
    /// out of range, or there are more than 65,536 turns.
    pub fn examples(&self) -> Result<Vec<Example>, RecordError> {
        let mut game = Game::new(self.size);
        let mut examples = Vec::with_capacity(self.positions());
        for (turn, played) in self.turns.iter().enumerate() {
            let fail = |problem| RecordError::Game { game: self.id, turn, problem };
            played.check(self.size).map_err(fail)?;
            let number = u16::try_from(turn).map_err(|_| fail("too many turns".to_owned()))?;
            if played.is_example() {
                examples.push(self.cut(&game, number));
            }
            self.play(&mut game, turn, played.mv)?;
        }
        let area = self.area(&game);
        examples.iter_mut().for_each(|example| example.area = area);
        Ok(examples)
    }

    /// The area of the examples: the points that count for each player in the last position, where they give the score.
    ///
    /// # Errors
    /// A move that is not legal.
    pub fn final_area(&self) -> Result<Option<Stones>, RecordError> {
        Ok(self.area(&self.replay()?))
    }

    /// The points that count for each player in the last position, where they give the score.
    fn area(&self, last: &Game) -> Option<Stones> {
        let area = last.area(self.scoring);
        let margin = area.black.len() as f32 - area.white.len() as f32 - self.komi;
        (self.score == Some(margin)).then_some(area)
    }

    /// The example of one turn, from 0, without its area, which takes the whole game to know: see
    /// [`GameRecord::final_area`].
    ///
    /// # Errors
    /// A turn without an example, or what [`GameRecord::examples`] says of the turns up to it.
    pub fn example(&self, turn: usize) -> Result<Example, RecordError> {
        let fail = |problem| RecordError::Game { game: self.id, turn, problem };
        let played = self.turns.get(turn).filter(|played| played.is_example());
        played.ok_or_else(|| fail("no example".to_owned()))?.check(self.size).map_err(fail)?;
        let number = u16::try_from(turn).map_err(|_| fail("too many turns".to_owned()))?;
        let mut game = Game::new(self.size);
        for (turn, played) in self.turns.iter().enumerate().take(turn) {
            self.play(&mut game, turn, played.mv)?;
        }
        Ok(self.cut(&game, number))
    }

    /// The example at the present turn of `game`, which is this one replayed so far.
    fn cut(&self, game: &Game, turn: u16) -> Example {
        let (base, recent) = Example::history(game);
        let to_move = GameRecord::to_move(turn.into());
        let played = &self.turns[usize::from(turn)];
        Example {
            game: self.id,
            turn,
            size: self.size,
            komi: self.komi,
            base,
            recent,
            to_move,
            visits: played.visits.clone(),
            opponent_move: self.turns.get(usize::from(turn) + 1).map(|next| next.mv.index(self.size) as u16),
            kind: played.kind,
            root_value: played.root_value,
            best_child_value: played.best_child_value,
            network_value: played.network_value,
            prior_entropy: played.prior_entropy,
            policy_surprise: played.policy_surprise,
            outcome: self.outcome,
            score: self.score,
            area: None,
            weight: played.weight,
            calibration: self.calibration,
            model: self.model_at(turn.into()).to_owned(),
        }
    }

    fn play(&self, game: &mut Game, turn: usize, mv: Move) -> Result<(), RecordError> {
        let name = || mv.to_gtp(self.size);
        game.play(mv).map_err(|why| RecordError::Game { game: self.id, turn, problem: format!("{}: {why}", name()) })
    }
}

impl EndReason {
    /// Every reason.
    pub const ALL: [EndReason; 5] =
        [EndReason::Passes, EndReason::PassAlive, EndReason::Resignation, EndReason::MoveLimit, EndReason::Forfeit];

    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        match self {
            EndReason::Passes => "passes",
            EndReason::PassAlive => "pass-alive",
            EndReason::Resignation => "resignation",
            EndReason::MoveLimit => "move-limit",
            EndReason::Forfeit => "forfeit",
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EndReason {
    type Err = String;

    fn from_str(text: &str) -> Result<EndReason, String> {
        let found = EndReason::ALL.into_iter().find(|reason| reason.as_str() == text);
        let words = || EndReason::ALL.map(EndReason::as_str).join(", ");
        found.ok_or_else(|| format!("\"{text}\" is no reason for a game to end; expected one of {}", words()))
    }
}
