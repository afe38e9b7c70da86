//! Names of players: models with their settings, and other programs.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::held_as_text;
use crate::{ConfigError, ModelId, ModelIdError, ModelRef, QInit, RunConfig, RunName};

/// The name of another program that plays Go: letters, digits, `.`, `_` and `-`, 64 at most, starting with a capital
/// letter, which no model's name does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EngineName(String);

/// A player of matches. The name contains all its settings.
///
/// Printed and parsed as a model's id, followed by the settings that differ from those of the model, as in
/// `v15-330+visits=400+q_init=loss`; or as the name of an engine, such as `GnuGo-10`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PlayerId {
    /// A model that searches.
    Model {
        /// The model.
        id: ModelId,
        /// Settings that differ from those of the model.
        settings: Overrides,
    },
    /// Another program.
    Engine(EngineName),
}

/// A player as the command line has it: its id, or with a run instead of a model the newest model of that run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerRef {
    /// Exactly this player.
    Exact(PlayerId),
    /// The newest model of this run.
    Newest(RunName, Overrides),
}

/// Settings that differ from those a model was published with: keys of `[search]`; `visits`, the visits for each move
/// of a match; `precision`, the numbers its network computes with; `evalcache=off`, no evaluation cache on disk.
/// Ordered by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Overrides(BTreeMap<String, String>);

/// A name that is no player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerIdError {
    /// It is no model either.
    #[error(transparent)]
    Model(#[from] ModelIdError),
    /// Not a possible name of an engine.
    #[error(
        "\"{0}\" is no engine: a name has 1 to 64 letters, digits, '.', '_' or '-', and begins with a capital letter"
    )]
    Engine(String),
    /// Not `key=value`.
    #[error("\"{0}\": a setting is key=value, as in v15-330+visits=400+q_init=loss")]
    Setting(String),
    /// A number in another spelling, which would be another player.
    #[error("\"{0}\": write the number in plain digits, as in visits=400")]
    Number(String),
    /// A value in another spelling, which would be another player.
    #[error("\"{setting}\": write it as {spelling}; each spelling would be a player with a rating of its own")]
    Spelling {
        /// The setting as it was given.
        setting: String,
        /// The setting as it is to be written.
        spelling: String,
    },
    /// A key with two values.
    #[error("\"{0}\" is set twice")]
    Twice(String),
}

/// The key for the visits of a match, which are no key of `[search]`.
const VISITS: &str = "visits";
/// The key for the precision of inference, which is no key of a configuration.
const PRECISION: &str = "precision";
/// The key for the evaluation cache on disk, which is no key of a configuration.
const EVALCACHE: &str = "evalcache";
/// The key of `[search]` whose numbers may have names.
const Q_INIT: &str = "q_init";

impl EngineName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Overrides {
    /// Everything as published.
    pub const NONE: Overrides = Overrides(BTreeMap::new());

    /// Whether everything is as published.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The precision of inference, as typed.
    pub fn precision(&self) -> Option<&str> {
        self.0.get(PRECISION).map(String::as_str)
    }

    /// The use of the evaluation cache on disk, as typed.
    pub fn evalcache(&self) -> Option<&str> {
        self.0.get(EVALCACHE).map(String::as_str)
    }

    /// The configuration with these settings, checked, except for the precision and the evaluation cache.
    ///
    /// # Errors
    /// An unknown key, or a value of the wrong type or out of range.
    pub fn apply(&self, config: &RunConfig) -> Result<RunConfig, ConfigError> {
        let path = |key: &str| if key == VISITS { "evaluate.visits".to_owned() } else { format!("search.{key}") };
        let keys = self.0.iter().filter(|(key, _)| ![PRECISION, EVALCACHE].contains(&key.as_str()));
        let overrides: Vec<String> = keys.map(|(key, value)| format!("{}={value}", path(key))).collect();
        RunConfig::from_toml_with(&config.to_toml(), &overrides)
    }
}

impl PlayerRef {
    /// Checks that each setting has its one spelling. Ids that are stored already may have others, and are read as they
    /// are.
    ///
    /// # Errors
    /// A value such as `0.20` or `1e0`, with the spelling that it should have.
    pub fn check_spelling(&self) -> Result<(), PlayerIdError> {
        let (PlayerRef::Exact(PlayerId::Model { settings, .. }) | PlayerRef::Newest(_, settings)) = self else {
            return Ok(());
        };
        for (key, value) in &settings.0 {
            let spelling = spelling(key, value);
            if spelling != *value {
                let (setting, spelling) = (format!("{key}={value}"), format!("{key}={spelling}"));
                return Err(PlayerIdError::Spelling { setting, spelling });
            }
        }
        Ok(())
    }
}

