//! What the tests of whole programs share: where the programs are, and a store of one's own to run them in.

mod overlay;
mod prometheus;
mod shared;
mod stage;

pub use overlay::{copy_overlay, path_from};
pub use prometheus::Prometheus;
pub use stage::{Stage, ask};
pub use testing::{PATIENCE, repository};

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

use net::{Backend, Device, NetError, Precision};
use record::{ExampleRows, GameRecord};
use serde_json::Value;
use store::{FileRef, Run, Store, StoreError};
use testing::s3;

/// A program of the workspace, ready to be given arguments.
///
/// Cargo builds the programs of a package before its tests, and no others. So this package has programs of its own from
/// the same `main.rs`. They have other names (`e2e-selfplay`), for `target/debug/selfplay` is taken.
///
/// # Panics
/// There is no such program.
pub fn program(name: &str) -> Command {
    let test = std::env::current_exe().expect("a test knows its path");
    // target/<profile>/deps/<test> → target/<profile>/<program>
    let folder = test.ancestors().nth(2).expect("tests lie in the target folder");
    let path = folder.join(format!("e2e-{name}"));
    assert!(path.exists(), "{} is no program of the package tests", path.display());
    let mut command = Command::new(path);
    command.arg0(name);
    // Variables of options in the shell of a developer would change what tests do.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("TENGEN_")) {
            command.env_remove(name);
        }
    }
    // Tests read what people read.
    command.stdin(Stdio::null()).env("TENGEN_THREADS", "2").env("TENGEN_LOG_FORMAT", "plain");
    command
}

/// An output whose reader is gone, as behind `| head` once that has seen enough.
///
/// # Panics
/// There can be no pipe.
pub fn without_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// An address without a listener. The system gives its port to no other process while a server is down: clients bind to
/// 127.0.0.1, and each address has a host of its own.
///
/// # Panics
/// There is no free port.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let host = NEXT.fetch_add(1, Ordering::Relaxed);
    let listener = TcpListener::bind(format!("127.0.1.{host}:0")).expect("a free port");
    listener.local_addr().expect("a bound listener has an address")
}

/// The CPUs that a container requests, rounded up as the downward API does it for `requests.cpu`.
///
/// # Panics
/// It requests none.
pub fn requested_cpus(container: &Value) -> u64 {
    let cpus = container["resources"]["requests"]["cpu"].as_str().expect("a container requests CPUs");
    let number = |text: &str| text.parse::<u64>().expect("CPUs, or thousandths of them");
    cpus.strip_suffix('m').map_or_else(|| number(cpus), |thousandths| number(thousandths).div_ceil(1000))
}

/// The exit code of a program whose device is a GPU that the machine does not have. A libtorch for CPUs has none for
/// any program.
pub fn code_of_absent_gpu() -> i32 {
    // No machine has so many.
    let opened = Backend::open(Device::Cuda(1 << 20), Precision::Auto);
    if matches!(opened, Err(NetError::NoCudaLibrary { .. })) { 2 } else { 1 }
}

