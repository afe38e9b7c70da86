//! The end of a game, and dead stones.

use go::{Color, Game, Move, Point, PointSet};

use super::arguments::{Answer, none, one};
use super::moves::genmove;
use crate::server::board;
use crate::server::controller::Controller;
use crate::server::parse::color;
use crate::server::session::failed;
use crate::server::status::{ChainStatus, Status, chain_statuses, is_certain};
use crate::server::{Failure, Session};

/// The score of the board as it stands, whether the game has ended or not.
pub(super) fn final_score(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    let margin = f64::from(session.game.score(session.setup.scoring)) - f64::from(session.komi);
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
        session.player.play_on(&session.game, session.komi).map_err(|error| failed(&error))?
    };
    let chains = chain_statuses(&session.game, &ends);
    session.judged = Some((here, chains.clone()));
    Ok(chains)
}

/// KGS's: a move where the players did not agree on dead stones. As long as the opponent has dead stones, one that
/// helps to capture them; then a pass.
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
        None => return genmove(session, arguments, controller),
    };
    session.play(player, mv)?;
    Ok(mv.to_gtp(session.game.size()))
}

/// A move on a liberty of dead stones that loses nothing: pass-alive regions stay pass-alive, and its own chain keeps two
/// liberties unless it captures. The one that captures most, and then the one that leaves the most liberties.
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
