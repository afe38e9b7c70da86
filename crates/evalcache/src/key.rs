//! Keys: a hash of the network's input.

use go::{Color, Game, PointSet, Stones, Symmetry};
use xxhash_rust::xxh3::xxh3_128;

/// Boards of a key: the present one and seven before it. No network may see more.
pub const BOARDS: usize = 8;
/// Bytes of the network's input on the largest board: seven, and two sets of points for each board.
const INPUT: usize = 7 + BOARDS * 2 * size_of::<PointSet>();
/// Bits of a key that files keep.
pub(crate) const KEY_BITS: u32 = 80;

/// 80 bits of a hash of the network's input: the last eight boards under a symmetry, the player to move, the size of
/// the board, and komi where the network sees it.
///
/// Planes of ladders are read from the board as it stands and then turned, and those of a position and of its image may
/// differ ([`go::Tactics::ladders`]). The key is the same, so one evaluation serves both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

impl Key {
    /// The key of a position under the requested symmetry; `komi` where the network sees komi.
    pub fn requested(game: &Game, komi: Option<f32>, symmetry: Symmetry) -> Key {
        let (mut input, mut len) = ([0; INPUT], 7);
        input[..2].copy_from_slice(&[game.size().side() as u8, u8::from(game.to_move() == Color::Black)]);
        if let Some(komi) = komi {
            input[2] = 1;
            input[3..7].copy_from_slice(&komi.to_bits().to_le_bytes());
        }
        let words = game.size().area().div_ceil(64);
        let places = symmetry.permutation(game.size());
        // Boards differ in few stones from the one after: the images of these are enough.
        let (mut newer, mut images) = (&Stones::EMPTY, [*PointSet::EMPTY.words(); 2]);
        for stones in (0..BOARDS).map_while(|k| game.stones_ago(k)) {
            for (color, image) in Color::BOTH.into_iter().zip(&mut images) {
                let (new, old) = (newer.of(color).words(), stones.of(color).words());
                for word in 0..words {
                    let mut changed = new[word] ^ old[word];
                    while changed != 0 {
                        let place = places[64 * word + changed.trailing_zeros() as usize];
                        image[usize::from(place / 64)] ^= 1 << (place % 64);
                        changed &= changed - 1;
                    }
                }
                for (word, bytes) in image[..words].iter().zip(input[len..].chunks_exact_mut(8)) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                len += 8 * words;
            }
            newer = stones;
        }
        Key(xxh3_128(&input[..len]) >> (128 - KEY_BITS))
    }

    /// The least key of the images of a game whose stones have the least hash, and the symmetry that leads there. Games
    /// whose boards are images of each other have the same, and their views through their symmetries are the same,
    /// planes of ladders aside.
    pub fn canonical(game: &Game, komi: Option<f32>) -> (Symmetry, Key) {
        let least = game
            .position()
            .canonical_symmetries()
            .map(|symmetry| (Key::requested(game, komi, symmetry), symmetry))
            .min();
        let (key, symmetry) = least.expect("some image has the least hash");
        (symmetry, key)
    }

    /// The key of these lower 80 bits.
    pub fn from_bits(bits: u128) -> Key {
        Key(bits & ((1 << KEY_BITS) - 1))
    }

