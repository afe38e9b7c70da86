//! `tengen doctor` as a person runs it.

use std::fs;
use std::path::Path;
use std::process::Command;

use tests::{TestStore, code_of_absent_gpu, fail, repository, succeed};

fn doctor(store: &TestStore, args: &[&str]) -> Command {
    let mut command = store.program("tengen");
    command.arg("doctor").args(args);
    command
}

#[test]
fn machine_that_works_is_described_in_text_and_json() {
    let store = TestStore::new();
    let text = succeed(&mut doctor(&store, &["--device", "cpu"]));
    let names =
        ["version", "system", "cpu", "memory", "instruction set", "libtorch", "cuda library", "device", "store"];
    for name in names.into_iter().chain(["ports", "formats"]) {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing:\n{text}");
    }
    let set = net::of_inference().to_string();
    let device = text.lines().find(|line| line.starts_with("device")).unwrap();
    assert!(device.ends_with(&format!("cpu, int16 with {set}")), "{device}");
    let json = succeed(&mut doctor(&store, &["--device", "cpu", "--json"]));
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["backend"]["Ok"]["device"], "cpu", "{json}");
    assert_eq!(found["store"]["state"], "works", "{json}");
    assert_eq!(found["store"]["conditional_put"], true, "{json}");
    assert!(found["trials"][0]["training"]["Ok"].is_f64(), "{json}");
    let bucket = TestStore::on_server();
    let json = succeed(&mut doctor(&bucket, &["--device", "cpu", "--json"]));
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&found["store"]["state"], &found["store"]["conditional_put"]),
        (&"works".into(), &true.into()),
        "{json}"
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let text = succeed(doctor(&store, &["--device", "cpu"]).env("TENGEN_METRICS_ADDR", &address));
    assert!(text.contains(&format!("metrics {address}: in use; inference ")), "{text}");
}

/// Constants such as `VERSION: &str = "games/6"` in the sources of the crates.
fn versions() -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![repository().join("crates")]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(versions_in(&path));
            }
        }
    }
    found
}

fn versions_in(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let constants = text.lines().filter_map(|line| line.split_once(": &str = \"")?.1.strip_suffix("\";"));
    let is_version = |text: &&str| {
        let parts = text.split_once('/');
        parts.is_some_and(|(name, version)| !name.is_empty() && version.parse::<u32>().is_ok())
    };
    constants.filter(is_version).map(str::to_owned).collect()
}

#[test]
fn formats_are_those_of_the_sources() {
    let json = succeed(&mut doctor(&TestStore::new(), &["--device", "cpu", "--json"]));
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let formats: Vec<&str> = found["formats"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    let versions = versions();
    assert!(versions.len() >= 7, "{versions:?}");
    for version in &versions {
        assert!(formats.contains(&version.as_str()), "{version} is not among {formats:?}");
    }
    for name in ["configuration/", "evaluation-cache/", "tengen-analysis/", "tengen-book/"] {
        assert!(formats.iter().any(|format| format.starts_with(name)), "{name} is not among {formats:?}");
    }
}

#[test]
fn smaller_instruction_set_is_seen_and_bf16_is_not_there() {
    let store = TestStore::new();
    let mut smaller = doctor(&store, &["--device", "cpu", "--json"]);
    smaller.env("ONEDNN_MAX_CPU_ISA", "AVX2").env("ATEN_CPU_CAPABILITY", "avx2");
    let json = succeed(&mut smaller);
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(["sse41", "avx", "avx2", "plain"].contains(&found["instruction_set"].as_str().unwrap()), "{json}");
    assert_eq!(found["backend"]["Ok"]["precision"], "int16", "{json}");
    assert!(["portable", "avx2"].contains(&found["backend"]["Ok"]["instruction_set"].as_str().unwrap()), "{json}");
    assert_eq!(found["trials"][2]["unsupported"], true, "{json}");
    assert_eq!(found["host"]["variables"]["ONEDNN_MAX_CPU_ISA"], "AVX2", "{json}");
}

/// The programs without libtorch have no `tengen doctor`.
#[test]
fn bug_form_says_what_to_give_without_doctor() {
    let form = fs::read_to_string(repository().join(".github/ISSUE_TEMPLATE/bug.yml")).unwrap();
    assert!(form.contains("`make dist` lack it") && form.contains("`tengen --version`"), "{form}");
    let said = succeed(tests::program("tengen").arg("--version"));
    assert_eq!(said.trim(), format!("tengen {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn doctor_failure_sets_exit_code() {
    let store = TestStore::new();
    let (code, said) = fail(&mut doctor(&store, &["--device", "cuda:1000"]));
    assert!(code == code_of_absent_gpu() && said.contains("GPU"), "{code}: {said}");
}
