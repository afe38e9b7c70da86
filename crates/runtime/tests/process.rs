//! How processes end: exit codes, signals, closed pipes. The program under test is this file, started again with a
//! role.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Parser;
use exit_class::ExitClass;
use runtime::{Classify, Stop};
use testing::{wait_for, wait_until};

const ROLE: &str = "CLI_TEST_ROLE";

fn main() -> ExitCode {
    if let Ok(role) = env::var(ROLE) {
        return play(&role);
    }
    let cases: [(&str, fn()); 17] = [
        ("a finished process exits with 0", finished_exits_with_0),
        ("kind of error is the exit code", kind_of_error_is_the_exit_code),
        ("panic is a failure on one line", panic_is_a_failure_on_one_line),
        ("json log has json errors", json_log_has_json_errors),
        ("json log has json notices", json_log_has_json_notices),
        ("log that is no terminal is json", log_that_is_no_terminal_is_json),
        ("log that cannot be written ends no work", log_that_cannot_be_written_ends_no_work),
        ("first signal asks to stop", first_signal_asks_to_stop),
        ("first signal asks a process to stop that stops already", first_signal_asks_a_stopping_process_to_stop),
        ("second signal ends at once", second_signal_ends_at_once),
        ("process that does not stop is killed in time", process_that_does_not_stop_is_killed_in_time),
        ("notice that cannot be written delays no shutdown", notice_that_cannot_be_written_delays_no_shutdown),
        ("metrics and liveness are served", metrics_and_liveness_are_served),
        ("store that refuses writes is shown to monitors", store_that_refuses_writes_is_shown_to_monitors),
        ("address that is taken is a usage error", address_that_is_taken_is_a_usage_error),
        ("closed standard output is no error", closed_standard_output_is_no_error),
        ("bad flag is a usage error", bad_flag_is_a_usage_error),
    ];
    for (name, case) in cases {
        case();
        println!("test {name} ... ok");
    }
    println!("test result: ok. {} passed", cases.len());
    ExitCode::SUCCESS
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    service: runtime::ServiceArgs,
    #[command(flatten)]
    log: runtime::LogArgs,
}

fn play(role: &str) -> ExitCode {
    let args = Args::parse();
    args.log.start();
    runtime::main("actor", &[], |stop| {
        args.service.start("actor", Some("stage"), stop)?;
        act(role, stop)
    })
}

fn act(role: &str, stop: &Stop) -> anyhow::Result<()> {
    match role {
        "finish" => runtime::print("fine"),
        "fail" => Err(anyhow!("disk full")).context("cannot write x"),
        "bug" => panic!("impossible:\n{}", 3),
        "bug in libtorch" => panic!("Torch({:?})", "no memory\nException raised from malloc\nframe #0: main\n"),
        "hostile" => Err(anyhow!("no such model")).context("\u{1b}[2Jv1\u{7}"),
        "misconfigured" => Err(anyhow!("no key \"a\"")).misconfigured().context("cannot start"),
        "unreachable" => Err(anyhow!("no route")).class(ExitClass::StoreUnreachable).context("cannot start"),
        "refused" => Err(anyhow!("disk full")).class(ExitClass::StoreRefuses).context("cannot write x"),
        "patient" => {
            runtime::print("ready")?;
            while !stop.wait(Duration::from_secs(60)) {}
            runtime::print("published")
        }
        "deaf" => {
            runtime::print("ready")?;
            std::thread::sleep(Duration::from_secs(60));
            Ok(())
        }
        "muted" => {
            // No other thread can write to standard error, as if the reader of a full pipe hangs.
            std::mem::forget(std::io::stderr().lock());
            act("patient", stop)
        }
        "muted and deaf" => {
            std::mem::forget(std::io::stderr().lock());
            act("deaf", stop)
        }
        "stopping" => {
            stop.request();
            runtime::print("ready")?;
            // The test closes the input once the signal is noticed.
            std::io::stdin().read_line(&mut String::new())?;
            Ok(())
        }
        "logging" => {
            // The test takes the reader of the log away, and then closes the input.
            std::io::stdin().read_line(&mut String::new())?;
            tracing::info!("working");
            runtime::print("fine")
        }
        "chatty" => loop {
            runtime::print("again")?;
        },
        "played" => {
            stop.health().set_ready();
            runtime::metrics::GAMES.add(3);
            runtime::metrics::TRAIN_LOSS.set_for("policy", 1.5);
            runtime::print("ready")?;
            while !stop.wait(Duration::from_secs(60)) {}
            // The test checks that it is still ready, and then closes the input.
            std::io::stdin().read_line(&mut String::new())?;
            Ok(())
        }
        _ => unreachable!("no role {role}"),
    }
}

fn start(role: &str, flags: &[&str]) -> Child {
    start_with(role, flags, Stdio::null())
}

fn start_with(role: &str, flags: &[&str], input: Stdio) -> Child {
    command(role, flags, input).spawn().expect("this program starts again")
}

