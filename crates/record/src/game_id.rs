//! Names of games.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// The name of a game: 128 bits, written as 32 lower-case hexadecimal digits.
///
/// A game is a function of its models, its configuration and its seed, and its id is a hash of the three: the same
/// game played again has the same id. With a network on a GPU its moves may differ, since evaluations are rounded
/// differently in other batches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameId([u8; 16]);

impl GameId {
    /// The id of a game: the first half of the SHA-256 of `black`, `white`, `config_digest` and the decimal `seed`,
    /// with a line feed after each. Neither ids of models nor digests contain line feeds.
    pub fn of(black: &str, white: &str, config_digest: &str, seed: u64) -> GameId {
        let sum = Sha256::digest(format!("{black}\n{white}\n{config_digest}\n{seed}\n"));
        GameId(std::array::from_fn(|i| sum[i]))
    }

    /// A number in [0, 1), spread evenly over the games: the first 13 digits of the id, divided by 16^13.
    pub fn share(self) -> f64 {
        share(u64::from_be_bytes(std::array::from_fn(|i| self.0[i])))
    }
}

/// A number in [0, 1) from the first bits of a hash: 52, as many as fit into an f64 exactly.
pub(crate) fn share(hash: u64) -> f64 {
    (hash >> 12) as f64 / (1_u64 << 52) as f64
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GameId({self})")
    }
}

impl FromStr for GameId {
    type Err = GameIdError;

    fn from_str(text: &str) -> Result<GameId, GameIdError> {
        let lower_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() != 32 || !text.bytes().all(lower_hex) {
            return Err(GameIdError);
        }
        let bits = u128::from_str_radix(text, 16).map_err(|_| GameIdError)?;
        Ok(GameId(bits.to_be_bytes()))
    }
}

/// Text that is no game id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a game id has 32 lower-case hexadecimal digits")]
pub struct GameIdError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_the_hash_that_other_tools_compute() {
        // python3 -c 'import hashlib;
        // print(hashlib.sha256(b"v15-330\nv15-330\n0123456789abcdef\n7\n").hexdigest()[:32])'
        let id = GameId::of("v15-330", "v15-330", "0123456789abcdef", 7);
        assert_eq!(id.to_string(), "807548a8071eaf2da4ebb316ca630ee1");
        // python3 -c 'print(int("807548a8071ea", 16) / 16**13)'
        assert!((id.share() - 0.5017896089767597).abs() < 1e-15, "{}", id.share());
    }

    #[test]
    fn game_id_differs_for_each_ingredient() {
        let ids = [
            GameId::of("a-1", "a-1", "d", 1),
            GameId::of("a-2", "a-1", "d", 1),
            GameId::of("a-1", "a-2", "d", 1),
            GameId::of("a-1", "a-1", "e", 1),
            GameId::of("a-1", "a-1", "d", 2),
        ];
        for (i, a) in ids.iter().enumerate() {
            assert!(ids.iter().skip(i + 1).all(|b| a != b));
        }
    }

    #[test]
    fn shares_are_spread_evenly() {
        let below = (0..10_000).filter(|&seed| GameId::of("random", "random", "d", seed).share() < 0.05).count();
        // Binomial: mean 500, standard deviation 21.8.
        assert!((400..600).contains(&below), "{below}");
    }

    #[test]
    fn ids_read_and_print() {
        let text = "00ff0123456789abcdef0123456789ab";
        assert_eq!(text.parse::<GameId>().unwrap().to_string(), text);
        for wrong in ["", "00ff", "00FF0123456789abcdef0123456789ab", "+0ff0123456789abcdef0123456789ab", "é"] {
            assert_eq!(wrong.parse::<GameId>(), Err(GameIdError), "{wrong}");
        }
    }
}
