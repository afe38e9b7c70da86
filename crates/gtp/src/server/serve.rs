//! From input to output.

use std::io::{self, Write};
use std::time::Duration;

use runtime::{Lines, Stop};

use super::controller::Controller;
use super::parse::Request;
use super::response::{self, Failure};
use super::{Session, commands};

/// Bytes of a line that are read. Commands are short; a file name may have 4096.
pub(super) const LONGEST_LINE: usize = 16 * 1024;

/// Serves standard input on standard output until `quit`, the end of the input, or a request to stop.
///
/// # Errors
/// When the input cannot be read or the output not be written. A controller that has gone is not an error.
pub fn run(session: &mut Session<'_>, stop: &Stop) -> io::Result<()> {
    serve(Lines::stdin(LONGEST_LINE, stop.clone())?, io::stdout().lock(), session)
}

/// Serves lines one by one, each before the next is taken.
///
/// # Errors
/// When a line cannot be read or a response not be written. A controller that has gone is not an error.
pub(super) fn serve(lines: Lines, output: impl Write, session: &mut Session<'_>) -> io::Result<()> {
    match (Talk { lines, output, id: None, begun: false, failed: None }).go(session) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// A conversation: what comes in, where responses go, and the response being given.
struct Talk<W> {
    lines: Lines,
    output: W,
    /// The id of the command.
    id: Option<u32>,
    begun: bool,
    /// Why the output takes no more.
    failed: Option<io::Error>,
}

impl<W: Write> Talk<W> {
    fn go(mut self, session: &mut Session<'_>) -> io::Result<()> {
        while !session.is_over() {
            session.ponder(&mut self);
            let Some(line) = self.lines.next() else { return Ok(()) };
            let line = line?;
            let Some(Request { id, words }) = Request::of(&line) else { continue };
            (self.id, self.begun) = (id, false);
            let answer = commands::perform(session, words, &mut self);
            if let Err(failure) = &answer {
                tracing::debug!(line = %String::from_utf8_lossy(&line.bytes), %failure, "command failed");
            }
            self.end(&answer)?;
        }
        Ok(())
    }

    fn end(&mut self, answer: &Result<String, Failure>) -> io::Result<()> {
        let text = if self.begun { "\n".to_owned() } else { response::format(self.id, answer) };
        self.send(&text);
        match self.failed.take() {
            Some(error) => Err(io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))),
            None => Ok(()),
        }
    }

    fn send(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()).err();
        }
    }
}

impl<W: Write> Controller for Talk<W> {
    fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            let begin = response::begin(self.id);
            self.send(&begin);
        }
    }

    fn say(&mut self, line: &str) {
        self.begin();
        self.send(&format!("{line}\n"));
    }

    fn called(&mut self) -> bool {
        self.failed.is_some() || self.lines.is_ready()
    }

    fn wait(&mut self, time: Duration) -> bool {
        self.failed.is_some() || self.lines.wait(time)
    }

    fn interrupted(&mut self) -> bool {
        self.failed.is_some() || is_interrupted(&mut self.lines)
    }
}

/// Whether the next line is the comment with which GoGui asks a program to come to an end with what it does, or a stop
/// is requested.
fn is_interrupted(lines: &mut Lines) -> bool {
    lines.is_stopped() || matches!(lines.peek(), Some(Ok(line)) if line.bytes.trim_ascii() == b"# interrupt")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use runtime::Line;

    use super::*;
    use crate::server::tests::{First, setup, typed};

    #[test]
    fn interrupt_is_a_comment_or_a_stop() {
        let (sender, lines) = mpsc::channel();
        let stop = Stop::never();
        let mut lines = Lines::of(lines, stop.clone());
        assert!(!is_interrupted(&mut lines));
        for (text, expected) in [("name", false), (" # interrupt", true), ("# interrupts", false)] {
            sender.send(Ok(Line { bytes: text.as_bytes().to_vec(), cut: false })).expect("the lines are there");
            assert_eq!(is_interrupted(&mut lines), expected, "{text}");
            assert!(lines.next().is_some(), "{text} is still there");
        }
        stop.request();
        assert!(is_interrupted(&mut lines));
    }

    #[test]
    fn output_that_takes_no_more_is_an_error_unless_the_controller_has_gone() {
        struct Refusing(io::ErrorKind);
        impl Write for Refusing {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut player = First::default();
        let mut served = |kind| serve(typed(b"name\n"), Refusing(kind), &mut Session::new(setup(5), &mut player));
        assert!(served(io::ErrorKind::BrokenPipe).is_ok());
        let error = served(io::ErrorKind::StorageFull).unwrap_err().to_string();
        assert!(error.starts_with("cannot write to standard output: "), "{error}");
    }

    /// Nothing is held back: each response is flushed before the next line is read.
    #[test]
    fn gtp_output_is_flushed_after_every_response() {
        #[derive(Default)]
        struct Counting {
            flushed: usize,
            pending: usize,
        }
        impl Write for Counting {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.pending += bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                self.flushed += 1;
                self.pending = 0;
                Ok(())
            }
        }
        let (mut player, mut output) = (First::default(), Counting::default());
        let lines = typed(b"name\n# nothing\nnonsense\nversion\n");
        serve(lines, &mut output, &mut Session::new(setup(5), &mut player)).expect("counting never fails");
        assert_eq!((output.flushed, output.pending), (3, 0));
    }
}
