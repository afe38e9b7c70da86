//! Status of stones: alive, dead, or in seki.
//!
//! Pass-alive stones are alive, and stones in regions that are pass-alive for the opponent are dead, with certainty.
//! Playouts decide about the others (see [`super::playouts`]). A chain is dead if its points belong to the opponent at
//! the end of most playouts. It is in seki if it touches a neutral point at the end of most playouts and is not
//! pass-alive. Without playouts it is alive.

use go::{Color, Game, PointSet, Stones};

/// The status of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Alive.
    Alive,
    /// Neither player can capture it without losing more.
    Seki,
    /// Dead.
    Dead,
}

/// A chain and its status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainStatus {
    /// The player of the chain.
    pub color: Color,
    /// Its stones.
    pub stones: PointSet,
    /// Its status.
    pub status: Status,
}

/// Whether every chain's status is certain, so that no playout is needed.
pub fn is_certain(game: &Game) -> bool {
    game.position().stones().both().is_subset(&game.pass_alive().both())
}

/// The status of every chain, by its first stone.
pub fn chain_statuses(game: &Game, ends: &[Game]) -> Vec<ChainStatus> {
    let alive = game.pass_alive();
    let ends: Vec<End> = ends.iter().map(End::of).collect();
    let mut left = game.position().stones().both();
    let mut chains = Vec::new();
    while let Some(first) = left.first() {
        let stones = game.position().chain(first);
        left -= stones;
        let color = game.position().stone(first).unwrap_or(Color::Black);
        let status = if stones.is_subset(alive.of(color)) {
            Status::Alive
        } else if stones.is_subset(alive.of(color.opponent())) {
            Status::Dead
        } else {
            likely(color, &stones, &ends)
        };
        chains.push(ChainStatus { color, stones, status });
    }
    chains
}

fn likely(color: Color, stones: &PointSet, ends: &[End]) -> Status {
    let lost = ends.iter().filter(|end| end.takes(color, stones)).count();
    let seki = ends.iter().filter(|end| end.leaves_in_seki(color, stones)).count();
    match ends.len() {
        games if 2 * lost > games => Status::Dead,
        games if 2 * seki > games => Status::Seki,
        _ => Status::Alive,
    }
}

/// How a game ended.
struct End {
    stones: Stones,
    /// What belongs to whom.
    area: Stones,
    alive: Stones,
    /// Neutral points, and those next to them.
    beside_neutral: PointSet,
}

impl End {
    fn of(game: &Game) -> End {
        let (area, alive, size) = (game.position().area(), game.pass_alive(), game.size());
        let area =
            Stones { black: (area.black - alive.white) | alive.black, white: (area.white - alive.black) | alive.white };
        let neutral = PointSet::full(size) - area.both();
        End { stones: *game.position().stones(), area, alive, beside_neutral: neutral.neighbours(size) }
    }

    /// Whether most points of a chain belong to the opponent.
    fn takes(&self, color: Color, stones: &PointSet) -> bool {
        2 * (*stones & *self.area.of(color.opponent())).len() > stones.len()
    }

    fn leaves_in_seki(&self, color: Color, stones: &PointSet) -> bool {
        stones.is_subset(self.stones.of(color))
            && (*stones & *self.alive.of(color)).is_empty()
            && !(*stones & self.beside_neutral).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use go::{Move, Scoring, Size};
    use play::{Uniform, generator};

    use super::*;
    use crate::server::playouts::play_on;

    fn check(diagram: &str, scoring: Scoring, expected: &[(&str, Status)]) {
        let size = Size::new(diagram.lines().count()).expect("a size");
        let position = testing::position(size, diagram, Color::Black);
        let game = Game::from_position(position);
        let ends = play_on(&game, &mut Uniform::new(), scoring, 7.0, &mut generator(5)).expect("nothing can fail");
        let chains = chain_statuses(&game, &ends);
        for (vertex, status) in expected {
            let point = Move::from_gtp(size, vertex).and_then(Move::point).expect("a point");
            let found = chains.iter().find(|chain| chain.stones.contains(point)).expect("there is a stone");
            assert_eq!(found.status, *status, "{vertex}");
        }
    }

    #[test]
    fn two_eyes_live_and_what_is_inside_is_dead() {
        let board = ". X . . O
                     X X X X X
                     . . . . .
                     . . . . .
                     O . . . .";
        check(board, Scoring::PassAlive, &[("B5", Status::Alive), ("E5", Status::Dead)]);
    }

    /// Nothing is pass-alive here, but ownership is obvious.
    #[test]
    fn stone_in_a_territory_is_dead() {
        let board = ". . X O .
                     . . X O .
                     O . X O X
                     . . X O .
                     . . X O .";
        let expected = [("C3", Status::Alive), ("D3", Status::Alive), ("E3", Status::Dead), ("A3", Status::Dead)];
        check(board, Scoring::PassAlive, &expected);
    }

    /// The chains in the middle share the liberties D7 and D1; who fills one is captured.
    #[test]
    fn seki_is_seen() {
        let board = ". X O . X O .
                     X X O O X O O
                     . X O O X O .
                     X X O O X O O
                     X X O X X O O
                     X X O X X O O
                     X X O . X O O";
        for scoring in [Scoring::Area, Scoring::PassAlive] {
            let expected = [("B1", Status::Alive), ("C1", Status::Seki), ("E1", Status::Seki), ("F1", Status::Alive)];
            check(board, scoring, &expected);
        }
    }

    #[test]
    fn status_without_games_is_pass_alive_only() {
        let size = Size::new(5).expect("a size");
        let game = Game::from_position(testing::position(size, "X", Color::Black));
        assert!(!is_certain(&game));
        assert_eq!(chain_statuses(&game, &[])[0].status, Status::Alive);
    }
}
