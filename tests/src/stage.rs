//! A program that runs until it is stopped, and its HTTP endpoints.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use testing::{PATIENCE, poll};

/// A running program. It is killed when this is dropped.
pub struct Stage {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    /// Copies its standard error to the log.
    copier: Option<JoinHandle<()>>,
    address: String,
}

impl Stage {
    /// Starts a program that serves its metrics on a free port, and waits until it does.
    ///
    /// # Panics
    /// When it exits before.
    pub fn start(command: &mut Command) -> Stage {
        let mut stage = Stage::launch(command, "127.0.0.1:0");
        stage.address = stage.wait_for("its address", |stage| {
            let served = stage.log().into_iter().find(|line| line.contains("serving /metrics"))?;
            Some(served.split(r#""address":""#).nth(1)?.split('"').next()?.to_owned())
        });
        stage
    }

    /// Starts a program that serves its metrics here, without waiting for anything.
    pub fn launch(command: &mut Command, address: &str) -> Stage {
        let command = command.env_remove("TENGEN_LOG_FORMAT").env("TENGEN_METRICS_ADDR", address);
        // Longer than the default, which a disk that is busy with other tests may exceed.
        if !command.get_envs().any(|(name, value)| name == "TENGEN_DRAIN_SECONDS" && value.is_some()) {
            command.env("TENGEN_DRAIN_SECONDS", "60");
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let said = BufReader::new(child.stderr.take().expect("standard error is piped"));
        let log = Arc::new(Mutex::new(Vec::new()));
        let copy = log.clone();
        let copier = thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                copy.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        Stage { child, log, copier: Some(copier), address: address.to_owned() }
    }

    /// Address of its endpoints.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Address of the web application that it serves by `http` or `https`, from its log.
    ///
    /// # Panics
    /// As [`Stage::wait_for_metric`].
    pub fn pages(&mut self, scheme: &str) -> String {
        let begin = format!("\"url\":\"{scheme}://");
        self.wait_for("the address of the pages", |stage| {
            let line = stage.log().into_iter().find(|line| line.contains("serving the web application"))?;
            Some(line.split(&begin).nth(1)?.split('/').next()?.to_owned())
        })
    }

    /// Everything it has logged.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How it has ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("its state is known")
    }

    /// The status code and the body of a page; nothing without a response to three requests. On a busy machine one may
    /// get none.
    pub fn page(&self, page: &str) -> Option<(u16, String)> {
        (0..3).find_map(|_| ask(&self.address, page))
    }

    /// The metrics by name, those of several labels added up.
    pub fn metrics(&self) -> BTreeMap<String, f64> {
        let mut metrics = BTreeMap::new();
        for line in self.page("/metrics").unwrap_or_default().1.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            if let Some(value) = line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok()) {
                *metrics.entry(name.to_owned()).or_default() += value;
            }
        }
        metrics
    }

    /// Waits until a metric is at least so much.
    ///
    /// # Panics
    /// When the program exits before, or it takes minutes.
    pub fn wait_for_metric(&mut self, name: &str, least: f64) {
        self.wait_for(name, |stage| stage.metrics().get(name).filter(|&&value| value >= least).map(|_| ()));
    }

    /// Waits for anything.
    ///
    /// # Panics
    /// As [`Stage::wait_for_metric`].
    pub fn wait_for<T>(&mut self, what: &str, found: impl Fn(&Stage) -> Option<T>) -> T {
        let waited = poll(PATIENCE, || {
            // Asked before: what it has logged until its end is found.
            let ended = self.ended();
            if ended.is_some() {
                self.read_to_end();
            }
            let found = found(self);
            assert!(found.is_some() || ended.is_none(), "{what}: {ended:?}\n{}", self.log().join("\n"));
            found
        });
        waited.unwrap_or_else(|| panic!("{what}: not after {PATIENCE:?}\n{}", self.log().join("\n")))
    }

    /// Sends it a signal by name, unless it has ended.
    pub fn signal(&self, signal: &str) {
        testing::signal(&self.child, signal);
    }

    /// Waits until it has ended, and all that it has logged is in the log.
    pub fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("the process ends");
        self.read_to_end();
        status
    }

    /// Waits for the lines that are still in the pipe of a program that has ended.
    fn read_to_end(&mut self) {
        if let Some(copier) = self.copier.take() {
            copier.join().expect("reading lines does not panic");
        }
    }

    /// Sends SIGTERM and returns the exit code.
    ///
    /// # Panics
    /// When the program was not done within its drain time.
    pub fn terminate(&mut self) -> Option<i32> {
        self.signal("TERM");
        let code = self.wait().code();
        let log = self.log().join("\n");
        assert!(!log.contains("did not finish within"), "{log}");
        code
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Asks for a page over HTTP: the status code and the body. HTTP/1.0 has no chunks, so the body is what follows the
/// head.
pub fn ask(address: &str, page: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    write!(stream, "GET {page} HTTP/1.0\r\nHost: x\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}
