//! The documents: links, line lengths, sentence lengths, and words that have a term of the field.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use tests::repository;

mod pages;

const COLUMNS: usize = 120;
const WORDS: usize = 35;

/// Terms of the field, and the words, separated by bars, that they replace. A letter or `_` may not precede or follow a
/// word.
const AVOIDED: &[(&str, &str)] = &[
    (
        "inference, evaluations/s, network output, response",
        "answer|answers|answered|answering|is asked|are asked|was asked|were asked|asked for",
    ),
    ("train, training", "learn|learns|learned|learnt|learning|teach|teaches|taught|by heart"),
    ("validation set, held-out games", "set aside|sets aside|games aside"),
    ("value loss, value MSE, calibration error", "off by|values are off|how far off"),
    (
        "significant, ablated, within the confidence interval",
        "told apart|tell apart|taken apart|could be shown|it is not shown",
    ),
    ("surprise-weighted sampling", "drawn by surprise"),
    ("playout-cap randomisation", "full and fast searches"),
    ("EMA, batch-norm re-estimation", "running mean|settle|settles|settled"),
    ("human games; supervised pre-training", "games of people"),
    ("shutdown, drain, SIGTERM, exit", "is told to|are told to|told to go|goes|ends"),
    (
        "hand-off, discard, resume, skip",
        "left|given up|give up|gives up|gave up|go on with|goes on with|gone on with|go on where|goes on where|\
         handed on|taken over|takes over|looked after|what is left",
    ),
    ("poll, search", "is there a newer|look|looks|looked|looking"),
    ("lease, TTL", "this long ago"),
    (
        "transient error, fault injection",
        "stumble|stumbles|trouble|troubles|unreliable line|unreliable store|something passing",
    ),
    ("exit class, exit code", "whose fault"),
    ("cache hit", "from memory"),
    ("instead of", "in the place of|in place of"),
    ("data augmentation by a random symmetry", "seen through|sees through"),
    ("crate, architecture, model metadata, space", "room|rooms|card|cards|house|houses"),
    ("liveness", "sign of life|signs of life"),
    ("the thing in the program", "whoever|nobody|somebody|someone|everybody|anybody|what comes of|what becomes of"),
    ("void, failed", "comes to nothing|come to nothing|came to nothing"),
    ("available", "may be had|can be had"),
    ("nothing: history belongs to the changelog", "as before|no longer|once more"),
];

/// Phrases in which such a word has its plain meaning, each with the reason.
const PLAIN: &[(&str, &str)] = &[
    ("learning rate", "the term of the field"),
    ("learning rates", "the term of the field"),
    ("machine learning", "the term of the field"),
    ("top left", "a direction"),
    ("off by default", "of a switch"),
    ("a game ends", "the term of the rules of Go"),
    ("the game ends", "the term of the rules of Go"),
    ("name ends in", "of a file name"),
    ("both ends", "of a curve"),
];

/// A line of a document outside of code.
struct Line {
    number: usize,
    text: String,
}

/// All Markdown files, relative to the repository, without results of builds and hidden folders other than `.github`.
fn documents() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![repository()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let skipped = name.starts_with('.') && name != ".github"
                || name.starts_with("libtorch")
                || ["target", "store"].contains(&name.as_str());
            // A link to a folder may lead out of the repository.
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !skipped {
                folders.push(path);
            } else if kind.is_file() && name.ends_with(".md") {
                found.push(path.strip_prefix(repository()).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    assert!(found.len() > 30, "{found:?}");
    found
}

fn read(document: &Path) -> String {
    fs::read_to_string(repository().join(document)).unwrap()
}

/// The lines outside of fenced and indented code, code spans replaced by a letter.
fn prose(document: &Path) -> Vec<Line> {
    let (mut lines, mut fenced) = (Vec::new(), false);
    for (index, line) in read(document).lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let code = line.starts_with("    ");
            lines.push(Line { number: index + 1, text: if code { String::new() } else { line.to_owned() } });
        }
    }
    lines
}

/// The text without code spans: each becomes one word.
fn without_code(text: &str) -> String {
    text.split('`').enumerate().map(|(index, part)| if index % 2 == 0 { part } else { "x" }).collect()
}

/// The text with `[words](target)` reduced to its words.
fn without_links(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        result += before;
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    (result + rest).replace('[', "")
}

