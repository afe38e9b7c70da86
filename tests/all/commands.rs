//! The commands of README.md and of the tutorial work as written.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use testing::{Tool, require};
use tests::{program, repository, succeed};

const TUTORIAL: [&str; 5] = ["first-run", "notebook", "bootstrap", "play", "cluster"];

/// Commands of the blocks that are checked without being run, with the reason. All others run.
const NOT_RUN: [(&str, &str); 4] = [
    ("make run", "trains for more than 20 minutes; a dry run checks the target"),
    ("cargo build --release", "compiles for minutes; the programs of this build are used instead"),
    ("make dist", "compiles for minutes; a dry run checks the target"),
    ("pip install target/dist/tengen-*.whl", "needs the wheel, which scripts/try-dist tries"),
];

/// The code blocks of a document: language and text.
fn blocks(document: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let fences = text.split("\n```").skip(1).step_by(2);
    fences
        .map(|block| block.split_once('\n').map(|(language, code)| (language.to_owned(), code.to_owned())).unwrap())
        .collect()
}

/// A folder in which a reader would type: the checkout's configurations, and the programs in target/release.
fn checkout() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(repository().join("configs"), folder.path().join("configs")).unwrap();
    symlink(repository().join("python"), folder.path().join("python")).unwrap();
    let release = folder.path().join("target/release");
    fs::create_dir_all(&release).unwrap();
    for name in ["selfplay", "shuffler", "trainer", "evaluator", "tengen"] {
        symlink(program(name).get_program(), release.join(name)).unwrap();
    }
    // `make`, `cargo` and `pip` of the page: what must not run is checked, and everything else runs in the repository.
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let root = repository().display().to_string();
    for name in ["make", "cargo", "pip"] {
        let mut script = "#!/bin/sh\ncase \"$*\" in\n".to_owned();
        for (command, _) in NOT_RUN {
            let Some(arguments) = command.strip_prefix(name) else { continue };
            let check = match name {
                "make" => format!("exec /usr/bin/make --dry-run --silent -C '{root}'{arguments} > /dev/null"),
                _ => "exit 0".to_owned(),
            };
            script += &format!("'{}') {check} ;;\n", arguments.trim());
        }
        script += &match name {
            "make" => format!("*) exec /usr/bin/make -C '{root}' \"$@\" ;;\nesac\n"),
            _ => "*) exit 1 ;;\nesac\n".to_owned(),
        };
        // By a shell: a program that another test starts inherits a file that is open here, and blocks its execution.
        let write = "printf %s \"$2\" > \"$1\" && chmod +x \"$1\"";
        succeed(Command::new("sh").args(["-c", write, "sh"]).arg(tools.join(name)).arg(script));
    }
    folder
}

