//! `tengen prune`: deletes what the policy does not keep, and never what the run needs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use go::Size;
use record::synthetic;
use store::Run;
use testing::s3::Refusal;
use tests::{TestStore, copy, fail, repository, succeed, without_reader};

/// Small windows, so that old games are not needed.
const SMALL: [&str; 5] =
    ["selfplay.holdout_fraction=0.0", "window.games=60", "resign.games=5", "resign.min_games=4", "loop.models=20"];

fn selfplay(store: &TestStore, model: &str, settings: &[&str]) {
    let mut selfplay = store.program("selfplay");
    selfplay.env("TENGEN_THREADS", "1").args(["--run", "tiny", "--times", "false", "--model", model, "--games", "40"]);
    selfplay.arg("--config").arg(repository().join("configs/tiny.toml"));
    for set in settings {
        selfplay.args(["--set", set]);
    }
    succeed(&mut selfplay);
}

/// A store of its own with four models of one run under [`SMALL`].
fn four_models() -> TestStore {
    static MADE: OnceLock<TestStore> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let store = TestStore::shared();
        (0..4).for_each(|_| advance(&store, &SMALL));
        store
    });
    let store = TestStore::new();
    copy(made.path(), store.path());
    store
}

/// One model more.
fn advance(store: &TestStore, settings: &[&str]) {
    let newest = store.run("tiny").models().newest().unwrap();
    selfplay(store, &newest.map_or("random".to_owned(), |newest| format!("tiny-{newest}")), settings);
    succeed(store.program("shuffler").args(["--run", "tiny", "--once"]));
    succeed(store.program("trainer").env("TENGEN_THREADS", "1").args(["--run", "tiny", "--once"]));
}

fn prune(store: &TestStore, args: &[&str]) -> String {
    succeed(store.program("tengen").args(["prune", "--run", "tiny"]).args(args))
}

fn audit(store: &TestStore) {
    let said = succeed(store.program("tengen").args(["audit", "tiny"]));
    assert!(said.contains(": 0 problems"), "{said}");
}

fn weights(run: &Run) -> Vec<Vec<u8>> {
    run.models().list().unwrap().into_iter().map(|number| run.models().get(number).unwrap().1.to_vec()).collect()
}

/// The models are the same with any matches.
const FEW_MATCHES: [&str; 2] = ["loop.final_games=2", "evaluate.every=1000"];

/// A store with a run that has ended: the models that the stages train one by one.
fn ended(settings: &[&str]) -> TestStore {
    let store = TestStore::new();
    let mut tengen = store.program("tengen");
    tengen.env("TENGEN_THREADS", "1").arg("run").arg(repository().join("configs/tiny.toml"));
    succeed(tengen.args(settings.iter().flat_map(|set| ["--set", set])));
    store
}

/// Trained with a prune after every model, the models are those of a run that keeps everything. A worker of one thread
/// publishes its games in the same order every time, and `tengen run` trains what the stages train one by one.
fn pruned_run_trains_the_same_models(settings: &[&str], pruned: &TestStore) {
    let settings = [&SMALL[..], &FEW_MATCHES, &["loop.models=5"], settings].concat();
    let whole = ended(&settings);
    for generation in 0..5 {
        advance(pruned, &settings);
        // The next window is read from the archive, which is deleted before the last one.
        if generation == 1 {
            succeed(pruned.program("shuffler").args(["--run", "tiny", "--compact=1"]));
        }
        prune(
            pruned,
            &["--keep", "games=0", "--keep", "sgf=0", "--keep", "shards=0", "--keep", "checkpoints=1", "--delete"],
        );
        audit(pruned);
    }
    let games = |store: &TestStore| store.run("tiny").games().models().unwrap();
    assert_eq!(games(&whole), [0, 1, 2, 3, 4]);
    assert_eq!(games(pruned), [3, 4]);
    let (whole, pruned) = (weights(&whole.run("tiny")), weights(&pruned.run("tiny")));
    assert_eq!(whole.len(), 5);
    assert!(whole == pruned, "the models differ");
}

#[test]
fn pruned_run_in_a_folder_trains_the_same_models() {
    pruned_run_trains_the_same_models(&[], &TestStore::new());
}

