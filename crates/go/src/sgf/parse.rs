//! From text to trees.

use std::str::Chars;

use super::error::{Error, Fault};
use super::text;
use super::tree::{Node, Property, Tree, Value};

/// Properties of a node at most. FF\[4\] has some seventy, and each is compared with those before it.
const MOST_PROPERTIES: usize = 1000;

/// Reads a collection: one game or more.
///
/// Text before the first `(;`, such as a mail's header, is skipped, and text after the last game, such as a signature.
/// Small letters in property names, which old files have, are dropped.
///
/// # Errors
/// When the text is not an SGF collection. The meaning of properties is not checked.
pub fn parse(bytes: &[u8]) -> Result<Vec<Tree>, Error> {
    let text = text::decode(bytes);
    let mut reader = Reader::new(&text);
    reader.find_game()?;
    let mut trees = Vec::new();
    while reader.peek().is_some() {
        trees.push(reader.tree()?);
        reader.skip_space();
        let is_text = reader.peek().is_some_and(|c| !matches!(c, '(' | ')' | ';'));
        if is_text && reader.clone().find_game().is_err() {
            break;
        }
    }
    Ok(trees)
}

/// Reads the first game of a collection, whatever follows it.
///
/// # Errors
/// As [`parse`], of that game alone.
pub fn first_game(bytes: &[u8]) -> Result<Tree, Error> {
    let text = text::decode(bytes);
    let mut reader = Reader::new(&text);
    reader.find_game()?;
    reader.tree()
}

#[derive(Clone)]
struct Reader<'a> {
    chars: Chars<'a>,
    line: usize,
    column: usize,
    /// The character before: after one half of a line break the other is no second one.
    last: char,
}

/// A place in the tree to come back to when a `)` ends what a `(` began.
struct Branch {
    /// The node before the `(`.
    parent: Option<usize>,
    /// Whether a node has come since the `(`.
    begun: bool,
    /// Whether a variation has come, after which nodes may not.
    branched: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Reader<'a> {
        Reader { chars: text.chars(), line: 1, column: 1, last: ' ' }
    }

    fn peek(&self) -> Option<char> {
        self.chars.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        let second_half = matches!((self.last, c), ('\r', '\n') | ('\n', '\r'));
        if second_half {
            self.last = ' ';
        } else {
            self.last = c;
            if matches!(c, '\n' | '\r') {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        Some(c)
    }

    /// Skips white space, the control characters with which some old files end, and byte-order marks of joined files.
    fn skip_space(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace() || c.is_control() || c == '\u{feff}') {
            self.next();
        }
    }

    fn fault(&self, fault: Fault) -> Error {
        Error { line: self.line, column: self.column, fault }
    }

    /// Goes to the first `(` that has a `;` after it.
    fn find_game(&mut self) -> Result<(), Error> {
        while let Some(c) = self.peek() {
            let here = self.clone();
            self.next();
            if c == '(' {
                self.skip_space();
                if self.peek() == Some(';') {
                    *self = here;
                    return Ok(());
                }
            }
        }
        Err(self.fault(Fault::NoGame))
    }

    fn tree(&mut self) -> Result<Tree, Error> {
        let start = self.fault(Fault::UnclosedGame);
        let mut nodes: Vec<Node> = Vec::new();
        let mut current = None;
        let mut open: Vec<Branch> = Vec::new();
        loop {
            self.skip_space();
            let c = self.peek().ok_or_else(|| start.clone())?;
            match (c, open.last_mut()) {
                ('(', None) => open.push(Branch { parent: None, begun: false, branched: false }),
                ('(', Some(branch)) if branch.begun => {
                    branch.branched = true;
                    open.push(Branch { parent: current, begun: false, branched: false });
                }
                (';', Some(branch)) if !branch.branched => {
                    branch.begun = true;
                    self.next();
                    let properties = self.properties()?;
                    current = Some(attach(&mut nodes, current, properties));
                    continue;
                }
                (')', Some(branch)) if branch.begun => {
                    current = branch.parent;
                    open.pop();
                }
                _ => return Err(self.fault(Fault::Unexpected(c))),
            }
            self.next();
            if open.is_empty() {
                return Ok(Tree { nodes });
            }
        }
    }

    fn properties(&mut self) -> Result<Vec<Property>, Error> {
        let mut properties: Vec<Property> = Vec::new();
        loop {
            self.skip_space();
            if !self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                return Ok(properties);
            }
            let property = self.property()?;
            let count = properties.len();
            match properties.iter_mut().find(|earlier| earlier.name == property.name) {
                Some(earlier) => earlier.values.extend(property.values),
                None if count == MOST_PROPERTIES => {
                    return Err(self.fault(Fault::ManyProperties(MOST_PROPERTIES)));
                }
                None => properties.push(property),
            }
        }
    }

    fn property(&mut self) -> Result<Property, Error> {
        let start = self.fault(Fault::NoGame);
        let mut name = String::new();
        // LizzieYzy writes LZ2 for its second engine.
        while let Some(c) = self.peek().filter(char::is_ascii_alphanumeric) {
            name.extend(Some(c).filter(|c| !c.is_ascii_lowercase()));
            self.next();
        }
        let mut values = Vec::new();
        loop {
            self.skip_space();
            if self.peek() != Some('[') {
                break;
            }
            values.push(self.value()?);
        }
        if values.is_empty() {
            return Err(Error { fault: Fault::NoValue(name), ..start });
        }
        Ok(Property { name, values })
    }

    fn value(&mut self) -> Result<Value, Error> {
        let start = self.fault(Fault::UnclosedValue);
        self.next();
        let text = self.chars.as_str();
        loop {
            let left = self.chars.as_str().len();
            match self.next() {
                Some(']') => {
                    let raw = text[..text.len() - left].to_owned();
                    return Ok(Value { raw, line: start.line, column: start.column });
                }
                Some('\\') => _ = self.next(),
                Some(_) => {}
                None => return Err(start),
            }
        }
    }
}

/// Adds a node as the last child of another. Returns its index.
fn attach(nodes: &mut Vec<Node>, parent: Option<usize>, properties: Vec<Property>) -> usize {
    let index = nodes.len();
    nodes.push(Node { properties, ..Node::default() });
    if let Some(parent) = parent {
        match nodes[parent].last_child.replace(index) {
            Some(brother) => nodes[brother].next_sibling = Some(index),
            None => nodes[parent].first_child = Some(index),
        }
    }
    index
}