/// What the shell commands of a document print, and then its Python scripts, if Python is not skipped.
fn run(document: &str, folder: &Path) -> String {
    let blocks = blocks(document);
    for (language, code) in &blocks {
        let known = ["sh", "python", "text", "mermaid"].contains(&language.as_str());
        assert!(known, "{document}: no test runs a block of {language:?}:\n{code}");
    }
    let of = |language: &str| {
        blocks.iter().filter(|(own, _)| own == language).map(|(_, code)| code.as_str()).collect::<Vec<_>>()
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{0}/tools:{0}/target/release:{path}", folder.display());
    let mut shell = Command::new("bash");
    shell.args(["-e", "-c", &of("sh").join("\n")]).current_dir(folder).env("PATH", &path);
    shell.env_remove("TENGEN_STORE").env_remove("TENGEN_METRICS_ADDR").env("TENGEN_THREADS", "2");
    let mut said = succeed(&mut shell);
    let scripts = of("python");
    if !scripts.is_empty()
        && let Some(site) = require(Tool::Python)
    {
        for script in scripts {
            let mut python = Command::new("python3");
            said += &succeed(python.env("PYTHONPATH", &site).current_dir(folder).args(["-c", script]));
        }
    }
    // A block of text shows output: its first line is printed as it is, but for the widths of columns.
    for output in of("text") {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let line = words(output.lines().next().unwrap_or_default());
        assert!(said.lines().any(|printed| words(printed) == line), "{document}: no command prints {line:?}");
    }
    said
}

/// The targets of `make` that a text names in code: `make TARGET`.
fn targets(text: &str) -> BTreeSet<String> {
    let word = |rest: &str| rest.chars().take_while(|c| c.is_ascii_lowercase()).collect::<String>();
    let code = text.split('`').skip(1).step_by(2).filter(|code| code.split_whitespace().next() == Some("make"));
    let spans = code.filter_map(|code| code.split_whitespace().nth(1).map(word));
    let lines = text.lines().filter_map(|line| line.strip_prefix("make ").map(word));
    spans.chain(lines).filter(|target| !target.is_empty()).collect()
}

#[test]
fn make_targets_of_documents_exist() {
    let mut named = BTreeSet::new();
    for document in ["README.md", "CONTRIBUTING.md", "docs/tutorial/first-run.md", "docs/tutorial/notebook.md"] {
        named.extend(targets(&fs::read_to_string(repository().join(document)).unwrap()));
    }
    assert!(named.len() > 6, "{named:?}");
    // It ends at the first that does not exist, and names it.
    succeed(Command::new("make").args(["--dry-run", "--silent"]).args(named).current_dir(repository()));
    let help = succeed(Command::new("make").arg("help").current_dir(repository()));
    assert!(help.contains("make run    set up libtorch, build, and train: tengen run configs/9x9.toml"), "{help}");
}

/// In a folder with a space, whose path is one word of the shell only in quotes, and with another build folder of that
/// kind.
#[test]
fn make_recipes_quote_paths_of_the_checkout_and_the_build_folder() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("My code");
    fs::create_dir(&checkout).unwrap();
    fs::copy(repository().join("Makefile"), checkout.join("Makefile")).unwrap();
    for (target, build) in [(None, "/My code/target/"), (Some("../My cache/target"), "/My cache/target/")] {
        let mut make = Command::new("make");
        // Cargo or make may run the tests, and have set these for itself.
        make.current_dir(&checkout).env_remove("CARGO_TARGET_DIR").env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
        make.env_remove("TENGEN_PROGRAMS").envs(target.map(|target| ("CARGO_TARGET_DIR", target)));
        make.args(["--dry-run", "--no-print-directory"]);
        make.args(["test", "dist", "peers", "book", "deny", "fuzz", "cluster", "cluster-stop"]);
        let said = succeed(&mut make);
        let of_build =
            ["rm -f", "sort -u", "scripts/make-dist", "TENGEN_PROGRAMS=", "release/seeds"].map(|of| (of, build));
        for (command, path) in of_build.into_iter().chain([("scripts/cluster start", "/My code/")]) {
            let lines: Vec<&str> = said.lines().filter(|line| line.contains(command)).collect();
            assert!(lines.iter().any(|line| line.contains(path)), "{command} does not have {path}: {lines:?}");
        }
        for line in said.lines() {
            let outside: String = line.split('"').step_by(2).collect();
            assert!(!outside.contains("/My "), "a path is not in quotes: {line}");
            assert!(!line.contains("/../"), "a path is not absolute: {line}");
        }
    }
}

#[test]
fn readme_commands_work() {
    let folder = checkout();
    let said = run("README.md", folder.path());
    for expected in ["try-1", "white to move after 1 moves", "0 problems"] {
        assert!(said.contains(expected), "{expected:?} is not in {said}");
    }
    assert!(folder.path().join("report.html").exists());
}

/// The pages continue each other's runs, so they are one test.
#[test]
fn tutorial_commands_work() {
    let folder = checkout();
    let listed = fs::read_dir(repository().join("docs/tutorial")).unwrap().count();
    assert_eq!(listed, TUTORIAL.len(), "a page of the tutorial is not tested");
    let said: String = TUTORIAL.iter().map(|page| run(&format!("docs/tutorial/{page}.md"), folder.path())).collect();
    for expected in ["tiny-3", "hand-1", "people-3", "kind = \"games\"", "Captures", "team-2"] {
        assert!(said.contains(expected), "{expected:?} is not in {said}");
    }
    assert!(folder.path().join("trainer.log").exists());
}
