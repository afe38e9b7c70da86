//! Every stage started with every wrong setting that an operator can make: it says what is wrong and where on one line,
//! ends with the right exit code, and asks the store little meanwhile.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;

use config::Preset;
use testing::s3::{Refusal, Server};
use tests::{TestStore, code_of_absent_gpu, copy, fail, repository, succeed};

use crate::programs::first_model;

/// The exit codes of `exit_class::ExitClass`.
const MISCONFIGURED: i32 = 2;
const UNREACHABLE: i32 = 3;
const REFUSED: i32 = 5;

/// The arguments with which each stage is started on a cluster.
const STAGES: [(&str, &[&str]); 4] = [
    ("selfplay", &["--model", "tiny", "--config", "configs/tiny.toml"]),
    ("shuffler", &["--run", "tiny"]),
    ("trainer", &["--run", "tiny", "--config", "configs/tiny.toml"]),
    ("evaluator", &["--run", "tiny", "--pair-uncertain", "--wait"]),
];

/// What must come of a mistake: the exit code, words of the one line, and the most requests that the server got.
struct Expected<'a> {
    code: i32,
    words: &'a [&'a str],
    requests: usize,
}

/// Runs a stage that must fail because of how it was started.
fn refused(what: &str, store: &TestStore, mut command: Command, expected: &Expected<'_>) {
    if let Some(server) = store.server() {
        server.asked();
    }
    let (code, said) = fail(&mut command);
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    let what = format!("{:?}, {what}", command.get_program());
    assert_eq!(errors.len(), 1, "{what}: one line that says what is wrong:\n{said}");
    assert_eq!(code, expected.code, "{what}: {said}");
    for words in expected.words {
        assert!(errors[0].contains(words), "{what}: {words:?} is not in: {said}");
    }
    let asked = store.server().map(Server::asked).unwrap_or_default();
    assert!(asked.len() <= expected.requests, "{what}: {} requests: {asked:#?}", asked.len());
    println!("{what}: {code} after {} requests: {}", asked.len(), errors[0]);
}

/// A stage on a store of its own, as a cluster starts it.
fn started(store: &TestStore, place: &str, (program, args): (&str, &[&str])) -> Command {
    let mut command = store.program_at(program, place);
    command.args(args).current_dir(repository());
    command
}

#[test]
fn place_that_is_no_store_is_named_by_every_stage() {
    for stage in STAGES {
        let store = TestStore::on_server();
        let file = tempfile::NamedTempFile::new().unwrap();
        let at = |place: &str| started(&store, place, stage);
        let no_store = Expected { code: MISCONFIGURED, words: &["cannot use ftp://x as a store"], requests: 0 };
        refused("a place that is none", &store, at("ftp://x"), &no_store);
        let words = &["cannot use s3:/bucket/x as a store", "begins with s3://"];
        let no_url = Expected { code: MISCONFIGURED, words, requests: 0 };
        refused("a URL that lacks a slash", &store, at("s3:/bucket/x"), &no_url);
        let no_folder = Expected { code: MISCONFIGURED, words: &["it is not a folder"], requests: 0 };
        refused("a file", &store, at(file.path().to_str().unwrap()), &no_folder);
        let words = &["s3://no-such-bucket/x", "there is no such bucket"];
        let no_bucket = Expected { code: MISCONFIGURED, words, requests: 2 };
        refused("a bucket that is not there", &store, at("s3://no-such-bucket/x"), &no_bucket);
    }
}

