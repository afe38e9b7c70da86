//! `[retention]`: what `tengen prune` keeps.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Objects that `tengen prune` keeps; no part of the digest.
///
/// Beyond it, the windows, the resign threshold, the validation set, ratings and later training keep what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Games of the newest models, with examples, validation set and SGF.
    ///
    /// Whole models, by games, age of a model's newest games, or size.
    pub games: Keep,
    /// SGF records by number of files, age or size.
    pub sgf: Keep,
    /// Weights of retired models by number, age or size.
    ///
    /// Weights of other models are always kept, and so are metadata.
    pub models: Keep,
    /// Shards of published models by number, age or size.
    ///
    /// The shuffler deletes those of older generations than the last two by itself.
    pub shards: Keep,
    /// Checkpoints by number, age or size.
    ///
    /// The newest is always kept. The trainer deletes all but the last two by itself.
    pub checkpoints: Keep,
    /// Evaluation caches of the run's models by number of models, age or size.
    pub evalcache: Keep,
    /// Damaged files in quarantine by number, age or size.
    pub quarantine: Keep,
}

/// How much of something is kept, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All of it.
    All,
    /// So many.
    Count(u64),
    /// Those that are younger than this time in seconds.
    Seconds(u64),
    /// As many as take at most so many bytes.
    Bytes(u64),
}

impl Retention {
    /// Keeps everything.
    pub const ALL: Retention = Retention {
        games: Keep::All,
        sgf: Keep::All,
        models: Keep::All,
        shards: Keep::All,
        checkpoints: Keep::All,
        evalcache: Keep::All,
        quarantine: Keep::All,
    };

    /// The kinds by the names of their keys.
    pub fn kinds(&mut self) -> [(&'static str, &mut Keep); 7] {
        [
            ("games", &mut self.games),
            ("sgf", &mut self.sgf),
            ("models", &mut self.models),
            ("shards", &mut self.shards),
            ("checkpoints", &mut self.checkpoints),
            ("evalcache", &mut self.evalcache),
            ("quarantine", &mut self.quarantine),
        ]
    }
}

/// Units of time, in seconds.
const TIMES: [(&str, u64); 3] = [("h", 3600), ("d", 24 * 3600), ("w", 7 * 24 * 3600)];
/// Units of size, in bytes.
const SIZES: [(&str, u64); 3] = [("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Keep, String> {
        if text == "all" {
            return Ok(Keep::All);
        }
        let wrong = || {
            format!(
                "\"{text}\" is not an amount: write all, a number, an age such as 30d (h, d, w), or a size such as 50GiB (MiB, \
                 GiB, TiB)"
            )
        };
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| wrong())?;
        let scaled = |units: [(&str, u64); 3]| {
            let scale = units.into_iter().find(|(name, _)| *name == unit)?.1;
            number.checked_mul(scale)
        };
        match unit {
            "" => Ok(Keep::Count(number)),
            _ => scaled(TIMES).map(Keep::Seconds).or_else(|| scaled(SIZES).map(Keep::Bytes)).ok_or_else(wrong),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, units) = match *self {
            Keep::All => return f.write_str("all"),
            Keep::Count(number) => return write!(f, "{number}"),
            Keep::Seconds(seconds) => (seconds, TIMES),
            Keep::Bytes(bytes) => (bytes, SIZES),
        };
        let fits = |&(_, scale): &(&str, u64)| number.is_multiple_of(scale) && (number > 0 || scale == units[0].1);
        let (name, scale) = units.into_iter().rfind(fits).unwrap_or(units[0]);
        write!(f, "{}{name}", number / scale)
    }
}

impl Serialize for Keep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keep, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected \"all\", a number, an age such as \"30d\" (h, d, w), or a size such as \"50GiB\" (MiB, GiB, TiB)"
        )]
        enum Raw {
            Count(u64),
            Text(String),
        }
        match Raw::deserialize(deserializer)? {
            Raw::Count(count) => Ok(Keep::Count(count)),
            Raw::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Keep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Keep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "const": "all", "description": "Everything; or a number, an age (`30d`: h, d, w) or a size (`50GiB`: MiB, GiB, TiB), as text." },
                { "type": "string", "pattern": "^[0-9]+(h|d|w|MiB|GiB|TiB)?$", "description": "The newest: a number, an age or a size." },
                { "type": "integer", "minimum": 0, "description": "The newest: a number." },
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunConfig;
    use crate::test::{error, minigo};

    #[test]
    fn prints_what_it_parses() {
        for text in ["all", "0", "200000", "0h", "5h", "30d", "2w", "512MiB", "50GiB", "3TiB"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        assert_eq!("48h".parse::<Keep>().unwrap(), "2d".parse().unwrap());
        assert_eq!("1024MiB".parse::<Keep>().unwrap().to_string(), "1GiB");
    }

    #[test]
    fn refuses_other_texts() {
        for text in ["", "none", "-1", "1.5d", "3 d", "d", "5m", "5GB", "99999999999999999999", "99999999999TiB"] {
            assert!(text.parse::<Keep>().is_err(), "{text}");
        }
        let said = error(&["retention.games=5GB"]);
        assert!(said.contains("retention") && said.contains("a size such as 50GiB"), "{said}");
        for number in ["-1", "1.5"] {
            let said = error(&[&format!("retention.games={number}")]);
            assert!(said.contains("retention") && said.contains("a size such as \"50GiB\""), "{said}");
        }
    }

    #[test]
    fn policy_is_no_part_of_the_digest() {
        let plain = minigo(&[]);
        let bounded = minigo(&["retention.games=30d", "retention.sgf='0'", "retention.models=5"]);
        assert_eq!(bounded.digest(), plain.digest());
        assert_eq!((bounded.retention.games, bounded.retention.sgf), (Keep::Seconds(30 * 86_400), Keep::Count(0)));
        assert_eq!(RunConfig::from_toml(&bounded.to_toml()).unwrap(), bounded);
    }
}
