//! Rules as other programs state them, compared with those of this crate.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::game::Game;

/// Names of rules that differ from ours in nothing but the ko rule, which decides few games, and in a point for each
/// handicap stone.
const NEAR: [&str; 3] = ["chinese", "chinese-ogs", "chinese-kgs"];

/// Such rules with a point for each handicap stone but one.
const NEAR_LESS_ONE: [&str; 3] = ["aga", "bga", "french"];

/// Names of rules whose scores are differences of areas, with the short ones of SGF files. Rules with a tax, with a
/// button or with Ing's compensation are none of these.
const AREA: [&str; 10] =
    ["tromp-taylor", "chinese", "cn", "chinese-ogs", "chinese-kgs", "aga", "bga", "french", "new-zealand", "nz"];

/// The part that says what White gets for handicap stones.
const BONUS: &str = "whiteHandicapBonus";

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

/// What White gets for handicap stones beside komi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HandicapBonus {
    /// Nothing, as by our rules.
    #[default]
    Nothing,
    /// A point for each stone but one, as by AGA rules.
    StonesLessOne,
    /// A point for each stone, as by Chinese rules.
    Stones,
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

    /// The same in the words of KataGo. Passes are not friendly: dead stones outside of pass-alive regions are
    /// captured.
    pub const KATAGO: &str = "{\"friendlyPassOk\":false,\"hasButton\":false,\"ko\":\"POSITIONAL\",\"scoring\":\"AREA\",\
                              \"suicide\":false,\"tax\":\"NONE\",\"whiteHandicapBonus\":\"0\"}";

    /// What ours do not give White.
    pub const NO_BONUS: &str = "White gets no points for the handicap stones beside komi";

    /// [`Ruleset::KATAGO`] with this for handicap stones.
    pub fn katago(bonus: HandicapBonus) -> String {
        let value = |bonus: HandicapBonus| format!("\"{BONUS}\":\"{}\"", bonus.word());
        Ruleset::KATAGO.replace(&value(HandicapBonus::Nothing), &value(bonus))
    }

    /// Whether scores by the rules of this name are differences of areas.
    pub fn counts_area(name: &str) -> bool {
        is_one_of(name, &AREA)
    }

    /// What differs from ours in a game with so many handicap stones.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn difference(&self, handicap: usize) -> Result<Option<RulesetDifference>, UnknownRules> {
        let no_bonus = (handicap > 0).then_some(RulesetDifference::HandicapBonus);
        match self {
            Ruleset::Name(name) => {
                if self.handicap_bonus().is_some() {
                    Ok(no_bonus)
                } else if is_one_of(name, &NAMES) {
                    Ok(Some(RulesetDifference::Play))
                } else {
                    Err(UnknownRules(name.clone()))
                }
            }
            Ruleset::Parts(parts) => {
                let is = |part: &str, ours: &str| parts.get(part).is_none_or(|found| found.is(ours));
                let is_off = |part: &str| parts.get(part).is_none_or(|found| *found == RulesetPart::Flag(false));
                let knows_bonus = !parts.contains_key(BONUS) || self.handicap_bonus().is_some();
                // KataGo reads `score`, too.
                let ours = knows_bonus
                    && is("ko", "POSITIONAL")
                    && is("scoring", "AREA")
                    && is("score", "AREA")
                    && is("tax", "NONE")
                    && is_off("suicide")
                    && is_off("hasButton");
                if ours { Ok(no_bonus.filter(|_| !is(BONUS, "0"))) } else { Ok(Some(RulesetDifference::Play)) }
            }
        }
    }

    /// What White gets for handicap stones; `None` where an object does not say it, or for a name whose rules differ in
    /// more.
    pub fn handicap_bonus(&self) -> Option<HandicapBonus> {
        match self {
            Ruleset::Name(name) if is_one_of(name, &NEAR) => Some(HandicapBonus::Stones),
            Ruleset::Name(name) => is_one_of(name, &NEAR_LESS_ONE).then_some(HandicapBonus::StonesLessOne),
            Ruleset::Parts(parts) => {
                let said = parts.get(BONUS)?;
                HandicapBonus::ALL.into_iter().find(|bonus| said.is(bonus.word()))
            }
        }
    }
}

/// KataGo reads `new-zealand`, `new_zealand`, `new zealand` and `newzealand`.
fn is_one_of(name: &str, names: &[&str]) -> bool {
    let plain = |name: &str| name.trim().to_lowercase().replace(['-', '_', ' '], "");
    names.iter().any(|known| plain(known) == plain(name))
}

impl HandicapBonus {
    const ALL: [HandicapBonus; 3] = [HandicapBonus::Nothing, HandicapBonus::StonesLessOne, HandicapBonus::Stones];

    /// KataGo's word.
    fn word(self) -> &'static str {
        match self {
            HandicapBonus::Nothing => "0",
            HandicapBonus::StonesLessOne => "N-1",
            HandicapBonus::Stones => "N",
        }
    }

    /// Its points in a game with so many handicap stones.
    pub fn points(self, stones: usize) -> usize {
        match self {
            HandicapBonus::Nothing => 0,
            HandicapBonus::StonesLessOne => stones.saturating_sub(1),
            HandicapBonus::Stones => stones,
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
