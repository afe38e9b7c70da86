//! The end of the game and its score.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::color::Color;
use crate::game::Game;
use crate::position::Position;
use crate::stones::Stones;

/// How a game ends and is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// Area scoring; pass-alive regions count for their owner, and the game ends when they cover the board.
    PassAlive,
    /// Strict Tromp-Taylor area scoring; only two passes end the game.
    Area,
}

impl Scoring {
    const ALL: [Scoring; 2] = [Scoring::PassAlive, Scoring::Area];

    /// The name, as configurations, tables and SGF comments have it.
    pub const fn name(self) -> &'static str {
        match self {
            Scoring::PassAlive => "pass-alive",
            Scoring::Area => "area",
        }
    }
}

impl FromStr for Scoring {
    type Err = String;

    fn from_str(text: &str) -> Result<Scoring, String> {
        let found = Scoring::ALL.into_iter().find(|scoring| scoring.name() == text);
        let names = || Scoring::ALL.map(Scoring::name).join(" or ");
        found.ok_or_else(|| format!("\"{text}\" is no way of scoring; expected {}", names()))
    }
}

impl Game {
    /// Black's area minus White's, before komi; no stone is taken as dead.
    pub fn score(&self, scoring: Scoring) -> i32 {
        let area = self.area(scoring);
        area.black.len() as i32 - area.white.len() as i32
    }

    /// Whether the game has ended: by two passes, or because every point is decided.
    pub fn is_over(&self, scoring: Scoring) -> bool {
        self.passed_out() || scoring == Scoring::PassAlive && self.all_pass_alive()
    }

    /// The points that count for each player: their stones and the empty points that reach only one colour. With
    /// [`Scoring::PassAlive`] regions that are pass-alive count wholly for their owner.
    pub fn area(&self, scoring: Scoring) -> Stones {
        let area = self.position().area();
        if scoring == Scoring::Area {
            return area;
        }
        let alive = self.pass_alive();
        Stones { black: (area.black - alive.white) | alive.black, white: (area.white - alive.black) | alive.white }
    }
}

impl Position {
    /// The area of each player by the rules of Tromp and Taylor: their stones, and the empty points from which a walk
    /// over empty points reaches their stones only.
    pub fn area(&self) -> Stones {
        let empty = self.empty_points();
        let [black, white] = Color::BOTH.map(|color| self.stones().of(color).reach(&empty, self.size()));
        Stones { black: self.stones().black | (black - white), white: self.stones().white | (white - black) }
    }
}
