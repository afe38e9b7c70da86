//! Input planes of a network: the one definition for playing and for training.
//!
//! 17 planes of one number a point, row by row from the top-left corner: for each of the last eight boards, newest
//! first, the stones of the side to move *now* and then those of its opponent; at last a plane that is 1 everywhere
//! when Black is to move (AlphaGo Zero, Methods, "Neural network input features", with the planes interleaved as in
//! Minigo). Boards before the first position of the game are empty. Every number is 0 or 1.

use go::{Color, Game, Size, Stones, Symmetry};
use record::Example;

/// Boards a network sees, the present one included.
pub(crate) const BOARDS: usize = Example::HISTORY + 1;
/// Planes of a position.
pub(crate) const COUNT: usize = 2 * BOARDS + 1;
const _: () = assert!(COUNT == cpu::HISTORY_PLANES, "files name this set by the number of its planes");
const _: () = assert!(
    *cpu::SIDES.start() == Size::MIN.side() && *cpu::SIDES.end() == Size::MAX.side(),
    "crate cpu takes the boards of crate go"
);

/// Numbers of a position on this board.
pub(crate) const fn len(size: Size) -> usize {
    COUNT * size.area()
}

/// Descriptions of the planes: those of networks with one plane for the player to move, and a last one of others.
pub(crate) fn names() -> Vec<String> {
    let ago = |moves: usize| match moves {
        0 => "now".to_owned(),
        1 => "1 move ago".to_owned(),
        _ => format!("{moves} moves ago"),
    };
    let boards =
        (0..BOARDS).flat_map(|moves| ["mover’s", "opponent’s"].map(|whose| format!("{whose} stones {}", ago(moves))));
    boards.chain(["Black", "White"].map(|color| format!("{color} to move"))).collect()
}

/// Writes the position that a game is in, under a symmetry.
///
/// # Panics
/// When `planes` has not [`len`] numbers for the game's board.
pub(crate) fn of_game(game: &Game, symmetry: Symmetry, planes: &mut [u8]) {
    let boards = (0..BOARDS).map_while(|k| game.stones_ago(k));
    write(game.size(), boards, game.to_move(), symmetry, planes);
}

/// Writes a position given by its boards, newest first, of which the network sees eight, under a symmetry.
///
/// # Panics
/// When `planes` has not [`len`] numbers for this board.
pub(crate) fn write<'a>(
    size: Size,
    boards: impl Iterator<Item = &'a Stones>,
    to_move: Color,
    symmetry: Symmetry,
    planes: &mut [u8],
) {
    assert_eq!(planes.len(), len(size), "the buffer has the planes of a {size}x{size} board");
    planes.fill(0);
    let places = symmetry.permutation(size);
    let (stones, black_to_move) = planes.split_at_mut(2 * BOARDS * size.area());
    let mut planes = stones.chunks_exact_mut(size.area());
    for board in boards.take(BOARDS) {
        for color in [to_move, to_move.opponent()] {
            let plane = planes.next().expect("there are planes for eight boards");
            for point in board.of(color) {
                plane[usize::from(places[point.index()])] = 1;
            }
        }
    }
    black_to_move.fill(u8::from(to_move == Color::Black));
}

#[cfg(test)]
mod tests {
    use go::Move;

    use super::*;

    fn size(side: usize) -> Size {
        Size::new(side).unwrap()
    }

    fn planes(game: &Game, symmetry: Symmetry) -> Vec<u8> {
        let mut planes = vec![9; len(game.size())];
        of_game(game, symmetry, &mut planes);
        planes
    }

    /// The points of a plane that hold 1, as "row col".
    fn points(planes: &[u8], size: Size, plane: usize) -> Vec<(usize, usize)> {
        let plane = &planes[plane * size.area()..][..size.area()];
        (0..size.area()).filter(|&i| plane[i] == 1).map(|i| (i / size.side(), i % size.side())).collect()
    }

    fn play(game: &mut Game, row: usize, col: usize) {
        game.play(Move::Play(go::Point::new(game.size(), row, col).unwrap())).unwrap();
    }

    #[test]
    fn first_position_is_empty_with_black_to_move() {
        let planes = planes(&Game::new(size(3)), Symmetry::Identity);
        assert!(planes[..16 * 9].iter().all(|&x| x == 0));
        assert!(planes[16 * 9..].iter().all(|&x| x == 1));
    }

    #[test]
    fn mine_comes_before_theirs_on_every_board_of_the_past() {
        let size = size(3);
        let mut game = Game::new(size);
        play(&mut game, 0, 1);
        play(&mut game, 2, 2);
        play(&mut game, 1, 0);
        // White to move: its own stones are in the even planes of every board.
        let planes = planes(&game, Symmetry::Identity);
        assert_eq!(points(&planes, size, 0), [(2, 2)]);
        assert_eq!(points(&planes, size, 1), [(0, 1), (1, 0)]);
        assert_eq!(points(&planes, size, 2), [(2, 2)]);
        assert_eq!(points(&planes, size, 3), [(0, 1)]);
        assert_eq!(points(&planes, size, 4), []);
        assert_eq!(points(&planes, size, 5), [(0, 1)]);
        assert!((6..17).all(|plane| points(&planes, size, plane).is_empty()));
    }

    #[test]
    fn captured_stone_stays_in_the_past() {
        let size = size(3);
        let position = testing::position(size, "O X . / . . . / . . .", Color::Black);
        let mut game = Game::from_position(position);
        play(&mut game, 1, 0);
        let planes = planes(&game, Symmetry::Identity);
        assert_eq!(points(&planes, size, 0), []);
        assert_eq!(points(&planes, size, 2), [(0, 0)]);
    }

    #[test]
    fn symmetry_moves_points_and_leaves_the_last_plane() {
        let size = size(3);
        let mut game = Game::new(size);
        play(&mut game, 0, 1);
        game.play(Move::Pass).unwrap();
        // A quarter turn anticlockwise takes the top edge to the left edge.
        let planes = planes(&game, Symmetry::Rot90);
        assert_eq!(points(&planes, size, 0), [(1, 0)]);
        assert_eq!(points(&planes, size, 16).len(), 9);
    }
}
