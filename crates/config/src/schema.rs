//! The JSON Schema of configuration files, generated from the structs of the sections: doc comments become descriptions, and
//! `#[schemars(range(…))]` becomes the range that [`crate::bounds`] enforces.
//!
//! One keyword is our own: `x-neutral`, the value (as TOML) at which a key does not count for the digest.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::RunConfig;

/// The schema of a complete configuration, without references.
static COMPLETE: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<RunConfig>().to_value()
});

/// The schema of a configuration file for editors (Taplo, Even Better TOML): keys may be missing, because a file may extend another.
pub fn schema() -> Value {
    let mut schema = COMPLETE.clone();
    schema["title"] = json!("Tengen run configuration");
    schema["properties"][EXTENDS] = json!({
        "description": "Configuration file that this one overrides, relative to its folder.",
        "type": "string",
    });
    optional(&mut schema);
    schema
}

/// The key that names the file to extend.
pub(crate) const EXTENDS: &str = "extends";

/// No key of this object or of an object in it is required. Entries of lists stay complete.
fn optional(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("required");
    let properties = object.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flat_map(Map::values_mut).for_each(optional);
}

/// The schema of a complete configuration.
pub(crate) fn complete() -> &'static Value {
    &COMPLETE
}

/// The schemas of the keys of a table or, for a list of tables, of its entries.
pub(crate) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("items").unwrap_or(schema).get("properties")?.as_object()
}

/// The text of a configuration without the lines of keys that have their neutral value.
pub(crate) fn without_neutral(text: &str) -> String {
    let mut section = Some(complete());
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.trim_end().strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            // Entries of lists, `[[…]]`, have no neutral values.
            section = complete()["properties"].get(name);
        }
        let neutral = line.trim_end().split_once(" = ").is_some_and(|(key, value)| {
            section.and_then(|section| section["properties"][key]["x-neutral"].as_str()) == Some(value)
        });
        if !neutral {
            kept += line;
        }
    }
    kept
}