/// The one spelling of a setting's value.
fn spelling(key: &str, value: &str) -> String {
    if key == Q_INIT
        && let Ok(q_init) = value.parse::<QInit>()
    {
        return q_init.to_string();
    }
    match value.parse::<f64>() {
        Ok(0.0) => "0".to_owned(),
        Ok(number) if number.is_finite() => number.to_string(),
        _ => value.to_owned(),
    }
}

impl From<ModelId> for PlayerId {
    fn from(id: ModelId) -> PlayerId {
        PlayerId::Model { id, settings: Overrides::default() }
    }
}

impl FromStr for EngineName {
    type Err = PlayerIdError;

    fn from_str(text: &str) -> Result<EngineName, PlayerIdError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let good = text.len() <= 64 && text.chars().all(allowed) && is_engine(text);
        if good { Ok(EngineName(text.to_owned())) } else { Err(PlayerIdError::Engine(text.to_owned())) }
    }
}

impl FromStr for PlayerRef {
    type Err = PlayerIdError;

    fn from_str(text: &str) -> Result<PlayerRef, PlayerIdError> {
        if is_engine(text) {
            return Ok(PlayerRef::Exact(PlayerId::Engine(text.parse()?)));
        }
        let (model, settings) = model_and_settings(text)?;
        Ok(match model.parse()? {
            ModelRef::Exact(id) => PlayerRef::Exact(PlayerId::Model { id, settings }),
            ModelRef::Newest(run) => PlayerRef::Newest(run, settings),
        })
    }
}

impl FromStr for PlayerId {
    type Err = PlayerIdError;

    fn from_str(text: &str) -> Result<PlayerId, PlayerIdError> {
        if is_engine(text) {
            return Ok(PlayerId::Engine(text.parse()?));
        }
        let (model, settings) = model_and_settings(text)?;
        Ok(PlayerId::Model { id: model.parse()?, settings })
    }
}

/// Whether a player's name is that of another program.
fn is_engine(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The model of a player's name, before the first plus sign, and the settings after it.
pub fn split_settings(player: &str) -> (&str, Option<&str>) {
    match player.split_once('+') {
        Some((model, settings)) => (model, Some(settings)),
        None => (player, None),
    }
}

fn model_and_settings(text: &str) -> Result<(&str, Overrides), PlayerIdError> {
    let (model, settings) = split_settings(text);
    Ok((model, settings.map(str::parse::<Overrides>).transpose()?.unwrap_or_default()))
}

impl FromStr for Overrides {
    type Err = PlayerIdError;

    /// What comes after the first plus sign.
    fn from_str(text: &str) -> Result<Overrides, PlayerIdError> {
        let setting = |text: &str| {
            let known = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
            let pair = text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
            let (key, value) = pair.filter(|(key, value)| known(key) && known(value))?;
            Some((key.to_owned(), value.to_owned()))
        };
        let mut settings = BTreeMap::new();
        for text in text.split('+') {
            let (key, value) = setting(text).ok_or_else(|| PlayerIdError::Setting(text.to_owned()))?;
            // 4_00 and 0x190 would be other players than 400.
            let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            if is_number && value.contains(['_', 'x', 'o', 'b']) {
                return Err(PlayerIdError::Number(text.to_owned()));
            }
            if settings.insert(key.clone(), value).is_some() {
                return Err(PlayerIdError::Twice(key));
            }
        }
        Ok(Overrides(settings))
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(key, value)| write!(f, "+{key}={value}"))
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerId::Model { id, settings } => write!(f, "{id}{settings}"),
            PlayerId::Engine(name) => name.fmt(f),
        }
    }
}

impl fmt::Display for PlayerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerRef::Exact(id) => id.fmt(f),
            PlayerRef::Newest(run, settings) => write!(f, "{run}{settings}"),
        }
    }
}

held_as_text!(EngineName, PlayerIdError);
held_as_text!(PlayerId, PlayerIdError);

#[cfg(test)]
mod tests {
    use super::*;

    fn player(text: &str) -> PlayerId {
        text.parse().unwrap()
    }

    #[test]
    fn player_is_a_model_with_settings_or_an_engine() {
        assert_eq!(player("v15-330"), "v15-330".parse::<ModelId>().unwrap().into());
        assert!(matches!(player("GnuGo-10"), PlayerId::Engine(name) if name.as_str() == "GnuGo-10"));
        assert_eq!(player("uniform"), ModelId::Uniform.into());
        for text in ["v15-330", "v15-330+q_init=loss+visits=400", "random+leaves=4", "GnuGo-10", "X"] {
            assert_eq!(player(text).to_string(), text);
        }
        assert_eq!(player("v15-3+visits=4+leaves=2").to_string(), "v15-3+leaves=2+visits=4", "there is one spelling");
    }

    #[test]
    fn settings_follow_the_first_plus_sign() {
        assert_eq!(split_settings("v15-3+visits=4+leaves=2"), ("v15-3", Some("visits=4+leaves=2")));
        assert_eq!(split_settings("GnuGo-10"), ("GnuGo-10", None));
        assert_eq!(split_settings("v15-3+"), ("v15-3", Some("")));
    }

