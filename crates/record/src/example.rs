//! A position for training.

use std::hash::{DefaultHasher, Hash, Hasher};

use go::{Color, Game, Illegal, Move, Size, Stones};

use crate::{GameId, Outcome, SearchKind};

/// One searched position of a game, with what came of it.
///
/// The boards a network sees are kept as the oldest of them and the moves since, which takes less space than eight
/// boards and is cheaper to rebuild than the whole game.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The game.
    pub game: GameId,
    /// Moves played before this position.
    pub turn: u16,
    /// The board.
    pub size: Size,
    /// Points added to White's area.
    pub komi: f32,
    /// The board min(7, turn) moves ago.
    pub base: Stones,
    /// Indices of the moves since `base`, oldest first: min(7, turn) of them.
    pub recent: Vec<u16>,
    /// Whose turn it is.
    pub to_move: Color,
    /// The search's policy as whole numbers, as (move index, number): ascending indices, numbers above 0. See
    /// [`crate::Turn::visits`] for their meaning.
    pub visits: Vec<(u16, u32)>,
    /// Index of the move of the opponent on the next turn; `None` where the game has no next turn.
    pub opponent_move: Option<u16>,
    /// How the move was found: a full or a fast search.
    pub kind: SearchKind,
    /// Mean value of the search at the root, for Black, -1 to 1.
    pub root_value: f32,
    /// Mean value of the best move of the search, for Black, -1 to 1: of the most visited one, and after a Gumbel
    /// search of the one that sequential halving left.
    pub best_child_value: f32,
    /// The network's own value of the position, for Black, -1 to 1.
    pub network_value: f32,
    /// Entropy of the network's priors over the moves that the search considers, before noise, in nats.
    pub prior_entropy: f32,
    /// Kullback-Leibler divergence of the search's policy, as `visits` have it, from those priors, in nats; `None` for
    /// human games.
    pub policy_surprise: Option<f32>,
    /// Who won.
    pub outcome: Outcome,
    /// Black's area minus White's after komi, in points; `None` after resignation.
    pub score: Option<f32>,
    /// The points that count for each player in the end; `None` where the last position does not give the score, as
    /// after resignation, or in human games who took dead stones off.
    pub area: Option<Stones>,
    /// How much it counts in training, above 0; 1 as a rule.
    pub weight: f32,
    /// Whether the game was a calibration game.
    pub calibration: bool,
    /// Id of the model that was to move.
    pub model: String,
}

impl Example {
    /// Boards before the present one that an example can rebuild; the networks see eight boards.
    pub const HISTORY: usize = 7;

    /// What an example of the present position of a game has for `base` and `recent`.
    pub(crate) fn history(game: &Game) -> (Stones, Vec<u16>) {
        let moves = &game.moves()[game.turn().saturating_sub(Example::HISTORY)..];
        let base = *game.stones_ago(moves.len()).expect("a game has a board for every move played");
        (base, moves.iter().map(|mv| mv.index(game.size()) as u16).collect())
    }

    /// The sum of the weights of some examples.
    pub fn total_weight(examples: &[Example]) -> f64 {
        examples.iter().map(|example| f64::from(example.weight)).sum()
    }

    /// The error of this example for a problem with it.
    pub fn error(&self, problem: impl ToString) -> ExampleError {
        ExampleError { game: self.game, turn: self.turn, problem: problem.to_string() }
    }

    /// A hash of all fields, of numbers by their bits, for comparisons within a process.
    pub fn fingerprint(&self) -> u64 {
        // Without `..`, so that no field is forgotten.
        let Example {
            game,
            turn,
            size,
            komi,
            base,
            recent,
            to_move,
            visits,
            opponent_move,
            kind,
            root_value,
            best_child_value,
            network_value,
            prior_entropy,
            policy_surprise,
            outcome,
            score,
            area,
            weight,
            calibration,
            model,
        } = self;
        let mut hasher = DefaultHasher::new();
        (game, turn, size, base, recent, to_move, visits, opponent_move).hash(&mut hasher);
        (kind, outcome, area, calibration, model).hash(&mut hasher);
        let numbers = [komi, root_value, best_child_value, network_value, prior_entropy, weight];
        numbers.map(|number| number.to_bits()).hash(&mut hasher);
        [policy_surprise, score].map(|number| number.map(f32::to_bits)).hash(&mut hasher);
        hasher.finish()
    }

    /// Whose turn it was at `base`.
    pub(crate) fn first(&self) -> Color {
        if self.recent.len().is_multiple_of(2) { self.to_move } else { self.to_move.opponent() }
    }

    pub(crate) fn recent_move(&self, index: u16) -> Result<Move, ExampleError> {
        Move::from_index(self.size, index.into()).ok_or_else(|| self.error(format!("no move {index}")))
    }

    pub(crate) fn unplayable(&self, mv: Move, why: Illegal) -> ExampleError {
        self.error(format!("{}: {why}", mv.to_gtp(self.size)))
    }
}

/// An example whose boards cannot be rebuilt, or from which no target can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("example of game {game}, turn {turn}: {problem}")]
pub struct ExampleError {
    game: GameId,
    turn: u16,
    problem: String,
}
