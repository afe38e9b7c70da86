//! The end of a game, and dead stones.

use go::{Color, Game, Move, Point, PointSet};

use super::arguments::{Answer, none, one};
use crate::server::board;
use crate::server::controller::Controller;
use crate::server::parse::color;
use crate::server::session::{Timing, failed};
use crate::server::status::{ChainStatus, Status, chain_statuses, is_certain};
use crate::server::{Failure, Session};

/// The score of the board as it stands, whether the game has ended or not.
pub(super) fn final_score(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    let margin = f64::from(session.game.score(session.setup.scoring)) - f64::from(session.compensation());
    Ok(board::score(margin))
}

/// `final_status_list alive|seki|dead`: the stones with that status, each chain on a line of its own. Uncertain
/// statuses are estimated.
pub(super) fn final_status_list(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let wanted = match one(arguments)? {
        "alive" => Status::Alive,
        "seki" => Status::Seki,
        "dead" => Status::Dead,
        _ => return Err(Failure::Syntax),
    };
    let chains = estimate(session)?;
    let listed = chains.iter().filter(|chain| chain.status == wanted);
    Ok(listed.map(|chain| board::names(session.game.size(), chain.stones)).collect::<Vec<_>>().join("\n"))
}

/// The status of every chain, the same for every request about a board.
pub(super) fn estimate(session: &mut Session<'_>) -> Result<Vec<ChainStatus>, Failure> {
    let here = (*session.game.position().stones(), session.game.turn());
    if let Some((_, chains)) = session.judged.as_ref().filter(|(board, _)| *board == here) {
        return Ok(chains.clone());
    }
    let ends = if is_certain(&session.game) {
        Vec::new()
    } else {
        let komi = session.compensation();
        session.player.play_on(&session.game, komi).map_err(|error| failed(&error))?
    };
    let chains = chain_statuses(&session.game, &ends);
    session.judged = Some((here, chains.clone()));
    Ok(chains)
}

/// KGS's: a move where the players did not agree on dead stones. As long as the opponent has dead stones, one that
/// helps to capture them; then a pass. Where none of their liberties is safe, the player thinks as if there had been no
/// passes. It passes if that is best where stones outside of pass-alive regions count as alive: without a pass it would
/// fill its own eyes when there is nothing to play.
pub(super) fn genmove_cleanup(
    session: &mut Session<'_>,
    arguments: &[&str],
    controller: &mut dyn Controller,
) -> Answer {
    let player = color(one(arguments)?)?;
    let chains = estimate(session)?;
    let dead = chains.iter().filter(|chain| chain.color != player && chain.status == Status::Dead);
    let dead = dead.fold(PointSet::EMPTY, |dead, chain| dead | chain.stones);
    let game = session.seen_by(Some(player));
    let mv = match capture(&game, dead) {
        Some(point) => Move::Play(point),
        None if dead.is_empty() => Move::Pass,
        None => {
            let decision = session.decide_in(&before_passes(game), Timing::Timed, None, controller)?;
            return session.carry_out(player, decision);
        }
    };
    session.play(player, mv)?;
    Ok(mv.to_gtp(session.game.size()))
}

/// The game without the passes at its end, which would make another pass the end, with the same player to move.
fn before_passes(mut game: Game) -> Game {
    let player = game.to_move();
    while game.moves().last() == Some(&Move::Pass) {
        game.undo();
    }
    game.set_to_move(player);
    game
}

/// A move on a liberty of dead stones that loses nothing: pass-alive regions stay pass-alive, and its own chain keeps
/// two liberties unless it captures. The one that captures most, and then the one that leaves the most liberties.
fn capture(game: &Game, dead: PointSet) -> Option<Point> {
    let color = game.to_move();
    let safe = *game.pass_alive().of(color) & *game.position().stones().of(color);
    let candidates = dead.neighbours(game.size()) & game.legal_points();
    let worth = |point: Point| {
        let mut after = game.clone();
        after.play(Move::Play(point)).ok()?;
        let captured = after.captures(color) - game.captures(color);
        let liberties = after.position().liberties(point);
        let keeps = safe.is_subset(after.pass_alive().of(color));
        (keeps && (captured > 0 || liberties > 1)).then_some((captured, liberties))
    };
    candidates.iter().filter_map(|point| Some((worth(point)?, point))).max_by_key(|&(worth, _)| worth).map(|(_, at)| at)
}

/// The letter of a chain on a board.
pub(super) fn letter(chain: &ChainStatus) -> char {
    match (chain.status, chain.color) {
        (Status::Alive, Color::Black) => 'X',
        (Status::Alive, Color::White) => 'O',
        (Status::Seki, _) => 's',
        (Status::Dead, _) => 'd',
    }
}

#[cfg(test)]
mod tests {
    use go::{Scoring, Size};
    use mcts::Avoid;

    use super::*;
    use crate::server::tests::{check_with, setup};
    use crate::server::{Decision, Player, PlayerError, Task, Watch};

    /// Plays the first legal point by row from the top, but passes after a pass; and games go on to this position.
    struct Agreeable(Game);

    impl Player for Agreeable {
        fn genmove(&mut self, task: &Task<'_>, _: &mut Watch<'_>) -> Result<Decision, PlayerError> {
            assert!(!task.game.is_over(Scoring::PassAlive), "a player has no task in a game that is over");
            let open = task.game.legal_points();
            let point = open.iter().next().filter(|_| task.game.moves().last() != Some(&Move::Pass));
            Ok(Decision::Move(point.map_or(Move::Pass, Move::Play)))
        }

        fn think(&mut self, _: &Game, _: f32, _: &[Avoid], _: &mut Watch<'_>) -> Result<(), PlayerError> {
            Ok(())
        }

        fn play_on(&mut self, _: &Game, _: f32) -> Result<Vec<Game>, PlayerError> {
            Ok(vec![self.0.clone()])
        }
    }

    /// Black at C1 would be in atari, and A1 is an eye: an approach move at D1 is needed first.
    #[test]
    fn cleanup_after_two_passes_does_not_pass_while_stones_are_dead() {
        let end = ". . . . .
                   . . . . .
                   X X O . .
                   . X X O .
                   . X X O .";
        let end = testing::position(Size::new(5).expect("a size"), end, Color::Black);
        check_with(
            &mut Agreeable(Game::from_position(end)),
            setup(5),
            "> gogui-play_sequence b A3 w C3 b B3 w D2 b C2 w A2 b pass w B2 b pass w B1 b pass w pass
             =
             > final_status_list dead
             = A2 B2 B1
             > kgs-genmove_cleanup b
             = A5
             > play w pass
             =
             > kgs-genmove_cleanup b
             = B5",
        );
    }
}