    /// The bits, below 2^80.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// `count` bits from the `from`-th highest on.
    pub(crate) fn part(self, from: u32, count: u32) -> u128 {
        self.0 >> (KEY_BITS - from - count) & ((1 << count) - 1)
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:020x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use go::{Move, Point, Size};
    use proptest::prelude::*;

    use super::*;
    use crate::View;

    fn size() -> Size {
        Size::new(5).expect("a size")
    }

    fn game(points: &[usize]) -> Game {
        let mut game = Game::new(size());
        for &index in points {
            game.play(Move::from_index(size(), index).expect("a move")).expect("a legal move");
        }
        game
    }

    #[test]
    fn key_depends_on_all_that_a_network_sees() {
        let first = game(&[2, 1, 0]);
        let mut white = first.clone();
        white.set_to_move(first.to_move().opponent());
        // The same board by another way, after a pass, without its past, and with a ko that the past decides.
        let bare = Game::from_position(first.position().clone());
        let games = [first, white, game(&[0, 1, 2]), game(&[2, 1, 0, 25]), bare];
        let keys: BTreeSet<Key> = games.iter().map(|game| Key::requested(game, None, Symmetry::Identity)).collect();
        assert_eq!(keys.len(), games.len());
        let komi: BTreeSet<Key> = [None, Some(7.0), Some(7.5), Some(0.0)]
            .map(|komi| Key::requested(&games[0], komi, Symmetry::Identity))
            .into();
        assert_eq!(komi.len(), 4);
        assert_ne!(
            Key::requested(&games[0], None, Symmetry::Flip),
            Key::requested(&games[0], None, Symmetry::Identity)
        );
    }

    /// Twelve moves on points that do not touch. Two of them are exchanged, so that the board between them is another:
    /// the one so many moves ago.
    fn exchanged(ago: Option<usize>) -> Game {
        const MOVES: usize = 12;
        let color = |nth: usize| if nth.is_multiple_of(2) { Color::Black } else { Color::White };
        let mut moves: Vec<(Color, usize)> = (0..=MOVES).map(|nth| (color(nth), 2 * nth)).collect();
        if let Some(ago) = ago {
            moves.swap(MOVES - 1 - ago, MOVES - ago);
        }
        let mut game = Game::new(size());
        for &(color, index) in &moves[..MOVES] {
            game.set_to_move(color);
            game.play(Move::from_index(size(), index).expect("a move")).expect("a legal move");
        }
        game.set_to_move(Color::Black);
        game
    }

    #[test]
    fn key_depends_on_each_of_the_last_eight_boards_and_on_no_other() {
        let (key, plain) = (|game: &Game| Key::requested(game, None, Symmetry::Identity), exchanged(None));
        for ago in 0..=8 {
            let other = exchanged(Some(ago));
            let differs = |k: &usize| plain.stones_ago(*k) != other.stones_ago(*k);
            assert_eq!((0..=plain.turn()).filter(differs).collect::<Vec<_>>(), [ago]);
            assert_eq!(key(&plain) == key(&other), ago == 8, "the board {ago} moves ago");
        }
    }

    /// Files depend on it.
    #[test]
    fn keys_are_the_same_in_every_release() {
        let found = Key::requested(&game(&[2, 1, 0]), Some(7.5), Symmetry::Rot90).to_string();
        assert_eq!(found, "c2afd3ffb7ad02a47e86");
    }

    proptest! {
        #[test]
        fn images_have_one_canonical_key_and_view(moves in prop::collection::vec(0..26_usize, 0..40)) {
            let mut games = Symmetry::ALL.map(|symmetry| (symmetry, Game::new(size())));
            for index in moves {
                let mv = Move::from_index(size(), index).expect("a move");
                if games[0].1.is_legal(mv) {
                    games.iter_mut().for_each(|(symmetry, game)| game.play(symmetry.apply_move(size(), mv)).expect("a legal move"));
                }
            }
            let found = games.each_ref().map(|(_, game)| {
                let (symmetry, key) = Key::canonical(game, None);
                prop_assert_eq!(key, Key::requested(game, None, symmetry));
                Ok((key, View::new(game, symmetry)))
            });
            let found: Vec<_> = found.into_iter().collect::<Result<_, TestCaseError>>()?;
            prop_assert!(found.iter().all(|one| one == &found[0]));
        }
    }

    #[test]
    fn empty_board_and_symmetric_boards_have_one_key() {
        for point in [None, Some(Point::new(size(), 2, 2).expect("the centre"))] {
            let mut game = Game::new(size());
            if let Some(point) = point {
                game.play(Move::Play(point)).expect("a legal move");
            }
            let (_, key) = Key::canonical(&game, None);
            assert_eq!(key, Key::requested(&game, None, Symmetry::Rot180));
        }
    }
}