/// The paragraphs, list items and table cells, each with the line it begins on.
fn paragraphs(document: &Path) -> Vec<Line> {
    let mut paragraphs: Vec<Line> = Vec::new();
    let mut open = false;
    for Line { number, text } in prose(document) {
        let trimmed = text.trim();
        if let Some(cells) = trimmed.strip_prefix('|') {
            let cells = without_code(&cells.replace("\\|", "/"));
            paragraphs.extend(cells.split('|').map(|cell| Line { number, text: cell.to_owned() }));
            open = false;
            continue;
        }
        let marked = ["- ", "* ", "> ", "#"].iter().any(|mark| trimmed.starts_with(mark));
        let counted = trimmed.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        if trimmed.is_empty() || marked || counted {
            open = false;
        }
        // A link definition is no prose.
        if trimmed.is_empty() || (trimmed.starts_with('[') && trimmed.contains("]: ")) {
            continue;
        }
        match paragraphs.last_mut() {
            Some(last) if open => last.text += &format!(" {trimmed}"),
            _ => paragraphs.push(Line { number, text: trimmed.to_owned() }),
        }
        open = !trimmed.starts_with('#');
    }
    for paragraph in &mut paragraphs {
        paragraph.text = without_links(&without_code(&paragraph.text));
    }
    paragraphs
}

/// The sentences of a text; a colon or semicolon does not end one.
fn sentences(text: &str) -> Vec<String> {
    let text = text.replace("<br>", ". ");
    let (mut sentences, mut sentence) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        sentence += word;
        sentence.push(' ');
        if word.ends_with(['.', '!', '?']) {
            sentences.push(std::mem::take(&mut sentence));
        }
    }
    sentences.push(sentence);
    sentences
}

/// The words of a text with a space before and behind each.
fn spaced(text: &str, is_letter: fn(char) -> bool) -> String {
    let words: Vec<&str> = text.split(|c| !is_letter(c)).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// The avoided words of a text, without phrases in which they are plain.
fn avoided(text: &str) -> Vec<&'static str> {
    let mut text = spaced(&text.to_lowercase(), |c| c.is_alphanumeric() || c == '_');
    for (phrase, _) in PLAIN {
        // A word that no list has keeps the neighbours of the phrase apart.
        text = text.replace(&format!(" {phrase} "), " x ");
    }
    let words = AVOIDED.iter().flat_map(|(_, words)| words.split('|'));
    words.filter(|words| text.contains(&format!(" {words} "))).collect()
}

/// The literal of a format string without `{…}`.
fn without_placeholders(literal: &str) -> String {
    literal
        .split('{')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('}').map_or(part, |(_, rest)| rest) })
        .collect()
}

/// The targets of the links of a document, with the number of their line.
fn links(document: &Path) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for Line { number, text } in prose(document) {
        let text = without_code(&text);
        for part in text.split("](").skip(1) {
            links.push((number, part.split(')').next().unwrap_or_default().to_owned()));
        }
        for attribute in ["src=\"", "srcset=\""] {
            let values = text.split(attribute).skip(1).map(|part| part.split('"').next().unwrap_or_default());
            links.extend(values.map(|target| (number, target.to_owned())));
        }
    }
    links
}

