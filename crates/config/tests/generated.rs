//! The files that are generated from the structs of the sections: comments of `configs/base.toml`, and the JSON Schema.
//!
//! After a change of a key: `UPDATE_EXPECT=1 cargo test -p config`.

// Only the library has to be pure: this test reads and writes files.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fmt::Write;

use config::RunConfig;
use config::reference::{Key, Section, sections};
use expect_test::expect_file;

const BASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/base.toml");

const HEAD: &str = "\
#:schema ../docs/config.schema.json
# Every key of a run's configuration with its default: 9x9 on a small machine. Another file says `extends = \"base.toml\"`
# and holds only what differs. docs/OPTIONS.md explains each key further. The comments are generated from the code:
# UPDATE_EXPECT=1 cargo test -p config
";

/// Column of the comments.
const COLUMN: usize = 32;
/// Length of a line, at most.
const LONGEST: usize = 120;

/// The file with this configuration, a comment behind every key.
fn base(config: &RunConfig) -> String {
    let mut text = HEAD.to_owned();
    for Section { name, about, keys } in sections() {
        text.push('\n');
        if !name.is_empty() {
            let _ = writeln!(text, "{:COLUMN$}# {}", format!("[{name}]"), about.trim_end_matches('.'));
        }
        for key in &keys {
            text += &line(key, &key.value(config));
        }
    }
    text
}

fn line(key: &Key, value: &str) -> String {
    let name = key.name.rsplit('.').next().unwrap_or_default();
    let words = key.words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let range = key.range.clone().into_iter().chain(Some(words).filter(|words| !words.is_empty()));
    let comment =
        [key.summary().trim_end_matches('.').to_owned()].into_iter().chain(range).collect::<Vec<_>>().join("; ");
    // A list has a line for each entry.
    let (first, rest) = match value.strip_prefix("[{").and_then(|list| list.strip_suffix("}]")) {
        Some(list) => {
            let entries = list.split("}, {").map(|entry| format!("    {{ {} }},\n", entry.trim()));
            ("[", entries.collect::<String>() + "]\n")
        }
        None => (value, String::new()),
    };
    format!("{:COLUMN$}# {comment}\n{rest}", format!("{name} = {first} "))
}

#[test]
fn base_documents_every_key() {
    let config = RunConfig::from_toml(&std::fs::read_to_string(BASE).unwrap()).unwrap();
    let expected = base(&config);
    let long: Vec<&str> = expected.lines().filter(|line| line.chars().count() > LONGEST).collect();
    assert!(long.is_empty(), "the first line of these doc comments is too long: {long:#?}");
    assert_eq!(RunConfig::from_toml(&expected).unwrap(), config);
    expect_file!["../../../configs/base.toml"].assert_eq(&expected);
}

#[test]
fn json_schema_is_the_one_of_the_code() {
    let schema = serde_json::to_string_pretty(&config::schema()).unwrap();
    expect_file!["../../../docs/config.schema.json"].assert_eq(&format!("{schema}\n"));
}
