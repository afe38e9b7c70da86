//! One game, from set-up to result.

use super::outcome::Outcome;
use crate::color::Color;
use crate::point::Move;
use crate::size::Size;
use crate::stones::Stones;

/// The main line of a game and what its root says. Text that is not known is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The board (`SZ`); 19x19 when the file does not say.
    pub size: Size,
    /// Points given to White (`KM`). From 200 on, without a decimal point, it is read as hundredths, as the server Fox
    /// writes them.
    pub komi: Option<f32>,
    /// Handicap stones (`HA`), which say nothing of where they are: that is in `setup`.
    pub handicap: usize,
    /// The stones on the board before the first move (`AB`, `AW`, `AE`).
    pub setup: Stones,
    /// Who plays first (`PL`, or else who does).
    pub first: Color,
    /// The moves.
    pub turns: Vec<Turn>,
    /// How it ended (`RE`); `None` when the file does not say.
    pub outcome: Option<Outcome>,
    /// Who plays Black (`PB`, `BR`).
    pub black: Player,
    /// Who plays White (`PW`, `WR`).
    pub white: Player,
    /// The name of the rules (`RU`).
    pub rules: String,
    /// The date (`DT`), in full `2026-01-31`.
    pub date: String,
    /// The program that wrote the file (`AP`).
    pub application: Option<Application>,
    /// Comment on the game before its first move (`C`).
    pub comment: String,
}

/// A move and who played it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The player; not always the opponent of the player before.
    pub color: Color,
    /// The move.
    pub mv: Move,
    /// Comment on the move (`C`).
    pub comment: String,
}

/// A move of a game with variations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The index of the move before it; `None` for a first move.
    pub parent: Option<usize>,
    /// The move.
    pub turn: Turn,
}

/// A player's name and rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// The name.
    pub name: String,
    /// The rank, such as `9d`.
    pub rank: String,
}

/// A program's name and version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// Something that a file says of the game and that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    /// A komi (`KM`) that the board does not allow.
    Komi(f32),
    /// A handicap (`HA`) of so many stones that the file does not have: some converters omit them.
    Handicap(usize),
}

impl Record {
    /// A game of which nothing is known but the size of its empty board.
    pub fn new(size: Size) -> Record {
        Record {
            size,
            komi: None,
            handicap: 0,
            setup: Stones::EMPTY,
            first: Color::Black,
            turns: Vec::new(),
            outcome: None,
            black: Player::default(),
            white: Player::default(),
            rules: String::new(),
            date: String::new(),
            application: None,
            comment: String::new(),
        }
    }

    /// The moves as a game without variations.
    pub fn line(&self) -> Vec<Branch> {
        let turns = self.turns.iter().enumerate();
        turns.map(|(index, turn)| Branch { parent: index.checked_sub(1), turn: turn.clone() }).collect()
    }

    /// Komi, if the board allows it.
    pub fn usable_komi(&self) -> Option<f32> {
        self.komi.filter(|&komi| self.size.allows_komi(komi))
    }

    /// What cannot be used of the file.
    pub fn notices(&self) -> Vec<Notice> {
        let komi = self.komi.filter(|_| self.usable_komi().is_none()).map(Notice::Komi);
        let handicap = self.lacks_handicap().then_some(Notice::Handicap(self.handicap));
        komi.into_iter().chain(handicap).collect()
    }

    fn lacks_handicap(&self) -> bool {
        let white_begins = self.turns.first().is_none_or(|turn| turn.color == Color::White);
        self.handicap > 1 && self.setup.black.is_empty() && white_begins
    }

    /// Who plays first when the file does not say: who plays the first move, or else White where Black has been given
    /// stones: by `HA`, or as the only stones of the board.
    pub(super) fn natural_first(&self) -> Color {
        let alone = self.setup.black.len() > 1 && self.setup.white.is_empty();
        match self.turns.first() {
            Some(turn) => turn.color,
            None if self.handicap > 1 || alone => Color::White,
            None => Color::Black,
        }
    }
}
