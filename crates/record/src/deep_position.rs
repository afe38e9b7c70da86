//! Positions with the result of a deep search, as JSON Lines: a yardstick for models, and never training data.

use go::{Game, Move, Size};
use serde::{Deserialize, Serialize};

use crate::{Example, GameId, GameRecord, Outcome, SearchKind};

/// A position, and what a search far deeper than a model's own found there.
#[derive(Clone, Debug)]
pub struct DeepPosition {
    /// The game up to the position.
    pub game: Game,
    /// Points added to White's area; `None` in files that do not say it.
    pub komi: Option<f32>,
    /// Of the search, for Black, −1 to 1.
    pub value: f32,
    /// Black's lead in points, if the engine estimates it.
    pub score: Option<f32>,
    /// Moves of the search with their visits, the most visited first; one at least.
    pub visits: Vec<(Move, u32)>,
}

/// A line of such a file. Other fields are ignored.
#[derive(Deserialize, Serialize)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    komi: Option<f32>,
    moves: Vec<String>,
    value: f32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    visits: Vec<(String, u32)>,
}

/// A line that is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {problem}")]
pub struct DeepPositionError {
    /// Of the line, from 1.
    pub number: usize,
    /// The problem with it.
    pub problem: String,
}

impl DeepPosition {
    /// The positions of a file for a board and a komi. Blank lines are none.
    ///
    /// # Errors
    /// A line that is no position, or one of another board or komi.
    pub fn read_all(text: &str, size: Size, komi: f32) -> Result<Vec<DeepPosition>, DeepPositionError> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (usize, &str)| {
            DeepPosition::read(line, size, komi).map_err(|problem| DeepPositionError { number, problem })
        };
        lines.map(read).collect()
    }

    fn read(line: &str, size: Size, komi: f32) -> Result<DeepPosition, String> {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| format!("{error}; expected a position as `tengen study positions` writes it"))?;
        if let Some(side) = line.size.filter(|&side| usize::from(side) != size.side()) {
            return Err(format!("the position is of {side}x{side}, and not of {size}x{size}"));
        }
        if let Some(other) = line.komi.filter(|&other| other != komi) {
            return Err(format!("the position has komi {other}, and not {komi}"));
        }
        if !(-1.0..=1.0).contains(&line.value) {
            return Err(format!("value {} is not from -1 to 1", line.value));
        }
        // JSON has greater numbers than f32, and no word for what they become.
        if line.score.is_some_and(|score| !score.is_finite()) {
            return Err("the score is too large".to_owned());
        }
        let vertex =
            |text: &str| Move::from_gtp(size, text).ok_or_else(|| format!("{text:?} is no vertex of {size}x{size}"));
        let mut game = Game::new(size);
        for text in &line.moves {
            game.play(vertex(text)?).map_err(|why| format!("move {text:?}: {why}"))?;
        }
        let mut visits: Vec<(Move, u32)> = Vec::with_capacity(line.visits.len());
        for (text, count) in line.visits.iter().filter(|(_, count)| *count > 0) {
            let mv = vertex(text)?;
            if !game.is_legal(mv) || visits.iter().any(|&(other, _)| other == mv) {
                return Err(format!("visits of {text:?}: the move is illegal or occurs twice"));
            }
            visits.push((mv, *count));
        }
        if visits.is_empty() {
            return Err("no visits".to_owned());
        }
        visits.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        Ok(DeepPosition { game, komi: line.komi, value: line.value, score: line.score, visits })
    }

    /// The position as a line of a file, without its end.
    pub fn to_line(&self) -> String {
        let size = self.game.size();
        let line = Line {
            size: u8::try_from(size.side()).ok(),
            komi: self.komi,
            moves: self.game.moves().iter().map(|mv| mv.to_gtp(size)).collect(),
            value: self.value,
            score: self.score,
            visits: self.visits.iter().map(|&(mv, count)| (mv.to_gtp(size), count)).collect(),
        };
        serde_json::to_string(&line).expect("strings and numbers are JSON")
    }

    /// The share of each move in the visits, the most visited first.
    pub fn shares(&self) -> impl Iterator<Item = (Move, f64)> {
        let total: f64 = self.visits.iter().map(|&(_, count)| f64::from(count)).sum();
        self.visits.iter().map(move |&(mv, count)| (mv, f64::from(count) / total))
    }

    /// The position as an example whose root value and visits are those of the search. Its outcome is the side that the
    /// value favours; `number` distinguishes positions.
    pub fn example(&self, komi: f32, number: u64) -> Example {
        let (game, size) = (&self.game, self.game.size());
        let (base, recent) = Example::history(game);
        let mut visits: Vec<(u16, u32)> =
            self.visits.iter().map(|&(mv, count)| (mv.index(size) as u16, count)).collect();
        visits.sort_unstable();
        Example {
            game: GameId::of("deep", "deep", "", number),
            turn: game.turn().try_into().unwrap_or(u16::MAX),
            size,
            komi,
            base,
            recent,
            to_move: GameRecord::to_move(game.turn()),
            visits,
            opponent_move: None,
            kind: SearchKind::Full,
            root_value: self.value,
            best_child_value: self.value,
            network_value: self.value,
            prior_entropy: 0.0,
            policy_surprise: None,
            outcome: Outcome::from_score(self.value),
            score: None,
            area: None,
            weight: 1.0,
            calibration: false,
            model: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"moves": ["e5", "g7"], "value": -0.25, "raw_value": 0.1, "visits": [["c3", 100], ["c4", 300]]}"#;

    fn read(line: &str) -> Result<DeepPosition, String> {
        DeepPosition::read(line, Size::new(9).expect("a size"), 7.0)
    }

    #[test]
    fn moves_are_ordered_by_visits() {
        let position = read(LINE).expect("a position");
        let mv = |text: &str| Move::from_gtp(position.game.size(), text).expect("a vertex");
        assert_eq!((position.game.moves().len(), position.value), (2, -0.25));
        assert_eq!(position.shares().collect::<Vec<_>>(), [(mv("c4"), 0.75), (mv("c3"), 0.25)]);
        let example = position.example(7.0, 0);
        assert_eq!((example.turn, example.root_value, example.outcome), (2, -0.25, Outcome::White));
        assert!(example.visits.is_sorted() && example.visits.len() == 2);
        let mut replay = crate::Replay::new(example.size);
        replay.rebuild(&example).expect("the moves can be played");
        assert_eq!(replay.boards().len(), 3);
    }

    #[test]
    fn written_position_is_read_again() {
        let written = DeepPosition { komi: Some(7.0), score: Some(-2.5), ..read(LINE).expect("a position") };
        let again = read(&written.to_line()).expect("a position");
        assert_eq!(again.to_line(), written.to_line());
        assert_eq!((again.komi, again.score, again.visits), (Some(7.0), Some(-2.5), written.visits));
    }

    #[test]
    fn problem_of_a_line_is_named() {
        for (line, reason) in [
            (r#"{"moves": ["e5", "e5"], "value": 0, "visits": [["c3", 1]]}"#, "move \"e5\""),
            (r#"{"moves": ["z5"], "value": 0, "visits": [["c3", 1]]}"#, "\"z5\" is no vertex of 9x9"),
            (r#"{"moves": [], "value": 2, "visits": [["c3", 1]]}"#, "not from -1 to 1"),
            (r#"{"moves": [], "value": 0, "score": -1e39, "visits": [["c3", 1]]}"#, "score is too large"),
            (r#"{"moves": [], "value": 0, "visits": [["c3", 0]]}"#, "no visits"),
            (r#"{"moves": ["c3"], "value": 0, "visits": [["c3", 1]]}"#, "illegal"),
            (r#"{"moves": [], "value": 0, "visits": [["c3", 1], ["C3", 1]]}"#, "occurs twice"),
            (r#"{"moves": [], "value": 0, "visits": [["c3", 1]], "komi": 6.5}"#, "komi 6.5"),
            (r#"{"moves": [], "value": 0, "visits": [["c3", 1]], "size": 19}"#, "19x19, and not of 9x9"),
            (r#"{"moves": []}"#, "missing field"),
            ("(;GM[1]SZ[9];B[aa])", "expected a position as `tengen study positions` writes it"),
        ] {
            let error = read(line).expect_err("a bad line");
            assert!(error.contains(reason), "{error}");
        }
        let size = Size::new(9).expect("a size");
        let second = format!("{LINE}\n\n{{}}\n");
        assert_eq!(DeepPosition::read_all(&second, size, 7.0).expect_err("a bad line").number, 3);
    }
}
