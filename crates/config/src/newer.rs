//! Keys that are younger than runs which still go on.
//!
//! A configuration that somebody writes must have every key. One that is stored need not have those that came after it: they
//! are taken to be what programs did before there was such a key, and are no part of its digest, so that runs and models
//! outlive an upgrade.

use toml::Table;

use crate::Pairing;

/// Their sections and names, and the line that says what programs did before.
const NEWER: [(&str, &str, &str); 12] = [
    ("search", "symmetries", "symmetries = 1"),
    ("selfplay", "random_opening_share", "random_opening_share = 0.0"),
    ("selfplay", "random_opening_moves", "random_opening_moves = 4"),
    ("selfplay", "small_share", "small_share = 0.0"),
    ("selfplay", "small_size", "small_size = 7"),
    ("selfplay", "small_komi", "small_komi = 9.0"),
    ("window", "policy_surprise", "policy_surprise = 0.0"),
    ("train", "grow", "grow = []"),
    ("evaluate", "every", "every = 1"),
    ("evaluate", "pairing", "pairing = \"fibonacci\""),
    ("loop", "final_pairs", "final_pairs = 0"),
    ("loop", "final_margin", "final_margin = 100.0"),
];

pub(crate) fn symmetries() -> usize {
    1
}

pub(crate) fn random_opening_moves() -> usize {
    4
}

pub(crate) fn small_size() -> usize {
    7
}

pub(crate) fn small_komi() -> f32 {
    9.0
}

pub(crate) fn every() -> u32 {
    1
}

pub(crate) fn pairing() -> Pairing {
    Pairing::Fibonacci
}

pub(crate) fn final_margin() -> f32 {
    100.0
}

/// The first of them that a configuration does not have.
pub(crate) fn missing(table: &Table) -> Option<String> {
    let has = |section: &str, key: &str| table.get(section).is_some_and(|section| section.get(key).is_some());
    let found = NEWER.iter().find(|(section, key, _)| !has(section, key));
    found.map(|(section, key, _)| format!("{section}.{key}"))
}

/// What a configuration says without those that say what programs did anyway.
pub(crate) fn without(text: &str) -> String {
    let said = |line: &&str| !NEWER.iter().any(|(_, _, plain)| line == plain);
    text.split_inclusive('\n').filter(|line| said(&line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use crate::RunConfig;

    const TEXT: &str = include_str!("template.toml");

    fn older() -> String {
        super::without(TEXT)
    }

    #[test]
    fn stored_configurations_may_lack_them_and_keep_their_name() {
        assert_eq!(TEXT.lines().count() - older().lines().count(), super::NEWER.len());
        let (new, old) = (RunConfig::from_toml(TEXT).unwrap(), RunConfig::from_stored(&older()).unwrap());
        assert_eq!(old, new);
        assert_eq!(old.digest(), new.digest());
        let changes = ["search.symmetries=2", "selfplay.random_opening_share=0.5", "selfplay.random_opening_moves=3"];
        for change in changes.into_iter().chain([
            "selfplay.small_size=5",
            "selfplay.small_komi=8.0",
            "evaluate.every=4",
            "evaluate.pairing=\"informed\"",
            "loop.final_pairs=10",
            "loop.final_margin=50.0",
            "window.policy_surprise=0.5",
        ]) {
            let other = RunConfig::from_toml_with(TEXT, &[change.to_owned()]).unwrap();
            assert_ne!(other.digest(), new.digest(), "{change}");
        }
    }

    #[test]
    fn whoever_writes_a_configuration_is_told_of_them() {
        for (section, key, line) in super::NEWER {
            let lacking = TEXT.replace(&format!("{line}\n"), "");
            let error = RunConfig::from_toml(&lacking).unwrap_err().to_string();
            assert!(error.contains(&format!("{section}.{key}")), "{error}");
        }
        let given = super::NEWER.map(|(section, _, line)| format!("{section}.{}", line.replace(' ', "")));
        assert!(RunConfig::from_toml_with(&older(), &given).is_ok(), "an override is as good");
    }
}
