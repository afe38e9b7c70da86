//! Moves that a search leaves out.

use go::{Color, Move, PointSet, Size};

/// Moves of one player that a search leaves out near its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avoid {
    /// The player.
    pub player: Color,
    /// The points.
    pub points: PointSet,
    /// Whether the pass is left out, too.
    pub pass: bool,
    /// Only at positions less than so many moves below the root; 1: at the root alone.
    pub until: usize,
}

impl Avoid {
    /// A list of moves of a player.
    pub fn listed(player: Color, moves: &[Move], until: usize) -> Avoid {
        let points = moves.iter().filter_map(|mv| mv.point()).collect();
        Avoid { player, points, pass: moves.contains(&Move::Pass), until }
    }

    /// All moves of a board but those of this list: what a search leaves out that may follow these alone.
    pub fn all_others(self, size: Size) -> Avoid {
        Avoid { points: PointSet::full(size) - self.points, pass: !self.pass, ..self }
    }

    /// Whether a move of the player is left out.
    pub fn contains(&self, mv: Move) -> bool {
        mv.point().map_or(self.pass, |point| self.points.contains(point))
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::{Color, Game, Move, PointSet, Scoring, Size};

    use super::Avoid;
    use crate::{Evaluation, Search, Selected, Settings, Value};

    fn moves(avoid: Vec<Avoid>, visits: u32) -> Vec<(Move, Vec<(Move, u32)>)> {
        let config = Preset::Minigo.config();
        let size = Size::new(3).expect("a size");
        let settings = Settings { pass_from: 0, ..Settings::new(&config.search, &config.game) };
        let mut search = Search::new(Game::new(size), settings).avoiding(avoid);
        let policy = vec![0.1; size.moves()];
        while !search.is_expanded() || search.visits() < visits {
            if let Selected::Leaf(leaf) = search.select(&mut |_| {}) {
                search.expand(leaf, Evaluation { policy: &policy, value: Value::ZERO });
            }
        }
        search.root_moves().iter().map(|root| (root.mv, search.variation(root.mv))).collect()
    }

    #[test]
    fn move_is_either_listed_or_among_all_others() {
        let size = Size::new(3).expect("a size");
        let corner = Move::from_gtp(size, "A1").expect("a vertex");
        for moves in [vec![], vec![corner], vec![Move::Pass], vec![corner, Move::Pass, corner]] {
            let listed = Avoid::listed(Color::White, &moves, 3);
            let others = listed.all_others(size);
            assert_eq!((others.player, others.until, others.all_others(size)), (Color::White, 3, listed));
            for mv in (0..size.moves()).filter_map(|index| Move::from_index(size, index)) {
                let is_listed = moves.contains(&mv);
                assert_eq!((listed.contains(mv), others.contains(mv)), (is_listed, !is_listed), "{mv:?} of {moves:?}");
            }
        }
    }

    #[test]
    fn avoided_moves_are_searched_nowhere_above_their_depth() {
        let size = Size::new(3).expect("a size");
        let corner = go::Point::new(size, 0, 0).expect("a point");
        let all_but_corner = PointSet::full(size) - PointSet::from_iter([corner]);
        let only = |player, until| Avoid { player, points: all_but_corner, pass: true, until };
        let found = moves(vec![only(Color::Black, 1)], 200);
        assert_eq!(found.iter().map(|(mv, _)| *mv).collect::<Vec<_>>(), [Move::Play(corner)]);
        // White's moves are not restricted, and Black's second move is not either.
        let replies = moves(vec![only(Color::White, 2)], 200);
        assert!(replies.len() > 5, "{replies:?}");
        for (mv, variation) in replies.iter().filter(|(_, variation)| variation.len() > 1) {
            let reply = if *mv == Move::Play(corner) { Move::Pass } else { Move::Play(corner) };
            assert_eq!(variation[1].0, reply, "after {mv:?}");
        }
    }

    /// What follows White's pass, the only move of the root, where Black is ahead and avoids this.
    fn after_a_losing_pass(avoid: Avoid) -> Selected {
        let config = Preset::Minigo.config();
        let size = Size::new(3).expect("a size");
        let mut game = Game::new(size);
        game.play(Move::from_gtp(size, "B2").expect("a vertex")).expect("a legal move");
        let settings = Settings {
            pass_from: 0,
            prune_pass_alive: false,
            adjudicate_winning_pass: true,
            scoring: Scoring::Area,
            komi: 0.5,
            ..Settings::new(&config.search, &config.game)
        };
        let only_pass = Avoid { player: Color::White, points: PointSet::full(size), pass: false, until: 1 };
        let mut search = Search::new(game, settings).avoiding(vec![only_pass, avoid]);
        let Selected::Leaf(root) = search.select(&mut |_| {}) else { panic!("the root is a leaf") };
        search.expand(root, Evaluation { policy: &vec![0.1; size.moves()], value: Value::ZERO });
        search.select(&mut |_| {})
    }

    #[test]
    fn winning_pass_is_adjudicated_unless_it_is_avoided() {
        let avoid = Avoid { player: Color::Black, points: PointSet::EMPTY, pass: true, until: 2 };
        assert!(matches!(after_a_losing_pass(avoid), Selected::Leaf(_)));
        for other in [
            Avoid { until: 1, ..avoid },
            Avoid { player: Color::White, ..avoid },
            Avoid { points: PointSet::full(Size::new(3).expect("a size")), pass: false, ..avoid },
        ] {
            assert_eq!(after_a_losing_pass(other), Selected::Ended, "{other:?}");
        }
    }

    #[test]
    fn without_any_other_move_the_pass_is_left() {
        let all = PointSet::full(Size::new(3).expect("a size"));
        let found = moves(vec![Avoid { player: Color::Black, points: all, pass: true, until: 1 }], 20);
        assert_eq!(found.iter().map(|(mv, _)| *mv).collect::<Vec<_>>(), [Move::Pass]);
    }
}