#[test]
fn credentials_that_are_missing_or_wrong_are_named_by_every_stage() {
    thread::scope(|scope| {
        for stage in STAGES {
            scope.spawn(move || {
                let store = TestStore::on_server();
                let at = || started(&store, &store.place(), stage);
                let mut wrong_key = at();
                wrong_key.env("AWS_SECRET_ACCESS_KEY", "wrong");
                let words = &["s3://bucket/stores/", "SignatureDoesNotMatch", "see AWS_SECRET_ACCESS_KEY"];
                let expected = Expected { code: UNREACHABLE, words, requests: 2 };
                refused("a key that does not fit", &store, wrong_key, &expected);

                let without = |asked: &str| {
                    let mut command = at();
                    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
                    command.env("AWS_METADATA_ENDPOINT", asked);
                    command
                };
                let server = store.server().unwrap().env().into_iter().find(|(key, _)| key == "AWS_ENDPOINT").unwrap();
                let words = &["s3://bucket/stores", "there are no credentials for the bucket"];
                let expected = Expected { code: MISCONFIGURED, words, requests: 2 };
                refused("no key on a machine without a role", &store, without(&server.1), &expected);
                let expected = Expected { code: UNREACHABLE, words, requests: 0 };
                refused("no key and no metadata server", &store, without("http://127.0.0.1:9"), &expected);
            });
        }
    });
}

#[test]
fn wrong_clock_is_reported_by_every_stage() {
    for stage in STAGES {
        let store = TestStore::on_server();
        store.server().unwrap().refuse(Some(Refusal::ClockSkew));
        let words = &["s3://bucket/stores/", "the clock of this machine is wrong", "RequestTimeTooSkewed"];
        let expected = Expected { code: UNREACHABLE, words, requests: 2 };
        refused("a clock that is wrong", &store, started(&store, &store.place(), stage), &expected);
    }
}

#[test]
fn port_or_a_device_that_is_none_is_named_by_every_stage() {
    for stage in STAGES {
        let store = TestStore::on_server();
        let mut port = started(&store, &store.place(), stage);
        port.env("TENGEN_METRICS_ADDR", "127.0.0.1:99999");
        let words = &["cannot serve metrics at 127.0.0.1:99999"];
        refused("a port that is none", &store, port, &Expected { code: MISCONFIGURED, words, requests: 0 });
        if stage.0 != "shuffler" {
            let mut device = started(&store, &store.place(), stage);
            device.args(["--device", "tpu"]);
            refused(
                "a device that is none",
                &store,
                device,
                &Expected { code: MISCONFIGURED, words: &["device \"tpu\" is none of auto, cpu"], requests: 8 },
            );
        }
    }
}

#[test]
fn gpu_that_is_missing_is_named_by_every_stage_that_could_use_it() {
    let store = TestStore::on_server();
    with_games(&store);
    succeed(store.program("shuffler").args(["--run", "tiny", "--once"]));
    for stage in STAGES.into_iter().filter(|(program, _)| *program != "shuffler") {
        let mut command = started(&store, &store.place(), stage);
        command.args(["--device", "cuda:1000"]);
        let expected = Expected { code: code_of_absent_gpu(), words: &["GPU"], requests: 16 };
        refused("a GPU that is missing", &store, command, &expected);
    }
}

/// Gives a store a run with games for its next model, made by the stages.
pub(crate) fn with_games(store: &TestStore) {
    static MADE: OnceLock<TestStore> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let made = TestStore::shared();
        copy(first_model().path(), made.path());
        made.selfplay("tiny", "tiny-1", 40);
        made
    });
    copy(made.path(), &store.server().map_or_else(|| store.path().to_owned(), Server::objects));
}

/// Lets each stage do its work while nothing can be written. `hinder` sees to that.
fn cannot_write(store: &TestStore, words: &[&str], hinder: &dyn Fn(Command) -> Command) {
    with_games(store);
    let stages: [(&str, &[&str]); 4] = [
        ("selfplay", &["--model", "tiny-1", "--games", "100", "--worker", "1"]),
        ("shuffler", &["--run", "tiny", "--once"]),
        ("trainer", &["--run", "tiny", "--once"]),
        ("evaluator", &["--pair", "tiny-1", "random", "--games", "4"]),
    ];
    for (program, args) in stages {
        if program == "trainer" {
            succeed(store.program("shuffler").args(["--run", "tiny", "--once"]));
        }
        let mut command = store.program(program);
        command.args(args);
        // Reading for the work, and some tries to write: what a server says of its disk, object_store asks three times
        // more.
        let expected = Expected { code: REFUSED, words, requests: 120 };
        refused("nothing can be written", store, hinder(command), &expected);
        if let Some(server) = store.server() {
            server.refuse(None);
        }
    }
}

