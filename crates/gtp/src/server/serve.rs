//! From input to output.

use std::io::{self, Write};
use std::time::Duration;

use runtime::Stop;

use super::controller::Controller;
use super::parse::Request;
use super::response::{self, Failure};
use super::{Reader, Session, commands};

/// Serves standard input on standard output until `quit`, the end of the input, or a request to stop.
///
/// # Errors
/// When the input cannot be read or the output not be written. A controller that has gone is not an error.
pub fn run(session: &mut Session<'_>, stop: &Stop) -> io::Result<()> {
    serve(Reader::stdin(stop.clone())?, io::stdout().lock(), session)
}

/// Serves lines one by one, each before the next is taken.
///
/// # Errors
/// When a line cannot be read or a response not be written. A controller that has gone is not an error.
pub fn serve(reader: Reader, output: impl Write, session: &mut Session<'_>) -> io::Result<()> {
    match (Talk { reader, output, id: None, begun: false, failed: None }).go(session) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// A conversation: what comes in, where responses go, and the response being given.
struct Talk<W> {
    reader: Reader,
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
            let Some(line) = self.reader.next() else { return Ok(()) };
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
        self.failed.take().map_or(Ok(()), Err)
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
        self.failed.is_some() || self.reader.called()
    }

    fn wait(&mut self, time: Duration) -> bool {
        self.failed.is_some() || self.reader.wait(time)
    }

    fn interrupted(&mut self) -> bool {
        self.failed.is_some() || self.reader.interrupted()
    }
}
