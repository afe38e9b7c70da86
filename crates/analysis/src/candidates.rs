//! Moves beside those of a game.

use go::{Game, Move};

use crate::Report;
use crate::running::position;

/// The candidate moves of an analysed position of a game without the move that was played, the best first, `most` at
/// most.
pub fn candidates(game: &Game, report: &Report, most: usize) -> Vec<Move> {
    let played = game.moves().get(report.turn_number);
    let moves = report.move_infos.iter().filter_map(|info| Move::from_gtp(game.size(), &info.r#move));
    moves.filter(|mv| Some(mv) != played).take(most).collect()
}

/// A game after so many of its moves and then another one; `None` when that is illegal.
pub fn position_after(game: &Game, turn: usize, mv: Move) -> Option<Game> {
    let mut game = position(game, turn);
    game.play(mv).ok()?;
    Some(game)
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::ReportStyle;
    use crate::report::tests::analysis;

    fn mv(text: &str) -> Move {
        Move::from_gtp(Size::MIN, text).expect("a move on 2x2")
    }

    fn game(moves: &[&str]) -> Game {
        let mut game = Game::new(Size::MIN);
        moves.iter().for_each(|text| game.play(mv(text)).expect("a legal move"));
        game
    }

    /// The report is that of the position after a move. Its moves are B1 and a pass.
    #[test]
    fn candidates_are_the_moves_that_were_not_played() {
        let report = Report::new(&analysis(), &ReportStyle::STANDARD);
        let of = |moves: &[&str], most| candidates(&game(moves), &report, most);
        assert_eq!(of(&["A2", "B1"], 2), [Move::Pass]);
        assert_eq!(of(&["A2", "B2"], 2), [mv("B1"), Move::Pass]);
        assert_eq!(of(&["A2", "B2"], 1), [mv("B1")]);
        assert_eq!(of(&["A2"], 2), [mv("B1"), Move::Pass]);
        assert!(of(&["A2"], 0).is_empty());
    }

    #[test]
    fn position_after_a_candidate_has_the_moves_before_it() {
        let game = game(&["A2", "B1"]);
        assert_eq!(position_after(&game, 1, mv("B2")).expect("a legal move").moves(), [mv("A2"), mv("B2")]);
        assert!(position_after(&game, 1, mv("A2")).is_none(), "there is a stone");
    }
}
