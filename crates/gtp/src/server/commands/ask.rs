//! Questions about the game.

use go::{Color, Move, Point};

use super::arguments::{Answer, none, one};
use crate::server::parse::{color, vertex};
use crate::server::{Failure, Session, board};

pub(super) fn showboard(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(board::show(&session.game, session.komi, session.bonus_points()))
}

/// GNU Go's: the points where a player may put a stone now, by row from the top.
pub(super) fn all_legal(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let game = session.seen_by(Some(color(one(arguments)?)?));
    Ok(board::names(game.size(), game.legal_points()))
}

/// GNU Go's: `is_legal COLOR VERTEX`, 1 or 0.
pub(super) fn is_legal(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [player, point] = *arguments else { return Err(Failure::Syntax) };
    let game = session.seen_by(Some(color(player)?));
    match vertex(game.size(), point) {
        Err(Failure::Syntax) => Err(Failure::Syntax),
        mv => Ok(u8::from(mv.is_ok_and(|mv| game.is_legal(mv))).to_string()),
    }
}

/// GNU Go's: the points where a player has stones, by row from the top.
pub(super) fn list_stones(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let color = color(one(arguments)?)?;
    Ok(board::names(session.game.size(), *session.game.position().stones().of(color)))
}

/// GNU Go's `color VERTEX`: black, white or empty.
pub(super) fn color_of(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let stone = session.game.position().stone(point(session, arguments)?);
    Ok(stone.map_or_else(|| "empty".to_owned(), |color: Color| color.to_string()))
}

/// GNU Go's: liberties of the chain at a point.
pub(super) fn countlib(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let (point, position) = (point(session, arguments)?, session.game.position());
    position.stone(point).map(|_| position.liberties(point).to_string()).ok_or(Failure::NoStone)
}

/// GNU Go's: stones that a player has captured.
pub(super) fn captures(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    Ok(session.game.captures(color(one(arguments)?)?).to_string())
}

/// GNU Go's: who played what last.
pub(super) fn last_move(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    played(session).next().ok_or(Failure::NoMove)
}

/// GNU Go's: all moves, the last first.
pub(super) fn move_history(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(played(session).collect::<Vec<_>>().join("\n"))
}

/// The moves as `COLOR VERTEX`, the last first.
fn played(session: &Session<'_>) -> impl Iterator<Item = String> {
    let game = &session.game;
    game.moves().iter().zip(game.colors()).rev().map(|(mv, color)| format!("{color} {}", mv.to_gtp(game.size())))
}

/// GNU Go's: stones that Black had at the beginning.
pub(super) fn get_handicap(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    let first = session.game.stones_ago(session.game.turn());
    Ok(first.map_or(0, |first| first.black.len()).to_string())
}

/// GNU Go's: the side of the board.
pub(super) fn query_boardsize(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(session.game.size().side().to_string())
}

fn point(session: &Session<'_>, arguments: &[&str]) -> Result<Point, Failure> {
    vertex(session.game.size(), one(arguments)?).and_then(|mv: Move| mv.point().ok_or(Failure::Syntax))
}
