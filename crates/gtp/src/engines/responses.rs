//! The output of a program, parsed into responses.

/// Bytes of one response, and bytes of chatter before one, that are put up with.
const MOST_BYTES: usize = 1 << 20;

/// A response to a GTP command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GtpResponse {
    /// The number of the command, where the program repeats it.
    pub(crate) id: Option<u32>,
    /// The text, or what the program says of a command that failed.
    pub(crate) text: Result<String, String>,
}

/// Finds responses among lines.
///
/// A response begins with a line that starts with `=` or `?`, and ends before an empty line. What comes before its
/// first line is chatter, which some programs write where they should not.
#[derive(Debug, Default)]
pub(crate) struct ResponseParser {
    begun: Option<GtpResponse>,
    bytes: usize,
}

/// More output than any response has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flood;

impl ResponseParser {
    /// Whether a response has begun and not ended: what comes before one is chatter.
    pub(crate) fn begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Takes a line without its end; returns the response that it completes.
    pub(crate) fn line(&mut self, line: &[u8]) -> Result<Option<GtpResponse>, Flood> {
        self.bytes += line.len() + 1;
        if self.bytes > MOST_BYTES {
            return Err(Flood);
        }
        let line = clean(line);
        match &mut self.begun {
            None => self.begun = begin(&line),
            Some(_) if line.trim().is_empty() => {
                self.bytes = 0;
                return Ok(self.begun.take());
            }
            Some(GtpResponse { text: Ok(text) | Err(text), .. }) => {
                text.push('\n');
                text.push_str(&line);
            }
        }
        Ok(None)
    }
}

/// Without control characters; a tab is a space.
fn clean(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect()
}

/// The first line of a response.
fn begin(line: &str) -> Option<GtpResponse> {
    let good = line.starts_with('=');
    let rest = line.strip_prefix(['=', '?'])?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let text = rest[digits..].trim().to_owned();
    Some(GtpResponse { id: rest[..digits].parse().ok(), text: if good { Ok(text) } else { Err(text) } })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(output: &str) -> Vec<GtpResponse> {
        let mut parser = ResponseParser::default();
        output.split('\n').filter_map(|line| parser.line(line.as_bytes()).unwrap()).collect()
    }

    fn good(id: Option<u32>, text: &str) -> GtpResponse {
        GtpResponse { id, text: Ok(text.to_owned()) }
    }

    #[test]
    fn gtp_responses_parse_with_ids_whitespace_and_chatter() {
        assert_eq!(all("=1 D4\n\n=2\n\n"), [good(Some(1), "D4"), good(Some(2), "")]);
        assert_eq!(all("= D4\r\n\r\n=  \n\n"), [good(None, "D4"), good(None, "")]);
        assert_eq!(
            all("?7 unknown\tcommand\n\n"),
            [GtpResponse { id: Some(7), text: Err("unknown command".to_owned()) }]
        );
        assert_eq!(all("=3\nA B\n C\n\n"), [good(Some(3), "\nA B\n C")]);
        assert_eq!(all("GNU Go\nhello\n\n=4 ok\n\n\n\n=5 x\n\n"), [good(Some(4), "ok"), good(Some(5), "x")]);
        assert_eq!(all("=99999999999 x\n\n"), [good(None, "x")]);
        assert_eq!(all("=1 D4"), [], "nothing says that it is over");
    }

    #[test]
    fn endless_output_is_no_response() {
        let mut parser = ResponseParser::default();
        let line = [b'x'; 1000];
        let taken = (0..2000).take_while(|_| parser.line(&line).is_ok()).count();
        assert_eq!(taken, MOST_BYTES / 1001);
    }

    proptest! {
        #[test]
        fn responses_of_any_bytes_are_read_or_refused(
            lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..30)
        ) {
            let mut parser = ResponseParser::default();
            for line in lines {
                prop_assert!(parser.line(&line).is_ok());
            }
        }
    }
}
