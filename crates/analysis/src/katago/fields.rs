//! Fields of a query.

use std::collections::BTreeSet;
use std::time::Duration;

use go::{Color, Move, Size};
use serde_json::{Map, Value};

use super::{Refusal, Warning, refuse};

/// The fields of a query, and those that were read.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Value>,
    seen: BTreeSet<&'static str>,
}

/// Longer times are as good as no limit, and fit a clock.
pub(super) const LONGEST: f64 = 1e6;

impl<'a> Fields<'a> {
    pub(super) fn new(object: &'a Map<String, Value>) -> Fields<'a> {
        Fields { object, seen: BTreeSet::new() }
    }

    /// The value of a field; `None` for one that is not there or is null.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.seen.insert(name);
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn integer(&mut self, name: &'static str, least: i64, most: i64) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        // 10.0 is a whole number for clients in JavaScript and Python.
        let whole = value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64));
        match whole.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => refuse(name, format!("must be an integer from {least} to {most}")),
        }
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, Refusal> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => refuse(name, "must be a boolean"),
        }
    }

    pub(super) fn list(&mut self, name: &'static str) -> Result<Option<&'a [Value]>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => refuse(name, "must be a list"),
        }
    }

    pub(super) fn seconds(&mut self, name: &'static str) -> Result<Option<Duration>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_f64().filter(|seconds| *seconds > 0.0) {
            Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds.min(LONGEST)))),
            None => refuse(name, "must be a number of seconds above 0"),
        }
    }

    /// `[["B", "D4"], …]`.
    pub(super) fn moves(&mut self, name: &'static str, size: Size) -> Result<Vec<(Color, Move)>, Refusal> {
        let wanted = "must be a list of pairs of a player and a location, such as [\"B\", \"D4\"]";
        let read = |pair: &Value| {
            let [player, location] = pair.as_array().map(Vec::as_slice)? else { return None };
            Some((color(player)?, location_of(size, location)?))
        };
        let list = self.list(name)?.unwrap_or_default();
        let bad = |pair: &Value| Refusal { reason: format!("{wanted}; {pair} is none"), field: name };
        list.iter().map(|pair| read(pair).ok_or_else(|| bad(pair))).collect()
    }

    /// A warning for each field that was not read.
    pub(super) fn unused(&self) -> impl Iterator<Item = Warning> + use<'_, 'a> {
        let names = self.object.keys().filter(|name| !self.seen.contains(name.as_str()));
        names.map(|name| Warning { reason: "Unexpected or unused field".to_owned(), field: name.clone() })
    }
}

pub(super) fn color(value: &Value) -> Option<Color> {
    match value.as_str()? {
        "B" | "b" | "black" | "Black" => Some(Color::Black),
        "W" | "w" | "white" | "White" => Some(Color::White),
        _ => None,
    }
}

/// A vertex of GTP, or `(x,y)` from the top-left corner.
pub(super) fn location_of(size: Size, value: &Value) -> Option<Move> {
    let text = value.as_str()?;
    let Some(pair) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return Move::from_gtp(size, text);
    };
    let (x, y) = pair.split_once(',')?;
    go::Point::new(size, y.trim().parse().ok()?, x.trim().parse().ok()?).map(Move::Play)
}
