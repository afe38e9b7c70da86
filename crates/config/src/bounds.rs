//! Ranges of single values, as the schema declares them. Rules between values are in the `check` of each section.

use serde_json::Value as Schema;
use toml::{Table, Value};

use crate::{ConfigError, keys, schema};

/// Checks every number of a configuration against its range.
pub(crate) fn check(table: &Table) -> Result<(), ConfigError> {
    walk(table, schema::complete(), "")
}

fn walk(table: &Table, schema: &Schema, path: &str) -> Result<(), ConfigError> {
    for (name, schema) in schema::properties(schema).into_iter().flatten() {
        let key = keys::join(path, name);
        match table.get(name) {
            Some(Value::Table(inner)) => walk(inner, schema, &key)?,
            Some(Value::Array(entries)) => {
                for (index, entry) in entries.iter().enumerate() {
                    entry.as_table().map_or(Ok(()), |entry| walk(entry, schema, &format!("{key}[{index}]")))?;
                }
            }
            Some(Value::Integer(value)) => number(*value as f64, schema, &key)?,
            Some(Value::Float(value)) => number(*value, schema, &key)?,
            _ => {}
        }
    }
    Ok(())
}

fn number(value: f64, schema: &Schema, key: &str) -> Result<(), ConfigError> {
    let range = Range::of(schema);
    let rule = match range {
        _ if !value.is_finite() => "be finite".to_owned(),
        _ if !range.holds(value) => range.to_string(),
        _ => match schema["multipleOf"].as_f64() {
            Some(unit) if value % unit != 0.0 => multiple(unit),
            _ => return Ok(()),
        },
    };
    Err(ConfigError::Value { key: key.into(), value: value.to_string().into(), rule: format!("must {rule}").into() })
}

/// The range of a key in words, such as "from 2 to 19".
pub(crate) fn in_words(schema: &Schema) -> Option<String> {
    // Whole numbers have the bound of the unsigned type.
    let is_of_type = schema["type"] == "integer" && Range::of(schema).is_trivial();
    let range =
        Some(Range::of(schema)).filter(|range| !range.is_absent() && !is_of_type).map(|range| range.to_string());
    let unit = schema["multipleOf"].as_f64().map(multiple);
    let rules: Vec<String> = range.into_iter().chain(unit).collect();
    (!rules.is_empty()).then(|| rules.join(", ").replace("be ", ""))
}

fn multiple(unit: f64) -> String {
    format!("be a multiple of {unit}")
}

/// A range, each end with or without its bound.
struct Range {
    least: Option<f64>,
    above: Option<f64>,
    most: Option<f64>,
    below: Option<f64>,
}

impl Range {
    fn of(schema: &Schema) -> Range {
        let bound = |name: &str| schema[name].as_f64();
        Range {
            least: bound("minimum"),
            above: bound("exclusiveMinimum"),
            most: bound("maximum"),
            below: bound("exclusiveMaximum"),
        }
    }

    fn holds(&self, value: f64) -> bool {
        self.least.is_none_or(|bound| value >= bound)
            && self.above.is_none_or(|bound| value > bound)
            && self.most.is_none_or(|bound| value <= bound)
            && self.below.is_none_or(|bound| value < bound)
    }

    /// Nothing, or only the bound of the unsigned type.
    fn is_trivial(&self) -> bool {
        self.least.unwrap_or_default() == 0.0 && self.above.is_none() && self.most.is_none() && self.below.is_none()
    }

    fn is_absent(&self) -> bool {
        self.least.is_none() && self.is_trivial()
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.least, self.above, self.most, self.below) {
            (Some(least), None, Some(most), None) if least == most => write!(f, "be {least}"),
            (Some(least), None, Some(most), None) => write!(f, "be from {least} to {most}"),
            (Some(least), None, None, Some(below)) => write!(f, "be from {least} to below {below}"),
            (Some(least), None, None, None) => write!(f, "be at least {least}"),
            (None, Some(above), Some(most), None) => write!(f, "be above {above}, up to {most}"),
            (None, Some(above), None, Some(below)) => write!(f, "be above {above} and below {below}"),
            (None, Some(above), None, None) => write!(f, "be above {above}"),
            (None, None, Some(most), None) => write!(f, "be at most {most}"),
            (None, None, None, Some(below)) => write!(f, "be below {below}"),
            _ => f.write_str("be a number"),
        }
    }
}
