//! A child process with its pipes.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Bytes at the end of its standard error that are kept, to quote when it fails.
const LAST_WORDS: usize = 600;
/// Bytes of a line that are read.
const MOST_OF_LINE: u64 = 1 << 16;
/// Lines that wait to be read; a program that writes more is held up.
const LINES: usize = 256;
/// How long a program that has closed its output may take to exit and to have its last words read.
const EXITING: Duration = Duration::from_secs(10);

/// A running program. Dropping this kills the program and its children.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Vec<u8>>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    error_reader: JoinHandle<()>,
}

/// Why no line came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The time was up.
    Timeout,
    /// None will: the program has closed its output.
    Closed,
}

impl Process {
    /// Starts a program, in a process group of its own: a Ctrl-C that is meant for us does not reach it.
    pub(crate) fn start(command: &[String]) -> io::Result<Process> {
        let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("there is no program"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output), Some(error)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("a pipe of the process is missing"));
        };
        let (sender, lines) = mpsc::sync_channel(LINES);
        let errors = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&errors);
        thread::spawn(move || read_lines(output, &sender));
        // Unread, it would fill its pipe, and the program would stand still.
        let error_reader = thread::spawn(move || keep_last(error, &kept));
        Ok(Process { child, input, lines, errors, error_reader })
    }

    pub(crate) fn write(&mut self, line: &str) -> io::Result<()> {
        self.input.write_all(line.as_bytes())?;
        self.input.write_all(b"\n")?;
        self.input.flush()
    }

    /// The next line without its end.
    pub(crate) fn line(&mut self, until: Instant) -> Result<Vec<u8>, ReadError> {
        self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).map_err(|error| match error {
            RecvTimeoutError::Timeout => ReadError::Timeout,
            RecvTimeoutError::Disconnected => ReadError::Closed,
        })
    }

    /// How it ended, and what it last said on its standard error, in one line.
    pub(crate) fn exit_report(&mut self) -> String {
        let until = Instant::now() + EXITING;
        let mut status = self.child.try_wait();
        // That it has ended may be known before its last words are read. What it has started may hold its standard
        // error open for ever, so there is an end to waiting for those too.
        while (matches!(status, Ok(None)) || !self.error_reader.is_finished()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
            status = self.child.try_wait();
        }
        let status = match status {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "its output is closed".to_owned(),
            Err(error) => error.to_string(),
        };
        status + &quoted(&self.last_words())
    }

    /// The end of its standard error, in one line.
    pub(crate) fn last_words(&self) -> String {
        let words: Vec<u8> = self.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&words).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether a program can be started: a path by itself, a name from a folder of `PATH`.
pub(crate) fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The end of a program's standard error, to append to a message; empty when there is none.
pub(crate) fn quoted(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; its standard error: {words}") }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        drop(self.child.wait());
    }
}

fn read_lines(output: ChildStdout, lines: &SyncSender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(MOST_OF_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if lines.send(line).is_err() {
            return;
        }
    }
}

fn keep_last(mut error: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = error.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..count]);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}
