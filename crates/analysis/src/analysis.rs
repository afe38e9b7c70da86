//! The result of a search of a position.

use go::{Color, Move, Size};
use mcts::{Search, Value};

/// The result of a search of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Moves played before the position.
    pub turn: usize,
    /// The size of the board.
    pub size: Size,
    /// The player to move.
    pub to_move: Color,
    /// Visits below the root.
    pub visits: u32,
    /// Mean of all values backed up to the root.
    pub value: Value,
    /// The network's value of the position, without search.
    pub network: Value,
    /// The visited moves, the best first.
    pub moves: Vec<Candidate>,
    /// The network's policy by the index of the move, which sums to 1; `None` where a move is not considered.
    pub policy: Vec<Option<f32>>,
    /// Hash of the stones, and the least hash of their eight images.
    pub hashes: [u64; 2],
}

/// A visited move.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    /// Its visits.
    pub visits: u32,
    /// The network's probability of it.
    pub prior: f32,
    /// Mean of the values backed up through it.
    pub value: Value,
    /// The most visited line that begins with it, with the visits of each move.
    pub variation: Vec<(Move, u32)>,
}

impl Analysis {
    /// The present result of a search; `None` before its root was evaluated.
    pub fn of(search: &Search) -> Option<Analysis> {
        if !search.is_expanded() {
            return None;
        }
        let game = search.game();
        let candidate = |root: &mcts::RootMove| Candidate {
            mv: root.mv,
            visits: root.visits,
            prior: root.prior,
            value: root.value,
            variation: search.variation(root.mv),
        };
        let mut policy = vec![None; game.size().moves()];
        for (mv, prior) in search.priors() {
            policy[mv.index(game.size())] = Some(prior);
        }
        Some(Analysis {
            turn: game.turn(),
            size: game.size(),
            to_move: game.to_move(),
            visits: search.visits(),
            value: search.policy_value(),
            network: search.network_value(),
            moves: search.ranked_moves().iter().map(candidate).collect(),
            policy,
            hashes: [game.position().hash(), game.position().canonical().1],
        })
    }
}