/// The size of the window follows from the number of all games, those that are deleted too.
#[test]
fn pruned_run_in_a_bucket_with_a_growing_window_trains_the_same_models() {
    let growing = ["window.growth=power-law", "window.growth_start=40", "window.games=75"];
    pruned_run_trains_the_same_models(&growing, &TestStore::on_server());
}

/// The files below a folder, from which others may delete some meanwhile.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Kills `tengen prune` after it has deleted so many files; returns whether it was still at work.
fn kill_prune(store: &TestStore, deletions: usize) -> bool {
    let run = store.server().map_or_else(|| store.path().to_owned(), |server| server.objects()).join("tiny");
    let files: Vec<PathBuf> =
        ["games", "examples", "sgf"].iter().flat_map(|kind| files_below(&run.join(kind))).collect();
    let mut command = store.program("tengen");
    command.args(["prune", "--run", "tiny", "--keep", "games=0", "--keep", "sgf=0", "--keep", "shards=0", "--delete"]);
    let mut prune = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while prune.try_wait().unwrap().is_none() {
        if files.iter().filter(|file| !file.exists()).count() >= deletions {
            prune.kill().unwrap();
            return !prune.wait().unwrap().success();
        }
        std::thread::yield_now();
    }
    false
}

/// Models that may follow those of the run, each of which gives the next prunes something to delete.
const MOST_MORE: u32 = 60;

/// Prunes are killed after their first deletions again and again, while a run plays and trains. On a fast disk most of
/// them have finished before, so the run goes on until some were at work.
fn killed_prunes_leave_a_whole_run(store: &TestStore) {
    let settings = [&SMALL[..], &["loop.models=6"]].concat();
    let mut tengen = store.program("tengen");
    tengen.env("TENGEN_THREADS", "1").arg("run").arg(repository().join("configs/tiny.toml"));
    tengen.args(settings.iter().flat_map(|set| ["--set", set]));
    let mut run = tengen.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut killed, mut more) = (0, 0);
    // A prune after a model has about twelve to make: after more of them the kill is too late on a busy machine.
    let mut deletions = [1, 5, 2].into_iter().cycle();
    loop {
        let ended = run.try_wait().unwrap();
        killed += usize::from(kill_prune(store, deletions.next().unwrap()));
        if let Some(status) = ended {
            assert!(status.success(), "{status}");
            if killed >= 3 {
                break;
            }
            assert!(more < MOST_MORE, "only {killed} prunes were killed at work");
            advance(store, &settings);
            more += 1;
        }
    }
    prune(store, &["--keep", "games=0", "--keep", "sgf=0", "--keep", "shards=0", "--delete"]);
    audit(store);
    let run = store.run("tiny");
    assert_eq!(run.models().newest().unwrap(), Some(6 + more));
    let left = run.games().models().unwrap();
    assert!(!left.contains(&0) && left.contains(&(5 + more)), "{left:?}");
    println!("{killed} prunes were killed at work, {more} models after the run");
}

#[test]
fn killed_prunes_beside_a_run_in_a_folder_leave_it_whole() {
    killed_prunes_leave_a_whole_run(&TestStore::new());
}

#[test]
fn killed_prunes_beside_a_run_in_a_bucket_leave_it_whole() {
    killed_prunes_leave_a_whole_run(&TestStore::on_server());
}

/// As after a disk or a hand has changed it.
#[test]
fn model_with_a_short_digest_has_no_cached_evaluations() {
    let store = TestStore::new();
    advance(&store, &SMALL);
    let metadata = store.path().join("tiny/models/000001/model.toml");
    let text = fs::read_to_string(&metadata).unwrap();
    let (start, rest) = text.split_once("sha256 = \"").unwrap();
    let (digest, end) = rest.split_once('"').unwrap();
    let set = store.path().join("evalcache").join(&digest[..16]);
    fs::create_dir_all(&set).unwrap();
    fs::write(set.join("000001.segment"), "x").unwrap();
    let found = |count: usize| {
        let said = prune(&store, &["--keep", "evalcache=0"]);
        assert!(said.contains(&format!("models with cached evaluations: delete {count}, ")), "{said}");
    };
    found(1);
    fs::write(&metadata, format!("{start}sha256 = \"{}\"{end}", &digest[..8])).unwrap();
    found(0);
}

