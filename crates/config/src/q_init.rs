//! What an edge is worth before its first visit.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value an edge starts with at expansion, for the side to move: v − penalty, or 0.
///
/// In the file: `"parent"`, `"loss"`, `"zero"`, or a number, the penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QInit {
    /// The network value of the position minus this penalty, 0 (**init-to-parent**) to 2 (**init-to-loss**).
    Penalty(f32),
    /// 0, independent of the network.
    Zero,
}

impl QInit {
    /// init-to-parent: no penalty.
    pub const PARENT: QInit = QInit::Penalty(0.0);
    /// init-to-loss: the whole range of values.
    pub const LOSS: QInit = QInit::Penalty(2.0);
}

impl FromStr for QInit {
    type Err = String;

    fn from_str(text: &str) -> Result<QInit, String> {
        match text {
            "parent" => Ok(QInit::PARENT),
            "loss" => Ok(QInit::LOSS),
            "zero" => Ok(QInit::Zero),
            other => match other.parse::<f32>() {
                Ok(penalty) if (0.0..=2.0).contains(&penalty) => Ok(QInit::Penalty(penalty)),
                _ => Err(format!("q_init is \"{other}\": expected loss, parent, zero or a penalty from 0 to 2")),
            },
        }
    }
}

impl fmt::Display for QInit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            QInit::PARENT => f.write_str("parent"),
            QInit::LOSS => f.write_str("loss"),
            QInit::Zero => f.write_str("zero"),
            QInit::Penalty(penalty) => write!(f, "{penalty}"),
        }
    }
}

impl Serialize for QInit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            QInit::PARENT | QInit::LOSS | QInit::Zero => serializer.collect_str(self),
            QInit::Penalty(penalty) => serializer.serialize_f32(penalty),
        }
    }
}

impl<'de> Deserialize<'de> for QInit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<QInit, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected \"loss\", \"parent\", \"zero\" or a penalty from 0 to 2")]
        enum Raw {
            Number(f64),
            Text(String),
        }
        let text = match Raw::deserialize(deserializer)? {
            Raw::Number(number) => number.to_string(),
            Raw::Text(text) => text,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for QInit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "QInit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "const": "loss", "description": "A loss: the value of the position minus 2." },
                { "type": "string", "const": "parent", "description": "The value of the position." },
                { "type": "string", "const": "zero", "description": "0." },
                { "type": "number", "minimum": 0, "maximum": 2, "description": "The value of the position minus this." },
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::error;

    #[test]
    fn prints_what_it_parses() {
        for text in ["parent", "loss", "zero", "0.25"] {
            assert_eq!(text.parse::<QInit>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses_what_is_no_penalty() {
        for text in ["", "win", "-0.1", "2.1", "nan", "inf"] {
            assert!(text.parse::<QInit>().is_err(), "{text}");
        }
        let said = error(&["search.q_init=true"]);
        assert!(said.contains("q_init") && said.contains("\"zero\" or a penalty from 0 to 2"), "{said}");
    }
}
