//! Input of the controller, and whether there is any.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use runtime::Stop;

use super::Line;

/// Lines read ahead of the one being served. Some controllers send many commands at once.
const AHEAD: usize = 64;

/// How soon a request to stop is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

type Heard = io::Result<Line>;

/// The lines of an input in their order, and a glance at the next one while something else is being done.
///
/// They are read by a thread of their own, since nothing can wake a thread that waits for input.
pub struct Reader {
    lines: Receiver<Heard>,
    /// The next line, if it was read.
    next: VecDeque<Heard>,
    /// There is nothing after `next`.
    over: bool,
    stop: Stop,
}

impl Reader {
    /// The lines of standard input until a stop is requested.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn stdin(stop: Stop) -> io::Result<Reader> {
        let (sender, lines) = mpsc::sync_channel(AHEAD);
        thread::Builder::new().name("gtp-input".to_owned()).spawn(move || {
            for line in Line::all(io::stdin().lock()) {
                let broken = line.is_err();
                if sender.send(line).is_err() || broken {
                    return;
                }
            }
        })?;
        Ok(Reader::of(lines, stop))
    }

    /// Lines that have all arrived, and no more to come.
    #[cfg(test)]
    pub(super) fn holding(lines: impl IntoIterator<Item = Heard>) -> Reader {
        let (_, none) = mpsc::channel();
        Reader { next: lines.into_iter().collect(), ..Reader::of(none, Stop::never()) }
    }

    pub(super) fn of(lines: Receiver<Heard>, stop: Stop) -> Reader {
        Reader { lines, next: VecDeque::new(), over: false, stop }
    }

    /// The next line, when it comes; `None` at the end of the input, or after a request to stop.
    pub(super) fn next(&mut self) -> Option<Heard> {
        while !self.wait(PATIENCE) {}
        if self.stop.requested() { None } else { self.next.pop_front() }
    }

    /// Whether there is something to attend to: a line, the end of the input, or a request to stop.
    pub(super) fn called(&mut self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Whether the next line is an interrupt (GoGui's `# interrupt`), or a stop is requested.
    pub(super) fn interrupted(&mut self) -> bool {
        self.called();
        self.stop.requested() || matches!(self.next.front(), Some(Ok(line)) if line.is_interrupt())
    }

    /// Waits for so long, or until there is something to attend to, and returns [`Reader::called`].
    pub(super) fn wait(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.stop.requested() && !self.over && self.next.is_empty() {
            let left = until.saturating_duration_since(Instant::now()).min(PATIENCE);
            let heard = if left.is_zero() {
                self.lines.try_recv().map_err(|error| error == TryRecvError::Disconnected)
            } else {
                self.lines.recv_timeout(left).map_err(|error| error == RecvTimeoutError::Disconnected)
            };
            match heard {
                Ok(line) => self.next.push_back(line),
                Err(over) => self.over = over,
            }
            if left.is_zero() {
                break;
            }
        }
        self.stop.requested() || self.over || !self.next.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Heard {
        Ok(Line { bytes: text.as_bytes().to_vec(), cut: false })
    }

    fn text(heard: Option<Heard>) -> Option<String> {
        heard.map(|line| String::from_utf8(line.expect("memory can be read").bytes).expect("text"))
    }

    #[test]
    fn peek_leaves_the_line() {
        let (sender, lines) = mpsc::channel();
        let mut reader = Reader::of(lines, Stop::never());
        assert!(!reader.called() && !reader.interrupted() && !reader.wait(Duration::from_millis(1)));
        sender.send(line(" # interrupt")).expect("the reader is there");
        assert!(reader.called() && reader.interrupted());
        assert_eq!(text(reader.next()).as_deref(), Some(" # interrupt"));
        sender.send(line("name")).expect("the reader is there");
        assert!(reader.called() && !reader.interrupted());
        assert_eq!(text(reader.next()).as_deref(), Some("name"));
        drop(sender);
        assert!(reader.called() && !reader.interrupted());
        assert_eq!(text(reader.next()), None);
    }

    #[test]
    fn stop_request_interrupts_waiting_for_input() {
        let (sender, lines) = mpsc::channel();
        let stop = Stop::never();
        let mut reader = Reader::of(lines, stop.clone());
        sender.send(line("name")).expect("the reader is there");
        stop.request();
        assert!(reader.interrupted());
        assert_eq!(text(reader.next()), None);
    }

    #[test]
    fn lines_that_arrived_come_in_their_order() {
        let mut reader = Reader::holding([line("a"), line("b")]);
        assert!(reader.called());
        assert_eq!([text(reader.next()), text(reader.next())], [Some("a".to_owned()), Some("b".to_owned())]);
        assert_eq!(text(reader.next()), None);
    }
}