fn command(role: &str, flags: &[&str], input: Stdio) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program has a path"));
    command
        .args(flags)
        .env(ROLE, role)
        .env_remove("TENGEN_LOG_LEVEL")
        .env("TENGEN_LOG_FORMAT", "plain")
        .env("RUST_BACKTRACE", "0")
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(role: &str, flags: &[&str]) -> Output {
    start(role, flags).wait_with_output().expect("the process ends")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn finished_exits_with_0() {
    let output = run("finish", &[]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert_eq!(output.stdout, b"fine\n");
}

fn kind_of_error_is_the_exit_code() {
    let cases = [
        ("fail", 1, "error: cannot write x: disk full\n"),
        // A name of others does not reach the terminal as it is.
        ("hostile", 1, "error: \\u{1b}[2Jv1\\u{7}: no such model\n"),
        ("misconfigured", 2, "error: cannot start: no key \"a\"\n"),
        ("unreachable", 3, "error: cannot start: no route\n"),
        ("refused", 5, "error: cannot write x: disk full\n"),
    ];
    for (role, code, message) in cases {
        let output = run(role, &[]);
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(code), message));
        assert!(output.stdout.is_empty());
    }
}

fn panic_is_a_failure_on_one_line() {
    for (format, begin, end) in [("plain", "error: ", ": impossible:; 3\n"), ("json", "{", "}\n")] {
        let output = run("bug", &["--log-format", format]);
        let text = stderr(&output);
        assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1), "{text}");
        assert!(text.starts_with(begin) && text.ends_with(end), "{text}");
        assert!(text.contains("thread main panicked at ") && text.contains(": impossible:; 3"), "{text}");
    }
    let text = stderr(&run("bug in libtorch", &["--log-format", "plain"]));
    assert!(text.ends_with(": Torch(\"no memory\n"), "{text}");
}

