//! Tests that a machine cannot run: failures, unless the skip is allowed; and the record of what was skipped.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Tool;

/// Names the tools whose tests may be skipped: a comma-separated list, or `all`.
const ALLOW_SKIP: &str = "TENGEN_ALLOW_SKIP";
/// Names the file to which every skip is added. Without it a skip is only printed.
const SKIP_LIST: &str = "TENGEN_SKIP_LIST";

/// The tool's path. Where the tool is missing and `TENGEN_ALLOW_SKIP` names it, the skip is recorded and
/// the result is `None`: the test returns.
///
/// # Panics
/// The tool is missing and its tests may not be skipped, or `TENGEN_ALLOW_SKIP` names an unknown tool.
#[track_caller]
pub fn require(tool: Tool) -> Option<PathBuf> {
    let allowed = std::env::var(ALLOW_SKIP).unwrap_or_default();
    match decide(tool, tool.find(), &allowed) {
        Ok(Some(path)) => Some(path),
        Ok(None) => {
            record(&format!("{} missing", tool.name()));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Records that the rest of this test needs what no installation adds to the machine, such as bf16 instructions or the
/// right to mount a file system. Such a skip is never a failure.
pub fn unsupported(what: &str) {
    record(&format!("{what} not supported by this machine"));
}

/// Those of all that this machine supports. The others are recorded as [`unsupported`] says.
pub fn supported<T: Copy + Display>(all: impl IntoIterator<Item = T>, is_supported: impl Fn(T) -> bool) -> Vec<T> {
    let (supported, others): (Vec<T>, Vec<T>) = all.into_iter().partition(|&one| is_supported(one));
    others.iter().for_each(|other| unsupported(&other.to_string()));
    supported
}

fn decide(tool: Tool, found: Option<PathBuf>, allowed: &str) -> Result<Option<PathBuf>, String> {
    let allowed: Vec<&str> = allowed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let known = || Tool::ALL.map(Tool::name).join(", ");
    if let Some(name) = allowed.iter().find(|&&name| name != "all" && Tool::ALL.iter().all(|tool| tool.name() != name))
    {
        return Err(format!("{ALLOW_SKIP}: unknown tool {name:?}; known are {} and all", known()));
    }
    let (name, remedy) = (tool.name(), tool.remedy());
    match found {
        Some(path) => Ok(Some(path)),
        None if allowed.iter().any(|&allowed| allowed == name || allowed == "all") => Ok(None),
        None => Err(format!("{name} is missing: {remedy}; to skip its tests, set {ALLOW_SKIP}={name}")),
    }
}

/// What is recorded already: a test may find in every one of its cases that the machine lacks something.
static RECORDED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Prints the skip, and adds it to the list that `make test` prints at its end.
fn record(reason: &str) {
    let line = line(std::thread::current().name().unwrap_or("a test"), reason);
    if !RECORDED.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        return;
    }
    if let Some(list) = std::env::var_os(SKIP_LIST) {
        append(Path::new(&list), &line).unwrap_or_else(|error| panic!("{SKIP_LIST}: {}: {error}", list.display()));
    }
    // Not by `eprintln!`, which the test runner captures.
    stderr().write_all(line.as_bytes()).expect("standard error is open");
}

/// One write, so that tests of several processes may add their lines at the same time.
fn append(list: &Path, line: &str) -> std::io::Result<()> {
    OpenOptions::new().create(true).append(true).open(list)?.write_all(line.as_bytes())
}

/// The test runner names the thread of a test after it.
fn line(test: &str, reason: &str) -> String {
    format!("SKIPPED: {test} ({reason})\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn require_missing_tool_is_an_error_with_a_remedy() {
        let error = decide(Tool::GnuGo, None, "").expect_err("nothing is allowed");
        assert_eq!(error, "gnugo is missing: apt-get install gnugo; to skip its tests, set TENGEN_ALLOW_SKIP=gnugo");
        decide(Tool::GnuGo, None, "leelaz,promtool").expect_err("others are allowed");
    }

    #[test]
    fn require_missing_tool_that_is_allowed_is_a_skip() {
        for allowed in ["gnugo", "leelaz, gnugo", "all", "gnugo,"] {
            assert_eq!(decide(Tool::GnuGo, None, allowed), Ok(None), "{allowed}");
        }
    }

    #[test]
    fn require_present_tool_is_used_whatever_is_allowed() {
        let path = PathBuf::from("/usr/games/gnugo");
        for allowed in ["", "gnugo", "all"] {
            assert_eq!(decide(Tool::GnuGo, Some(path.clone()), allowed), Ok(Some(path.clone())), "{allowed}");
        }
    }

    #[test]
    fn require_unknown_allowed_name_is_an_error() {
        let error = decide(Tool::GnuGo, None, "gnu-go").expect_err("there is no such tool");
        assert!(error.contains("unknown tool \"gnu-go\"") && error.contains("leelaz"), "{error}");
    }

    #[test]
    fn skip_line_names_the_test_and_the_reason() {
        assert_eq!(line("kubernetes::rules", "promtool missing"), "SKIPPED: kubernetes::rules (promtool missing)\n");
    }

    #[test]
    fn skip_list_keeps_the_lines_of_every_process() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let list = folder.path().join("skipped.txt");
        append(&list, &line("a", "gnugo missing")).expect("a new list");
        append(&list, &line("b", "bf16 not supported by this machine")).expect("a list with a line");
        let text = std::fs::read_to_string(list).expect("the list exists");
        assert_eq!(text, "SKIPPED: a (gnugo missing)\nSKIPPED: b (bf16 not supported by this machine)\n");
    }
}
