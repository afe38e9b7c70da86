//! The input of the codec's models: a function of the boards in the network's input, under a symmetry.

use go::{Color, Game, MAX_SIDE, Point, PointSet, Size, Stones, Symmetry};

/// Cells of the border on each side, so that every neighbour that models read has a cell.
pub(crate) const BORDER: usize = 2;
/// Cells of a row with its border.
pub(crate) const WIDTH: usize = MAX_SIDE + 2 * BORDER;
/// Cells of a board with its border.
pub(crate) const CELLS: usize = WIDTH * WIDTH;
/// The last moves that models see.
pub(crate) const RECENT: usize = 4;

pub(crate) const EMPTY: u8 = 0;
pub(crate) const BEYOND: u8 = 1;
/// The first code of the mover's stones: in atari, then with few liberties, then with more.
pub(crate) const OWN: u8 = 2;
/// The first code of the opponent's stones.
pub(crate) const OTHER: u8 = 5;

/// A position as the codec sees it: the same for all images of a position when each is turned by its canonical
/// symmetry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    size: Size,
    /// A code for each cell, the border included.
    pub(crate) cells: [u8; CELLS],
    /// Stones on the board.
    pub(crate) stones: u16,
    /// Row and column of the last moves, the newest first; `None` for a pass, or before the first board.
    pub(crate) recent: [Option<(u8, u8)>; RECENT],
}

/// The cell of a point.
pub(crate) const fn cell(row: usize, col: usize) -> usize {
    (row + BORDER) * WIDTH + col + BORDER
}

impl View {
    /// The present position of a game, under a symmetry.
    pub fn new(game: &Game, symmetry: Symmetry) -> View {
        let (size, places) = (game.size(), symmetry.permutation(game.size()));
        let mut view = View::empty(size);
        let position = game.position();
        let place = |point: Point| {
            let index = usize::from(places[point.index()]);
            (index / size.side(), index % size.side())
        };
        for (color, first) in [(game.to_move(), OWN), (game.to_move().opponent(), OTHER)] {
            for point in position.stones().of(color) {
                let strength =
                    if position.in_atari(point) { 0 } else { 1 + u8::from(position.pseudo_liberties(point) > 4) };
                let (row, col) = place(point);
                view.cells[cell(row, col)] = first + strength;
                view.stones += 1;
            }
        }
        for (k, recent) in view.recent.iter_mut().enumerate() {
            let (Some(new), Some(old)) = (game.stones_ago(k), game.stones_ago(k + 1)) else { break };
            *recent = added(new, old).first().map(place).map(|(row, col)| (row as u8, col as u8));
        }
        view
    }

    fn empty(size: Size) -> View {
        let mut cells = [BEYOND; CELLS];
        for row in 0..size.side() {
            cells[cell(row, 0)..cell(row, size.side())].fill(EMPTY);
        }
        View { size, cells, stones: 0, recent: [None; RECENT] }
    }

    /// The size of the board.
    pub fn size(&self) -> Size {
        self.size
    }
}

/// Stones that a board has and the one before it has not: the move, since a stone takes itself off in no game.
fn added(new: &Stones, old: &Stones) -> PointSet {
    Color::BOTH.into_iter().fold(PointSet::EMPTY, |all, color| all | (*new.of(color) - *old.of(color)))
}

#[cfg(test)]
mod tests {
    use go::Move;

    use super::*;

    fn game(moves: &str) -> Game {
        let size = Size::new(9).expect("a size");
        let mut game = Game::new(size);
        for text in moves.split_whitespace() {
            game.play(Move::from_gtp(size, text).expect("a vertex")).expect("a legal move");
        }
        game
    }

    #[test]
    fn view_has_owners_liberties_and_last_moves() {
        let game = game("A1 A2 E5 pass E6");
        let view = View::new(&game, Symmetry::Identity);
        let at = |row, col| view.cells[cell(row, col)];
        // White is to move: the corner stone is the opponent's, in atari.
        assert_eq!((at(8, 0), at(7, 0), at(4, 4), at(0, 0)), (OTHER, OWN + 1, OTHER + 2, EMPTY));
        assert_eq!(view.recent, [Some((3, 4)), None, Some((4, 4)), Some((7, 0))]);
        assert_eq!((view.stones, view.cells[0]), (4, BEYOND));
    }

    #[test]
    fn images_have_one_view_when_turned_back() {
        let size = Size::new(9).expect("a size");
        let game = game("C3 G7 C7 G3 D5 pass D4");
        for symmetry in Symmetry::ALL {
            let mut image = Game::new(size);
            for &mv in game.moves() {
                image.play(symmetry.apply_move(size, mv)).expect("a legal move");
            }
            assert_eq!(View::new(&image, symmetry.inverse()), View::new(&game, Symmetry::Identity), "{symmetry:?}");
        }
    }
}
