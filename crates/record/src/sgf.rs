//! Readable records: SGF that any editor opens.

use go::sgf;
use go::{Move, Scoring};

use crate::{EndReason, GameRecord, Handoff, Outcome, SearchAnnotations, SearchKind, TopMove, Turn};

impl Outcome {
    /// The result of a game with this outcome as SGF has it: `B+3.5`, `W+R` or `0`.
    pub fn sgf_result(self, score: Option<f32>, end: EndReason) -> sgf::Outcome {
        let margin = match (end, score) {
            (EndReason::Resignation, _) => sgf::Margin::Resignation,
            (EndReason::Forfeit, _) => sgf::Margin::Forfeit,
            (_, Some(score)) => sgf::Margin::Points(score.abs()),
            (_, None) => sgf::Margin::Unknown,
        };
        self.winner().map_or(sgf::Outcome::Draw, |winner| sgf::Outcome::Win(winner, margin))
    }
}

impl GameRecord {
    /// Writes the game as SGF. Comments say what the searches thought: values are for Black, and a `?` marks the turn
    /// of a calibration game at which the mover would have resigned. Where the turns have notes there are the depth of
    /// the search, the most visited path below the best move with its visits, and N, Q and P of the most visited moves;
    /// elsewhere the moves with their visits, or 1,024ths of the improved policy after a Gumbel search, if the turns
    /// have any.
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
            outcome: Some(self.outcome.sgf_result(self.score, self.end)),
            black: player(&self.black),
            white: player(&self.white),
            rules: self.rules().to_owned(),
            application: Some(application),
            comment: self.comment(),
            ..sgf::Record::new(self.size)
        };
        record.to_sgf()
    }

    /// The rules that lead to the score. By those of Tromp and Taylor dead stones count where they stand.
    fn rules(&self) -> &'static str {
        match self.scoring {
            Scoring::PassAlive => "Chinese",
            Scoring::Area => "Tromp-Taylor",
        }
    }

    /// What there is to know of the game as a whole.
    fn comment(&self) -> String {
        let mut lines = vec![
            format!("game {}", self.id),
            format!("worker {}, number {}, seed {}, config {}", self.worker, self.index, self.seed, self.config_digest),
            format!("visits {}, scoring {}, ended by {}", self.visits_budget, self.scoring.name(), self.end),
        ];
        match (self.calibration, self.resign_threshold) {
            (true, _) => lines.push("calibration game: resignation is disabled".to_owned()),
            (false, Some(threshold)) => lines.push(format!("resignation below {threshold:.3}")),
            (false, None) => {}
        }
        if let (Some(winner_min), Outcome::Black | Outcome::White) = (self.winner_min_value, self.outcome) {
            lines.push(format!("minimum root value of the winner {winner_min:+.3}"));
        }
        for Handoff { turn, model } in &self.handoffs {
            lines.push(format!("from move {} on played by {model}", turn + 1));
        }
        if let Some(depth) = self.mean_depth {
            lines.push(format!("mean depth {depth:.2}"));
        }
        if self.holdout {
            lines.push("in the validation set".to_owned());
        }
        lines.join("\n")
    }

    fn turn_comment(&self, index: usize, turn: &Turn) -> String {
        match turn.kind {
            SearchKind::Given => return String::new(),
            SearchKind::Policy => return turn.kind.as_str().to_owned(),
            SearchKind::Full | SearchKind::Fast => {}
        }
        let doubt = if self.would_resign_turn.map(usize::from) == Some(index) { " ?" } else { "" };
        let mut lines = vec![format!(
            "value {:+.3} best {:+.3} network {:+.3} entropy {:.2}{doubt}",
            turn.root_value, turn.best_child_value, turn.network_value, turn.prior_entropy,
        )];
        if turn.kind != SearchKind::Full {
            lines.push(format!("{}, weight {}", turn.kind.as_str(), turn.weight));
        }
        match &turn.note {
            Some(note) => lines.extend(self.note_lines(note)),
            None if turn.visits.is_empty() => {}
            None => lines.push(self.top_moves(turn)),
        }
        lines.join("\n")
    }

    fn note_lines(&self, note: &SearchAnnotations) -> Vec<String> {
        let name = |mv: Move| mv.to_gtp(self.size);
        let variation: Vec<String> = note.variation.iter().map(|&(mv, n)| format!("{} {n}", name(mv))).collect();
        let mut lines = vec![
            format!("depth {:.1}, at most {}", note.mean_depth, note.max_depth),
            format!("variation {}", variation.join(", ")),
        ];
        let top = |top: &TopMove| format!("{} N {} Q {:+.3} P {:.3}", name(top.mv), top.visits, top.value, top.prior);
        lines.extend(note.top.iter().map(top));
        lines
    }

    fn top_moves(&self, turn: &Turn) -> String {
        let mut visits = turn.visits.clone();
        visits.sort_by_key(|&(mv, count)| (std::cmp::Reverse(count), mv));
        let name = |mv: u16| Move::from_index(self.size, mv.into()).map_or(String::new(), |mv| mv.to_gtp(self.size));
        let listed = visits.iter().take(SearchAnnotations::TOP).map(|&(mv, count)| format!("{} {count}", name(mv)));
        listed.collect::<Vec<_>>().join(", ")
    }
}
