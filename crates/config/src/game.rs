//! `[game]`: the rules.

use go::{MAX_SIDE, Scoring, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ConfigError;
use crate::error::rule;

/// The most that `game.move_limit` and other keys of moves may be: no game is longer.
pub const MOST_MOVES: usize = 10_000;

/// The rules of the game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Game {
    /// Side of the board in points.
    #[schemars(range(min = Size::MIN.side(), max = MAX_SIDE))]
    pub size: usize,
    /// Points added to White's area; whole numbers allow draws.
    ///
    /// At most the area of the board.
    #[schemars(extend("multipleOf" = 0.5))]
    pub komi: f32,
    /// How a game ends and is scored.
    ///
    /// "area" is worth it where results must be those of Tromp-Taylor rules, as against programs that count so.
    pub scoring: Scoring,
    /// Moves after which a game is scored as it stands: a safeguard.
    ///
    /// At least twice the points of the board, or whole games are cut and their scores mean little.
    #[schemars(range(min = 1, max = MOST_MOVES))]
    pub move_limit: usize,
}

impl Game {
    /// The board of `size`.
    ///
    /// # Panics
    /// When `size` is out of its range, which no configuration is that was read or checked.
    pub fn board(&self) -> Size {
        Size::new(self.size).expect("the range of game.size was checked")
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        rule(self.board().allows_komi(self.komi), "game.komi", self.komi, "must not exceed the area of the board")
    }
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["game.size=20"]), "game.size is 20: must be from 2 to 19");
        assert_eq!(error(&["game.size=1"]), "game.size is 1: must be from 2 to 19");
        assert_eq!(error(&["game.komi=0.3"]), "game.komi is 0.3: must be a multiple of 0.5");
        assert_eq!(error(&["game.komi=362"]), "game.komi is 362: must not exceed the area of the board");
        assert_eq!(error(&["game.komi=nan"]), "game.komi is NaN: must be finite");
        assert!(error(&["game.scoring=territory"]).contains("pass-alive"));
    }
}
