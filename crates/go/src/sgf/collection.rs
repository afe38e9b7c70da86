//! The games of a collection, when some of them are broken.

use super::{Error, Fault, Record, Tree, parse};
use crate::{Game, Size};

/// The end of a game is searched line by line over so many lines that begin as games do: variations may begin so too.
const REACH: usize = 200;

/// Ends that are tried whatever the brackets say: in some encodings their bytes are parts of characters.
const TRIES: usize = 8;

/// Searches for an end beyond, by brackets alone, that may fail in a collection: each reads the rest of the text.
const SCANS: usize = 16;

/// U+FEFF in UTF-8, with which programs of Windows begin a file; it is in the middle of one that was joined from
/// several.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Every game of a collection, or why it cannot be read. One that is broken does not take its neighbours with it: the
/// next begins where a line begins with `(;`.
///
/// Games are read when they are taken: trees have more than fifty times the size of their text.
pub fn collection(bytes: &[u8]) -> impl Iterator<Item = Result<Tree, String>> {
    let (mut starts, is_in_text) = starts(bytes);
    let mut ready = Vec::new().into_iter();
    if starts.is_empty() {
        ready = each(parse(bytes).map_err(|e| e.to_string()));
    } else {
        starts.push(bytes.len());
    }
    let (mut place, mut scans) = (0, SCANS);
    // What precedes the first line with a game may be no game, such as a smiley.
    if is_in_text && starts.len() > 2 && read(bytes, &starts, &mut scans, &parse).is_err() {
        place = 1;
    }
    std::iter::from_fn(move || {
        loop {
            if let Some(game) = ready.next() {
                return Some(game);
            }
            if place + 1 >= starts.len() {
                return None;
            }
            let found = read(bytes, &starts[place..], &mut scans, &parse);
            place += found.as_ref().map_or(1, |(_, lines)| *lines);
            ready = each(found.map(|(trees, _)| trees));
        }
    })
}

/// The games of some lines, or the problem with them.
fn each(found: Result<Vec<Tree>, String>) -> std::vec::IntoIter<Result<Tree, String>> {
    let games = found.map_or_else(|why| vec![Err(why)], |trees| trees.into_iter().map(Ok).collect());
    games.into_iter()
}

/// Every game of a collection with its komi, if the board allows it, or why it is none on a board of this size: it is
/// broken, on another board, or breaks the rules.
pub fn games(bytes: &[u8], size: Size) -> impl Iterator<Item = Result<(Game, Option<f32>), String>> {
    collection(bytes).map(move |tree| played(&tree?, size))
}

fn played(tree: &Tree, size: Size) -> Result<(Game, Option<f32>), String> {
    let record = Record::from_tree(tree).map_err(|error| error.to_string())?;
    if record.size != size {
        return Err(format!("the board is {0}x{0}, not {size}x{size}", record.size));
    }
    let game = record.replay().map_err(|error| error.to_string())?;
    Ok((game, record.usable_komi()))
}

/// Reads the games of a text; tests count what is read.
type Parse<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<Tree>, Error>;

/// The games that begin at the first of `starts`, and how many of these lines they take. Beyond [`REACH`] lines a game
/// is searched for only while there are `scans`.
///
/// A try reads the game from its beginning. So after the first [`TRIES`] ends those are not tried at which brackets are
/// open and the next line may close them: else a game without an end would be read as often as there are lines in
/// reach.
fn read(bytes: &[u8], starts: &[usize], scans: &mut usize, parse: Parse<'_>) -> Result<(Vec<Tree>, usize), String> {
    let lines = |from: usize, to: usize| parse(&bytes[starts[from]..starts[to]]);
    let may_go_on = |fault: &Fault, end: usize| match fault {
        Fault::UnclosedGame => true,
        // A comment may quote a game. With both its brackets escaped it cannot be read as one; what can be read is
        // taken for a game.
        Fault::UnclosedValue => end + 1 < starts.len() && lines(end, end + 1).is_err(),
        _ => false,
    };
    let last = starts.len().min(REACH) - 1;
    let mut brackets = Brackets::default();
    for end in 1..=last {
        for &byte in &bytes[starts[end - 1]..starts[end]] {
            brackets.close(byte);
        }
        if end > TRIES && brackets.fault().is_some_and(|fault| may_go_on(&fault, end)) {
            continue;
        }
        match lines(0, end) {
            Ok(trees) => return Ok((trees, end)),
            Err(error) if may_go_on(&error.fault, end) => {}
            Err(error) => return Err(error.fault.to_string()),
        }
    }
    // Brackets alone do not tell other faults.
    let fault = match lines(0, last) {
        Ok(trees) => return Ok((trees, last)),
        Err(error) => error.fault,
    };
    let is_open = matches!(fault, Fault::UnclosedGame | Fault::UnclosedValue);
    if is_open && starts.len() > REACH && *scans > 0 {
        if let Some(length) = closing(&bytes[starts[0]..]) {
            let end = starts.partition_point(|start| *start < starts[0] + length);
            if let Ok(trees) = lines(0, end) {
                return Ok((trees, end));
            }
        }
        *scans -= 1;
    }
    Err(fault.to_string())
}

