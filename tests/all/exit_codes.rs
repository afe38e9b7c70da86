//! Each class of error ends each program with the same exit code.
//!
//! [`every_program_exits_with_the_code_of_every_class`] starts the programs; the tests after it ask the tables for
//! errors that take more to provoke.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use config::ConfigError;
use evaluator::EvaluatorError;
use exit_class::{Classifier, ExitClass};
use gtp::engines::EngineError;
use models::{EvaluationCacheError, ModelError};
use net::{CudaError, NetError};
use record::RecordError;
use selfplay::SelfplayError;
use shuffler::ShufflerError;
use store::{Changes, StoreError};
use tests::{Stage, TestStore, repository, succeed};
use trainer::TrainerError;

use crate::mistakes::{alike, limited, under, with_games};

/// A store in a bucket whose server does not respond.
const UNREACHABLE: &str = "s3://bucket/stores";

/// The programs, with the errors that their `main` hands to `runtime::main`.
const PROGRAMS: [(&str, &[Classifier]); 6] = [
    ("selfplay", selfplay::command::ERRORS),
    ("shuffler", shuffler::command::ERRORS),
    ("trainer", trainer::command::ERRORS),
    ("evaluator", evaluator::command::ERRORS),
    ("inference", inference::command::ERRORS),
    ("tengen", tengen::command::ERRORS),
];

