//! Moves that are played, and moves that are wanted.

use go::Move;

use super::arguments::{Answer, done, none, number, one};
use crate::server::controller::Controller;
use crate::server::parse::{color, vertex};
use crate::server::session::Timing;
use crate::server::{Decision, Failure, Session};

pub(super) fn play(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    if arguments.len() == 2 { play_sequence(session, arguments) } else { Err(Failure::Syntax) }
}

/// GoGui's: several moves, all or none, as `COLOR VERTEX COLOR VERTEX…`. As in KataGo they may repeat a board, as the
/// game may have another ko rule. By none is a ko retaken at once.
pub(super) fn play_sequence(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let mut game = session.game.clone();
    for pair in arguments.chunks(2) {
        let [player, point] = pair else { return Err(Failure::Syntax) };
        let (color, mv) = (color(player)?, vertex(game.size(), point)?);
        game.set_to_move(color);
        game.play_past(mv).map_err(|_| Failure::IllegalMove)?;
        let retakes = game.turn() >= 2 && game.stones_ago(0) == game.stones_ago(2);
        if retakes && mv != Move::Pass {
            return Err(Failure::IllegalMove);
        }
    }
    session.continue_with(game);
    done()
}

pub(super) fn undo(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.undo()?;
    done()
}

/// GNU Go's: takes so many moves back, all or none; one if nothing is said.
pub(super) fn undo_some(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let count: usize = if arguments.is_empty() { 1 } else { number(one(arguments)?)? };
    if count > session.game.turn() {
        return Err(Failure::CannotUndo);
    }
    (0..count).try_for_each(|_| session.undo())?;
    done()
}

pub(super) fn genmove(session: &mut Session<'_>, arguments: &[&str], controller: &mut dyn Controller) -> Answer {
    let color = color(one(arguments)?)?;
    let decision = session.decide(color, Timing::Timed, None, controller)?;
    session.carry_out(color, decision)
}

/// A move that is not played, for which no clock runs.
pub(super) fn reg_genmove(session: &mut Session<'_>, arguments: &[&str], controller: &mut dyn Controller) -> Answer {
    let color = color(one(arguments)?)?;
    Ok(match session.decide(color, Timing::Untimed, None, controller)? {
        Decision::Resign => "resign".to_owned(),
        Decision::Move(mv) => mv.to_gtp(session.game.size()),
    })
}