#[test]
fn full_bucket_is_reported_by_every_stage() {
    let store = TestStore::on_server();
    let words = &["cannot write s3://bucket/stores/tiny/", "the store is full"];
    cannot_write(&store, words, &|command| {
        store.server().unwrap().refuse(Some(Refusal::Full));
        command
    });
}

#[test]
fn read_only_bucket_is_reported_by_every_stage() {
    let store = TestStore::on_server();
    // An evaluator deletes its claim before it writes a new one.
    let words = &["cannot ", " s3://bucket/stores/tiny/", "the credentials do not allow it"];
    cannot_write(&store, words, &|command| {
        store.server().unwrap().refuse(Some(Refusal::ReadOnly));
        command
    });
}

#[test]
fn full_disk_is_reported_by_every_stage() {
    let store = TestStore::new();
    cannot_write(&store, &["cannot write ", "/tiny/", "File too large"], &|command| limited(&command));
    let fresh = TestStore::new();
    for stage in STAGES.into_iter().filter(|(program, _)| ["selfplay", "trainer"].contains(program)) {
        let command = limited(&started(&fresh, &fresh.place(), stage));
        let expected = Expected { code: REFUSED, words: &["cannot write ", "/tiny/config/"], requests: 0 };
        refused("a full disk from the beginning", &fresh, command, &expected);
    }
}

#[test]
fn ratings_are_shown_where_they_cannot_be_published() {
    let store = TestStore::new();
    with_games(&store);
    let mut matches = store.program("evaluator");
    matches.args(["--pair", "tiny-1", "random", "--games", "4"]);
    succeed(&mut matches);
    fs::remove_dir_all(store.path().join("tiny/ratings")).unwrap();
    let mut command = store.program("evaluator");
    command.args(["ratings", "--run", "tiny"]);
    let output = limited(&command).output().unwrap();
    let (table, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && table.contains("tiny-1"), "{table}{log}");
    assert!(log.contains("ratings are not published") && log.contains("File too large"), "{log}");
    // Matches are to publish theirs, and a Job shows a failure by its exit code alone.
    let expected = Expected { code: REFUSED, words: &["cannot write ", "/tiny/ratings/"], requests: 0 };
    refused("ratings after matches", &store, limited(&matches), &expected);
    // Nothing stands in the way of the same command later.
    succeed(&mut command);
    assert!(store.path().join("tiny/ratings").exists());
}

/// The same where no file may be larger than a block, and the signal that goes with it is not heard: writes fail.
pub(crate) fn limited(command: &Command) -> Command {
    under("trap '' XFSZ; ulimit -f 1", command)
}

/// The same under a limit of the shell.
pub(crate) fn under(limit: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]).arg(command.get_program());
    alike(shell, command)
}

/// Adds the arguments and the environment of another command.
pub(crate) fn alike(mut command: Command, other: &Command) -> Command {
    command.args(other.get_args()).current_dir(repository());
    for (key, value) in other.get_envs() {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command
}

/// A file system of one megabyte in a mount namespace of its own, which only the superuser can make.
const SMALL: &str = r#"
set -u
mount -t tmpfs -o size=1m tmpfs "$1" || exit 77
selfplay="$2 --store $1 --run tiny --model random --games 100000 --config $3"
$selfplay; echo "full: $?" >&2
mount -o remount,ro "$1" || exit 77
$selfplay --worker 1; echo "read-only: $?" >&2
umount "$1"
"#;

#[test]
fn file_system_that_is_full_or_read_only_has_an_exit_code_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    // Other users are root in a user namespace of their own.
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        command.arg("--map-root-user");
    }
    command.args(["-m", "sh", "-c", SMALL, "sh"]).arg(folder.path()).arg(tests::program("selfplay").get_program());
    command.arg(repository().join("configs/tiny.toml")).env("TENGEN_LOG_FORMAT", "plain").env("TENGEN_THREADS", "2");
    let output = command.output().expect("unshare is part of util-linux");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || said.starts_with("unshare: ") {
        return testing::unsupported("mounting a file system");
    }
    assert!(output.status.success(), "{said}");
    for words in ["No space left on device", "full: 5", "Read-only file system", "read-only: 5"] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
}