/// How a program comes to its end.
#[derive(Clone, Copy)]
enum Cause {
    /// Its arguments, and the store as it is.
    Arguments,
    /// No server responds.
    NoServer,
    /// No file can be longer than a block, as on a full disk.
    FullDisk,
    /// Too few files can be open for the pipe by which a program hears of signals.
    FewFiles,
    /// The first file of this folder lacks its second half.
    Truncated(&'static str),
    /// Ctrl-C once it is ready.
    Interrupt,
    /// SIGTERM once it is ready.
    Sigterm,
}

/// The ends of `inference`. It reads the store for its clients only, who get the errors, and writes nothing to it.
const OF_INFERENCE: [ExitClass; 4] =
    [ExitClass::Finished, ExitClass::Failure, ExitClass::Configuration, ExitClass::Preempted];

/// The programs for CPUs as one. It has no errors of its own but one; the first argument is the name by which it is
/// called.
const BUNDLE: &str = "bundle";

/// A program, its arguments, the cause of its end, and the class. Every class can occur in every program but
/// `inference`.
type Case = (&'static str, &'static [&'static str], Cause, ExitClass);

/// In the order in which the programs run: shards are made before a model is trained on them, and what damages the
/// store is last.
const CASES: [Case; 45] = [
    ("selfplay", &["--model", "tiny-9", "--games", "1"], Cause::Arguments, ExitClass::Configuration),
    ("selfplay", &["--model", "tiny"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("selfplay", &["--model", "tiny", "--config", "configs/tiny.toml"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("selfplay", &["--model", "tiny-1", "--games", "99", "--worker", "1"], Cause::FullDisk, ExitClass::StoreRefuses),
    ("selfplay", &["--model", "tiny-1", "--games", "2", "--worker", "2"], Cause::Arguments, ExitClass::Finished),
    ("selfplay", &["--model", "tiny-1", "--games", "999999", "--worker", "3"], Cause::Sigterm, ExitClass::Preempted),
    ("shuffler", &["--run", "other", "--once"], Cause::Arguments, ExitClass::Configuration),
    ("shuffler", &["--run", "tiny"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("shuffler", &["--run", "tiny", "--once"], Cause::FullDisk, ExitClass::StoreRefuses),
    ("shuffler", &["--run", "tiny", "--once"], Cause::Arguments, ExitClass::Finished),
    ("shuffler", &["--run", "tiny", "--once", "--generation", "3"], Cause::Arguments, ExitClass::Failure),
    ("shuffler", &["--run", "tiny"], Cause::Sigterm, ExitClass::Preempted),
    ("trainer", &["--run", "tiny", "--config", "configs/9x9.toml"], Cause::Arguments, ExitClass::Configuration),
    ("trainer", &["--run", "tiny"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("trainer", &["--run", "tiny", "--config", "configs/tiny.toml"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("trainer", &["--run", "tiny", "--once"], Cause::FullDisk, ExitClass::StoreRefuses),
    ("trainer", &["--run", "tiny", "--once"], Cause::Arguments, ExitClass::Finished),
    ("trainer", &["--run", "tiny"], Cause::Sigterm, ExitClass::Preempted),
    ("evaluator", &["--pair", "tiny-9", "random"], Cause::Arguments, ExitClass::Configuration),
    ("evaluator", &["--pair", "tiny-1", "random"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("evaluator", &["--run", "tiny", "--pair-uncertain", "--wait"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("evaluator", &["--pair", "tiny-1", "random", "--games", "4"], Cause::FullDisk, ExitClass::StoreRefuses),
    ("evaluator", &["--pair", "tiny-1", "random", "--games", "2"], Cause::Arguments, ExitClass::Finished),
    ("evaluator", &["--pair", "tiny-1", "random", "--games", "999998"], Cause::Sigterm, ExitClass::Preempted),
    ("inference", &["--listen", "0.0.0.0:0", "--device", "cpu"], Cause::Arguments, ExitClass::Configuration),
    ("inference", &["--listen", "127.0.0.1:0", "--device", "cpu"], Cause::FewFiles, ExitClass::Failure),
    ("inference", &["--listen", "127.0.0.1:0", "--device", "cpu"], Cause::Interrupt, ExitClass::Finished),
    ("inference", &["--listen", "127.0.0.1:0", "--device", "cpu"], Cause::Sigterm, ExitClass::Preempted),
    (BUNDLE, &[BUNDLE], Cause::Arguments, ExitClass::Configuration),
    (BUNDLE, &["shuffler", "--run", "tiny"], Cause::NoServer, ExitClass::StoreUnreachable),
    (BUNDLE, &["evaluator", "--pair", "tiny-1", "random", "--games", "4"], Cause::FullDisk, ExitClass::StoreRefuses),
    (
        BUNDLE,
        &["selfplay", "--model", "tiny-1", "--games", "2", "--worker", "4"],
        Cause::Arguments,
        ExitClass::Finished,
    ),
    (BUNDLE, &["inference", "--listen", "127.0.0.1:0", "--device", "cpu"], Cause::FewFiles, ExitClass::Failure),
    (BUNDLE, &["inference", "--listen", "127.0.0.1:0", "--device", "cpu"], Cause::Sigterm, ExitClass::Preempted),
    ("tengen", &["run", "configs/tiny.toml", "--set", "search.visist=1"], Cause::Arguments, ExitClass::Configuration),
    ("tengen", &["run", "configs/tiny.toml"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("tengen", &["plan", "--config", "configs/tiny.toml"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("tengen", &["doctor", "--device", "cpu"], Cause::NoServer, ExitClass::StoreUnreachable),
    ("tengen", &["run", "configs/tiny.toml", "--run", "full"], Cause::FullDisk, ExitClass::StoreRefuses),
    ("tengen", &["audit", "tiny"], Cause::Arguments, ExitClass::Finished),
    (
        "tengen",
        &["run", "configs/tiny.toml", "--run", "long", "--set", "loop.models=1000"],
        Cause::Sigterm,
        ExitClass::Preempted,
    ),
    ("selfplay", &["--model", "tiny-2", "--games", "1"], Cause::Truncated("models/000002"), ExitClass::Failure),
    ("evaluator", &["--pair", "tiny-2", "random"], Cause::Arguments, ExitClass::Failure),
    ("tengen", &["audit", "tiny"], Cause::Arguments, ExitClass::Failure),
    ("trainer", &["--run", "torn", "--once"], Cause::Truncated("shards/000001"), ExitClass::Failure),
];

fn command(store: &TestStore, links: &Path, (program, arguments, cause, _): Case) -> Command {
    let mut command = match cause {
        Cause::NoServer => store.program_at(program, UNREACHABLE),
        _ => store.program(program),
    };
    if program == BUNDLE {
        let link = links.join(arguments[0]);
        if !link.exists() {
            symlink(command.get_program(), &link).expect("a new link");
        }
        command = alike(Command::new(link), &command);
        command.args(&arguments[1..]);
    } else {
        command.args(arguments).current_dir(repository());
    }
    match cause {
        Cause::NoServer => {
            command.env("AWS_ENDPOINT", "http://127.0.0.1:9").env("AWS_ALLOW_HTTP", "true");
            command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
            command
        }
        Cause::FullDisk => limited(&command),
        Cause::FewFiles => under("ulimit -n 4", &command),
        _ => command,
    }
}

/// Cuts the largest file of a folder of a run in half.
fn truncate(folder: &Path) {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.max_by_key(|file| fs::metadata(file).unwrap().len()).expect("a file");
    let bytes = fs::read(&file).unwrap();
    fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

/// Shards of a run `torn` for its first model.
fn torn(store: &TestStore) {
    store.selfplay("torn", "random", 40);
    succeed(store.program("shuffler").args(["--run", "torn", "--once"]));
}

#[test]
fn every_program_exits_with_the_code_of_every_class() {
    for program in PROGRAMS.iter().map(|(program, _)| *program).chain([BUNDLE]) {
        for class in ExitClass::ALL {
            let has = CASES.iter().any(|&(other, _, _, of)| (other, of) == (program, class));
            let can = program != "inference" || OF_INFERENCE.contains(&class);
            assert_eq!(has, can, "{program} and its cases for {class:?}");
        }
    }
    let (store, links) = (TestStore::new(), tempfile::tempdir().expect("a temporary folder"));
    with_games(&store);
    torn(&store);
    // Without a server a program tries for half a minute: all such cases side by side.
    let (without_server, others): (Vec<Case>, Vec<Case>) =
        CASES.into_iter().partition(|(_, _, cause, _)| matches!(cause, Cause::NoServer));
    let start = |case: &Case| {
        let mut command = command(&store, links.path(), *case);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let children: Vec<Child> = without_server.iter().map(start).collect();
    for case in others {
        let (_, arguments, cause, _) = case;
        if let Cause::Truncated(folder) = cause {
            let run = if arguments.contains(&"torn") { "torn" } else { "tiny" };
            truncate(&store.path().join(run).join(folder));
        }
        let mut command = command(&store, links.path(), case);
        let (code, said) = if let Cause::Interrupt | Cause::Sigterm = cause {
            let mut stage = Stage::start(&mut command);
            stage.wait_for("readiness", |stage| stage.page("/readyz").filter(|(code, _)| *code == 200));
            stage.signal(if let Cause::Interrupt = cause { "INT" } else { "TERM" });
            (stage.wait().code(), stage.log().join("\n"))
        } else {
            let output = command.output().expect("the program starts");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        check(case, code, &said);
    }
    for (case, child) in without_server.into_iter().zip(children) {
        let output = child.wait_with_output().expect("the program can be waited for");
        let said = String::from_utf8_lossy(&output.stderr);
        check(case, output.status.code(), &said);
        let (program, arguments, ..) = case;
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(errors.len() == 1 && errors[0].contains(UNREACHABLE), "{program} {arguments:?}: {said}");
    }
}

fn check((program, arguments, _, class): Case, code: Option<i32>, said: &str) {
    assert!(!said.contains("did not finish within"), "{program} {arguments:?}: {said}");
    // The exit code of a panic is that of other failures.
    assert!(!said.contains(" panicked at "), "{program} {arguments:?}: {said}");
    assert_eq!(code, Some(class.code().into()), "{program} {arguments:?}: {said}");
}

fn path() -> String {
    "s3://b/v1/run.toml".to_owned()
}

fn changes() -> Box<Changes> {
    Box::new(Changes { keys: Vec::new(), found: "1".to_owned(), wanted: "2".to_owned() })
}

/// All errors of the store, with the class of each.
fn of_store() -> Vec<(StoreError, ExitClass)> {
    let reason = || "why".to_owned();
    vec![
        (StoreError::BadUrl { url: path(), reason: reason() }, ExitClass::Configuration),
        (StoreError::BadName("a/b".to_owned()), ExitClass::Configuration),
        (StoreError::Malformed { text: "a/b".to_owned(), expected: "a name" }, ExitClass::Configuration),
        (StoreError::NotFound { path: path() }, ExitClass::Configuration),
        (StoreError::Deleted { path: path(), model: "v1-3".parse().expect("a model") }, ExitClass::Configuration),
        (StoreError::Edited { path: path(), changes: changes() }, ExitClass::Configuration),
        (StoreError::Conflict { path: path(), changes: changes() }, ExitClass::Configuration),
        (StoreError::Config { path: path(), source: ConfigError::OtherSchema(9) }, ExitClass::Configuration),
        (StoreError::OtherKeys { path: path(), problem: reason() }, ExitClass::Configuration),
        (StoreError::OtherVersion { path: path(), found: reason(), known: reason() }, ExitClass::Configuration),
        (StoreError::Held { what: path(), holder: path(), remedy: "wait" }, ExitClass::Configuration),
        (StoreError::Unreachable { doing: "read", path: path(), reason: reason() }, ExitClass::StoreUnreachable),
        (StoreError::Refused { doing: "write", path: path(), reason: reason() }, ExitClass::StoreRefuses),
        (StoreError::Damaged { path: path(), reason: reason() }, ExitClass::Failure),
        (StoreError::AlreadyExists { path: path() }, ExitClass::Failure),
        (
            StoreError::Record { path: path(), source: RecordError::MissingColumn { column: "moves" } },
            ExitClass::Failure,
        ),
    ]
}

/// An error of a program's own library that wraps one of the store.
fn wrapped(program: &str, error: StoreError) -> anyhow::Error {
    match program {
        "selfplay" => SelfplayError::Store(error).into(),
        "shuffler" => ShufflerError::Store(error).into(),
        "trainer" => TrainerError::Store(error).into(),
        "evaluator" => EvaluatorError::Store(error).into(),
        _ => error.into(),
    }
}

fn class(error: &anyhow::Error, known: &[Classifier]) -> ExitClass {
    runtime::class_of(error, known)
}

#[test]
fn reports_of_a_run_skip_what_stages_skip() {
    for (error, _) in of_store() {
        assert!(error.is_of_one_object() || !error.is_skippable(), "{error}");
    }
}

#[test]
fn errors_of_the_store_have_one_exit_code_in_all_programs() {
    for (program, known) in PROGRAMS {
        for ((plain, expected), (other, _)) in of_store().into_iter().zip(of_store()) {
            let what = format!("{program}: {plain}");
            let context = Err::<(), _>(plain).context("cannot start").unwrap_err();
            assert_eq!(class(&context, known), expected, "{what}");
            assert_eq!(class(&wrapped(program, other), known), expected, "wrapped: {what}");
        }
    }
}

#[test]
fn errors_of_a_stage_have_the_same_exit_code_in_tengen() {
    let open = |source: NetError| ModelError::Open { model: path(), source: source.into() };
    let of_file = |source: NetError| ModelError::OpenFile { path: path().into(), source: source.into() };
    let built_in = |model: &str| ModelError::BuiltIn { model: model.parse().expect("a model") };
    let no_gpu = || NetError::NoGpu { wanted: 3, found: 0, reason: None };
    let damaged = || NetError::NotSafetensors("cut off".to_owned());
    let unknown = || EngineError::Unknown { name: "Absent".parse().expect("a name"), known: Vec::new() };
    let unreachable = || StoreError::Unreachable { doing: "read", path: path(), reason: String::new() };
    let full = || NetError::OutOfMemory { batch: 64, fits: None };
    let cases: [(&str, anyhow::Error, ExitClass); 21] = [
        ("selfplay", SelfplayError::Model(open(no_gpu())).into(), ExitClass::Failure),
        ("selfplay", SelfplayError::Model(open(full())).into(), ExitClass::Failure),
        ("selfplay", SelfplayError::Model(open(CudaError::NoLibtorch.into())).into(), ExitClass::Failure),
        ("selfplay", SelfplayError::Model(open(NetError::NoTorch)).into(), ExitClass::Configuration),
        ("selfplay", SelfplayError::Model(open(damaged())).into(), ExitClass::Failure),
        (
            "shuffler",
            ShufflerError::NotReady { model: 1, games: 2, wanted: 3, expected: None }.into(),
            ExitClass::Failure,
        ),
        (
            "shuffler",
            ShufflerError::TooFew { generation: 1, allowed: 2, new_positions: 3, batch: 4 }.into(),
            ExitClass::Configuration,
        ),
        ("trainer", TrainerError::Device(no_gpu()).into(), ExitClass::Failure),
        ("trainer", TrainerError::Device(NetError::NoTorch).into(), ExitClass::Configuration),
        ("trainer", TrainerError::Train { generation: 1, source: no_gpu() }.into(), ExitClass::Failure),
        ("trainer", TrainerError::Train { generation: 1, source: NetError::NoExamples }.into(), ExitClass::Failure),
        ("trainer", TrainerError::Weights { name: path(), source: damaged() }.into(), ExitClass::Configuration),
        ("evaluator", EvaluatorError::Itself(path()).into(), ExitClass::Configuration),
        ("evaluator", EvaluatorError::Engine(unknown()).into(), ExitClass::Configuration),
        ("evaluator", EvaluatorError::Model(open(damaged())).into(), ExitClass::Failure),
        ("trainer", built_in("random").into(), ExitClass::Configuration),
        ("tengen", no_gpu().into(), ExitClass::Failure),
        ("tengen", of_file(no_gpu()).into(), ExitClass::Failure),
        ("tengen", of_file(damaged()).into(), ExitClass::Configuration),
        ("tengen", of_file(NetError::Torch("out of memory".to_owned())).into(), ExitClass::Failure),
        ("tengen", EvaluationCacheError::Store(unreachable()).into(), ExitClass::StoreUnreachable),
    ];
    for (program, error, expected) in cases {
        let of = |name: &str| PROGRAMS.into_iter().find(|(other, _)| *other == name).expect("a program").1;
        assert_eq!(class(&error, of(program)), expected, "{program}: {error:#}");
        assert_eq!(class(&error, of("tengen")), expected, "tengen: {error:#}");
    }
}

#[test]
fn error_of_no_library_of_ours_is_a_failure_in_all_programs() {
    for (program, known) in PROGRAMS {
        assert_eq!(class(&anyhow::anyhow!("out of memory"), known), ExitClass::Failure, "{program}");
        assert_eq!(class(&ConfigError::OtherSchema(9).into(), known), ExitClass::Configuration, "{program}");
    }
}

#[test]
fn help_of_every_program_lists_the_exit_codes() {
    for (program, _) in PROGRAMS {
        let output = tests::program(program).arg("--help").output().expect("the program starts");
        let help = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        for class in ExitClass::ALL {
            let line = format!("{} {}", class.code(), class.meaning());
            assert!(help.contains(&line), "{program}: {line:?} is not in {help}");
        }
        assert!(help.ends_with(exit_class::PAGE), "{program}: {help}");
    }
}

#[test]
fn every_exit_code_has_a_section_of_the_page_that_operators_find() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect("a file of the repository");
    let page = read("docs/reference/exit-codes.md");
    for class in ExitClass::ALL {
        assert!(page.contains(&format!("\n## {}: ", class.code())), "{class:?} has no section");
    }
    assert!(exit_class::PAGE.ends_with("/docs/reference/exit-codes.md"));
    for stage in ["selfplay", "shuffler", "trainer", "evaluator"] {
        let manifest = read(&format!("k8s/base/{stage}.yaml"));
        assert!(manifest.contains(exit_class::PAGE), "k8s/base/{stage}.yaml does not link {}", exit_class::PAGE);
    }
}