/// The anchors of a document's headings, as GitHub and mdBook make them.
fn anchors(document: &Path) -> BTreeSet<String> {
    let lines = prose(document);
    let headings = lines.iter().filter(|line| line.text.starts_with('#'));
    let slug = |heading: &str| {
        let heading = without_links(heading.trim_start_matches('#').trim()).to_lowercase();
        let kept = heading.chars().filter(|&c| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_');
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(|line| slug(&line.text)).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn links_of_documents_resolve() {
    let mut problems = Vec::new();
    for document in documents() {
        for (number, link) in links(&document) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = document.parent().unwrap();
            let target = if path.is_empty() { document.clone() } else { plain(&folder.join(path)) };
            let at = format!("{}:{number}: {link}", document.display());
            if !repository().join(&target).exists() {
                problems.push(format!("{at}: no such file"));
            } else if !anchor.is_empty() && !anchors(&target).contains(anchor) {
                problems.push(format!("{at}: no such heading"));
            } else if document.starts_with("docs") && !target.starts_with("docs") {
                problems.push(format!("{at}: leads out of the book"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn summary_of_the_book_lists_every_page() {
    let summary = Path::new("docs/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(summary).iter().map(|(_, link)| Path::new("docs").join(link)).collect();
    let pages: BTreeSet<PathBuf> =
        documents().into_iter().filter(|page| page.starts_with("docs") && page != summary).collect();
    assert_eq!(
        listed.symmetric_difference(&pages).collect::<Vec<_>>(),
        [""; 0],
        "docs/SUMMARY.md and the pages differ"
    );
}

#[test]
fn lines_of_documents_end_before_column_120() {
    let mut problems = Vec::new();
    for document in documents() {
        for (index, line) in read(&document).lines().enumerate() {
            if line.chars().count() > COLUMNS {
                problems.push(format!("{}:{}: {} columns", document.display(), index + 1, line.chars().count()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn sentences_of_documents_have_at_most_35_words() {
    let mut problems = Vec::new();
    for document in documents() {
        for Line { number, text } in paragraphs(&document) {
            for sentence in sentences(&text) {
                let words = sentence.split_whitespace().count();
                if words > WORDS {
                    problems.push(format!("{}:{number}: {words} words: {sentence}", document.display()));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn documents_use_the_terms_of_the_field() {
    let mut problems = Vec::new();
    for document in documents() {
        for Line { number, text } in paragraphs(&document) {
            problems.extend(avoided(&text).iter().map(|words| format!("{}:{number}: {words:?}", document.display())));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The Rust sources of the workspace and of the fuzz targets, without results of builds.
fn sources() -> Vec<PathBuf> {
    let programs = ["selfplay", "shuffler", "trainer", "evaluator", "inference", "tengen", "web"];
    let members = [&programs[..], &["crates", "fuzz", "images", "tests"]].concat();
    let mut folders: Vec<PathBuf> = members.iter().map(|member| repository().join(member)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.extend((entry.file_name() != "target").then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 300, "{}", found.len());
    found
}

/// The string literals of the programs, with their file; tests and their support are left out.
fn messages() -> Vec<(PathBuf, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![repository().join("crates")]);
    folders.extend(
        ["selfplay", "shuffler", "trainer", "evaluator", "inference", "tengen", "web"]
            .map(|stage| repository().join(stage).join("src")),
    );
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type().unwrap().is_dir() {
                if !["tests", "testing", "examples"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                let source = fs::read_to_string(&path).unwrap();
                let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                let code = code.join("\n").replace("\\\"", "'").replace("'\"'", "").replace("\\\n", " ");
                let literals = code.split('"').skip(1).step_by(2).filter(|literal| literal.contains(' '));
                found.extend(literals.map(|literal| (path.clone(), literal.to_owned())));
            }
        }
    }
    assert!(found.len() > 500, "{}", found.len());
    found
}

#[test]
fn messages_use_the_terms_of_the_field() {
    let mut problems = Vec::new();
    for (path, message) in messages() {
        problems.extend(
            avoided(&without_placeholders(&message))
                .iter()
                .map(|words| format!("{}: {words:?}: {message}", path.display())),
        );
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Scripts, manifests and workflows are read as a whole, names of variables included.
#[test]
fn scripts_and_manifests_use_the_terms_of_the_field() {
    let mut folders =
        ["scripts", "python", "images", "k8s", "configs", ".githooks", ".github"].map(PathBuf::from).to_vec();
    let mut files = vec![PathBuf::from("Makefile")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository().join(&folder)).unwrap().map(Result::unwrap) {
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(files.len() > 60, "{}", files.len());
    let mut problems = Vec::new();
    for file in files {
        // Compiled Python is no text.
        let Ok(text) = fs::read_to_string(repository().join(&file)) else { continue };
        for (index, line) in text.lines().enumerate() {
            problems.extend(avoided(line).iter().map(|words| format!("{}:{}: {words:?}", file.display(), index + 1)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Words that comments and names do not use either, in the sources of programs and of tests.
const AVOIDED_IN_SOURCES: &[&str] = &[
    "whoever",
    "nobody",
    "somebody",
    "everybody",
    "set aside",
    "told to",
    "looked after",
    "gone on with",
    "goes on with",
    "come to nothing",
    "comes to nothing",
    "by heart",
    "can be had",
    "may be had",
    "signs of life",
    "in the place of",
];

#[test]
fn sources_use_no_invented_words() {
    let mut problems = Vec::new();
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap().to_lowercase();
        if file.ends_with("tests/all/prose.rs") {
            continue;
        }
        // A comment may break the line between two words.
        let text = text
            .lines()
            .map(|line| line.trim_start().trim_start_matches('/').trim_start_matches('!'))
            .collect::<Vec<_>>();
        let text = spaced(&text.join(" "), char::is_alphanumeric);
        let found = AVOIDED_IN_SOURCES.iter().filter(|words| text.contains(&format!(" {words} ")));
        problems.extend(found.map(|words| format!("{}: {words:?}", file.display())));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn names_of_tests_begin_with_the_unit() {
    let mut problems = Vec::new();
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        for test in text.split("#[test]").skip(1) {
            let name = test.split("fn ").nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default();
            let first = name.split('_').next().unwrap_or_default();
            if ["a", "an", "the", "it", "what", "who", "says"].contains(&first) {
                problems.push(format!("{}: {name} begins with \"{first}\"", file.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn messages_of_log_events_are_constant() {
    let levels = ["error", "warn", "info", "debug", "trace"].map(|level| format!("tracing::{level}!("));
    let mut problems = Vec::new();
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        for event in levels.iter().flat_map(|level| text.split(level.as_str()).skip(1)) {
            // The message is the last literal, and fields may be formatted.
            let event = event.split(");\n").next().unwrap_or_default();
            let message = event.rsplit('"').nth(1).unwrap_or_default();
            if message.contains('{') && !event.trim_end().ends_with(')') {
                problems.push(format!("{}: {message}", file.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn sentences_of_messages_have_at_most_35_words() {
    let mut problems = Vec::new();
    for (path, message) in messages() {
        // Semicolons separate the parts of a summary.
        for sentence in sentences(&message.replace(';', ".")) {
            let words = sentence.split_whitespace().count();
            if words > WORDS {
                problems.push(format!("{}: {words} words: {sentence}", path.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_alert_has_a_runbook_entry_that_it_links_to() {
    let rules = fs::read_to_string(repository().join("k8s/monitoring/alerts.yaml")).unwrap();
    let entries = anchors(Path::new("docs/operations/alerts.md"));
    let rules: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert!(!rules.is_empty(), "no alert is found");
    for rule in rules {
        let anchor = rule.lines().next().unwrap().trim().to_lowercase();
        assert!(entries.contains(&anchor), "docs/operations/alerts.md has no entry {anchor}");
        assert!(rule.contains(&format!("docs/operations/alerts.md#{anchor}\n")), "{anchor} has no runbook_url");
    }
}

/// What `tengen status` says and what a cluster's alerts say are the same things.
#[test]
fn alarms_of_status_have_the_bounds_of_their_alerts() {
    let rules = fs::read_to_string(repository().join("k8s/monitoring/alerts.yaml")).unwrap();
    let status = sources().into_iter().filter(|file| file.starts_with(repository().join("tengen/src/status")));
    let status: String = status.map(|file| fs::read_to_string(file).unwrap()).collect();
    for (alert, constant) in
        [("TengenResignThresholdStale", "THRESHOLD_BEHIND"), ("TengenResignThresholdWrong", "WRONG_RESIGNATIONS")]
    {
        let rule = rules.split("- alert: ").find(|rule| rule.starts_with(&format!("{alert}\n"))).unwrap();
        let definition = status.split(&format!("const {constant}: ")).nth(1).and_then(|rest| rest.split(';').next());
        let bound = definition.and_then(|definition| definition.split(" = ").nth(1)).unwrap();
        assert!(rule.contains(&format!(" > {bound}\n")), "{alert} has another bound than {constant}, {bound}");
    }
}

#[test]
fn checks_find_what_they_are_for() {
    assert_eq!(avoided("The lease is taken\nover from memory."), ["taken over", "from memory"]);
    assert_eq!(avoided("unlearn, mushrooms, sendings"), [""; 0]);
    assert_eq!(avoided("the learning rate, from the top left; the learning"), ["learning"]);
    assert_eq!(without_placeholders("{left:.3} of {} games, {learned}"), " of  games, ");
    assert_eq!(sentences("One two. Three: four").len(), 2);
    assert_eq!(without_links("a [b c](d.md#e) f"), "a b c f");
    assert_eq!(without_code("a `b c d` e"), "a x e");
}
