//! Which positions are one in a book.

use std::fmt;
use std::str::FromStr;

use go::{Color, Game, Move, PointSet, Symmetry};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_128;

/// A position and its images, however it was reached: stones, the player to move, the points that superko forbids, and
/// whether the last move, or the last two, were passes.
///
/// Keys of the evaluation cache have the last eight boards, too, since networks see them. A book is about the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BookKey(u128);

impl BookKey {
    /// The key of the position that a game is in, and the symmetry that turns the game as the key is.
    pub fn new(game: &Game) -> (Symmetry, BookKey) {
        let forbidden = game.position().legal_points() - game.legal_points();
        let passes = if game.passed_out() { 2 } else { u8::from(game.moves().last() == Some(&Move::Pass)) };
        let shown = |symmetry: Symmetry| {
            let mut shown = vec![game.size().side() as u8, u8::from(game.to_move() == Color::Black), passes];
            let stones = game.position().stones();
            for points in [&stones.black, &stones.white, &forbidden] {
                let turned: PointSet = symmetry.apply_set(game.size(), points);
                turned.words().iter().for_each(|word| shown.extend_from_slice(&word.to_le_bytes()));
            }
            (xxh3_128(&shown), symmetry)
        };
        let least = game.position().canonical_symmetries().map(shown).min();
        let (hash, symmetry) = least.expect("some image has the least hash");
        (symmetry, BookKey(hash))
    }
}

impl fmt::Display for BookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for BookKey {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<BookKey, std::num::ParseIntError> {
        u128::from_str_radix(text, 16).map(BookKey)
    }
}

impl Serialize for BookKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BookKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<BookKey, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