#[test]
fn output_that_cannot_be_written_is_named_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("game.sgf"), "(;SZ[9]KM[7];B[ee];W[ce];B[dc];W[gc];B[gd];W[fd])").unwrap();
    // Neither the book nor the engine would end.
    let book = ["book", "book.jsonl", "--model", "uniform", "--budget", "1000000000", "--json"];
    let positions = ["study", "positions", "game.sgf", "--out"];
    let cases: [(&[&str], &str, &[&str]); 3] = [
        (&book, "absent/book.json", &[]),
        (&book, "folder", &[]),
        (&positions, "absent/positions.jsonl", &["--", "sleep", "1000000"]),
    ];
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (args, path, rest) in cases {
        let mut command = tests::program("tengen");
        command.current_dir(folder.path()).args(args).arg(path).args(rest);
        let (code, said) = fail(&mut command);
        assert!(code == MISCONFIGURED && said.contains(&format!("cannot write {path}: ")), "{code}: {said}");
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn misspelt_store_or_model_leaves_nothing_behind() {
    let store = TestStore::new();
    let absent = store.path().join("absent");
    let cases: [(&str, &[&str]); 5] = [
        ("evaluator", &["--pair", "tiny-1", "tiny-2"]),
        ("evaluator", &["--run", "tiny", "--pair-uncertain"]),
        ("shuffler", &["--run", "tiny", "--once"]),
        ("shuffler", &["--run", "tiny", "--dry-run"]),
        ("shuffler", &["--run", "tiny", "--compact"]),
    ];
    for (program, args) in cases {
        let (code, said) = fail(store.program_at(program, absent.to_str().unwrap()).args(args));
        assert!(code == MISCONFIGURED && said.contains(absent.to_str().unwrap()), "{program} {args:?}: {code}: {said}");
        assert!(!absent.exists(), "{program} {args:?}");
    }
    let mut selfplay = store.program("selfplay");
    selfplay.args(["--model", "tiny-3", "--config", "configs/tiny.toml"]).current_dir(repository());
    let (code, said) = fail(&mut selfplay);
    assert!(code == MISCONFIGURED && said.contains("there is no model tiny-3 in "), "{code}: {said}");
    assert_eq!(store.files(), [""; 0]);
}

/// The table after the matches, which take hours, is on their scale.
#[test]
fn anchor_without_results_is_named_before_the_matches() {
    let store = TestStore::new();
    with_games(&store);
    let matches = |anchors: &[&str]| {
        let mut command = store.program("evaluator");
        command.args(["--pair", "tiny-1", "random", "--games", "2"]);
        command.args(anchors.iter().flat_map(|anchor| ["--anchor", anchor]));
        command
    };
    let cases: [(&[&str], &str); 3] = [
        (&["Rnadom=0"], "the anchor Rnadom is no player of these games"),
        (&["tiny-2=0"], "the anchor tiny-2 is no player of these games"),
        (&["random=0", "random=1"], "random is an anchor twice"),
    ];
    for (anchors, problem) in cases {
        let (code, said) = fail(&mut matches(anchors));
        assert!(code == MISCONFIGURED && said.contains(problem), "{code}: {said}");
    }
    assert!(store.run("tiny").matches().files().unwrap().is_empty());
    let said = succeed(&mut matches(&["random=-1500"]));
    assert!(said.contains("On the scale of random = -1500"), "{said}");
}

#[test]
fn output_that_would_replace_another_file_of_the_command_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = ["book.json", "game.sgf", "net.safetensors"].map(|name| folder.path().join(name));
    // Refused before they are read.
    inputs.iter().for_each(|input| fs::write(input, "input").unwrap());
    symlink("net.safetensors", folder.path().join("link")).unwrap();
    let book = ["book", "book.json", "--model", "./net.safetensors", "--budget", "1000000000"];
    let new = ["book", "new.jsonl", "--model", "uniform", "--budget", "1000000000"];
    let evaluations = ["--store", ".", "evalcache", "export", "a-set", "--sgf", "game.sgf"];
    let cases: [(&str, &[&str], &[&str]); 8] = [
        ("tengen", &book, &["--json", "./book.json"]),
        ("tengen", &book, &["--sgf", "net.safetensors"]),
        ("tengen", &new, &["--parquet", "new.jsonl"]),
        ("tengen", &new, &["--sgf", "one", "--json", "one"]),
        ("tengen", &evaluations, &["--out", "game.sgf"]),
        ("tengen", &["study", "inspect", "./net.safetensors"], &["--out", "link"]),
        ("trainer", &["export", "--model", "./net.safetensors"], &["--out", "net.safetensors"]),
        ("trainer", &["import", "net.safetensors"], &["--out", "net.safetensors"]),
    ];
    for (program, args, output) in cases {
        let mut command = tests::program(program);
        command.current_dir(folder.path()).args(args).args(output);
        let (code, said) = fail(&mut command);
        let expected = format!("cannot write {}: it is the ", output.last().unwrap());
        assert!(code == MISCONFIGURED && said.contains(&expected), "{output:?}, {code}: {said}");
    }
    inputs.iter().for_each(|input| assert_eq!(fs::read(input).unwrap(), b"input", "{}", input.display()));
    let found: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn unknown_names_and_unsuitable_configurations_are_errors() {
    let store = TestStore::on_server();
    with_games(&store);
    let wrong_key = store.path().join("wrong.toml");
    let text = Preset::Tiny.config().to_toml();
    fs::write(&wrong_key, text.replacen("visits", "visist", 1)).unwrap();
    let wrong_key = wrong_key.to_str().unwrap();
    let cases: [(&str, &str, &[&str], &[&str]); 15] = [
        ("an unknown model", "selfplay", &["--model", "tiny-9", "--games", "1"], &["tiny-9"]),
        ("an unknown model", "evaluator", &["--pair", "tiny-9", "random"], &["tiny-9"]),
        ("a run without models", "evaluator", &["--run", "tiny", "--pair", "other", "random"], &["other"]),
        ("no such run", "selfplay", &["--model", "other"], &["there is no run other"]),
        ("no such run", "shuffler", &["--run", "other", "--once"], &["there is no run other"]),
        ("no such run", "trainer", &["--run", "other"], &["there is no run other"]),
        ("no such run", "evaluator", &["ratings", "--run", "other"], &["there is no run other"]),
        (
            "no such run to include",
            "evaluator",
            &["--pair", "tiny-1", "random", "--games", "1000000", "--with", "other"],
            &["there is no run other"],
        ),
        ("another run's", "selfplay", &["--model", "tiny", "--config", "configs/9x9.toml"], &["describes another run"]),
        ("another run's", "trainer", &["--run", "tiny", "--config", "configs/9x9.toml"], &["describes another run"]),
        ("no such file", "selfplay", &["--model", "tiny", "--config", "configs/none.toml"], &["configs/none.toml"]),
        ("a misspelt key", "selfplay", &["--model", "tiny", "--config", wrong_key], &["visist", "wrong.toml"]),
        ("a misspelt key", "trainer", &["--run", "tiny", "--config", wrong_key], &["visist", "wrong.toml"]),
        ("no name", "selfplay", &["--model", "tiny-1", "--games", "41", "--worker", "a/b"], &["a/b"]),
        ("no name", "evaluator", &["--run", "tiny", "--pair-uncertain", "--worker", "a/b"], &["a/b"]),
    ];
    for (what, program, args, words) in cases {
        let mut command = store.program(program);
        command.args(args).current_dir(repository());
        refused(what, &store, command, &Expected { code: MISCONFIGURED, words, requests: 16 });
    }
}
