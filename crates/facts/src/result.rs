//! Results of games as SGF writes them.

use go::Color;
use record::{EndReason, Outcome};

/// The result of a game as SGF writes it: `B+3.5`, `W+R` or `0`.
pub fn result(outcome: Outcome, score: Option<f32>, end: EndReason) -> String {
    let Some(winner) = outcome.winner() else { return "0".to_owned() };
    let letter = if winner == Color::Black { 'B' } else { 'W' };
    match (score, end) {
        (_, EndReason::Resignation) => format!("{letter}+R"),
        (_, EndReason::Forfeit) => format!("{letter}+F"),
        (Some(score), _) => format!("{letter}+{}", score.abs()),
        (None, _) => format!("{letter}+"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_read_as_in_sgf() {
        for (outcome, score, end, text) in [
            (Outcome::Black, Some(3.5), EndReason::Passes, "B+3.5"),
            (Outcome::White, Some(-12.0), EndReason::PassAlive, "W+12"),
            (Outcome::White, None, EndReason::Resignation, "W+R"),
            (Outcome::Black, None, EndReason::Forfeit, "B+F"),
            (Outcome::Draw, Some(0.0), EndReason::Passes, "0"),
        ] {
            assert_eq!(result(outcome, score, end), text);
        }
    }
}
