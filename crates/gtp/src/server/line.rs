//! Lines as they come in.

use std::io::{self, BufRead};

/// Bytes of a line that are read. Commands are short; a file name may have 4096.
const LONGEST: usize = 16 * 1024;

/// One line of input without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub(super) bytes: Vec<u8>,
    /// The line is longer than the limit.
    pub(super) cut: bool,
}

impl Line {
    /// Reads to the end of the line, or of the input; `None` at the end. However long the line, no more
    /// than its beginning is kept.
    pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Line>> {
        let mut line = Line { bytes: Vec::new(), cut: false };
        let mut anything = false;
        loop {
            let buffer = match input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if buffer.is_empty() {
                return Ok(anything.then_some(line));
            }
            anything = true;
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let here = &buffer[..end.unwrap_or(buffer.len())];
            let room = (LONGEST - line.bytes.len()).min(here.len());
            line.bytes.extend_from_slice(&here[..room]);
            line.cut |= room < here.len();
            let used = here.len() + usize::from(end.is_some());
            input.consume(used);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }

    /// Whether this is the comment with which GoGui asks a program to come to an end with what it does.
    pub(super) fn is_interrupt(&self) -> bool {
        self.bytes.trim_ascii() == b"# interrupt"
    }

    /// Every line of an input.
    pub fn all(mut input: impl BufRead) -> impl Iterator<Item = io::Result<Line>> {
        std::iter::from_fn(move || Line::read(&mut input).transpose())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(Vec<u8>, bool)> {
        // A small buffer, so that lines run over its end.
        let input = io::BufReader::with_capacity(7, input);
        Line::all(input).map(|line| line.expect("memory can be read")).map(|line| (line.bytes, line.cut)).collect()
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [(vec![], false)]);
        assert_eq!(lines(b"name\r\n\nquit"), [(b"name\r".to_vec(), false), (vec![], false), (b"quit".to_vec(), false)]);
    }

    #[test]
    fn only_the_beginning_of_a_long_line_is_kept() {
        let long = [vec![b'x'; LONGEST], b"y\nnext\n".to_vec()].concat();
        assert_eq!(lines(&long), [(vec![b'x'; LONGEST], true), (b"next".to_vec(), false)]);
        let longest = [vec![b'x'; LONGEST], b"\n".to_vec()].concat();
        assert_eq!(lines(&longest), [(vec![b'x'; LONGEST], false)]);
    }
}
