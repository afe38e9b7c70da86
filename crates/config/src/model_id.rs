//! Names of runs and models.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::held_as_text;

/// The name of a run: lower-case letters, digits, `.`, `_` and `-`, starting with a letter or digit.
///
/// It may not end in `-<number>`, which would read as a model, nor be the name of a built-in model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunName(String);

/// One model: trained weights with an id, or one of the two built-in models that need none.
///
/// Printed and parsed as `<run>-<number>`, `uniform` or `random`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModelId {
    /// Flat prior, value 0.
    Uniform,
    /// Fresh random output for every position.
    Random,
    /// Weights in the store.
    Trained {
        /// The run it belongs to.
        run: RunName,
        /// Its number in the run, from 1.
        number: u32,
    },
}

impl ModelId {
    /// The models that need no weights.
    pub const BUILT_IN: [ModelId; 2] = [ModelId::Uniform, ModelId::Random];

    /// The built-in model of this name.
    pub fn built_in(name: &str) -> Option<ModelId> {
        ModelId::BUILT_IN.into_iter().find(|model| model.to_string() == name)
    }

    /// Its number in its run; 0 for one that is built in.
    pub fn number(&self) -> u32 {
        match self {
            ModelId::Uniform | ModelId::Random => 0,
            ModelId::Trained { number, .. } => *number,
        }
    }

    /// Its run; `None` for one that is built in.
    pub fn run(&self) -> Option<&RunName> {
        match self {
            ModelId::Uniform | ModelId::Random => None,
            ModelId::Trained { run, .. } => Some(run),
        }
    }
}

/// A model as the command line has it: an id, or a run alone, which means its newest model, followed as it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelRef {
    /// Exactly this model.
    Exact(ModelId),
    /// The newest model of this run.
    Newest(RunName),
}

impl ModelRef {
    /// The run of the model; `None` for a built-in one.
    pub fn run(&self) -> Option<&RunName> {
        match self {
            ModelRef::Exact(id) => id.run(),
            ModelRef::Newest(run) => Some(run),
        }
    }
}

/// A name that is no run and no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not a {what}: {reason}")]
pub struct ModelIdError {
    text: String,
    /// `run` or `model`.
    what: &'static str,
    reason: &'static str,
}

impl RunName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of this run's model with the given number.
    pub fn model(&self, number: u32) -> ModelId {
        ModelId::Trained { run: self.clone(), number }
    }
}

impl FromStr for RunName {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<RunName, ModelIdError> {
        let fail = |reason| Err(ModelIdError { text: text.to_owned(), what: "run", reason });
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
        if text.is_empty() || text.len() > 64 || !text.chars().all(allowed) {
            return fail("a run's name has 1 to 64 lower-case letters, digits, '.', '_' or '-'");
        }
        if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return fail("a run's name starts with a letter or a digit");
        }
        if split_number(text).is_some() {
            return fail("a run's name may not end in '-' and a number");
        }
        if ModelId::built_in(text).is_some() {
            return fail("this is the name of a built-in model");
        }
        Ok(RunName(text.to_owned()))
    }
}

impl FromStr for ModelId {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<ModelId, ModelIdError> {
        if let Some(model) = ModelId::built_in(text) {
            return Ok(model);
        }
        let fail = |reason| ModelIdError { text: text.to_owned(), what: "model", reason };
        let (run, digits) = split_number(text).ok_or(fail("expected <run>-<number>, such as v15-330"))?;
        let number = digits.parse().map_err(|_| fail("the number is too large"))?;
        if number == 0 {
            return Err(fail("models are numbered from 1"));
        }
        Ok(ModelId::Trained { run: run.parse()?, number })
    }
}

impl FromStr for ModelRef {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<ModelRef, ModelIdError> {
        if ModelId::built_in(text).is_some() || split_number(text).is_some() {
            text.parse().map(ModelRef::Exact)
        } else {
            text.parse::<RunName>().map(ModelRef::Newest).map_err(|error| ModelIdError { what: "model", ..error })
        }
    }
}

/// `v15-330` → (`v15`, `330`).
fn split_number(text: &str) -> Option<(&str, &str)> {
    let (run, digits) = text.rsplit_once('-')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some((run, digits))
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelId::Uniform => f.write_str("uniform"),
            ModelId::Random => f.write_str("random"),
            ModelId::Trained { run, number } => write!(f, "{run}-{number}"),
        }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelRef::Exact(id) => id.fmt(f),
            ModelRef::Newest(run) => run.fmt(f),
        }
    }
}

held_as_text!(RunName, ModelIdError);
held_as_text!(ModelId, ModelIdError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_a_run_and_a_number() {
        let id: ModelId = "v15-330".parse().unwrap();
        assert_eq!(id, "v15".parse::<RunName>().unwrap().model(330));
        assert_eq!(id.to_string(), "v15-330");
    }

    #[test]
    fn run_alone_means_its_newest_model() {
        assert!(matches!("9x9-gpu".parse(), Ok(ModelRef::Newest(run)) if run.as_str() == "9x9-gpu"));
        assert_eq!("v15-330".parse(), Ok(ModelRef::Exact("v15-330".parse().unwrap())));
        assert_eq!("uniform".parse(), Ok(ModelRef::Exact(ModelId::Uniform)));
    }

    #[test]
    fn refuses_what_would_be_misread() {
        for text in
            ["", "-", "v15-", "v15-0", "-3", "V15-3", "a/b-3", "../x-3", "v-1-2", "v15-99999999999", "uniform-1"]
        {
            assert!(text.parse::<ModelId>().is_err(), "{text}");
        }
        for text in ["", "v15-330", "random", ".hidden", "a b", "é"] {
            let error = text.parse::<RunName>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("\"{text}\" is not a run: ")), "{error}");
        }
        let error = "a b".parse::<ModelRef>().unwrap_err().to_string();
        assert!(error.starts_with("\"a b\" is not a model: a run's name has"), "{error}");
    }
}
