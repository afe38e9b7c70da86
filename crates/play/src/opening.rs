//! Games that do not begin with the empty board.

use go::{Game, Move, Point, PointSet};
use rand::RngExt;

use crate::GameRng;

/// Plays `moves` random legal moves, off the edge where possible.
pub(crate) fn opening(mut game: Game, moves: usize, rng: &mut GameRng) -> Game {
    let size = game.size();
    let on_edge = |point: Point| {
        let last = size.side() - 1;
        [point.row(size), point.col(size)].iter().any(|&line| line == 0 || line == last)
    };
    let inner: PointSet = Point::all(size).filter(|&point| !on_edge(point)).collect();
    for _ in 0..moves {
        let legal = game.legal_points();
        let points: Vec<Point> = if (legal & inner).is_empty() { legal } else { legal & inner }.iter().collect();
        let mv = points.get(rng.random_range(0..points.len().max(1))).map_or(Move::Pass, |&point| Move::Play(point));
        game.play(mv).expect("the move is among the legal ones");
    }
    game
}
