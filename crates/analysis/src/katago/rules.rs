//! Rules of a query, compared with those of this project.

use go::{Ruleset, RulesetDifference};
use serde::Deserialize;
use serde_json::Value;

/// What differs in a game with so many handicap stones, as a warning; an error for what are no rules.
pub(super) fn difference(rules: &Value, handicap: usize) -> Result<Option<String>, String> {
    let rules = Ruleset::deserialize(rules).map_err(|_| "rules are a name or an object".to_owned())?;
    let warning = |difference| match difference {
        RulesetDifference::Play => format!("{rules} are analysed as {}", Ruleset::OURS),
        RulesetDifference::HandicapBonus => Ruleset::NO_BONUS.to_owned(),
    };
    rules.difference(handicap).map(|difference| difference.map(warning)).map_err(|error| error.to_string())
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
            (json!("AGA"), false),
            (json!("japanese"), true),
            (json!("stone_scoring"), true),
            (json!("new zealand"), true),
            (json!("tromptaylor"), true),
            (json!("French"), false),
            (json!({"ko": "POSITIONAL", "scoring": "AREA", "suicide": false, "tax": "NONE"}), false),
            (json!({"ko": "SIMPLE"}), true),
            (json!({"suicide": true}), true),
            (json!({"suicide": "false"}), true),
            (json!({"score": "TERRITORY"}), true),
            (json!({"score": "area", "komi": 7.5, "friendlyPassOk": true}), false),
            (json!({"ko": ["POSITIONAL"]}), true),
        ] {
            assert_eq!(difference(&rules, 0).expect("rules").is_some(), differ, "{rules}");
        }
        assert!(difference(&json!("checkers"), 0).is_err() && difference(&json!(7), 0).is_err());
    }

    #[test]
    fn points_for_handicap_stones_are_warned_of() {
        for (rules, differ) in [
            (json!("chinese"), true),
            (json!("aga"), true),
            (json!("bga"), true),
            (json!({"suicide": false}), false),
            (json!({"whiteHandicapBonus": "0"}), false),
            (json!({"whiteHandicapBonus": "N-1"}), true),
        ] {
            let warned = difference(&rules, 2).expect("rules").is_some_and(|reason| reason == Ruleset::NO_BONUS);
            assert_eq!(warned, differ, "{rules}");
            assert_eq!(difference(&rules, 0), Ok(None), "{rules}");
        }
    }
}
