//! Rules that controllers want. Ours are fixed, [`Ruleset::OURS`], but for what White gets for handicap stones.

use std::collections::BTreeMap;

use go::{HandicapBonus, Ruleset, RulesetPart};

use super::arguments::{Answer, done, none, one};
use crate::server::{Failure, Session};

/// What KataGo's rules consist of; `score` is another name of `scoring`.
const PARTS: [&str; 8] =
    ["ko", "scoring", "score", "suicide", "tax", "hasButton", "whiteHandicapBonus", "friendlyPassOk"];

/// KataGo's: the rules as a JSON object.
pub(super) fn kata_get_rules(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(Ruleset::katago(session.bonus))
}

/// KataGo's: the rules of the game, by a name or as a JSON object. Those that mean ours are accepted, with what they
/// give White for handicap stones.
pub(super) fn kata_set_rules(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    // Names may have two words, and JSON may have spaces.
    let text = arguments.join(" ");
    if text.is_empty() {
        return Err(Failure::Syntax);
    }
    let broken = |error: serde_json::Error| Failure::Argument(format!("rules are a name or a JSON object: {error}"));
    let is_json = text.starts_with('{');
    let rules = if is_json { serde_json::from_str(&text).map_err(broken)? } else { Ruleset::Name(text) };
    accept(session, &rules, HandicapBonus::default())
}

/// KataGo's: `kata-set-rule PART VALUE`.
pub(super) fn kata_set_rule(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [name, value] = *arguments else { return Err(Failure::Syntax) };
    let part = match value {
        "true" => RulesetPart::Flag(true),
        "false" => RulesetPart::Flag(false),
        _ => RulesetPart::Word(value.to_owned()),
    };
    accept(session, &Ruleset::Parts(BTreeMap::from([(name.to_owned(), part)])), session.bonus)
}

/// `otherwise` is for handicap stones by rules that do not mention them.
fn accept(session: &mut Session<'_>, rules: &Ruleset, otherwise: HandicapBonus) -> Answer {
    if let Ruleset::Parts(parts) = rules
        && let Some(name) = parts.keys().find(|name| !PARTS.contains(&name.as_str()))
    {
        return Err(Failure::Argument(format!("unknown rule {name:?}; known are {}", PARTS.join(", "))));
    }
    // Points for handicap stones count as komi does, so they are no difference here.
    let difference = rules.difference(0).map_err(|error| Failure::Argument(error.to_string()))?;
    if difference.is_some() {
        return Err(Failure::Argument(format!("{rules} are not supported; the rules are {}", Ruleset::OURS)));
    }
    session.bonus = rules.handicap_bonus().unwrap_or(otherwise);
    done()
}

/// KGS's: the rules of the game that comes. Those that count area and forbid suicide are accepted.
pub(super) fn kgs_rules(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    session.bonus = match one(arguments)? {
        "chinese" => HandicapBonus::Stones,
        "aga" => HandicapBonus::StonesLessOne,
        "new_zealand" => {
            return Err(Failure::Unsupported("new_zealand rules are not supported; suicide is illegal"));
        }
        "japanese" => return Err(Failure::Unsupported("japanese rules are not supported; area is counted")),
        _ => return Err(Failure::Syntax),
    };
    done()
}

#[cfg(test)]
mod tests {
    use go::{Game, Move};
    use mcts::Avoid;

    use crate::server::tests::{First, check_with, setup, talk_with};
    use crate::server::{Decision, Player, PlayerError, Task, Watch};

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

    /// Passes, and keeps the komi of its searches.
    #[derive(Default)]
    struct Komi(Vec<f32>);

    impl Player for Komi {
        fn genmove(&mut self, task: &Task<'_>, _: &mut Watch<'_>) -> Result<Decision, PlayerError> {
            self.0.push(task.komi);
            Ok(Decision::Move(Move::Pass))
        }

        fn think(&mut self, _: &Game, komi: f32, _: &[Avoid], _: &mut Watch<'_>) -> Result<(), PlayerError> {
            self.0.push(komi);
            Ok(())
        }

        fn play_on(&mut self, _: &Game, komi: f32) -> Result<Vec<Game>, PlayerError> {
            self.0.push(komi);
            Ok(Vec::new())
        }
    }

    #[test]
    fn handicap_stones_have_the_points_of_the_accepted_rules() {
        let mut player = Komi::default();
        let less_one = OURS.replace("\"0\"", "\"N-1\"");
        let refused = "these rules are not supported; the rules are area scoring, positional superko, suicide illegal";
        check_with(
            &mut player,
            setup(9),
            &format!(
                "> kata-set-rules chinese
                 =
                 > komi 0.5
                 =
                 > final_score
                 = W+0.5
                 > fixed_handicap 3
                 = C3 G7 C7
                 > final_score
                 = B+77.5
                 > get_komi
                 = 0.5
                 > genmove w
                 = pass
                 > kata-set-rule whiteHandicapBonus N-1
                 =
                 > kata-set-rule ko POSITIONAL
                 =
                 > kata-set-rule whiteHandicapBonus 3
                 ? {refused}
                 > kata-get-rules
                 = {less_one}
                 > final_score
                 = B+78.5
                 > final_status_list seki
                 =
                 > kata-set-rules {{\"ko\":\"POSITIONAL\"}}
                 =
                 > kata-get-rules
                 = {OURS}
                 > final_score
                 = B+80.5
                 > kgs-rules chinese
                 =
                 > final_score
                 = B+77.5
                 > kgs-rules aga
                 =
                 > kata-set-rules chinese
                 =
                 > kata-set-rules aga
                 =
                 > kata-get-rules
                 = {less_one}
                 > clear_board
                 =
                 > set_free_handicap A1 B2
                 =
                 > final_score
                 = B+79.5
                 > tengen-policy
                 ="
            ),
        );
        assert_eq!(player.0, [3.5, 2.5, 1.5]);
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
