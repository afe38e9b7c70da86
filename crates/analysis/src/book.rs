//! An opening book: positions with search results, linked by the moves between them.
//!
//! A position is stored once for all its images and for all ways to it ([`BookKey`]). The file has a line for each
//! position; a later line of the same position replaces an earlier one. [`Graph`] follows the moves from the empty
//! board.

mod export;
mod file;
mod graph;
mod key;

use std::collections::BTreeMap;
use std::path::Path;

use go::{Color, Game, Move, Scoring, Size, Symmetry};
use mcts::{Settings, Value};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::report::letter;
use crate::{Analysis, FileError, Origin};

pub use export::{BookRow, book_json, book_rows, book_sgf};
pub use file::BookFile;
pub use graph::{Bounds, Edge, Graph, Spot};
pub use key::BookKey;

/// Moves of a position that a book keeps.
const MOVES: usize = 12;

/// The name of the format of book files.
pub const FORMAT: &str = "tengen-book";
/// Its version that this crate reads and writes.
pub const VERSION: u32 = 1;

/// What a book is of: the origin of its searches, board and komi.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookHeader {
    format: String,
    version: u32,
    /// The model that searched.
    pub model: String,
    /// The SHA-256 of its weights; `None` for a built-in model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// What rounds evaluations; `None` for a book that was begun without an evaluation cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluations: Option<String>,
    #[serde(rename = "boardSize", with = "side")]
    size: Size,
    /// White's compensation.
    pub komi: f32,
    /// How games end and are counted; `None` for a book that an earlier version began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Scoring>,
    /// Sixteen digits that tell the other settings of searches apart; `None` as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// A board as the number of points on a side.
mod side {
    use go::Size;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(size: &Size, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(size.side() as u64)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        let side = usize::deserialize(deserializer)?;
        Size::new(side).map_err(|_| de::Error::custom(format_args!("no board is {side}x{side}")))
    }
}

impl BookHeader {
    /// The header of a book.
    pub fn new(origin: Origin<'_>, size: Size, komi: f32) -> BookHeader {
        let Origin { model, weights, evaluations } = origin;
        BookHeader {
            format: FORMAT.to_owned(),
            version: VERSION,
            model: model.to_owned(),
            weights: weights.map(str::to_owned),
            evaluations: evaluations.map(str::to_owned),
            size,
            komi,
            scoring: None,
            search: None,
        }
    }

    /// The same for searches with these settings.
    pub fn with_settings(self, settings: &Settings) -> BookHeader {
        let search = format!("{:016x}", xxh3_64(search(settings).as_bytes()));
        BookHeader { scoring: Some(settings.scoring), search: Some(search), ..self }
    }

    /// The board.
    pub fn size(&self) -> Size {
        self.size
    }

    /// What its searches come from.
    fn origin(&self) -> Origin<'_> {
        let (weights, evaluations) = (self.weights.as_deref(), self.evaluations.as_deref());
        Origin { model: &self.model, weights, evaluations }
    }

    /// What makes two books different, in words for each.
    fn difference(&self, other: &BookHeader) -> Option<(String, String)> {
        let side = |header: &BookHeader| format!("{0}x{0}", header.size);
        let komi = |header: &BookHeader| format!("komi {}", header.komi);
        let model = |header: &BookHeader| format!("model {}", header.model);
        let weights = |header: &BookHeader| match header.weights.as_deref() {
            Some(all) => format!("{} with weights {}", model(header), all.get(..12).unwrap_or(all)),
            None => format!("{} without weights", model(header)),
        };
        let evaluations =
            |header: &BookHeader| format!("cached evaluations ({})", header.evaluations.as_deref().unwrap_or_default());
        let scoring = |header: &BookHeader| format!("scoring {}", header.scoring.map_or("", Scoring::name));
        let search = |header: &BookHeader| format!("search settings {}", header.search.as_deref().unwrap_or_default());
        let counted_otherwise = self.scoring.iter().zip(&other.scoring).any(|(one, other)| one != other);
        let searched_otherwise = self.search.iter().zip(&other.search).any(|(one, other)| one != other);
        // A run whose inference servers do not respond in time has no cache, and continues the book.
        let rounded_otherwise = self.evaluations.iter().zip(&other.evaluations).any(|(one, other)| one != other);
        let both = |of: &dyn Fn(&BookHeader) -> String| Some((of(self), of(other)));
        match () {
            () if !self.origin().is_of_model(&other.origin()) => both(&model),
            () if self.weights != other.weights => both(&weights),
            () if self.size != other.size => both(&side),
            () if self.komi.to_bits() != other.komi.to_bits() => both(&komi),
            () if counted_otherwise => both(&scoring),
            () if searched_otherwise => both(&search),
            () if rounded_otherwise => both(&evaluations),
            () => None,
        }
    }
}

