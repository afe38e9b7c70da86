//! Responses.

use std::fmt::Write;

/// Why a command failed; prints as the protocol words it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// There is no such command.
    #[error("unknown command")]
    UnknownCommand,
    /// The arguments are not those of the command.
    #[error("syntax error")]
    Syntax,
    /// More characters than a line may have.
    #[error("line too long")]
    TooLong,
    /// No board of that size can be played on here.
    #[error("unacceptable size")]
    UnacceptableSize,
    /// The rules forbid the move.
    #[error("illegal move")]
    IllegalMove,
    /// There is nothing to take back.
    #[error("cannot undo")]
    CannotUndo,
    /// The file is missing, is no SGF, or its game cannot be played here.
    #[error("cannot load file")]
    CannotLoad,
    /// Handicap stones are for an empty board.
    #[error("board not empty")]
    BoardNotEmpty,
    /// There is no handicap of so many stones on this board.
    #[error("invalid number of stones")]
    BadStones,
    /// These points cannot all get a stone.
    #[error("bad vertex list")]
    BadVertices,
    /// There is no stone on the point.
    #[error("vertex must not be empty")]
    NoStone,
    /// There is no move yet.
    #[error("no previous move known")]
    NoMove,
    /// An argument has a problem, which is said.
    #[error("{0}")]
    Argument(String),
    /// The command is known, and not supported here.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The player has no response.
    #[error("{0}")]
    Player(String),
}

/// A response as it is sent: one line or several, then an empty one.
pub(super) fn format(id: Option<u32>, answer: &Result<String, Failure>) -> String {
    let (sign, text) = match answer {
        Ok(text) => ('=', text.clone()),
        Err(failure) => ('?', one_line(&failure.to_string())),
    };
    let mut sent = String::from(sign);
    if let Some(id) = id {
        write!(sent, "{id}").expect("a string takes all text");
    }
    if !text.is_empty() && !text.starts_with('\n') {
        sent.push(' ');
    }
    sent + &text + "\n\n"
}

/// The beginning of a response that is sent line by line. The empty line at its end is all that comes after the lines.
pub(super) fn begin(id: Option<u32>) -> String {
    id.map_or_else(|| "=\n".to_owned(), |id| format!("={id}\n"))
}

/// Without line breaks or other control characters, which would end a response before its time.
fn one_line(text: &str) -> String {
    text.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_closed_by_an_empty_line_and_has_no_other() {
        assert_eq!(format(None, &Ok(String::new())), "=\n\n");
        assert_eq!(format(Some(7), &Ok("D4".to_owned())), "=7 D4\n\n");
        assert_eq!(format(Some(0), &Ok("\nA\nB".to_owned())), "=0\nA\nB\n\n");
        assert_eq!([begin(None), begin(Some(3))], ["=\n", "=3\n"]);
        assert_eq!(format(None, &Err(Failure::Player("no\n\nmodel\r".to_owned()))), "? no model\n\n");
    }
}
