//! Quick games from a position to the end.
//!
//! Moves are drawn from the model's policy without a search. Omitted are points that are decided, eyes of one's own,
//! and moves that put two stones or more of one's own into atari without capturing: so living stones keep their eyes, a
//! seki is left alone, and games end.

use std::time::{Duration, Instant};

use go::{Color, Game, Move, Point, PointSet, Position, Scoring};
use mcts::choice::draw_from;
use mcts::{Draw, Evaluator, Request, Ticket};
use play::GameRng;
use rand::RngExt;

use super::PlayerError;

/// Games that are played on.
const GAMES: usize = 16;

/// Games played in parallel: positions per batch.
pub const WIDTH: usize = 8;

/// After this time the model evaluates nothing more, and moves are drawn evenly.
const PATIENCE: Duration = Duration::from_secs(5);

/// Plays games from here to their end.
///
/// # Errors
/// The model failed.
pub fn play_on(
    game: &Game,
    model: &mut dyn Evaluator,
    scoring: Scoring,
    komi: f32,
    rng: &mut GameRng,
) -> Result<Vec<Game>, PlayerError> {
    let until = Instant::now() + PATIENCE;
    let mut ends = Vec::with_capacity(GAMES);
    while ends.len() < GAMES {
        let mut open = vec![game.clone(); WIDTH.min(GAMES - ends.len())];
        while !open.is_empty() {
            let policies = if Instant::now() < until { Some(policies(&open, model, komi, rng)?) } else { None };
            for (index, game) in open.iter_mut().enumerate() {
                let flat = vec![1.0; game.size().moves()];
                let policy = policies.as_ref().map_or(&flat, |policies| &policies[index]);
                let mv = choose(game, policy.clone(), scoring, rng);
                game.play(mv)?;
            }
            // Superko lets some games go on for long; a board twice full says enough.
            let longest = game.turn() + 2 * game.size().area();
            let (over, left) = open.into_iter().partition(|game| game.is_over(scoring) || game.turn() >= longest);
            open = left;
            ends.extend::<Vec<Game>>(over);
        }
    }
    Ok(ends)
}

/// The move of the model in each of these games.
fn policies(
    games: &[Game],
    model: &mut dyn Evaluator,
    komi: f32,
    rng: &mut GameRng,
) -> Result<Vec<Vec<f32>>, PlayerError> {
    let tickets: Vec<Ticket> =
        games.iter().map(|game| model.submit(Request { game, komi, draw: Draw::new(rng.random()) })).collect();
    model.flush()?;
    Ok(tickets.into_iter().map(|ticket| model.get(ticket).policy.to_vec()).collect())
}

/// A move drawn from the policy; a pass when there is nothing sensible to play.
fn choose(game: &mut Game, mut policy: Vec<f32>, scoring: Scoring, rng: &mut GameRng) -> Move {
    let size = game.size();
    let decided = if scoring == Scoring::PassAlive { game.pass_alive().both() } else { PointSet::EMPTY };
    let open = game.legal_points() - decided;
    for point in Point::all(size) {
        let allowed = open.contains(point) && !is_eye(game.position(), point, game.to_move());
        // A policy may give nothing to all that is left, and something has to be played.
        policy[point.index()] = if allowed { policy[point.index()].max(1e-6) } else { 0.0 };
    }
    policy[size.area()] = 0.0;
    while let Some(index) = draw_from(&policy, rng) {
        let Some(point) = Point::from_index(size, index) else { break };
        if !is_self_atari(game, point) {
            return Move::Play(point);
        }
        policy[index] = 0.0;
    }
    Move::Pass
}

/// Whether all neighbours of an empty point are stones of one player, and the opponent has at most one stone diagonal
/// to it, or none at the edge.
fn is_eye(position: &Position, point: Point, color: Color) -> bool {
    let (size, stones) = (position.size(), position.stones());
    let around = PointSet::from_iter([point]).neighbours(size);
    let (row, col) = (point.row(size), point.col(size));
    let steps = |at: usize| [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
    let diagonal = steps(row).flat_map(|row| steps(col).filter_map(move |col| Point::new(size, row, col)));
    let taken = diagonal.filter(|&diagonal| stones.of(color.opponent()).contains(diagonal)).count();
    around.is_subset(stones.of(color)) && taken <= usize::from(around.len() == 4)
}

fn is_self_atari(game: &mut Game, point: Point) -> bool {
    let (color, mark) = (game.to_move(), game.mark());
    let captured = game.captures(color);
    if game.play(Move::Play(point)).is_err() {
        return true;
    }
    let position = game.position();
    let bad = position.liberties(point) == 1 && position.chain(point).len() > 1 && game.captures(color) == captured;
    game.rewind(&mark);
    bad
}

#[cfg(test)]
mod tests {
    use go::Size;
    use play::{Uniform, generator};

    use super::*;

    fn game(diagram: &str) -> Game {
        let side = diagram.lines().count();
        Game::from_position(testing::position(Size::new(side).expect("a size"), diagram, Color::Black))
    }

    #[test]
    fn eyes_are_points_that_neither_side_fills() {
        let game = game(
            ". X . . O
             X X . O .
             . X . . O
             X X O O .
             . X . . .",
        );
        let eye = |vertex: &str, color| {
            let mv = Move::from_gtp(game.size(), vertex).expect("a vertex");
            is_eye(game.position(), mv.point().expect("a point"), color)
        };
        for vertex in ["A5", "A3", "A1"] {
            assert!(eye(vertex, Color::Black) && !eye(vertex, Color::White), "{vertex}");
        }
        assert!(eye("E4", Color::White) && !eye("E4", Color::Black));
        for vertex in ["C5", "C3", "D3", "E1"] {
            assert!(!eye(vertex, Color::Black) && !eye(vertex, Color::White), "{vertex}");
        }
    }

    /// White's stone in the corner cannot live, Black's group cannot die, and all games come to an end that says so.
    #[test]
    fn games_end_and_the_living_live() {
        let game = game(
            ". X . X .
             X X X X X
             . . . . .
             . . . . .
             O . . . .",
        );
        for scoring in [Scoring::Area, Scoring::PassAlive] {
            let ends = play_on(&game, &mut Uniform::new(), scoring, 7.0, &mut generator(3)).expect("nothing can fail");
            assert_eq!(ends.len(), GAMES);
            for end in &ends {
                assert!(end.is_over(scoring) || end.turn() >= 50, "{:?}", end.moves());
                assert!(game.position().stones().black.is_subset(&end.position().stones().black));
            }
        }
    }
}
