//! Rules as clients name them, compared with those of this project.

use serde_json::Value;

/// The rules of this project.
const OURS: &str = "area scoring, positional superko, suicide illegal";

/// Names of rules that differ from ours in nothing but the ko rule, which decides few games.
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

/// What differs, as a warning; an error for what are no rules.
pub(super) fn difference(rules: &Value) -> Result<Option<String>, String> {
    match rules {
        Value::String(name) => {
            // KataGo reads `new-zealand`, `new_zealand`, `new zealand` and `newzealand`.
            let plain = |name: &str| name.trim().to_lowercase().replace(['-', '_', ' '], "");
            let is_one_of = |names: &[&str]| names.iter().any(|known| plain(known) == plain(name));
            if is_one_of(&NEAR) {
                Ok(None)
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
            Ok((!ours).then(|| format!("these rules are analysed as {OURS}")))
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
            assert_eq!(difference(&rules).expect("rules").is_some(), differ, "{rules}");
        }
        assert!(difference(&json!("checkers")).is_err() && difference(&json!(7)).is_err());
    }
}
