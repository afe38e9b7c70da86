//! The four stages by hand on one store, and what they say when something is wrong.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::OnceLock;

use tests::{TestStore, copy, fail, program, repository, succeed, without_reader};

/// A store with the first model of `tiny`, made by the stages one after another. Nothing writes into it.
pub(crate) fn first_model() -> &'static TestStore {
    static MADE: OnceLock<TestStore> = OnceLock::new();
    MADE.get_or_init(|| {
        let store = TestStore::shared();
        store.advance("tiny");
        store
    })
}

/// A finished run on a store of its own: the first models of `tiny`, made by the four stages one after another.
fn by_hand(models: u32) -> TestStore {
    let store = TestStore::new();
    copy(first_model().path(), store.path());
    (1..models).for_each(|_| store.advance("tiny"));
    store
}

#[test]
fn stages_work_one_by_one_on_one_store() {
    let store = by_hand(2);
    assert_eq!(store.run("tiny").models().list().unwrap(), [1, 2]);
    succeed(store.program("evaluator").args(["--run", "tiny", "--pair", "tiny-2", "random", "--games", "4"]));
    succeed(store.program("evaluator").args(["--run", "tiny", "--pair-uncertain", "--pairs", "2"]));
    let table = succeed(store.program("evaluator").args(["ratings", "--run", "tiny"]));
    for name in ["random", "tiny-2"] {
        assert!(table.contains(name), "{table}");
    }
}

/// A script would go on as after matches.
#[test]
fn matches_without_a_pair_are_a_warning() {
    let store = by_hand(1);
    for args in [&["--round-robin", "--run", "tiny"][..], &["--new-model", "random", "--run", "tiny"]] {
        let output = store.program("evaluator").args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("there are not two players to pair"), "{args:?}: {said}");
    }
    assert!(store.run("tiny").matches().files().unwrap().is_empty());
}

/// From the C library, a run of `configs/9x9-larger.toml` occupied eight times the memory that it needed.
#[test]
fn tensors_have_their_memory_from_the_programs_own_allocator() {
    for name in ["selfplay", "trainer", "evaluator", "tengen"] {
        let mut program = program(name);
        // The dynamic linker tells whose function each library calls.
        let output = program.arg("--version").env("LD_DEBUG", "bindings").env("LD_BIND_NOW", "1").output().unwrap();
        let bindings = String::from_utf8(output.stderr).unwrap();
        for function in ["malloc", "free", "posix_memalign"] {
            let whose =
                bindings.lines().find(|line| line.contains("/libc10.so ") && line.contains(&format!("`{function}'")));
            assert!(whose.is_some_and(|line| line.contains(&format!("{name} [0]"))), "{name}, {function}: {whose:?}");
        }
    }
}

#[test]
fn misspelt_key_is_named_and_no_file_is_written() {
    let store = TestStore::new();
    let config = repository().join("configs/tiny.toml");
    let (code, error) = fail(store.program("tengen").arg("run").arg(&config).args(["--set", "search.visist=3"]));
    assert_eq!(code, 2, "{error}");
    let words = "--set search.visist=3: unknown key search.visist; did you mean search.visits?";
    assert!(error.contains(words) && !error.contains("tiny.toml"), "{error}");
    assert_eq!(store.files(), [""; 0]);
}

/// As with `2>&1 | head -1`, which has seen enough before the address is printed.
#[test]
fn run_with_pages_trains_although_no_reader_of_its_output_is_there() {
    let store = TestStore::new();
    let mut run = store.program("tengen");
    run.arg("run").arg(repository().join("configs/tiny.toml")).args(["--set", "loop.models=1"]);
    let output = run.args(["--serve", "127.0.0.1:0"]).stdout(without_reader()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(store.run("tiny").models().list().unwrap(), [1]);
}

/// The configuration of a run in a store is named as that of each other run.
#[test]
fn stored_configuration_needs_the_name_of_its_run() {
    let store = TestStore::new();
    store.selfplay("value_2", "random", 1);
    let before = store.files();
    let (code, error) = fail(store.program("tengen").arg("run").arg(store.path().join("value_2/run.toml")));
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("a run.toml does not name its run; add --run value_2"), "{error}");
    assert_eq!(store.files(), before);
}

#[test]
fn run_cannot_change_its_configuration() {
    let store = TestStore::new();
    let config = repository().join("configs/tiny.toml");
    store.selfplay("tiny", "random", 1);
    let before = store.files();
    let (code, error) = fail(store.program("tengen").arg("run").arg(config).args(["--set", "search.visits=3"]));
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("tiny"), "{error}");
    assert_eq!(store.files(), before);
}

#[test]
fn missing_model_is_named() {
    let store = by_hand(1);
    for args in [&["selfplay", "--model", "tiny-7"][..], &["evaluator", "--run", "tiny", "--pair", "tiny-7", "random"]]
    {
        let (_, error) = fail(store.program(args[0]).args(&args[1..]));
        assert!(error.contains("tiny-7"), "{error}");
    }
    let (_, error) = fail(store.program("tengen").args(["gtp", "--model", "tiny-7"]));
    assert!(error.contains("tiny-7"), "{error}");
    let (code, error) = fail(store.program("selfplay").args(["--model", "no/such-model"]));
    assert_eq!(code, 2, "{error}");
}

#[test]
fn programs_of_the_bundle_are_selected_by_its_name() {
    for name in ["evaluator", "inference", "selfplay", "shuffler", "tengen"] {
        let help = succeed(program("bundle").arg0(name).arg("--help"));
        assert_eq!(help, succeed(program(name).arg("--help")));
    }
    let (code, error) = fail(&mut program("bundle"));
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("selfplay"), "{error}");
}

#[test]
fn truncated_file_is_named_and_the_rest_is_used() {
    let store = by_hand(1);
    let games: Vec<String> = store.files().into_iter().filter(|file| file.contains("/games/")).collect();
    let damaged = store.path().join(&games[0]);
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    let mut selfplay = store.program("selfplay");
    let output = selfplay.args(["--run", "tiny", "--model", "random", "--games", "41"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(games[0].rsplit('/').next().unwrap()) && said.contains("quarantine"), "{said}");

    let weights = store.path().join("tiny/models/000001/weights.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() - 10]).unwrap();
    let (_, error) = fail(store.program("selfplay").args(["--model", "tiny-1", "--games", "1"]));
    assert!(error.contains("weights.safetensors"), "{error}");
}

#[test]
fn errors_of_interactive_commands_are_plain_text() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[&str]); 4] = [
        ("evaluator", &["ratings", "--run", "none"]),
        ("evaluator", &["rate", "absent.csv"]),
        ("trainer", &["import", "absent", "--out", "never"]),
        ("tengen", &["status", "none"]),
    ];
    for (name, args) in cases {
        let (_, said) = fail(program(name).env_remove("TENGEN_LOG_FORMAT").current_dir(folder.path()).args(args));
        assert!(said.starts_with("error: ") && said.lines().count() == 1, "{name} {args:?}: {said}");
    }
}

#[test]
fn store_that_cannot_be_written_is_named() {
    let config = repository().join("configs/tiny.toml");
    let file = tempfile::NamedTempFile::new().unwrap();
    let below_file = file.path().join("below");
    // Not even root can make a folder in /proc.
    for (place, expected) in [(below_file.as_path(), 2), (Path::new("/proc/tengen-store"), 3)] {
        let (code, error) = fail(program("tengen").arg("--store").arg(place).arg("run").arg(&config));
        assert_eq!(code, expected, "{error}");
        assert!(error.contains(&*place.to_string_lossy()), "{error}");
    }
}