#[test]
fn prune_without_delete_deletes_nothing() {
    let store = four_models();
    let before = store.files();
    let said = prune(&store, &[]);
    assert!(said.starts_with("games: delete 0, 0 B; keep 160, ") && said.ends_with("\nnothing to delete\n"), "{said}");
    let said = prune(&store, &["--keep", "games=0"]);
    assert!(said.starts_with("games: delete 80, "), "{said}");
    assert!(said.contains("(those of models from 2 on stay: "), "{said}");
    assert!(said.ends_with("\nnothing is deleted yet; --delete deletes it\n"), "{said}");
    assert_eq!(store.files(), before);
    let said = prune(&store, &["--keep", "sgf=0", "--delete"]);
    assert!(said.contains("\ndeleted ") && said.contains(" files, "), "{said}");
    // As behind `| head -1`.
    let mut unread = store.program("tengen");
    unread.args(["prune", "--run", "tiny", "--keep", "games=0", "--delete"]).stdout(without_reader());
    assert_eq!(unread.output().unwrap().status.code(), Some(0));
    assert_eq!(store.run("tiny").games().models().unwrap(), [2, 3]);
    let said = prune(&store, &["--keep", "games=0", "--delete"]);
    assert!(said.ends_with("\ndeleted 0 files, 0 B\n"), "{said}");
    audit(&store);
}

/// Operators free space by it.
#[test]
fn prune_of_a_full_bucket_deletes_what_needs_no_mark() {
    let store = TestStore::on_server();
    advance(&store, &[&SMALL[..], &["retention.sgf=0h"]].concat());
    let server = store.server().unwrap();
    let damaged = server.objects().join("tiny/quarantine/games/000000/w-0000000000001.parquet");
    fs::create_dir_all(damaged.parent().unwrap()).unwrap();
    fs::write(&damaged, "PAR1").unwrap();
    server.refuse(Some(Refusal::Full));
    let sgf = files_below(&server.objects().join("tiny/sgf"));
    let by_age = ["prune", "--run", "tiny", "--keep", "quarantine=0", "--keep", "shards=0", "--delete"];
    let (code, said) = fail(store.program("tengen").args(by_age));
    assert!(code == 5 && said.contains("nothing is deleted by age: the clock of the store is not known"), "{said}");
    assert!(!damaged.exists() && sgf.iter().all(|file| file.exists()));
    let said = prune(&store, &["--keep", "sgf=1", "--delete"]);
    assert!(said.contains("\ndeleted 3 files, "), "{said}");
    assert_eq!((sgf.len(), sgf.iter().filter(|file| file.exists()).count()), (4, 1));
    server.refuse(None);
    let said = prune(&store, &["--delete"]);
    assert!(said.contains("\ndeleted 1 files, "), "{said}");
    audit(&store);
}

