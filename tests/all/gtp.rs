//! `tengen gtp` as controllers meet it: every command in a script, and whole games through Sabaki's client.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use testing::{Tool, require};
use tests::{converse, fail, program, repository, succeed};

const SUITE: &str = "tests/gtp/conformance.tst";

/// `tengen gtp` with a model that needs no run, ready for more arguments.
fn gtp() -> [OsString; 4] {
    let tengen = program("tengen").get_program().to_owned();
    [tengen, "gtp".into(), "--model".into(), "uniform".into()]
}

#[test]
fn every_command_responds_as_the_suite_expects() {
    let mut python = Command::new("python3");
    python.current_dir(repository()).arg("tests/python/gtp_regress.py").arg(SUITE).args(gtp());
    let said = succeed(&mut python);
    assert!(said.contains("have the expected responses"), "{said}");
}

#[test]
fn suite_asks_for_every_command() {
    let mut tengen = program("tengen");
    let output = converse(tengen.args(["gtp", "--model", "uniform"]), b"list_commands\n");
    let said = String::from_utf8(output.stdout).unwrap();
    let listed: BTreeSet<&str> = said.trim_start_matches("= ").lines().filter(|line| !line.is_empty()).collect();
    assert!(listed.len() > 40, "{said}");
    let suite = std::fs::read_to_string(repository().join(SUITE)).unwrap();
    let asked: BTreeSet<&str> = suite
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let forgotten: Vec<&&str> = listed.difference(&asked).collect();
    assert!(forgotten.is_empty(), "{SUITE} asks nothing of {forgotten:?}");
}

/// A server and two clients of our own on loopback, since no package has any.
#[test]
fn whole_game_is_played_as_on_cgos() {
    let mut python = Command::new("python3");
    // Late in the game each side has a second, and a process may not run for longer.
    let check = ["check", "--size", "7", "--seconds", "12", "--grace", "600", "--"];
    python.current_dir(repository()).arg("-B").arg("python/cgos.py").args(check);
    let said = succeed(python.args(gtp()));
    assert!(said.contains("a game of ") && said.contains(" of these of several moves: "), "{said}");
}

/// What the server says of a game does not control the terminal.
#[test]
fn cgos_client_sends_the_password_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "a secret \nof two lines\n").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        connection.write_all(b"password\n").unwrap();
        let mut said = String::new();
        BufReader::new(&connection).read_line(&mut said).unwrap();
        connection.write_all(b"gameover 2026-11-27 B+\x1b[2J\n").unwrap();
        BufReader::new(&connection).read_line(&mut said).unwrap();
        said
    });
    let mut python = Command::new("python3");
    python.current_dir(repository()).args(["-B", "python/cgos.py", "play", &address, "name"]);
    let said = succeed(python.arg(&file).arg("--").args(gtp()));
    assert_eq!(said, "name: the game is over: 2026-11-27 B+?[2J\n");
    assert_eq!(server.join().unwrap(), "a secret\nready\n");
}

#[test]
fn cgos_client_names_a_line_that_it_cannot_follow() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "a secret\n").unwrap();
    for line in ["play b", "genmove b soon", "setup 1 9 7.0"] {
        // An address that no other test has, since nothing may listen there later.
        let listener = TcpListener::bind("127.0.0.99:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.write_all(format!("{line}\n").as_bytes()).unwrap();
        });
        let mut python = Command::new("python3");
        python.current_dir(repository()).args(["-B", "python/cgos.py", "play", &address, "name"]);
        let (code, said) = fail(python.arg(&file).arg("--").args(gtp()));
        assert!(code == 1 && said.contains(&format!("name: the server sends '{line}'\n")), "{code}: {said}");
        server.join().unwrap();
    }
}

#[test]
fn cgos_client_says_that_a_connection_was_lost_in_a_game() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "a secret\n").unwrap();
    let play = |address: &str, program: &[OsString]| {
        let mut python = Command::new("python3");
        python.current_dir(repository()).args(["-B", "python/cgos.py", "play", address, "name"]);
        fail(python.arg(&file).arg("--").args(program))
    };
    let serve = |lines: &'static str, reset: bool| {
        // An address that no other test has, since nothing may listen there later.
        let listener = TcpListener::bind("127.0.0.99:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.write_all(lines.as_bytes()).unwrap();
            // A connection that is closed with unread bytes is reset.
            assert!(!reset || connection.peek(&mut [0]).unwrap() == 1);
        });
        let (code, said) = play(&address, &gtp());
        server.join().unwrap();
        assert_eq!(code, 1, "{said}");
        (address, said)
    };
    let (address, said) = serve("setup 1 9 7.0 60000 white(1800?) name(1800?)\n", false);
    assert!(said.contains(&format!("cgos: the connection to {address} was lost in a game; start again")), "{said}");
    let (address, said) = serve("setup 1 9 7.0 60000 white(1800?) name(1800?)\nprotocol\n", true);
    assert!(said.contains(&format!("cgos: the connection to {address} was lost in a game: [Errno ")), "{said}");
    let (address, said) = serve("protocol\n", true);
    assert!(said.contains(&format!("cgos: the connection to {address} was lost: [Errno ")), "{said}");
    let (code, said) = play(&address, &gtp());
    assert!(code == 1 && said.contains(&format!("cgos: cannot connect to {address}: ")), "{said}");
    let (code, said) = play("localhost", &gtp());
    assert!(code == 1 && said.contains("cgos: localhost is no HOST:PORT"), "{said}");
    let (code, said) = play(&address, &[OsString::from("/absent/program")]);
    assert!(code == 1 && said.starts_with("cgos: ") && said.contains("/absent/program"), "{said}");
}

/// Node.js with Sabaki's packages, ready for the arguments of a script of tests/gtp.
pub(crate) fn sabaki(packages: &Path, script: &str) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [packages.join("bin")].into_iter().chain(std::env::split_paths(&path));
    let mut node = Command::new("node");
    node.env("PATH", std::env::join_paths(folders).unwrap()).env("NODE_PATH", packages.join("node_modules"));
    node.arg(repository().join("tests/gtp").join(script));
    node
}

/// Three games with analysis between two processes, taken back moves, handicap stones, and analyses that are ended.
#[test]
fn sabakis_client_plays_whole_games() {
    let Some(packages) = require(Tool::Sabaki) else { return };
    let said = succeed(sabaki(&packages, "sabaki.js").args(gtp()).args(["--visits", "20"]));
    assert!(said.contains("games of ") && said.contains(" lines of analysis"), "{said}");
}