fn json_log_has_json_errors() {
    let output = run("fail", &["--log-format", "json"]);
    let text = stderr(&output);
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1));
    assert!(text.starts_with('{') && text.contains(r#""level":"ERROR""#), "{text}");
    assert!(text.contains(r#""error":"cannot write x: disk full""#), "{text}");
    let silenced = run("fail", &["--log-format", "json", "--log-level", "off"]);
    assert_eq!(stderr(&silenced), "error: cannot write x: disk full\n");
}

fn json_log_has_json_notices() {
    for level in ["info", "error"] {
        let (child, _stdout) = signalled("patient", "INT", &["--log-format", "json", "--log-level", level]);
        let output = child.wait_with_output().expect("the process ends");
        let text = stderr(&output);
        assert!(text.starts_with('{') && text.contains(r#""notice":"actor shuts down"#), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

fn log_that_is_no_terminal_is_json() {
    let output = run("fail", &["--log-format", "auto"]);
    let text = stderr(&output);
    assert_eq!((output.status.code(), text.lines().count()), (Some(1), 1));
    assert!(text.starts_with('{') && text.contains(r#""error":"cannot write x: disk full""#), "{text}");
}

/// As on a full disk, and behind `2>&1 | head -1`.
fn log_that_cannot_be_written_ends_no_work() {
    for format in ["plain", "json"] {
        let flags = ["--log-format", format];
        for (role, code, said) in [("logging", 0, "fine\n"), ("fail", 1, "")] {
            let full = File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
            let mut command = command(role, &flags, Stdio::null());
            let output = command.stderr(full).output().expect("this program starts again");
            assert_eq!(output.status.code(), Some(code), "{role} {format}");
            assert_eq!(output.stdout, said.as_bytes(), "{role} {format}");
        }
        let mut child = start_with("logging", &flags, Stdio::piped());
        drop(child.stderr.take());
        let output = child.wait_with_output().expect("the process ends");
        assert_eq!(output.status.code(), Some(0), "{format}");
        assert_eq!(output.stdout, b"fine\n", "{format}");
    }
}

/// Starts a process, waits until it works, and sends it a signal.
fn signalled(role: &str, signal: &str, flags: &[&str]) -> (Child, BufReader<impl Read + use<>>) {
    let mut child = start(role, flags);
    let mut stdout = BufReader::new(child.stdout.take().expect("standard output is piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("the process says it is ready");
    assert_eq!(line, "ready\n");
    send(&child, signal);
    (child, stdout)
}

fn send(child: &Child, signal: &str) {
    assert!(testing::signal(child, signal));
}

fn first_signal_asks_to_stop() {
    for (signal, code) in [("TERM", 4), ("INT", 0)] {
        let (child, mut stdout) = signalled("patient", signal, &[]);
        let output = child.wait_with_output().expect("the process ends");
        let mut said = String::new();
        stdout.read_to_string(&mut said).expect("standard output is text");
        assert_eq!((output.status.code(), said.as_str()), (Some(code), "published\n"));
        assert!(stderr(&output).starts_with("actor shuts down"), "{}", stderr(&output));
    }
}

/// A process that has lost its lease publishes what is finished, too.
fn first_signal_asks_a_stopping_process_to_stop() {
    let mut child = start_with("stopping", &[], Stdio::piped());
    let mut stdout = BufReader::new(child.stdout.take().expect("standard output is piped"));
    let mut notice = BufReader::new(child.stderr.take().expect("standard error is piped"));
    stdout.read_line(&mut String::new()).expect("the process says it is ready");
    send(&child, "INT");
    notice.read_line(&mut String::new()).expect("the signal is noticed");
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("the process ends").code(), Some(0));
}

fn second_signal_ends_at_once() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let (mut child, _stdout) = signalled("deaf", signal, &["--drain-seconds", "600"]);
        let mut notice = BufReader::new(child.stderr.take().expect("standard error is piped"));
        notice.read_line(&mut String::new()).expect("the first signal is noticed");
        send(&child, signal);
        assert_eq!(child.wait().expect("the process ends").code(), Some(code));
    }
}

fn process_that_does_not_stop_is_killed_in_time() {
    let (child, _stdout) = signalled("deaf", "TERM", &["--drain-seconds", "1"]);
    let output = child.wait_with_output().expect("the process ends");
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("did not finish within 1.0s"), "{}", stderr(&output));
}

fn notice_that_cannot_be_written_delays_no_shutdown() {
    for (role, signal, code) in [("muted", "INT", 0), ("muted", "TERM", 4), ("muted and deaf", "TERM", 4)] {
        let (child, _stdout) = signalled(role, signal, &["--drain-seconds", "1"]);
        let output = child.wait_with_output().expect("the process ends");
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(code), ""), "{role} {signal}");
    }
}

/// Requests a page; the status line and the body of the response.
fn ask(address: &str, page: &str) -> (String, String) {
    // The server closes a connection whose request is late, as it may be on a busy machine.
    wait_for(&format!("a response for {page}"), || {
        let mut stream = TcpStream::connect(address).expect("the server listens");
        write!(stream, "GET {page} HTTP/1.1\r\nHost: x\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
    })
}

/// Requests a page until it is unavailable.
fn wait_until_unavailable(address: &str, page: &str) {
    wait_until(&format!("{page} to be unavailable"), || ask(address, page).0 == "HTTP/1.1 503 Service Unavailable");
}

fn metrics_and_liveness_are_served() {
    let flags = ["--metrics-addr", "127.0.0.1:0", "--stalled-after", "1", "--log-format", "json"];
    let mut child = start_with("played", &flags, Stdio::piped());
    let mut stdout = BufReader::new(child.stdout.take().expect("standard output is piped"));
    let mut log = BufReader::new(child.stderr.take().expect("standard error is piped"));
    let mut line = String::new();
    log.read_line(&mut line).expect("it says where it serves");
    let address = line.split(r#""address":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("an address");
    stdout.read_line(&mut String::new()).expect("the process says it is ready");

    let (code, metrics) = ask(address, "/metrics");
    assert_eq!(code, "HTTP/1.1 200 OK");
    for line in [
        "# TYPE tengen_games_total counter",
        r#"tengen_games_total{program="actor",run="stage"} 3"#,
        r#"tengen_train_loss{program="actor",run="stage",part="policy"} 1.5"#,
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    assert!(metrics.contains("# HELP tengen_games_total ") && metrics.contains("process_resident_memory_bytes"));
    assert_eq!(ask(address, "/readyz").0, "HTTP/1.1 200 OK");
    assert_eq!(ask(address, "/other").0, "HTTP/1.1 404 Not Found");
    wait_until_unavailable(address, "/healthz");
    send(&child, "TERM");
    log.read_line(&mut String::new()).expect("the signal is noticed");
    wait_until_unavailable(address, "/readyz");
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("the process ends").code(), Some(4));
}

/// A process that ended at once would never be scraped.
fn store_that_refuses_writes_is_shown_to_monitors() {
    let mut child = start("refused", &["--metrics-addr", "127.0.0.1:0", "--log-format", "json"]);
    let mut log = BufReader::new(child.stderr.take().expect("standard error is piped"));
    let (mut line, mut error) = (String::new(), String::new());
    log.read_line(&mut line).expect("it says where it serves");
    let address = line.split(r#""address":""#).nth(1).and_then(|rest| rest.split('"').next()).expect("an address");
    log.read_line(&mut error).expect("it says what is wrong");
    assert!(error.contains("cannot write x: disk full"), "{error}");
    let shown = |metrics: &str| {
        metrics.lines().any(|line| line.starts_with("tengen_store_refuses_writes{") && line.ends_with(" 1"))
    };
    wait_until("the metric", || shown(&ask(address, "/metrics").1));
    assert_eq!(ask(address, "/readyz").0, "HTTP/1.1 503 Service Unavailable");
    send(&child, "TERM");
    assert_eq!(child.wait().expect("the process ends").code(), Some(5));
}

fn address_that_is_taken_is_a_usage_error() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it has an address").to_string();
    let output = run("finish", &["--metrics-addr", &address]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains(&format!("cannot serve metrics at {address}; name another")), "{said}");
}

fn closed_standard_output_is_no_error() {
    let mut child = start("chatty", &[]);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the process ends");
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
}

fn bad_flag_is_a_usage_error() {
    for flags in [["--log-level", "loud"], ["--log-format", "xml"], ["--no-such", "flag"]] {
        assert_eq!(run("finish", &flags).status.code(), Some(2));
    }
}