/// Readers pass over them, and so must a job that runs every night.
#[test]
fn damaged_games_are_pruned_with_their_model_and_noted() {
    let store = four_models();
    let files = store.files();
    let of = |model: &str| files.iter().filter(|path| path.starts_with(&format!("tiny/games/{model}/"))).count();
    assert_eq!([of("000000"), of("000001")], [4, 4]);
    for start in ["tiny/games/000000/", "tiny/games/000001/"] {
        let path = store.path().join(files.iter().find(|path| path.starts_with(start)).unwrap());
        let bytes = fs::read(&path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let said = prune(&store, &["--keep", "games=0", "--delete"]);
    assert!(said.starts_with("games: delete 60, "), "{said}");
    assert!(said.contains("without games of damaged files, 2 of them: see `tengen audit tiny --repair`"), "{said}");
    assert_eq!(store.run("tiny").games().models().unwrap(), [2, 3]);
    succeed(store.program("tengen").args(["audit", "tiny", "--repair"]));
    assert!(!prune(&store, &[]).contains("damaged"));
}

/// Its worker was killed and never started again.
#[test]
fn abandoned_claim_on_handed_off_games_keeps_no_games() {
    let store = four_models();
    let run = store.run("tiny");
    let mut game = synthetic::game("random", "gone", 0, Size::new(5).unwrap(), 8);
    game.turns.truncate(4);
    run.unfinished().hand_off(0, "gone", &[game]).unwrap();
    let acquired = run.unfinished().acquire("gone", &[], |_| true).unwrap().unwrap();
    let said = prune(&store, &["--keep", "games=0"]);
    assert!(said.starts_with("games: delete 0, ") && said.contains("games in progress are of them"), "{said}");
    let claim = store.path().join(format!("tiny/unfinished/000000/{}.taken.toml", acquired.file.stem));
    let claim = File::options().write(true).open(claim).unwrap();
    claim.set_modified(SystemTime::now() - Duration::from_secs(8 * 24 * 3600)).unwrap();
    let said = prune(&store, &["--keep", "games=0"]);
    assert!(said.starts_with("games: delete 80, "), "{said}");
}

/// As set, 5 % of the games are in the validation set, and there are not many yet.
#[test]
fn validation_set_and_threshold_keep_their_games() {
    let with = |set: &'static str| ended(&[&SMALL[..], &FEW_MATCHES, &["loop.models=4", set]].concat());
    let said = prune(&with("selfplay.holdout_fraction=0.3"), &["--keep", "games=0"]);
    assert!(said.starts_with("games: delete 0, ") && said.contains("the validation set needs them"), "{said}");
    let said = prune(&with("resign.games=500"), &["--keep", "games=0"]);
    assert!(said.starts_with("games: delete 0, ") && said.contains("the resign threshold needs them"), "{said}");
}

#[test]
fn command_line_overrides_policy_of_the_configuration() {
    let store = TestStore::new();
    let policy: Vec<&str> = SMALL.into_iter().chain(["retention.games=0", "retention.sgf=0"]).collect();
    (0..4).for_each(|_| advance(&store, &policy));
    let said = prune(&store, &["--keep", "sgf=1w"]);
    assert!(said.contains("games: delete 80, ") && said.contains("\nfiles of SGF: delete 0, "), "{said}");
    let said = prune(&store, &["--keep", "games=all", "--delete"]);
    assert!(said.contains("games: delete 0, ") && said.contains("\nfiles of SGF: delete 16, "), "{said}");
    assert!(store.files().iter().all(|path| !path.ends_with(".sgf")));
    audit(&store);
}

#[test]
fn other_policy_for_an_existing_run_is_a_warning() {
    let store = TestStore::new();
    let warned = |set: &[&str]| {
        let mut tengen = store.program("tengen");
        tengen.arg("run").arg(repository().join("configs/tiny.toml")).args(["--set", "loop.models=1"]);
        let output = tengen.args(set.iter().flat_map(|set| ["--set", set])).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said.contains("the run has another [retention], which holds") && said.contains("/tiny/run.toml")
    };
    assert!(!warned(&["retention.games=5"]), "a new run");
    assert!(!warned(&["retention.games=5"]) && !warned(&[]), "the same, and none");
    assert!(warned(&["retention.games=6"]) && warned(&["retention.games=all"]));
    let text = fs::read_to_string(store.path().join("tiny/run.toml")).unwrap();
    assert!(text.starts_with("# The configuration this run was started with. Only [retention] may be edited.\n"));
    assert!(text.contains("\n[retention]\ngames = \"5\""), "{text}");
}

#[test]
fn mistakes_are_named() {
    let store = TestStore::new();
    let cases: [(&[&str], &str); 4] = [
        (&["--keep", "game=5"], "\"game\" is none of games, sgf, models"),
        (&["--keep", "games=5GB"], "a size such as 50GiB"),
        (&["--keep", "games=1", "--keep", "games=2"], "there is no run"),
        (&[], "there is no run tiny"),
    ];
    for (args, reason) in cases {
        let (code, said) = fail(store.program("tengen").args(["prune", "--run", "tiny"]).args(args));
        assert!(code == 2 && said.contains(reason), "{args:?}: {said}");
    }
}
