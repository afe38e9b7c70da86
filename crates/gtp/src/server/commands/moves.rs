//! Moves that are played, and moves that are wanted.

use super::arguments::{Answer, done, none, number, one};
use crate::server::controller::Controller;
use crate::server::parse::{color, vertex};
use crate::server::session::Timing;
use crate::server::{Decision, Failure, Session, session};

pub(super) fn play(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [player, point] = arguments else { return Err(Failure::Syntax) };
    let (color, mv) = (color(player)?, vertex(session.game.size(), point)?);
    session.play(color, mv)?;
    done()
}

/// GoGui's: several moves, all or none, as `COLOR VERTEX COLOR VERTEX…`.
pub(super) fn play_sequence(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let mut game = session.game.clone();
    for pair in arguments.chunks(2) {
        let [player, point] = pair else { return Err(Failure::Syntax) };
        let (color, mv) = (color(player)?, vertex(game.size(), point)?);
        session::play(&mut game, color, mv)?;
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
