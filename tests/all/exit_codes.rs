//! Each class of error ends each program with the same exit code.

use anyhow::Context;
use config::ConfigError;
use evaluator::EvaluatorError;
use exit_class::{Classifier, ExitClass};
use gtp::engines::EngineError;
use models::ModelError;
use net::NetError;
use selfplay::SelfplayError;
use shuffler::ShufflerError;
use store::StoreError;
use trainer::TrainerError;

/// The programs, with the errors that their `main` hands to `runtime::main`.
const PROGRAMS: [(&str, &[Classifier]); 5] = [
    ("selfplay", selfplay::command::ERRORS),
    ("shuffler", shuffler::command::ERRORS),
    ("trainer", trainer::command::ERRORS),
    ("evaluator", evaluator::command::ERRORS),
    ("tengen", tengen::command::ERRORS),
];

fn path() -> String {
    "s3://b/v1/run.toml".to_owned()
}

/// Errors of the store, with the class of each.
fn of_store() -> Vec<(StoreError, ExitClass)> {
    let reason = || "why".to_owned();
    vec![
        (StoreError::BadUrl { url: path(), reason: reason() }, ExitClass::Configuration),
        (StoreError::BadName("a/b".to_owned()), ExitClass::Configuration),
        (StoreError::NotFound { path: path() }, ExitClass::Configuration),
        (StoreError::Config { path: path(), source: ConfigError::Newer(9) }, ExitClass::Configuration),
        (StoreError::Held { what: path(), holder: path(), remedy: "wait" }, ExitClass::Configuration),
        (StoreError::Unreachable { doing: "read", path: path(), reason: reason() }, ExitClass::StoreUnreachable),
        (StoreError::Refused { doing: "write", path: path(), reason: reason() }, ExitClass::StoreRefuses),
        (StoreError::Damaged { path: path(), reason: reason() }, ExitClass::Failure),
        (StoreError::AlreadyExists { path: path() }, ExitClass::Failure),
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
    runtime::exit_class(error, known)
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
    let built_in = |model: &str| ModelError::BuiltIn { model: model.parse().expect("a model") };
    let no_gpu = || NetError::NoGpu { wanted: 3, found: 0 };
    let damaged = || NetError::NotSafetensors("cut off".to_owned());
    let unknown = || EngineError::Unknown { name: "Nobody".parse().expect("a name"), known: Vec::new() };
    let cases: [(&str, anyhow::Error, ExitClass); 13] = [
        ("selfplay", SelfplayError::Model(open(no_gpu())).into(), ExitClass::Configuration),
        ("selfplay", SelfplayError::Model(open(damaged())).into(), ExitClass::Failure),
        ("shuffler", ShufflerError::NoGeneration.into(), ExitClass::Failure),
        (
            "shuffler",
            ShufflerError::TooFew { generation: 1, allowed: 2, new_positions: 3, batch: 4 }.into(),
            ExitClass::Configuration,
        ),
        ("trainer", TrainerError::Device(no_gpu()).into(), ExitClass::Configuration),
        ("trainer", TrainerError::Train { generation: 1, source: no_gpu() }.into(), ExitClass::Configuration),
        ("trainer", TrainerError::Train { generation: 1, source: NetError::NoExamples }.into(), ExitClass::Failure),
        ("trainer", TrainerError::Weights { name: path(), source: damaged() }.into(), ExitClass::Configuration),
        ("evaluator", EvaluatorError::Itself(path()).into(), ExitClass::Configuration),
        ("evaluator", EvaluatorError::Engine(unknown()).into(), ExitClass::Configuration),
        ("evaluator", EvaluatorError::Model(open(damaged())).into(), ExitClass::Failure),
        ("trainer", built_in("random").into(), ExitClass::Configuration),
        ("tengen", no_gpu().into(), ExitClass::Configuration),
    ];
    for (program, error, expected) in cases {
        let of = |name: &str| PROGRAMS.into_iter().find(|(other, _)| *other == name).expect("a program").1;
        assert_eq!(class(&error, of(program)), expected, "{program}: {error:#}");
        assert_eq!(class(&error, of("tengen")), expected, "tengen: {error:#}");
    }
}

#[test]
fn an_error_of_no_library_of_ours_is_a_failure_in_all_programs() {
    for (program, known) in PROGRAMS {
        assert_eq!(class(&anyhow::anyhow!("out of memory"), known), ExitClass::Failure, "{program}");
        assert_eq!(class(&ConfigError::Newer(9).into(), known), ExitClass::Configuration, "{program}");
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
    }
}