/// Damages a file in its middle.
///
/// # Panics
/// When it cannot be read or written.
pub fn flip_a_byte(path: &Path) {
    let mut bytes = std::fs::read(path).expect("the file can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).expect("the file can be written");
}

/// Puts an old file where a program will write one, and returns another name of it: where the program writes into the
/// old file instead of replacing it, this one changes, too.
///
/// # Panics
/// When it cannot be written.
pub fn old_file(path: &Path) -> PathBuf {
    let other = path.with_added_extension("old");
    std::fs::write(path, "old").expect("the file can be written");
    std::fs::hard_link(path, &other).expect("the file can have another name");
    other
}

/// Copies a folder with all that is in it.
///
/// # Panics
/// When it cannot be read, or the copy written.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder can be made");
    for entry in std::fs::read_dir(from).expect("the folder can be read").map(|entry| entry.expect("it is listed")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
}

/// The published games of a model.
///
/// # Panics
/// When they cannot be read.
pub fn games_of(run: &Run, model: u32) -> Vec<GameRecord> {
    let files = run.games().files(model).expect("the files can be listed");
    files.iter().flat_map(|file| run.games().read(file).expect("the games can be read")).collect()
}

/// The games of a file, with the policies that their examples have.
///
/// # Panics
/// When they cannot be read.
pub fn whole_games(run: &Run, file: &FileRef) -> Vec<GameRecord> {
    let rows = |read: Result<ExampleRows, StoreError>| match read {
        // Every game of the file, or none, is in the validation set.
        Err(StoreError::NotFound { .. }) => Vec::new(),
        read => read.expect("the examples can be read").to_examples(),
    };
    let examples = [rows(run.examples().read(file)), rows(run.holdout().read(file))].concat();
    let games = run.games().read(file).expect("the games can be read");
    games.into_iter().map(|game| game.with_policies(&examples)).collect()
}

/// How many published games were handed off in between, and resumed by the same worker or another one.
///
/// # Panics
/// When they cannot be read.
pub fn resumed(run: &Run) -> usize {
    let files = run.games().files_since(0).expect("the files can be listed");
    let games = files.iter().flat_map(|file| run.games().read(file).expect("the games can be read"));
    games.filter(|game| !game.handoffs.is_empty()).count()
}

/// A store that is deleted on drop: in a folder, or on an S3 server of its own.
pub struct TestStore {
    folder: tempfile::TempDir,
    server: Option<s3::Server>,
}

impl TestStore {
    /// An empty store in a folder.
    pub fn new() -> TestStore {
        TestStore { folder: tempfile::tempdir().expect("a temporary folder can be made"), server: None }
    }

    /// An empty store in a folder, to be kept by a static. The next run of the tests deletes it.
    pub fn shared() -> TestStore {
        let folder = tempfile::tempdir_in(shared::folder()).expect("a temporary folder can be made");
        TestStore { folder, server: None }
    }

    /// An empty store on a server.
    pub fn on_server() -> TestStore {
        TestStore { server: Some(s3::Server::start().expect("a port is free")), ..TestStore::new() }
    }

    /// An empty store on a server that fails, delays or cuts one request in so many.
    pub fn on_unreliable_server(one_in: u32) -> TestStore {
        let server = s3::Server::with_faults(one_in, 1).expect("a port is free");
        TestStore { server: Some(server), ..TestStore::new() }
    }

    /// A store in a folder with model 1 of run `tiny` of another such store, ready for self-play, and without games.
    pub fn with_model_of(other: &TestStore) -> TestStore {
        let store = TestStore::new();
        for name in ["run.toml", "models/000001/model.toml", "models/000001/weights.safetensors"] {
            let [from, to] = [other, &store].map(|store| store.path().join("tiny").join(name));
            std::fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("the folder can be made");
            std::fs::copy(from, to).expect("the file can be copied");
        }
        store
    }

    /// The server, where the store is on one.
    pub fn server(&self) -> Option<&s3::Server> {
        self.server.as_ref()
    }

    /// The folder. On a server, that is not where the store is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder or URL, as programs are given it.
    pub fn place(&self) -> String {
        self.server.as_ref().map_or_else(|| self.path().to_string_lossy().into_owned(), s3::Server::url)
    }

    /// A program that uses this store.
    pub fn program(&self, name: &str) -> Command {
        self.program_at(name, &self.place())
    }

    /// A program that uses another store, with what it needs for this one.
    pub fn program_at(&self, name: &str, place: &str) -> Command {
        let mut command = program(name);
        command.arg("--store").arg(place);
        command.envs(self.server.iter().flat_map(s3::Server::env));
        command
    }

    /// Plays games of a run of `configs/tiny.toml` until its worker has so many of the model.
    pub fn selfplay(&self, run: &str, model: &str, games: u32) {
        let mut selfplay = self.program("selfplay");
        selfplay.args(["--run", run, "--model", model, "--games", &games.to_string()]);
        succeed(selfplay.arg("--config").arg(repository().join("configs/tiny.toml")));
    }

    /// Makes the next model of a run of `configs/tiny.toml`, by the stages one after another.
    pub fn advance(&self, run: &str) {
        let newest = self.run(run).models().newest().expect("the models can be listed");
        let model = newest.map_or_else(|| "random".to_owned(), |newest| format!("{run}-{newest}"));
        self.selfplay(run, &model, 40);
        succeed(self.program("shuffler").args(["--run", run, "--once"]));
        succeed(self.program("trainer").args(["--run", run, "--once"]));
    }

    /// Opens the store as a program does.
    pub fn open(&self) -> Store {
        let options = self.server.as_ref().map_or_else(Vec::new, s3::Server::options);
        Store::open_with(&self.place(), &options).expect("the place is there")
    }

    /// A run in this store.
    pub fn run(&self, name: &str) -> Run {
        self.open().run(&name.parse().expect("a good name"))
    }

    /// Names of all files in the store, relative to it, sorted. There are none in the folder of one on a server.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(self.path(), self.path(), &mut files);
        files.sort();
        files
    }
}

impl Default for TestStore {
    fn default() -> TestStore {
        TestStore::new()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the store").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).expect("it lies below").to_string_lossy().into_owned());
        }
    }
}

/// Runs a program that must succeed; returns what it printed.
///
/// # Panics
/// When it fails, with everything it said.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, said(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a program that must fail; returns its exit code and what it wrote to standard error.
///
/// # Panics
/// When it succeeds, or dies of a signal or a panic.
pub fn fail(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("the program starts");
    let code = output.status.code().unwrap_or_else(|| panic!("{command:?}: {}\n{}", output.status, said(&output)));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    // The exit code of a panic is that of other failures.
    let panicked = code == 101 || text.contains(" panicked at ");
    assert!(code != 0 && !panicked, "{command:?} exits with {code}\n{}", said(&output));
    (code, text)
}

/// Runs a program with an input that ends; returns its status and its output.
///
/// # Panics
/// When it cannot be started.
pub fn converse(command: &mut Command, input: &[u8]) -> Output {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    // Side by side: a program that waits for the reader of its output reads no input.
    std::thread::scope(|scope| {
        // A program may end before it has read everything.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the program can be waited for")
    })
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(stream)).join("\n")
}
