//! Rules that controllers want. Ours are fixed: [`Ruleset::OURS`].

use std::collections::BTreeMap;

use go::{Ruleset, RulesetDifference, RulesetPart, handicap_stones};

use super::arguments::{Answer, done, none, one};
use crate::server::{Failure, Session};

/// What KataGo's rules consist of; `score` is another name of `scoring`.
const PARTS: [&str; 8] =
    ["ko", "scoring", "score", "suicide", "tax", "hasButton", "whiteHandicapBonus", "friendlyPassOk"];

/// KataGo's: the rules as a JSON object.
pub(super) fn kata_get_rules(_: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(Ruleset::KATAGO.to_owned())
}

/// KataGo's: the rules of the game, by a name or as a JSON object. Those that mean ours are accepted.
pub(super) fn kata_set_rules(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    // Names may have two words, and JSON may have spaces.
    let text = arguments.join(" ");
    if text.is_empty() {
        return Err(Failure::Syntax);
    }
    let broken = |error: serde_json::Error| Failure::Argument(format!("rules are a name or a JSON object: {error}"));
    let is_json = text.starts_with('{');
    let rules = if is_json { serde_json::from_str(&text).map_err(broken)? } else { Ruleset::Name(text) };
    accept(session, &rules)
}

/// KataGo's: `kata-set-rule PART VALUE`.
pub(super) fn kata_set_rule(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [name, value] = *arguments else { return Err(Failure::Syntax) };
    let part = match value {
        "true" => RulesetPart::Flag(true),
        "false" => RulesetPart::Flag(false),
        _ => RulesetPart::Word(value.to_owned()),
    };
    accept(session, &Ruleset::Parts(BTreeMap::from([(name.to_owned(), part)])))
}

fn accept(session: &Session<'_>, rules: &Ruleset) -> Answer {
    if let Ruleset::Parts(parts) = rules
        && let Some(name) = parts.keys().find(|name| !PARTS.contains(&name.as_str()))
    {
        return Err(Failure::Argument(format!("unknown rule {name:?}; known are {}", PARTS.join(", "))));
    }
    let difference = rules.difference(handicap_stones(&session.game));
    match difference.map_err(|error| Failure::Argument(error.to_string()))? {
        None => done(),
        Some(RulesetDifference::Play) => {
            Err(Failure::Argument(format!("{rules} are not supported; the rules are {}", Ruleset::OURS)))
        }
        Some(RulesetDifference::HandicapBonus) => Err(Failure::Argument(Ruleset::NO_BONUS.to_owned())),
    }
}

/// KGS's: the rules of the game that comes. Those that count area and forbid suicide are accepted.
pub(super) fn kgs_rules(_: &mut Session<'_>, arguments: &[&str]) -> Answer {
    match one(arguments)? {
        "chinese" | "aga" => done(),
        "new_zealand" => Err(Failure::Unsupported("new_zealand rules are not supported; suicide is illegal")),
        "japanese" => Err(Failure::Unsupported("japanese rules are not supported; area is counted")),
        _ => Err(Failure::Syntax),
    }
}

#[cfg(test)]
mod tests {
    use crate::server::tests::{First, check_with, setup, talk_with};

    const OURS: &str = go::Ruleset::KATAGO;

    #[test]
    fn rules_that_mean_ours_are_accepted() {
        check_with(
            &mut First::default(),
            setup(5),
            &format!(
                "> kata-get-rules
                 = {OURS}
                 > kata-set-rules {OURS}
                 =
                 > kata-set-rules chinese
                 =
                 > 7 kata-set-rules Chinese OGS
                 =7
                 > kata-set-rules {{\"ko\": \"positional\", \"friendlyPassOk\": true}}
                 =
                 > kata-set-rule ko POSITIONAL
                 =
                 > kata-set-rule suicide false
                 =
                 > kata-get-rules
                 = {OURS}"
            ),
        );
    }

    #[test]
    fn other_rules_are_refused_with_those_that_are_played() {
        let ours = "the rules are area scoring, positional superko, suicide illegal";
        check_with(
            &mut First::default(),
            setup(5),
            &format!(
                "> kata-set-rules japanese
                 ? rules japanese are not supported; {ours}
                 > kata-set-rules tromp-taylor
                 ? rules tromp-taylor are not supported; {ours}
                 > kata-set-rules {{\"scoring\":\"TERRITORY\"}}
                 ? these rules are not supported; {ours}
                 > kata-set-rule suicide true
                 ? these rules are not supported; {ours}
                 > kata-set-rule suicide maybe
                 ? these rules are not supported; {ours}
                 > kata-set-rule score TERRITORY
                 ? these rules are not supported; {ours}
                 > kata-get-rules
                 = {OURS}"
            ),
        );
    }

    #[test]
    fn kgs_rules_without_suicide_that_count_area_are_accepted() {
        check_with(
            &mut First::default(),
            setup(5),
            "> kgs-rules chinese
             =
             > kgs-rules aga
             =
             > kgs-rules new_zealand
             ? new_zealand rules are not supported; suicide is illegal
             > kgs-rules japanese
             ? japanese rules are not supported; area is counted
             > kgs-rules go
             ? syntax error
             > kgs-rules
             ? syntax error",
        );
    }

    #[test]
    fn handicap_has_no_points() {
        check_with(
            &mut First::default(),
            setup(9),
            "> kata-set-rules chinese
             =
             > fixed_handicap 2
             = C3 G7
             > kata-set-rules chinese
             ? White gets no points for the handicap stones beside komi
             > kata-set-rule whiteHandicapBonus N
             ? White gets no points for the handicap stones beside komi
             > kata-set-rule whiteHandicapBonus 0
             =",
        );
    }

    #[test]
    fn unknown_rules_are_an_error() {
        check_with(
            &mut First::default(),
            setup(5),
            "> kata-set-rules
             ? syntax error
             > kata-set-rule ko
             ? syntax error
             > kata-get-rules now
             ? syntax error
             > kata-set-rules checkers
             ? unknown rules \"checkers\"; known are tromp-taylor, chinese, chinese-ogs, chinese-kgs, japanese, \
             korean, stone-scoring, aga, bga, aga-button, new-zealand, ancient-area, ancient-territory, french, ing, \
             goe, or an object
             > kata-set-rule button true
             ? unknown rule \"button\"; known are ko, scoring, score, suicide, tax, hasButton, whiteHandicapBonus, \
             friendlyPassOk
             > kata-set-rules {\"ko\":\"POSITIONAL\",\"komi\":6.5}
             ? unknown rule \"komi\"; known are ko, scoring, score, suicide, tax, hasButton, whiteHandicapBonus, \
             friendlyPassOk",
        );
        let said = talk_with(&mut First::default(), setup(5), b"kata-set-rules {\"ko\":\n");
        assert!(said.starts_with("? rules are a name or a JSON object: EOF"), "{said}");
    }
}
