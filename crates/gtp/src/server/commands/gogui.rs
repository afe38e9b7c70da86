//! What GoGui shows on the board: the chapter on analyze commands of its manual.

use std::fmt::Write;

use go::{Game, Move, Point};
use mcts::{LARGEST_TREE, Search};

use super::arguments::{Answer, none};
use super::scoring::{estimate, letter};
use crate::server::controller::Controller;
use crate::server::session::enough;
use crate::server::{Failure, Session};

/// What there is to see: how it is drawn, its name, and the command.
const SHOWN: [&str; 6] = [
    "pspairs/Policy of the network, %/tengen-policy",
    "pspairs/Visits/tengen-visits",
    "var/Principal variation/tengen-variation",
    "string/Value/tengen-value",
    "sboard/Pass-alive points/tengen-pass_alive",
    "sboard/Status of the stones (s seki, d dead)/tengen-status",
];

pub(super) fn analyze_commands(_: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(SHOWN.join("\n"))
}

/// Each point where the network would play, with its probability in percent, if that rounds to 1 at least.
pub(super) fn policy(session: &mut Session<'_>, arguments: &[&str], controller: &mut dyn Controller) -> Answer {
    none(arguments)?;
    let mut priors = Vec::new();
    session.think(None, &[], &mut |search| {
        if search.is_expanded() {
            priors = search.priors();
        }
        enough(search.is_expanded() || controller.interrupted())
    })?;
    priors.sort_by(|a, b| b.1.total_cmp(&a.1));
    let percent = priors.iter().map(|(mv, prior)| (*mv, (100.0 * prior).round() as u32));
    Ok(pairs(&session.game, percent.filter(|&(_, percent)| percent > 0)))
}

/// Each point that a search visits, with how often.
pub(super) fn visits(session: &mut Session<'_>, arguments: &[&str], controller: &mut dyn Controller) -> Answer {
    none(arguments)?;
    let mut moves = Vec::new();
    search(session, controller, &mut |search| moves = search.root_moves())?;
    moves.sort_by_key(|root| std::cmp::Reverse(root.visits));
    Ok(pairs(&session.game, moves.iter().map(|root| (root.mv, root.visits))))
}

/// The moves that a search expects, as `COLOR VERTEX COLOR VERTEX…`.
pub(super) fn variation(session: &mut Session<'_>, arguments: &[&str], controller: &mut dyn Controller) -> Answer {
    none(arguments)?;
    let mut path = Vec::new();
    search(session, controller, &mut |search| {
        path = search.best_move().map_or_else(Vec::new, |best| search.variation(best.mv));
    })?;
    let mut color = session.game.to_move();
    let mut words = Vec::new();
    for (mv, _) in path {
        words.push(format!("{color} {}", mv.to_gtp(session.game.size())));
        color = color.opponent();
    }
    Ok(words.join(" "))
}

/// The value of a search, for Black.
pub(super) fn value(session: &mut Session<'_>, arguments: &[&str], controller: &mut dyn Controller) -> Answer {
    none(arguments)?;
    let mut text = String::new();
    search(session, controller, &mut |search| {
        let (root, network) = (search.policy_value().black(), search.network_value().black());
        text = format!("{root:+.3} for Black after {} visits; network value {network:+.3}", search.visits());
    })?;
    Ok(text)
}

/// Whose the pass-alive points are.
pub(super) fn pass_alive(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    let alive = session.game.pass_alive();
    Ok(board(&session.game, |point| match (alive.black.contains(point), alive.white.contains(point)) {
        (true, _) => 'X',
        (_, true) => 'O',
        _ => '.',
    }))
}

/// The status of stones.
pub(super) fn status(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    let chains = estimate(session)?;
    Ok(board(&session.game, |point| chains.iter().find(|chain| chain.stones.contains(point)).map_or('.', letter)))
}

/// Shows `see` a search with the visits of a move, or with fewer where its tree is full.
fn search(
    session: &mut Session<'_>,
    controller: &mut dyn Controller,
    see: &mut dyn FnMut(&Search),
) -> Result<(), Failure> {
    let visits = session.setup.visits;
    session.think(None, &[], &mut |search| {
        let done = is_complete(search, visits, LARGEST_TREE) || (search.is_expanded() && controller.interrupted());
        if done {
            see(search);
        }
        enough(done)
    })
}

/// Whether a search has so many visits, or a tree of so many bytes, which does not grow.
fn is_complete(search: &Search, visits: u32, largest: usize) -> bool {
    search.is_expanded() && (search.visits() >= visits || search.is_full(largest))
}

/// Moves on the board with their labels.
fn pairs(game: &Game, numbers: impl Iterator<Item = (Move, u32)>) -> String {
    let points = numbers.filter(|(mv, _)| *mv != Move::Pass);
    points.map(|(mv, number)| format!("{} {number}", mv.to_gtp(game.size()))).collect::<Vec<_>>().join(" ")
}

/// A board of letters, beginning on a line of its own.
fn board(game: &Game, letter: impl Fn(Point) -> char) -> String {
    let mut text = String::new();
    for point in Point::all(game.size()) {
        let gap = if point.col(game.size()) == 0 { '\n' } else { ' ' };
        write!(text, "{gap}{}", letter(point)).expect("a string takes all text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Player;
    use crate::server::engine_player::tests::engine_player;
    use crate::server::tests::setup;

    #[test]
    fn search_with_a_full_tree_is_shown_before_its_visits() {
        let (game, mut known) = (Game::new(setup(5).size), Vec::new());
        let mut watch = |search: &Search| {
            known.push((is_complete(search, 1000, LARGEST_TREE), is_complete(search, 1000, 1)));
            enough(search.is_expanded())
        };
        engine_player("puct", 30).think(&game, 7.5, &[], &mut watch).expect("it thinks");
        assert_eq!((known.first(), known.last()), (Some(&(false, false)), Some(&(false, true))));
    }
}
