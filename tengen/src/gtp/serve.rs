//! From input to output.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use cli::Stop;

use super::{Line, Session};

/// Lines read ahead of the one being answered. Some controllers send many commands at once.
const AHEAD: usize = 64;

/// How soon a request to stop is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Answers standard input on standard output until `quit`, the end of the input, or a request to stop.
///
/// # Errors
/// When the input cannot be read or the output not be written. A controller that has gone is not an error.
pub fn run(session: &mut Session<'_>, stop: &Stop) -> io::Result<()> {
    serve(from_stdin(stop.clone())?, io::stdout().lock(), session)
}

/// Answers lines one by one, each before the next is taken.
///
/// # Errors
/// When a line cannot be read or an answer not be written. A controller that has gone is not an error.
pub fn serve(
    lines: impl IntoIterator<Item = io::Result<Line>>,
    mut output: impl Write,
    session: &mut Session<'_>,
) -> io::Result<()> {
    for line in lines {
        let Some(answer) = session.answer(&line?) else { continue };
        match output.write_all(answer.as_bytes()).and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
        if session.is_over() {
            return Ok(());
        }
    }
    Ok(())
}

/// The lines of standard input until somebody asks to stop. They are read by a thread of their own, since nothing can
/// wake a thread that waits for input.
fn from_stdin(stop: Stop) -> io::Result<impl Iterator<Item = io::Result<Line>>> {
    let (sender, receiver) = mpsc::sync_channel(AHEAD);
    thread::Builder::new().name("gtp-input".to_owned()).spawn(move || {
        for line in Line::all(io::stdin().lock()) {
            let broken = line.is_err();
            if sender.send(line).is_err() || broken {
                return;
            }
        }
    })?;
    Ok(std::iter::from_fn(move || next(&receiver, &stop)))
}

fn next<T>(receiver: &Receiver<T>, stop: &Stop) -> Option<T> {
    while !stop.requested() {
        match receiver.recv_timeout(PATIENCE) {
            Ok(item) => return Some(item),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_input_ends_when_asked_to_stop() {
        let (sender, receiver) = mpsc::sync_channel(1);
        let stop = Stop::never();
        sender.send(1).expect("the receiver is there");
        assert_eq!(next(&receiver, &stop), Some(1));
        stop.request();
        assert_eq!(next(&receiver, &stop), None);
        drop(sender);
        assert_eq!(next::<i32>(&receiver, &Stop::never()), None);
    }
}
