//! Rules as clients name them, compared with those of this project.

use serde_json::Value;

/// The rules of this project.
const OURS: &str = "area scoring, positional superko, suicide illegal";

/// What ours do not give White.
const NO_BONUS: &str = "White gets no points for the handicap stones beside komi";

/// Names of rules that differ from ours in nothing but the ko rule, which decides few games, and in points for handicap
/// stones.
const NEAR: [&str; 3] = ["chinese", "chinese-ogs", "chinese-kgs"];

/// Names of rules that clients use.
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

/// What differs in a game with so many handicap stones, as a warning; an error for what are no rules.
pub(super) fn difference(rules: &Value, handicap: usize) -> Result<Option<String>, String> {
    let no_bonus = || (handicap > 0).then(|| NO_BONUS.to_owned());
    match rules {
        Value::String(name) => {
            // KataGo reads `new-zealand`, `new_zealand`, `new zealand` and `newzealand`.
            let plain = |name: &str| name.trim().to_lowercase().replace(['-', '_', ' '], "");
            let is_one_of = |names: &[&str]| names.iter().any(|known| plain(known) == plain(name));
            if is_one_of(&NEAR) {
                Ok(no_bonus())
            } else if is_one_of(&NAMES) {
                Ok(Some(format!("rules {name} are analysed as {OURS}")))
            } else {
                Err(format!("unknown rules {name:?}; known are {}, or an object", NAMES.join(", ")))
            }
        }
        Value::Object(parts) => {
            let is = |part: &str, ours: &str| {
                let found = parts.get(part).map(|value| value.as_str().unwrap_or_default().to_uppercase());
                found.is_none_or(|found| found == ours)
            };
            let ours = is("ko", "POSITIONAL")
                && is("scoring", "AREA")
                && is("tax", "NONE")
                && [("suicide"), ("hasButton")].iter().all(|part| parts.get(*part) != Some(&Value::Bool(true)));
            if ours {
                Ok(no_bonus().filter(|_| !is("whiteHandicapBonus", "0")))
            } else {
                Ok(Some(format!("these rules are analysed as {OURS}")))
            }
        }
        _ => Err("rules are a name or an object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_that_differ_are_warned_of() {
        for (rules, differ) in [
            (json!("chinese"), false),
            (json!("Chinese-OGS"), false),
            (json!("japanese"), true),
            (json!("stone_scoring"), true),
            (json!("new zealand"), true),
            (json!("tromptaylor"), true),
            (json!("French"), true),
            (json!({"ko": "POSITIONAL", "scoring": "AREA", "suicide": false, "tax": "NONE"}), false),
            (json!({"ko": "SIMPLE"}), true),
            (json!({"suicide": true}), true),
        ] {
            assert_eq!(difference(&rules, 0).expect("rules").is_some(), differ, "{rules}");
        }
        assert!(difference(&json!("checkers"), 0).is_err() && difference(&json!(7), 0).is_err());
    }

    #[test]
    fn points_for_handicap_stones_are_warned_of() {
        for (rules, differ) in [
            (json!("chinese"), true),
            (json!({"suicide": false}), false),
            (json!({"whiteHandicapBonus": "0"}), false),
            (json!({"whiteHandicapBonus": "N-1"}), true),
        ] {
            let warned = difference(&rules, 2).expect("rules").is_some_and(|reason| reason == NO_BONUS);
            assert_eq!(warned, differ, "{rules}");
            assert_eq!(difference(&rules, 0), Ok(None), "{rules}");
        }
    }
}
