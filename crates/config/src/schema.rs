//! The JSON Schema of configuration files, generated from the structs of the sections: doc comments become
//! descriptions, and `#[schemars(range(…))]` becomes the range that [`crate::bounds`] enforces.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::RunConfig;

/// The schema of a complete configuration, without references.
static COMPLETE: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<RunConfig>().to_value()
});

/// The schema of a configuration file for editors (Taplo, Even Better TOML): keys may be missing, because a file may
/// extend another.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Grow, Phase};

    #[test]
    fn entries_of_schedules_name_all_keys_that_they_replace() {
        let schedules = [("search", "phases", "search", Phase::KEYS), ("train", "grow", "network", Grow::KEYS)];
        for (section, list, replaced, known) in schedules {
            let entry = properties(&complete()["properties"][section]["properties"][list]).unwrap();
            let keys = entry.keys().filter(|key| *key != "from_model").map(|key| format!("{replaced}.{key}"));
            let known: BTreeSet<String> = known.iter().map(|&key| key.to_owned()).collect();
            assert_eq!(keys.collect::<BTreeSet<String>>(), known, "{list}");
        }
    }
}
