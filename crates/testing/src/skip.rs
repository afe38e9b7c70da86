//! Tests that a machine cannot run: failures, unless the skip is allowed; and the record of what was skipped.

use std::fs::OpenOptions;
use std::io::{Write, stderr};
use std::path::PathBuf;

use crate::Tool;

/// Names the tools whose tests may be skipped: a comma-separated list, or `all`.
const ALLOW_SKIP: &str = "TENGEN_ALLOW_SKIP";

/// The tool's path. Where the tool is missing and [`TENGEN_ALLOW_SKIP`](ALLOW_SKIP) names it, the skip is recorded and
/// the answer is `None`: the test returns.
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

/// Records that the rest of this test needs what the machine's hardware does not have, such as bf16 instructions. Such a
/// skip is never a failure.
pub fn unsupported(what: &str) {
    record(&format!("{what} not supported by this machine"));
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

/// Adds a line to `skipped.txt` in the target folder, which `make test` prints at its end. A line is one write, so that
/// tests of several processes may add theirs at the same time.
fn record(reason: &str) {
    let line = line(std::thread::current().name().unwrap_or("a test"), reason);
    let mut file = OpenOptions::new().create(true).append(true).open(list()).expect("the target folder is writable");
    file.write_all(line.as_bytes()).expect("the target folder is writable");
    // Not by `eprintln!`, which the test runner captures.
    stderr().write_all(line.as_bytes()).expect("standard error is open");
}

/// The test runner names the thread of a test after it.
fn line(test: &str, reason: &str) -> String {
    format!("SKIPPED: {test} ({reason})\n")
}

/// `skipped.txt` in the target folder, which cargo marks with a `CACHEDIR.TAG`.
fn list() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its path");
    let target = test.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    target.expect("cargo builds tests in a target folder").join("skipped.txt")
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
    fn skip_list_is_in_the_target_folder() {
        let list = list();
        assert!(list.ends_with("skipped.txt"), "{}", list.display());
        assert!(list.parent().is_some_and(|target| target.join("CACHEDIR.TAG").is_file()), "{}", list.display());
    }
}
