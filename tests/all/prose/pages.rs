//! The text of pages: strings of templates and of scripts.

use std::fs;
use std::path::PathBuf;

use tests::repository;

use super::{WORDS, avoided, messages, sentences};

/// The scripts of pages, with their strings.
fn strings_of_scripts() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["web/assets", "crates/page/assets", "crates/study/src/inspect/page"] {
        let entries = fs::read_dir(repository().join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "js")) {
            let script = fs::read_to_string(&path).unwrap();
            let lines = script.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
            found.extend(lines.flat_map(strings).map(|text| (path.clone(), text)));
        }
    }
    assert!(found.len() > 100, "{}", found.len());
    found
}

/// The strings of a line that are more than a word, `${…}` replaced by a letter.
fn strings(line: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(begin) = rest.find(['\'', '`', '"']) {
        let (quote, after) = rest[begin..].split_at(1);
        let Some((text, behind)) = after.split_once(quote) else { break };
        let mut parts = text.split("${");
        let first = parts.next().unwrap_or_default().to_owned();
        found.push(parts.fold(first, |text, part| text + "x" + part.split_once('}').map_or("", |(_, rest)| rest)));
        rest = behind;
    }
    found.retain(|text| text.contains(' '));
    found
}

#[test]
fn scripts_of_pages_use_the_terms_of_the_field() {
    let problem = |(path, text): (PathBuf, String)| {
        let words = avoided(&text);
        (!words.is_empty()).then(|| format!("{}: {words:?}: {text}", path.display()))
    };
    let problems: Vec<_> = strings_of_scripts().into_iter().filter_map(problem).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn sentences_of_pages_have_at_most_35_words() {
    let is_of_pages = |path: &PathBuf| {
        ["/web/src/", "/facts/src/", "/page/src/"].map(|part| path.to_string_lossy().contains(part)).contains(&true)
    };
    let templates: Vec<_> = messages().into_iter().filter(|(path, _)| is_of_pages(path)).collect();
    assert!(templates.len() > 200, "{}", templates.len());
    let mut problems = Vec::new();
    for (path, text) in templates.into_iter().chain(strings_of_scripts()) {
        let long = sentences(&text).into_iter().filter(|sentence| sentence.split_whitespace().count() > WORDS);
        problems.extend(long.map(|sentence| format!("{}: {sentence}", path.display())));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn strings_of_a_line_are_found() {
    let found = strings("say(`Move ${turn}: ${nameOf(player)} passes`, 'one', \"it's two\");");
    assert_eq!(found, ["Move x: x passes", "it's two"]);
}
