//! Import of human games from SGF.
//!
//! What such a record cannot say is filled in plainly: the move that was played has the one visit, and the values are
//! the outcome.

use go::sgf::{self, Margin, Record, Tree, Value};
use go::{Move, Ruleset, Scoring, Size};
use sha2::{Digest, Sha256};

use crate::{EndReason, GameId, GameRecord, HUMAN, Outcome, SearchKind, Turn};

/// Converts records of human games for one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Converter {
    /// The board of the run; games on others are of no use to it.
    pub size: Size,
    /// How the run counts.
    pub scoring: Scoring,
    /// Digest of its configuration.
    pub config_digest: String,
    /// Fraction of its games in the validation set, 0 to 1.
    pub holdout: f64,
    /// Who is said to have played the games.
    pub worker: String,
}

/// How a record says that its game ended.
struct Ending {
    outcome: Outcome,
    score: Option<f32>,
    end: EndReason,
}

impl Converter {
    /// The game of a record, which is the `index`th, or why it is of no use.
    ///
    /// # Errors
    /// A game on another board, with stones set up, or moves out of turn, illegal or more than 65,535. A game without
    /// komi on the scale of the board, or without a result that says something of the position and is possible there.
    pub fn convert(&self, index: u64, tree: &Tree) -> Result<GameRecord, String> {
        let record = Record::from_tree(tree).map_err(|e| e.to_string())?;
        self.check(&record)?;
        let komi = self.komi(&record)?;
        let ending = Ending::of(tree, &record, komi)?;
        let value = f32::from(ending.outcome.as_i8());
        let seed = seed(&record);
        let game = GameRecord {
            id: GameId::of(HUMAN, HUMAN, &self.config_digest, seed),
            black: HUMAN.to_owned(),
            white: HUMAN.to_owned(),
            config_digest: self.config_digest.clone(),
            seed,
            index,
            worker: self.worker.clone(),
            started_at: None,
            ended_at: None,
            size: record.size,
            komi,
            scoring: self.scoring,
            visits_budget: 1,
            calibration: false,
            holdout: false,
            resign_threshold: None,
            would_resign_turn: None,
            winner_min_value: None,
            mean_depth: None,
            outcome: ending.outcome,
            score: ending.score,
            end: ending.end,
            handoffs: Vec::new(),
            turns: record.turns.iter().map(|turn| played(&record, turn.mv, value)).collect(),
        };
        Ok(GameRecord { holdout: game.share() < self.holdout, ..game })
    }

    /// The komi of a record, in the bounds of that of a run.
    fn komi(&self, record: &Record) -> Result<f32, String> {
        let komi = record.komi.ok_or("komi (KM) is missing")?;
        if !self.size.allows_komi(komi) {
            return Err(format!("its komi {komi} exceeds the area of the board"));
        }
        Ok(komi)
    }

    /// A game from the empty board by players who take turns, on the board of the run, all moves legal.
    fn check(&self, record: &Record) -> Result<(), String> {
        let (side, wanted) = (record.size.side(), self.size.side());
        if side != wanted {
            return Err(format!("it is on {side}x{side}, and the run on {wanted}x{wanted}"));
        }
        // One stone is none: Black begins.
        if record.handicap > 1 || !record.setup.both().is_empty() {
            return Err("stones are set up before the first move".to_owned());
        }
        if record.turns.is_empty() {
            return Err("it has no moves".to_owned());
        }
        // Tables number turns in 16 bits.
        if record.turns.len() > usize::from(u16::MAX) {
            return Err(format!("it has {} moves, and a game may have {}", record.turns.len(), u16::MAX));
        }
        let turns = record.turns.iter().enumerate();
        if let Some((number, _)) = turns.clone().find(|(i, turn)| turn.color != GameRecord::to_move(*i)) {
            return Err(format!("move {} is out of turn", number + 1));
        }
        let passes = record.turns.windows(2).position(|pair| pair.iter().all(|turn| turn.mv == Move::Pass));
        if passes.is_some_and(|first| first + 2 < record.turns.len()) {
            return Err("moves follow two passes".to_owned());
        }
        record.replay().map(drop).map_err(|e| e.to_string())
    }
}

/// A move that was played, as if a search had had one visit. Its values are the outcome.
fn played(record: &Record, mv: Move, value: f32) -> Turn {
    Turn {
        mv,
        kind: SearchKind::Full,
        weight: 1.0,
        visits: vec![(mv.index(record.size) as u16, 1)],
        root_value: value,
        best_child_value: value,
        network_value: value,
        prior_entropy: 0.0,
        policy_surprise: None,
        note: None,
    }
}

impl Ending {
    /// An end that says something of the position: time and forfeits do not.
    fn of(tree: &Tree, record: &Record, komi: f32) -> Result<Ending, String> {
        let area = Ruleset::counts_area(&record.rules);
        // Areas are whole numbers: any other difference is in stones, or of another komi or other rules.
        let counted = |score: f32| Some(score).filter(|score| area && (score + komi).fract() == 0.0);
        let ending = |outcome, score, end| Ok(Ending { outcome, score, end });
        match record.outcome {
            Some(sgf::Outcome::Win(winner, Margin::Resignation)) => ending(winner.into(), None, EndReason::Resignation),
            Some(result @ sgf::Outcome::Win(winner, Margin::Points(points))) => {
                // By other rules prisoners count, which may be more than the board has points.
                let most = if area { record.size.area() as f32 + komi.abs() } else { f32::MAX };
                if !(0.0..=most).contains(&points) {
                    return Err(format!("result {result} is impossible on this board"));
                }
                let score = winner.sign() * points;
                ending(Outcome::from_score(score), counted(score), EndReason::Passes)
            }
            Some(sgf::Outcome::Draw) => ending(Outcome::Draw, counted(0.0), EndReason::Passes),
            // As it is written: one that cannot be read has no other text.
            Some(_) => match tree.root().value("RE").map(Value::simple_text).filter(|text| !text.trim().is_empty()) {
                Some(text) => Err(format!("result {text} has no score")),
                None => Err("it has no result".to_owned()),
            },
            None => Err("it has no result".to_owned()),
        }
    }
}

/// A number that is the same for the same game in another collection: a hash of moves, komi and result.
fn seed(record: &Record) -> u64 {
    let moves: Vec<usize> = record.turns.iter().map(|turn| turn.mv.index(record.size)).collect();
    let sum = Sha256::digest(format!("{moves:?}\n{:?}\n{:?}\n", record.komi, record.outcome));
    u64::from_be_bytes(std::array::from_fn(|i| sum[i]))
}