/// The settings that change a search of a position, but for visits, of which a book may have several, scoring and komi.
/// Books are refused where this text changes.
fn search(settings: &Settings) -> String {
    let Settings {
        algorithm,
        q_init,
        first_play,
        c_puct_base,
        c_puct_init,
        // No move is played.
        reuse: _,
        pass_from,
        prune_pass_alive,
        adjudicate_winning_pass,
        // The header has both.
        scoring: _,
        komi: _,
    } = settings;
    format!(
        "{algorithm:?} {q_init} {first_play:?} {c_puct_base} {c_puct_init} {pass_from} {prune_pass_alive} \
         {adjudicate_winning_pass}"
    )
}

/// A position of a book, turned as its key is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The position.
    pub key: BookKey,
    /// The player to move: `B` or `W`.
    pub to_move: String,
    /// Visits of its search; 0 for the end of a game.
    pub visits: u32,
    /// Mean value of the search, for Black.
    pub value: f32,
    /// Whether its search ended before its visits, with a tree that was as large as it may be: another would end there,
    /// too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub full: bool,
    /// The most visited moves, the best first.
    pub moves: Vec<BookMove>,
}

/// Lines of most positions do not say it.
fn is_false(full: &bool) -> bool {
    !full
}

/// A move of a position of a book.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BookMove {
    /// The move.
    pub r#move: String,
    /// The network's probability of it.
    pub prior: f32,
    /// Visits of the search of the position before it.
    pub visits: u32,
    /// Mean value of these, for Black.
    pub value: f32,
}

impl Entry {
    /// The entry of a position whose search was to have so many visits.
    pub fn new(game: &Game, analysis: &Analysis, visits: u32) -> Entry {
        let (symmetry, key) = BookKey::new(game);
        let size = game.size();
        let turned = |mv: Move| symmetry.apply_move(size, mv).to_gtp(size);
        let moves = analysis.moves.iter().take(MOVES);
        Entry {
            key,
            to_move: letter(game.to_move()).to_owned(),
            visits: analysis.visits,
            value: analysis.value.black(),
            full: analysis.visits < visits,
            moves: moves
                .map(|one| BookMove {
                    r#move: turned(one.mv),
                    prior: one.prior,
                    visits: one.visits,
                    value: one.value.black(),
                })
                .collect(),
        }
    }

    /// The entry of a game that is over.
    pub fn ended(game: &Game, scoring: Scoring, komi: f32) -> Entry {
        let value = Value::of_margin(game.score(scoring) as f32 - komi).black();
        let to_move = letter(game.to_move()).to_owned();
        Entry { key: BookKey::new(game).1, to_move, visits: 0, value, full: false, moves: Vec::new() }
    }

    /// The player to move.
    pub(crate) fn mover(&self) -> Color {
        if self.to_move == "B" { Color::Black } else { Color::White }
    }

    /// Its moves as a game has them whose position is turned to the key by `symmetry`.
    fn moves_in(&self, size: Size, symmetry: Symmetry) -> impl Iterator<Item = (Move, &BookMove)> {
        let back = symmetry.inverse();
        self.moves.iter().filter_map(move |one| {
            let mv = Move::from_gtp(size, &one.r#move)?;
            Some((back.apply_move(size, mv), one))
        })
    }
}

/// The best moves of a book, to play from.
#[derive(Clone, Debug)]
pub struct Openings {
    size: Size,
    komi: f32,
    /// The best moves by position, turned as its key is.
    moves: BTreeMap<BookKey, Move>,
}

impl Openings {
    /// The best moves of a book's positions, where they lead to positions of the book.
    ///
    /// # Errors
    /// The file is no book.
    pub fn read(path: &Path) -> Result<Openings, FileError> {
        let (header, entries) = BookFile::read(path)?;
        let size = header.size();
        let graph = Graph::new(size, entries);
        let best = |spot: &Spot| {
            let best = spot.best()?;
            Some((spot.entry.key, spot.symmetry.apply_move(size, best.mv)))
        };
        let moves = graph.spots().iter().filter_map(best).collect();
        Ok(Openings { size, komi: header.komi, moves })
    }

    /// Board and komi, in words.
    pub fn game(&self) -> String {
        format!("{0}x{0}, komi {1}", self.size.side(), self.komi)
    }

    /// Whether the book is for games on this board with this komi.
    pub fn fits(&self, size: Size, komi: f32) -> bool {
        size == self.size && komi.to_bits() == self.komi.to_bits()
    }

    /// The move of the book in the position of a game.
    pub fn best(&self, game: &Game, komi: f32) -> Option<Move> {
        if !self.fits(game.size(), komi) {
            return None;
        }
        let (symmetry, key) = BookKey::new(game);
        let mv = symmetry.inverse().apply_move(self.size, *self.moves.get(&key)?);
        game.is_legal(mv).then_some(mv)
    }

    /// Positions that it knows a move in.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}

#[cfg(test)]
mod tests;
