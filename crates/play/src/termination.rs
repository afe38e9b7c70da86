//! How games end, and what their records say.

use std::cmp::Reverse;
use std::time::{SystemTime, UNIX_EPOCH};

use go::{Color, Game, Move, Scoring};
use mcts::{RootMove, Search};
use record::calibration::winner_min_value;
use record::{EndReason, GameId, GameRecord, Outcome, SearchAnnotations, SearchKind, TopMove, Turn};

use crate::SearchDriver;

/// Facts of a game before its first move.
#[derive(Clone, Debug)]
pub(crate) struct GameHeader {
    /// The record, whose end means nothing yet.
    pub(crate) record: GameRecord,
    /// Whether the record is to say when the game was played.
    pub(crate) timed: bool,
}

impl GameHeader {
    /// The game of this number among those of a worker. `players` are the models of Black and White; the digest is the
    /// one of the run's configuration.
    pub(crate) fn new(
        game: &config::Game,
        config_digest: String,
        players: [&str; 2],
        (worker, index): (&str, u64),
        seed: u64,
        visits: u32,
    ) -> GameHeader {
        let [black, white] = players.map(str::to_owned);
        GameHeader {
            timed: false,
            record: GameRecord {
                id: GameId::of(&black, &white, &config_digest, seed),
                black,
                white,
                config_digest,
                seed,
                index,
                worker: worker.to_owned(),
                started_at: None,
                ended_at: None,
                size: game.board(),
                komi: game.komi,
                scoring: game.scoring,
                visits_budget: visits,
                calibration: false,
                holdout: false,
                resign_threshold: None,
                would_resign_turn: None,
                winner_min_value: None,
                mean_depth: None,
                outcome: Outcome::Draw,
                score: None,
                end: EndReason::MoveLimit,
                handoffs: Vec::new(),
                turns: Vec::new(),
            },
        }
    }

    /// The game begins now.
    pub(crate) fn begin(&mut self) {
        self.record.started_at = self.now();
    }

    /// Whether this is the game of the record: the same players, configuration, seed and board.
    pub(crate) fn is_of(&self, record: &GameRecord) -> bool {
        let own = &self.record;
        (own.id, own.size, own.komi, own.scoring) == (record.id, record.size, record.komi, record.scoring)
    }

    /// The time, if the record is to tell it.
    fn now(&self) -> Option<u64> {
        let now = self.timed.then(SystemTime::now)?;
        now.duration_since(UNIX_EPOCH).ok().map(|since| since.as_millis() as u64)
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ending {
    /// The board was counted; the margin is Black's area minus White's after komi.
    Counted {
        margin: f32,
        end: EndReason,
    },
    Resignation {
        by: Color,
    },
    /// A player broke the rules.
    Forfeit {
        by: Color,
    },
}

impl Ending {
    /// The ending that the board shows, if it shows one.
    pub(crate) fn of_board(game: &Game, scoring: Scoring, komi: f32, move_limit: usize) -> Option<Ending> {
        let end = if game.passed_out() {
            EndReason::Passes
        } else if game.is_over(scoring) {
            EndReason::PassAlive
        } else if game.turn() >= move_limit {
            EndReason::MoveLimit
        } else {
            return None;
        };
        Some(Ending::Counted { margin: game.score(scoring) as f32 - komi, end })
    }

    /// Black's margin, if two passes have ended the game.
    pub(crate) fn passed_out(self) -> Option<f32> {
        match self {
            Ending::Counted { margin, end: EndReason::Passes } => Some(margin),
            _ => None,
        }
    }

    fn outcome(self) -> Outcome {
        match self {
            Ending::Counted { margin, .. } => Outcome::from_score(margin),
            Ending::Resignation { by } | Ending::Forfeit { by } => by.opponent().into(),
        }
    }
}

/// The record of a finished game.
pub(crate) fn finished(
    header: &GameHeader,
    ending: Ending,
    turns: Vec<Turn>,
    threshold: Option<f32>,
    would_resign_turn: Option<u16>,
) -> GameRecord {
    let outcome = ending.outcome();
    let (score, end) = match ending {
        Ending::Counted { margin, end } => (Some(margin), end),
        Ending::Resignation { .. } => (None, EndReason::Resignation),
        Ending::Forfeit { .. } => (None, EndReason::Forfeit),
    };
    GameRecord {
        ended_at: header.now(),
        resign_threshold: threshold,
        would_resign_turn,
        winner_min_value: winner_min_value(outcome, &turns),
        mean_depth: mean_depth(&turns),
        outcome,
        score,
        end,
        turns,
        ..header.record.clone()
    }
}

/// The turn that plays `mv` after a search, whose example has so much weight. Its visits are the policy target: see
/// [`mcts::Search::policy_target`].
pub(crate) fn searched(driver: &SearchDriver, kind: SearchKind, weight: f32, mv: Move) -> Turn {
    let search = driver.search();
    let size = search.game().size();
    let target = search.policy_target().into_iter();
    let mut visits: Vec<(u16, u32)> = target.map(|(mv, count)| (mv.index(size) as u16, count)).collect();
    visits.sort_unstable();
    let policy_surprise = driver.policy_surprise(&visits);
    Turn {
        mv,
        kind,
        weight,
        visits,
        root_value: search.root_value().black(),
        best_child_value: search.best_move().map_or(search.root_value(), |best| best.value).black(),
        network_value: search.network_value().black(),
        prior_entropy: driver.prior_entropy(),
        policy_surprise,
        note: Some(Box::new(note(search))),
    }
}

/// Search results for the comments of readable games.
fn note(search: &Search) -> SearchAnnotations {
    let mut moves = search.root_moves();
    moves.sort_by_key(|root| (Reverse(root.visits), root.mv.index(search.game().size())));
    moves.truncate(SearchAnnotations::TOP);
    let mut variation = search.best_move().map_or_else(Vec::new, |best| search.variation(best.mv));
    variation.truncate(SearchAnnotations::VARIATION);
    let depth = search.depth();
    SearchAnnotations {
        variation,
        mean_depth: depth.mean(),
        max_depth: depth.max(),
        top: moves.iter().map(top_move).collect(),
    }
}

fn top_move(root: &RootMove) -> TopMove {
    TopMove { mv: root.mv, visits: root.visits, value: root.value.black(), prior: root.prior }
}

/// Mean over the searches of a game of the mean depth of their leaves; a search that inherited its whole budget has
/// none.
fn mean_depth(turns: &[Turn]) -> Option<f32> {
    let notes = turns.iter().filter_map(|turn| turn.note.as_ref()).filter(|note| note.max_depth > 0);
    let depths: Vec<f32> = notes.map(|note| note.mean_depth).collect();
    (!depths.is_empty()).then(|| depths.iter().sum::<f32>() / depths.len() as f32)
}
