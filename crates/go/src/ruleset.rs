//! Rules as other programs state them, compared with those of this crate.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::game::Game;

/// Names of rules that differ from ours in nothing but the ko rule, which decides few games, and in points for handicap
/// stones.
const NEAR: [&str; 3] = ["chinese", "chinese-ogs", "chinese-kgs"];

/// Names of rules that programs use.
const NAMES: [&str; 16] = [
    "tromp-taylor",
    "chinese",
    "chinese-ogs",
    "chinese-kgs",
    "japanese",
    "korean",
    "stone-scoring",
    "aga",
    "bga",
    "aga-button",
    "new-zealand",
    "ancient-area",
    "ancient-territory",
    "french",
    "ing",
    "goe",
];

/// Rules as KataGo's protocols state them, to be read from JSON.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Ruleset {
    /// A name, such as `chinese`.
    Name(String),
    /// Parts by their names, such as `ko`. Those that are missing are as ours.
    Parts(BTreeMap<String, RulesetPart>),
}

/// A part of rules.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum RulesetPart {
    /// Whether something is so, such as `suicide`.
    Flag(bool),
    /// A word, such as `AREA`.
    Word(String),
    /// Anything else, which no rules have.
    Other(IgnoredAny),
}

/// What differs between rules and ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulesetDifference {
    /// How the game is played or scored.
    Play,
    /// White gets points for the handicap stones of this game.
    HandicapBonus,
}

/// A name that no rules have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown rules {0:?}; known are {known}, or an object", known = NAMES.join(", "))]
pub struct UnknownRules(String);

impl Ruleset {
    /// The rules of this crate.
    pub const OURS: &str = "area scoring, positional superko, suicide illegal";

    /// The same in the words of KataGo. Passes are not friendly: dead stones outside of pass-alive regions are captured.
    pub const KATAGO: &str = "{\"friendlyPassOk\":false,\"hasButton\":false,\"ko\":\"POSITIONAL\",\"scoring\":\"AREA\",\
                              \"suicide\":false,\"tax\":\"NONE\",\"whiteHandicapBonus\":\"0\"}";

    /// What ours do not give White.
    pub const NO_BONUS: &str = "White gets no points for the handicap stones beside komi";

    /// What differs from ours in a game with so many handicap stones.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn difference(&self, handicap: usize) -> Result<Option<RulesetDifference>, UnknownRules> {
        let no_bonus = (handicap > 0).then_some(RulesetDifference::HandicapBonus);
        match self {
            Ruleset::Name(name) => {
                // KataGo reads `new-zealand`, `new_zealand`, `new zealand` and `newzealand`.
                let plain = |name: &str| name.trim().to_lowercase().replace(['-', '_', ' '], "");
                let is_one_of = |names: &[&str]| names.iter().any(|known| plain(known) == plain(name));
                if is_one_of(&NEAR) {
                    Ok(no_bonus)
                } else if is_one_of(&NAMES) {
                    Ok(Some(RulesetDifference::Play))
                } else {
                    Err(UnknownRules(name.clone()))
                }
            }
            Ruleset::Parts(parts) => {
                let is = |part: &str, ours: &str| parts.get(part).is_none_or(|found| found.is(ours));
                let is_off = |part: &str| parts.get(part).is_none_or(|found| *found == RulesetPart::Flag(false));
                // KataGo reads `score`, too.
                let ours = is("ko", "POSITIONAL")
                    && is("scoring", "AREA")
                    && is("score", "AREA")
                    && is("tax", "NONE")
                    && is_off("suicide")
                    && is_off("hasButton");
                if ours {
                    Ok(no_bonus.filter(|_| !is("whiteHandicapBonus", "0")))
                } else {
                    Ok(Some(RulesetDifference::Play))
                }
            }
        }
    }
}

impl RulesetPart {
    fn is(&self, word: &str) -> bool {
        matches!(self, RulesetPart::Word(found) if found.eq_ignore_ascii_case(word))
    }
}

/// The beginning of a sentence in the plural.
impl fmt::Display for Ruleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ruleset::Name(name) => write!(f, "rules {name}"),
            Ruleset::Parts(_) => f.write_str("these rules"),
        }
    }
}

/// Black's stones before the first move of a game, where White has none. One is no handicap.
pub fn handicap_stones(game: &Game) -> usize {
    let stones = game.stones_ago(game.turn()).filter(|first| first.white.is_empty());
    stones.map(|first| first.black.len()).filter(|&stones| stones > 1).unwrap_or(0)
}
