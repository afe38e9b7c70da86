//! From a line to a command and its arguments.

use go::{Color, Move, Size};
use runtime::Line;

use super::Failure;

/// A line with a command on it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The id of the command.
    pub(super) id: Option<u32>,
    /// The command and its arguments, or the problem with the line.
    pub(super) words: Result<Vec<String>, Failure>,
}

impl Request {
    /// `None` when the line is empty, or a comment. The steps are those of section 3.1 of the protocol.
    pub(super) fn of(line: &Line) -> Option<Request> {
        let comment = line.bytes.iter().position(|&byte| byte == b'#');
        let command = &line.bytes[..comment.unwrap_or(line.bytes.len())];
        let kept: Vec<u8> = command.iter().copied().filter(|byte| !byte.is_ascii_control() || *byte == b'\t').collect();
        let text = String::from_utf8_lossy(&kept);
        let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).peekable();
        // The text beyond the limit is either part of a comment or unknown.
        let cut = line.cut && comment.is_none();
        if words.peek().is_none() && !cut {
            return None;
        }
        let number = words.next_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let id = number.as_deref().map(id);
        let words = match id {
            Some(None) => Err(Failure::Syntax),
            _ if cut => Err(Failure::TooLong),
            _ => Ok(words.collect()),
        };
        Some(Request { id: id.flatten(), words })
    }
}

/// An unsigned 31-bit number.
fn id(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|&id| id < 1 << 31)
}

/// `b`, `black`, `w` or `white` in any case.
pub(super) fn color(word: &str) -> Result<Color, Failure> {
    match word.to_ascii_lowercase().as_str() {
        "b" | "black" => Ok(Color::Black),
        "w" | "white" => Ok(Color::White),
        _ => Err(Failure::Syntax),
    }
}

/// `pass` or a point of the board. A point that other boards have is an illegal move; anything else is no vertex.
pub(super) fn vertex(size: Size, word: &str) -> Result<Move, Failure> {
    Move::from_gtp(size, word).ok_or_else(|| if is_vertex(word) { Failure::IllegalMove } else { Failure::Syntax })
}

/// A letter but I and a number from 1 to 25, the largest board of the protocol.
fn is_vertex(word: &str) -> bool {
    let mut characters = word.chars();
    let column =
        characters.next().is_some_and(|letter| letter.is_ascii_alphabetic() && !letter.eq_ignore_ascii_case(&'i'));
    let digits = characters.as_str();
    let row = digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse().is_ok_and(|row: u32| (1..=25).contains(&row));
    column && row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &[u8]) -> Line {
        Line { bytes: text.to_vec(), cut: false }
    }

    fn words(text: &str) -> Result<Vec<String>, Failure> {
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }

    fn check(text: &[u8], id: Option<u32>, words: Result<Vec<String>, Failure>) {
        assert_eq!(Request::of(&line(text)), Some(Request { id, words }), "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn lines_become_words() {
        check(b"play b D4", None, words("play b D4"));
        check(b" \t12\tplay  b\tD4 \r", Some(12), words("play b D4"));
        check(b"na\x00me\x07 \x7f# comment", None, words("name"));
        check(b"007 name", Some(7), words("name"));
        check(b"2147483647 name", Some(2_147_483_647), words("name"));
        check(b"12", Some(12), Ok(vec![]));
        check(b"12name", None, words("12name"));
        check(b"play \xff", None, words("play \u{fffd}"));
    }

    #[test]
    fn lines_without_a_command_are_no_requests() {
        for text in [&b""[..], b" \t ", b"\r", b"# name", b"  #", b"\x01\x02"] {
            assert_eq!(Request::of(&line(text)), None);
        }
    }

    #[test]
    fn ids_have_31_bits() {
        check(b"2147483648 name", None, Err(Failure::Syntax));
        check(b"99999999999999999999999 name", None, Err(Failure::Syntax));
        check(b"-1 name", None, words("-1 name"));
    }

    #[test]
    fn line_that_was_cut_is_known_as_far_as_its_comment() {
        let cut = |text: &[u8]| Request::of(&Line { bytes: text.to_vec(), cut: true });
        assert_eq!(cut(b"3 name # and so"), Some(Request { id: Some(3), words: words("name") }));
        assert_eq!(cut(b"# and so"), None);
        assert_eq!(cut(b"3 name and so"), Some(Request { id: Some(3), words: Err(Failure::TooLong) }));
        assert_eq!(cut(b"   "), Some(Request { id: None, words: Err(Failure::TooLong) }));
    }

    #[test]
    fn points_beyond_the_board_are_illegal_and_nonsense_is_nonsense() {
        let size = Size::new(9).expect("a size");
        assert_eq!(vertex(size, "PASS"), Ok(Move::Pass));
        assert!(vertex(size, "j9").is_ok());
        for word in ["K1", "A10", "z25"] {
            assert_eq!(vertex(size, word), Err(Failure::IllegalMove), "{word}");
        }
        for word in ["", "I5", "A0", "A26", "AA", "9A", "A-1", "Ä4", "resign", "A4x"] {
            assert_eq!(vertex(size, word), Err(Failure::Syntax), "{word}");
        }
        assert_eq!(
            (color("B"), color("wHiTe"), color("blue")),
            (Ok(Color::Black), Ok(Color::White), Err(Failure::Syntax))
        );
    }
}
