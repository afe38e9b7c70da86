//! Records for people: SGF that any editor opens.

use go::Move;
use go::sgf;

use crate::game::scoring_name;
use crate::{EndReason, GameRecord, Outcome, Turn};

/// Moves listed in the comment of a turn, most visited first.
const TOP_MOVES: usize = 6;

impl GameRecord {
    /// Writes the game as SGF. Comments say what the searches thought: values are for Black, moves are listed with their
    /// visits, and a `?` marks the turn at which the mover was, or would have been, ready to resign.
    pub fn to_sgf(&self) -> String {
        let player = |name: &str| sgf::Player { name: name.to_owned(), rank: String::new() };
        let turn = |(i, turn): (usize, &Turn)| sgf::Turn {
            color: GameRecord::to_move(i),
            mv: turn.mv,
            comment: self.turn_comment(i, turn),
        };
        let application = sgf::Application { name: "Tengen".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
        let record = sgf::Record {
            komi: Some(self.komi),
            turns: self.turns.iter().enumerate().map(turn).collect(),
            outcome: Some(self.sgf_outcome()),
            black: player(&self.black),
            white: player(&self.white),
            rules: "Tromp-Taylor".to_owned(),
            application: Some(application),
            comment: self.comment(),
            ..sgf::Record::new(self.size)
        };
        record.to_sgf()
    }

    fn sgf_outcome(&self) -> sgf::Outcome {
        let margin = match (self.end, self.score) {
            (EndReason::Resignation, _) => sgf::Margin::Resignation,
            (_, Some(score)) => sgf::Margin::Points(score.abs()),
            (_, None) => sgf::Margin::Unknown,
        };
        self.outcome.winner().map_or(sgf::Outcome::Draw, |winner| sgf::Outcome::Win(winner, margin))
    }

    /// What there is to know of the game as a whole.
    fn comment(&self) -> String {
        let mut lines = vec![
            format!("game {}", self.id),
            format!("worker {}, number {}, seed {}, config {}", self.worker, self.index, self.seed, self.config_digest),
            format!("visits {}, scoring {}, ended by {}", self.visits_budget, scoring_name(self.scoring), self.end),
        ];
        match (self.calibration, self.resign_threshold) {
            (true, _) => lines.push("calibration game: nobody could resign".to_owned()),
            (false, Some(threshold)) => lines.push(format!("resignation below {threshold:.3}")),
            (false, None) => {}
        }
        if let (Some(bleakest), Outcome::Black | Outcome::White) = (self.bleakest_value, self.outcome) {
            lines.push(format!("bleakest value of the winner {bleakest:+.3}"));
        }
        if self.holdout {
            lines.push("set aside for validation".to_owned());
        }
        lines.join("\n")
    }

    fn turn_comment(&self, index: usize, turn: &Turn) -> String {
        if !turn.is_searched() {
            return String::new();
        }
        let doubt = if self.would_resign_turn.map(usize::from) == Some(index) { " ?" } else { "" };
        format!(
            "value {:+.3} best {:+.3} network {:+.3} entropy {:.2}{doubt}\n{}",
            turn.root_value,
            turn.best_child_value,
            turn.network_value,
            turn.prior_entropy,
            self.top_moves(turn)
        )
    }

    fn top_moves(&self, turn: &Turn) -> String {
        let mut visits = turn.visits.clone();
        visits.sort_by_key(|&(mv, count)| (std::cmp::Reverse(count), mv));
        let name = |mv: u16| Move::from_index(self.size, mv.into()).map_or(String::new(), |mv| mv.to_gtp(self.size));
        let listed = visits.iter().take(TOP_MOVES).map(|&(mv, count)| format!("{} {count}", name(mv)));
        listed.collect::<Vec<_>>().join(", ")
    }
}