/// The length of a game at the beginning of a text by its brackets alone; `None` when it has no end.
fn closing(bytes: &[u8]) -> Option<usize> {
    let mut brackets = Brackets::default();
    bytes.iter().position(|&byte| brackets.close(byte)).map(|place| place + 1)
}

/// The brackets that are open after some bytes of a game.
#[derive(Default)]
struct Brackets {
    depth: usize,
    in_value: bool,
    escaped: bool,
}

impl Brackets {
    /// Reads a byte, and returns whether it closes the game.
    fn close(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_value => self.escaped = true,
            b']' if self.in_value => self.in_value = false,
            _ if self.in_value => {}
            b'[' => self.in_value = true,
            b'(' => self.depth += 1,
            b')' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }

    /// The fault of a text that ends here.
    fn fault(&self) -> Option<Fault> {
        match self.in_value {
            true => Some(Fault::UnclosedValue),
            false => (self.depth > 0).then_some(Fault::UnclosedGame),
        }
    }
}

/// Where a line begins with `(;`, blanks and byte-order marks aside, and where the first game begins.
/// That one may stand within a line of text, which is returned, too.
fn starts(bytes: &[u8]) -> (Vec<usize>, bool) {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t') || MARK.contains(byte);
    let line = |at: usize| bytes[..at].iter().rev().take_while(|byte| !matches!(byte, b'\n' | b'\r'));
    let begins = |at: &usize| bytes[*at..].starts_with(b"(;") && line(*at).all(blank);
    let mut starts: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    // A blank may follow its bracket, and text may precede it; the lines are its variations then, or the games after
    // it.
    let semicolon = |at: usize| bytes[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b';');
    let mut before = 0..starts.first().copied().unwrap_or(0);
    let first = before.find(|&at| bytes[at] == b'(' && semicolon(at));
    starts.splice(0..0, first);
    (starts, first.is_some())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn readable(text: &str) -> Vec<bool> {
        collection(text.as_bytes()).map(|game| game.is_ok()).collect()
    }

    #[test]
    fn whole_games_are_read_around_broken_ones() {
        assert_eq!(readable("(;SZ[9];B[aa])\n(;SZ[9];W[bb])"), [true, true]);
        assert_eq!(readable("(;SZ[9];B[aa])\n(;SZ[9];B[aa\n(;SZ[9];W[bb])"), [true, false, true]);
        assert_eq!(readable("(;SZ[9];B[aa]\n(;SZ[9];W[bb]))\n(;SZ[9]\n"), [true, false], "a variation, and no end");
        assert_eq!(readable("(;C[see\n(;SZ\\[9\\])\nabove];B[aa])\n(;SZ[9])"), [true, true], "a game in a comment");
        assert_eq!(readable("(;SZ[9]&&)\n(;SZ[9])(;SZ[9])"), [false, true, true]);
        assert_eq!(readable("nothing"), [false]);
        assert_eq!(readable(""), [false]);
    }

    #[test]
    fn game_with_hundreds_of_variations_is_one() {
        let variations = |lines: usize| "\n(;W[bb]C[:\\])])".repeat(lines);
        let game = |lines: usize, end: &str| format!("(;SZ[9];B[aa]{}{end}\n(;SZ[9])\n", variations(lines));
        for lines in [198, 199, 200, 300] {
            assert_eq!(readable(&game(lines, ")")), [true, true], "{lines}");
        }
        let broken = readable(&game(300, ""));
        assert_eq!((broken[0], broken.last()), (false, Some(&true)), "the game after one without an end is read");
        let failed = |broken: usize| {
            let found = readable(&(game(300, "").repeat(broken) + &game(300, ")")));
            found.iter().filter(|readable| !**readable).count()
        };
        assert_eq!(failed(SCANS - 1), SCANS - 1);
        assert!(failed(SCANS) > SCANS, "nothing is searched to the end of the text any more");
    }

    /// A download that was cut, or a program that omits the last bracket.
    #[test]
    fn games_without_an_end_are_parsed_a_few_times() {
        for line in ["(;SZ[9];B[aa]\n", "(;SZ[9]C[good\n", "(;SZ[9](;B[aa])\n"] {
            let text = line.repeat(300);
            let (mut starts, _) = starts(text.as_bytes());
            starts.push(text.len());
            assert_eq!(starts.len(), 301);
            let parsed = Cell::new(0);
            let counted = |part: &[u8]| {
                parsed.set(parsed.get() + part.len());
                parse(part)
            };
            assert!(read(text.as_bytes(), &starts, &mut 0, &counted).is_err());
            let most = 3 * REACH * line.len();
            assert!(parsed.get() < most, "{line:?}: {} bytes, and {most} are too many", parsed.get());
        }
        assert_eq!(readable(&"(;SZ[9];B[aa]\n".repeat(20)), [false; 20]);
    }

    /// The second byte of a character of Shift_JIS may be that of a backslash: then a value seems to have no end.
    #[test]
    fn game_with_many_variations_in_another_encoding_is_read() {
        let mut text = b"(;CA[Shift_JIS]SZ[9]".to_vec();
        text.extend(b"\n(;B[aa]C[\x94\x5c])".repeat(TRIES + 2));
        text.extend(b")\n(;SZ[9])");
        let found: Vec<bool> = collection(&text).map(|game| game.is_ok()).collect();
        assert_eq!(found, [true, true]);
    }

    /// A fault in a variation is not one of the brackets.
    #[test]
    fn fault_after_many_lines_is_named() {
        let text = format!("(;SZ[9]{}\n(;&B[aa])\n(;W[bb])\n", "\n(;B[aa])".repeat(TRIES + 2));
        let why: Vec<String> = collection(text.as_bytes()).filter_map(Result::err).collect();
        assert_eq!(why[0], "'&' is out of place");
    }

    #[test]
    fn first_game_is_read_after_a_byte_order_mark_and_with_a_blank_in_its_bracket() {
        assert_eq!(readable("\u{feff}(;SZ[9];B[aa])\n(;SZ[9];W[bb])"), [true, true]);
        assert_eq!(readable("(;SZ[9])\n\u{feff}(;SZ[9])"), [true, true], "two files, joined");
        assert_eq!(readable("\u{feff}(;SZ[9])\n\u{feff}(;SZ[9])\n"), [true, true]);
        assert_eq!(readable("( ;SZ[9];B[aa]\n(;W[bb])\n(;W[cc]))"), [true], "variations");
        assert_eq!(readable("nice game (;\n(;SZ[9];B[aa])"), [true]);
        assert_eq!(readable("(\n;SZ[9];B[aa]\n(;W[bb])\n(;W[cc]))\n(;SZ[9])"), [true, true]);
        assert_eq!(readable("game: (;SZ[9])\n(;SZ[9])"), [true, true]);
        let text = "\u{feff}(;SZ[9];B[ee])\n(;SZ[9];B[aa])".as_bytes();
        assert!(games(text, Size::new(9).unwrap()).all(|game| game.is_ok_and(|(game, _)| game.turn() == 1)));
    }

    #[test]
    fn games_that_are_omitted_keep_their_places_and_say_why() {
        let text = b"(;SZ[9]KM[7];B[ee])\n(;SZ[9];B[aa\n(;SZ[5];B[aa])\n(;SZ[9];B[ee];W[ee])\n(;SZ[9]KM[82];W[aa])";
        let found: Vec<_> = games(text, Size::new(9).unwrap()).map(|game| game.map(|(_, komi)| komi)).collect();
        assert_eq!([&found[0], &found[4]], [&Ok(Some(7.0)), &Ok(None)]);
        assert!(found[1].is_err(), "{found:?}");
        assert_eq!(found[2], Err("the board is 5x5, not 9x9".to_owned()));
        assert_eq!(found[3], Err("move 2 (white E5): the point is occupied".to_owned()));
        assert_eq!(found.len(), 5);
    }
}
