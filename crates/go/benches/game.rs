//! How long the operations of a search take: `cargo bench -p go --bench game`.
//!
//! Games are random, except that players leave their own one-point eyes alone, so that boards fill up and stones are
//! captured as in real games. Every figure is the best of several rounds over all positions of all games.
//! Results: `experiments/0001-component-throughput`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)] // A benchmark reads the clock.

use std::hint::black_box;
use std::time::Instant;

use go::{Color, Game, Mark, Move, Point, PointSet, Scoring, Size, Tactics};
use testing::Dice;

const ROUNDS: usize = 15;
/// Moves from the root of a search to the leaf of a visit.
const DEPTH: usize = 6;

fn main() -> Result<(), go::SizeError> {
    for (side, games) in [(9, 60), (19, 12)] {
        let size = Size::new(side)?;
        let mut dice = Dice(side as u64);
        let games: Vec<Vec<Move>> = (0..games).map(|_| random_game(size, &mut dice)).collect();
        report(size, &games);
    }
    Ok(())
}

fn report(size: Size, games: &[Vec<Move>]) {
    let moves: usize = games.iter().map(Vec::len).sum();
    println!("{size}x{size}: {} games, {moves} moves", games.len());
    let start = Game::new(size).mark();
    let mut game = Game::new(size);
    row("play, the whole game", moves, || {
        for moves in games {
            game.rewind(&start);
            moves.iter().for_each(|&mv| game.play(mv).expect("a legal move"));
        }
    });
    let mut positions = positions(size, games);
    row("legal_points", positions.len(), || {
        for (game, _, _) in &positions {
            black_box(game.legal_points());
        }
    });
    row("rewind, nothing played since", positions.len(), || {
        for (game, mark, _) in &mut positions {
            game.rewind(mark);
        }
    });
    row("is_over, pass-alive", positions.len(), || {
        for (game, _, _) in &positions {
            black_box(game.is_over(Scoring::PassAlive));
        }
    });
    row("score, pass-alive", positions.len(), || {
        for (game, _, _) in &positions {
            black_box(game.score(Scoring::PassAlive));
        }
    });
    let mut tactics = Tactics::empty(size);
    row("tactics: set", positions.len(), || {
        for (game, _, _) in &positions {
            tactics.set(game.position());
            black_box(&tactics);
        }
    });
    // Not of all positions, for each would take 28 KiB.
    let some: Vec<_> = positions.iter().step_by(10).map(|(game, _, _)| Tactics::new(game.position())).collect();
    row("tactics: prospects of both", some.len(), || {
        for tactics in &some {
            black_box(Color::BOTH.map(|color| tactics.prospects(color)));
        }
    });
    row("tactics: ladders of both", some.len(), || {
        for tactics in &some {
            black_box(Color::BOTH.map(|color| tactics.ladders(color)));
        }
    });
    let mut game = Game::new(size);
    let lines = lines(size, games);
    row(&format!("rewind and {DEPTH} plays"), lines.iter().map(|line| line.marks.len()).sum(), || {
        visits(&mut game, &lines, |_| ());
    });
    row("the same, is_over, legal_points", lines.iter().map(|line| line.marks.len()).sum(), || {
        visits(&mut game, &lines, |game| {
            black_box((game.is_over(Scoring::PassAlive), game.legal_points()));
        });
    });
}

/// Prints the time of one of `count` steps.
fn row(name: &str, count: usize, mut run: impl FnMut()) {
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as f64 / count as f64
    });
    println!("  {name:<32} {:>7.1} ns", best.fold(f64::INFINITY, f64::min));
}

/// Every tenth position of every game, marked, with the moves that follow.
fn positions(size: Size, games: &[Vec<Move>]) -> Vec<(Game, Mark, Vec<Move>)> {
    let mut positions = Vec::new();
    for moves in games {
        let mut game = Game::new(size);
        for (turn, &mv) in moves.iter().enumerate() {
            if turn % 10 == 0 {
                positions.push((game.clone(), game.mark(), moves[turn..].to_vec()));
            }
            game.play(mv).expect("a legal move");
        }
    }
    positions
}

/// A game with a mark at each move that has enough moves after it.
struct Line<'a> {
    moves: &'a [Move],
    marks: Vec<Mark>,
}

fn lines(size: Size, games: &[Vec<Move>]) -> Vec<Line<'_>> {
    let line = |moves: &'_ [Move]| {
        let mut game = Game::new(size);
        moves[..moves.len() - DEPTH]
            .iter()
            .map(|&mv| {
                let mark = game.mark();
                game.play(mv).expect("a legal move");
                mark
            })
            .collect()
    };
    games.iter().map(|moves| Line { moves, marks: line(moves) }).collect()
}

/// At every move of every game: back to the mark, some moves on, and a look at the leaf.
fn visits(game: &mut Game, lines: &[Line<'_>], look: impl Fn(&Game)) {
    for line in lines {
        game.rewind(&Game::new(game.size()).mark());
        for (turn, mark) in line.marks.iter().enumerate() {
            game.rewind(mark);
            line.moves[turn..turn + DEPTH].iter().for_each(|&mv| game.play(mv).expect("a legal move"));
            look(game);
        }
    }
}

fn random_game(size: Size, dice: &mut Dice) -> Vec<Move> {
    let mut game = Game::new(size);
    while !game.passed_out() && game.turn() < 3 * size.area() {
        let own = *game.position().stones().of(game.to_move());
        let eye = |point: Point| PointSet::from_iter([point]).neighbours(size).is_subset(&own);
        let moves: Vec<Point> = game.legal_points().iter().filter(|&point| !eye(point)).collect();
        let mv = if moves.is_empty() { Move::Pass } else { Move::Play(moves[dice.below(moves.len())]) };
        game.play(mv).expect("a legal move");
    }
    game.moves().to_vec()
}
