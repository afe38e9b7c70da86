//! Stones that Black has before the game begins.

use go::{Point, PointSet};

use super::arguments::{Answer, number, one};
use crate::server::parse::vertex;
use crate::server::{Failure, Session, board, handicap};

/// Places that the protocol fixes; returns where.
pub(super) fn fixed_handicap(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let stones: usize = number(one(arguments)?)?;
    place(session, &handicap::fixed(session.game.size(), stones).ok_or(Failure::BadStones)?)
}

/// Places of our own choice: the fixed ones, and beyond those any that are far apart.
pub(super) fn place_free_handicap(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let stones: usize = number(one(arguments)?)?;
    let size = session.game.size();
    if !(2..size.area()).contains(&stones) {
        return Err(Failure::BadStones);
    }
    place(session, &handicap::free(size, stones))
}

/// Places that the controller chose.
pub(super) fn set_free_handicap(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let size = session.game.size();
    let points: Option<Vec<Point>> = arguments.iter().map(|word| vertex(size, word).ok()?.point()).collect();
    let points = points.ok_or(Failure::BadVertices)?;
    let different: PointSet = points.iter().copied().collect();
    if different.len() != points.len() || !(2..size.area()).contains(&points.len()) {
        return Err(Failure::BadVertices);
    }
    place(session, &points).map(|_| String::new())
}

fn place(session: &mut Session<'_>, points: &[Point]) -> Answer {
    let empty = session.game.turn() == 0 && session.game.position().stones().both().is_empty();
    if !empty {
        return Err(Failure::BoardNotEmpty);
    }
    let size = session.game.size();
    session.begin(handicap::game(size, points).ok_or(Failure::BadVertices)?);
    Ok(board::names(size, points.iter().copied()))
}
