//! Lines of standard input, and whether there are any.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Stop;

/// Lines read ahead of the one being served. Some programs send many at once.
const AHEAD: usize = 64;

/// How soon a request to stop is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// One line of input without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line, or its beginning if it is cut.
    pub bytes: Vec<u8>,
    /// The line is longer than the limit.
    pub cut: bool,
}

impl Line {
    /// Every line of an input. However long a line, no more than its first `longest` bytes are kept.
    pub fn all(mut input: impl BufRead, longest: usize) -> impl Iterator<Item = io::Result<Line>> {
        std::iter::from_fn(move || Line::read(&mut input, longest).transpose())
    }

    /// Reads to the end of the line, or of the input; `None` at the end.
    fn read(input: &mut impl BufRead, longest: usize) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        // With its end, or with the first byte that is too much.
        if input.by_ref().take(longest as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        let has_end = bytes.pop_if(|byte| *byte == b'\n').is_some();
        let cut = !has_end && bytes.len() > longest;
        if cut {
            bytes.truncate(longest);
            input.skip_until(b'\n')?;
        }
        Ok(Some(Line { bytes, cut }))
    }
}

/// The lines of an input in their order, and a glance at the next one while something else is being done.
///
/// They are read by a thread of their own, since nothing can wake a thread that waits for input.
pub struct Lines {
    lines: Receiver<io::Result<Line>>,
    /// The next line, if it was read.
    next: Option<io::Result<Line>>,
    /// There is nothing after `next`.
    over: bool,
    stop: Stop,
}

impl Lines {
    /// The lines of standard input until a stop is requested, each cut after `longest` bytes.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn stdin(longest: usize, stop: Stop) -> io::Result<Lines> {
        let (sender, lines) = mpsc::sync_channel(AHEAD);
        thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            for line in Line::all(io::stdin().lock(), longest) {
                let broken = line.is_err();
                if sender.send(line).is_err() || broken {
                    return;
                }
            }
        })?;
        Ok(Lines::of(lines, stop))
    }

    /// The lines that a channel delivers, until its sender is gone or a stop is requested.
    pub fn of(lines: Receiver<io::Result<Line>>, stop: Stop) -> Lines {
        Lines { lines, next: None, over: false, stop }
    }

    /// The next line, if it has arrived. It stays the next one.
    pub fn peek(&mut self) -> Option<&io::Result<Line>> {
        self.is_ready();
        self.next.as_ref()
    }

    /// Whether a stop is requested.
    pub fn is_stopped(&self) -> bool {
        self.stop.requested()
    }

    /// Whether there is something to attend to: a line, the end of the input, or a request to stop.
    pub fn is_ready(&mut self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits for so long, or until there is something to attend to, and returns [`Lines::is_ready`].
    pub fn wait(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.stop.requested() && !self.over && self.next.is_none() {
            let left = until.saturating_duration_since(Instant::now()).min(PATIENCE);
            let heard = if left.is_zero() {
                self.lines.try_recv().map_err(|error| error == TryRecvError::Disconnected)
            } else {
                self.lines.recv_timeout(left).map_err(|error| error == RecvTimeoutError::Disconnected)
            };
            match heard {
                Ok(line) => self.next = Some(line),
                Err(over) => self.over = over,
            }
            if left.is_zero() {
                break;
            }
        }
        self.stop.requested() || self.over || self.next.is_some()
    }
}

impl Iterator for Lines {
    type Item = io::Result<Line>;

    /// Waits for the next line; `None` at the end of the input, or after a request to stop.
    fn next(&mut self) -> Option<io::Result<Line>> {
        while !self.wait(PATIENCE) {}
        if self.stop.requested() { None } else { self.next.take() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 100;

    fn read(input: &[u8]) -> Vec<(Vec<u8>, bool)> {
        // A small buffer, so that lines run over its end.
        let input = io::BufReader::with_capacity(7, input);
        let lines = Line::all(input, LONGEST).map(|line| line.expect("memory can be read"));
        lines.map(|line| (line.bytes, line.cut)).collect()
    }

    fn line(text: &str) -> io::Result<Line> {
        Ok(Line { bytes: text.as_bytes().to_vec(), cut: false })
    }

    fn text(heard: io::Result<Line>) -> String {
        String::from_utf8(heard.expect("memory can be read").bytes).expect("text")
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        assert_eq!(read(b""), []);
        assert_eq!(read(b"\n"), [(vec![], false)]);
        assert_eq!(read(b"name\r\n\nquit"), [(b"name\r".to_vec(), false), (vec![], false), (b"quit".to_vec(), false)]);
    }

    #[test]
    fn lines_are_cut_at_the_limit_and_the_next_is_whole() {
        let long = [vec![b'x'; LONGEST], b"y\nnext\n".to_vec()].concat();
        assert_eq!(read(&long), [(vec![b'x'; LONGEST], true), (b"next".to_vec(), false)]);
        let longest = [vec![b'x'; LONGEST], b"\n".to_vec()].concat();
        assert_eq!(read(&longest), [(vec![b'x'; LONGEST], false)]);
    }

    #[test]
    fn peek_leaves_the_line() {
        let (sender, lines) = mpsc::channel();
        let mut lines = Lines::of(lines, Stop::never());
        assert!(!lines.is_ready() && lines.peek().is_none() && !lines.wait(Duration::from_millis(1)));
        sender.send(line("name")).expect("the reader is there");
        assert!(lines.is_ready() && matches!(lines.peek(), Some(Ok(line)) if line.bytes == b"name"));
        assert_eq!(lines.next().map(text).as_deref(), Some("name"));
        drop(sender);
        assert!(lines.is_ready() && lines.peek().is_none());
        assert_eq!(lines.next().map(text), None);
    }

    #[test]
    fn stop_request_interrupts_waiting_for_input() {
        let (sender, lines) = mpsc::channel();
        let stop = Stop::never();
        let mut lines = Lines::of(lines, stop.clone());
        sender.send(line("name")).expect("the reader is there");
        assert!(!lines.is_stopped());
        stop.request();
        assert!(lines.is_stopped() && lines.is_ready());
        assert_eq!(lines.next().map(text), None);
    }

    #[test]
    fn lines_that_arrived_come_in_their_order() {
        let (sender, lines) = mpsc::channel();
        for name in ["a", "b"] {
            sender.send(line(name)).expect("the reader is there");
        }
        drop(sender);
        assert_eq!(Lines::of(lines, Stop::never()).map(text).collect::<Vec<_>>(), ["a", "b"]);
    }
}