    #[test]
    fn run_means_its_newest_model() {
        let run: RunName = "v15".parse().unwrap();
        assert_eq!("v15".parse(), Ok(PlayerRef::Newest(run.clone(), Overrides::default())));
        assert_eq!("v15+visits=4".parse(), Ok(PlayerRef::Newest(run, "visits=4".parse().unwrap())));
        assert!("v15".parse::<PlayerId>().is_err());
    }

    #[test]
    fn refuses_what_is_neither() {
        for text in ["", "v15-330+", "v15-330+visits", "v15-330+visits=", "v15-330+=4", "v15-330+a b=4", "Gnu Go", "É"]
        {
            assert!(text.parse::<PlayerRef>().is_err(), "{text}");
        }
        for text in ["v15-330+leaves=2+leaves=8", "v15-330+leaves=2+visits=4+leaves=2"] {
            assert!(text.parse::<PlayerRef>().is_err(), "{text}");
        }
        for text in ["visits=4_00", "visits=0x190", "visits=0o620", "visits=0b11", "fpu_reduction=0.2_5"] {
            let error = format!("v15-330+{text}").parse::<PlayerRef>().unwrap_err();
            assert_eq!(error, PlayerIdError::Number(text.to_owned()));
        }
    }

    #[test]
    fn values_have_one_spelling() {
        let check = |text: &str| format!("v15+{text}").parse::<PlayerRef>().expect("a player").check_spelling();
        let good = ["visits=400+leaves=2", "fpu_reduction=0.2", "gumbel_c_scale=1", "q_init=loss", "q_init=0.25"];
        for text in good.into_iter().chain(["q_init=zero", "precision=f32", "evalcache=off", "fpu_reduction=0"]) {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for (setting, spelling) in [
            ("fpu_reduction=0.20", "fpu_reduction=0.2"),
            ("fpu_reduction=-0", "fpu_reduction=0"),
            ("gumbel_c_scale=1.0", "gumbel_c_scale=1"),
            ("gumbel_c_scale=1e0", "gumbel_c_scale=1"),
            ("q_init=0", "q_init=parent"),
            ("q_init=2.0", "q_init=loss"),
            ("q_init=0.250", "q_init=0.25"),
        ] {
            let (setting, spelling) = (setting.to_owned(), spelling.to_owned());
            assert_eq!(player(&format!("v15-330+{setting}")).to_string(), format!("v15-330+{setting}"), "stored ids");
            assert_eq!(check(&setting), Err(PlayerIdError::Spelling { setting: setting.clone(), spelling }));
        }
        let config = crate::Preset::Minigo.config();
        let shortest: Overrides = "fpu_reduction=0+gumbel_c_scale=1".parse().unwrap();
        let longer: Overrides = "fpu_reduction=0.0+gumbel_c_scale=1.0".parse().unwrap();
        assert_eq!(shortest.apply(&config).unwrap(), longer.apply(&config).unwrap());
    }

    #[test]
    fn settings_change_the_search_and_are_checked() {
        let config = crate::Preset::Minigo.config();
        let settings: Overrides = "visits=33+q_init=loss+leaves=2".parse().unwrap();
        let changed = settings.apply(&config).unwrap();
        assert_eq!((changed.evaluate.visits, changed.search.leaves), (33, 2));
        assert_eq!(changed.search.visits, config.search.visits, "visits are those of matches");
        assert_eq!(Overrides::default().apply(&config).unwrap(), config);
        let error = "leafs=2".parse::<Overrides>().unwrap().apply(&config).unwrap_err().to_string();
        assert!(error.contains("search.leafs") && error.contains("leaves"), "{error}");
        assert!("leaves=99".parse::<Overrides>().unwrap().apply(&config).is_err());
        assert!("visits=20000000".parse::<Overrides>().unwrap().apply(&config).is_err(), "more than a search adds up");
    }

    #[test]
    fn precision_is_no_key_of_a_configuration() {
        let config = crate::Preset::Minigo.config();
        let settings: Overrides = "precision=f32+leaves=2".parse().unwrap();
        assert_eq!((settings.precision(), settings.apply(&config).unwrap().search.leaves), (Some("f32"), 2));
        assert_eq!(Overrides::NONE.precision(), None);
    }

    #[test]
    fn evaluation_cache_is_no_key_of_a_configuration() {
        let config = crate::Preset::Minigo.config();
        let settings: Overrides = "evalcache=off+leaves=2".parse().unwrap();
        assert_eq!((settings.evalcache(), settings.apply(&config).unwrap().search.leaves), (Some("off"), 2));
        assert_eq!(Overrides::NONE.evalcache(), None);
    }
}
