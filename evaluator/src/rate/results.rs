//! Results of other programs: a table of comma-separated values.

use std::collections::BTreeMap;

use ratings::PairResults;
use record::Outcome;

/// A table of results that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResultsError {
    /// There is not even a header.
    #[error("the file is empty; its first line must name the columns {}", COLUMNS.join(", "))]
    Empty,
    /// A column is missing.
    #[error("line {line}: there is no column {column}; the columns are {list}", list = COLUMNS.join(", "))]
    NoColumn {
        /// Where.
        line: usize,
        /// The column.
        column: &'static str,
    },
    /// A line has too few or too many cells.
    #[error("line {line}: {found} cells, and the header has {wanted}")]
    Cells {
        /// Where.
        line: usize,
        /// Cells of the line.
        found: usize,
        /// Cells of the header.
        wanted: usize,
    },
    /// A quoted cell has no end.
    #[error("line {0}: a quoted cell does not end")]
    Quote(usize),
    /// A cell that must say something is empty.
    #[error("line {line}: the cell {column} is empty")]
    EmptyCell {
        /// Where.
        line: usize,
        /// The column.
        column: &'static str,
    },
    /// A result that is none.
    #[error("line {line}: the result {found:?} is none of B, W and D")]
    Result {
        /// Where.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A player against itself.
    #[error("line {line}: {player} plays itself; remove the row")]
    Itself {
        /// Where.
        line: usize,
        /// The player.
        player: String,
    },
    /// Two different games under one name.
    #[error("line {line}: game {game} differs from line {first}")]
    Twice {
        /// Where.
        line: usize,
        /// The game's name.
        game: String,
        /// Where it was first.
        first: usize,
    },
}

/// The columns, in any order among others.
const COLUMNS: [&str; 4] = ["game_id", "black", "white", "result"];

/// A table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// The results.
    pub results: PairResults,
    /// Lines that repeat a game word for word; each game counts once.
    pub repeated: usize,
}

/// Reads a table of results: a header that names the columns `game_id`, `black`, `white` and `result`, then one line a
/// game. The result is B, W or D for a draw; cells may be quoted.
///
/// # Errors
/// The line, counted from 1, and the problem with it.
pub fn read(text: &str) -> Result<Results, ResultsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (line, header) = lines.next().ok_or(ResultsError::Empty)?;
    let header = cells(line, header)?;
    let place = |column| header.iter().position(|name| name == column).ok_or(ResultsError::NoColumn { line, column });
    let places = [place(COLUMNS[0])?, place(COLUMNS[1])?, place(COLUMNS[2])?, place(COLUMNS[3])?];
    let mut known: BTreeMap<String, (usize, [String; 3])> = BTreeMap::new();
    let mut read = Results { results: PairResults::default(), repeated: 0 };
    for (line, text) in lines {
        let cells = cells(line, text)?;
        if cells.len() != header.len() {
            return Err(ResultsError::Cells { line, found: cells.len(), wanted: header.len() });
        }
        let [game, black, white, result] = places.map(|place| cells[place].clone());
        for (column, cell) in COLUMNS.into_iter().zip([&game, &black, &white]) {
            if cell.is_empty() {
                return Err(ResultsError::EmptyCell { line, column });
            }
        }
        let outcome = outcome(&result).ok_or_else(|| ResultsError::Result { line, found: result.clone() })?;
        if black == white {
            return Err(ResultsError::Itself { line, player: black });
        }
        let row = [black, white, result];
        match known.get(&game) {
            Some((_, before)) if *before == row => read.repeated += 1,
            Some(&(first, _)) => return Err(ResultsError::Twice { line, game, first }),
            None => {
                read.results.add(&row[0], &row[1], outcome);
                known.insert(game, (line, row));
            }
        }
    }
    Ok(read)
}

fn outcome(result: &str) -> Option<Outcome> {
    match result {
        "B" => Some(Outcome::Black),
        "W" => Some(Outcome::White),
        "D" => Some(Outcome::Draw),
        _ => None,
    }
}

/// The cells of a line, without the spaces around them. A quoted cell keeps its commas, and `""` in it is a quote.
fn cells(number: usize, line: &str) -> Result<Vec<String>, ResultsError> {
    let mut cells = Vec::new();
    let mut rest = line.trim();
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_cell(quoted).ok_or(ResultsError::Quote(number))?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].trim().to_owned(), &rest[end..])
            }
        };
        cells.push(cell);
        match after.trim_start().strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if after.trim().is_empty() => return Ok(cells),
            None => return Err(ResultsError::Quote(number)),
        }
    }
}

/// The cell up to its closing quote, and what follows.
fn quoted_cell(text: &str) -> Option<(String, &str)> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        cell.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                cell.push('"');
                rest = next;
            }
            None => return Some((cell, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text).expect_err("the table is wrong").to_string()
    }

    #[test]
    fn columns_may_stand_in_any_order_among_others() {
        let text = "\u{feff}white,game_id,when,result,black\r\nb,1,now,B,a\r\n\r\n\"b\", 2 ,\"so, \"\"then\"\"\",W,a\r\nb,3,,D,a\n";
        let found = read(text).expect("the table is good");
        assert_eq!(found.results.players(), ["a", "b"]);
        let score = ratings::Score { black: 1, white: 1, draws: 1 };
        assert_eq!(found.results.scores().collect::<Vec<_>>(), [(0, 1, score)]);
    }

    #[test]
    fn results_with_a_repeated_game_count_it_once() {
        let header = "game_id,black,white,result\n";
        let found = read(&format!("{header}1,a,b,B\n2,a,b,B\n1,a,b,B\n")).expect("the table is good");
        assert_eq!((found.results.total().games(), found.repeated), (2, 1));
        assert_eq!(error(&format!("{header}1,a,b,B\n2,a,b,B\n1,a,b,W\n")), "line 4: game 1 differs from line 2");
    }

    #[test]
    fn errors_say_where() {
        let header = "game_id,black,white,result\n";
        assert_eq!(error(""), "the file is empty; its first line must name the columns game_id, black, white, result");
        assert_eq!(
            error("\ngame_id,black,result\n"),
            "line 2: there is no column white; the columns are game_id, black, white, result"
        );
        for (line, expected) in [
            ("1,a,b", "line 2: 3 cells, and the header has 4"),
            ("1,a,b,B,", "line 2: 5 cells, and the header has 4"),
            ("1,a,b,X", "line 2: the result \"X\" is none of B, W and D"),
            ("1,a,a,B", "line 2: a plays itself; remove the row"),
            ("1,,b,B", "line 2: the cell black is empty"),
            ("1,\"a,b,B", "line 2: a quoted cell does not end"),
            ("1,\"a\"x,b,B", "line 2: a quoted cell does not end"),
        ] {
            assert_eq!(error(&format!("{header}{line}\n")), expected);
        }
    }
}
