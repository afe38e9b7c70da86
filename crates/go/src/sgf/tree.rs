//! A game as SGF has it: nodes with properties, which branch into variations.

use super::error::{Error, Fault};
use super::text;

/// One game of a collection. Its nodes lie in one list, so that no depth of variations needs recursion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
}

impl Tree {
    /// The root, which describes the game.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// All nodes in the order of the text.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes that follow one of this tree's nodes: the first continues its line, the others are variations.
    pub fn children<'a>(&'a self, node: &Node) -> impl Iterator<Item = &'a Node> + use<'a> {
        std::iter::successors(self.at(node.first_child), |node| self.at(node.next_sibling))
    }

    /// The nodes from the root to the end that are on no variation.
    pub fn main_line(&self) -> impl Iterator<Item = &Node> {
        std::iter::successors(Some(self.root()), |node| self.at(node.first_child))
    }

    fn at(&self, index: Option<usize>) -> Option<&Node> {
        index.map(|index| &self.nodes[index])
    }
}

/// A node: properties in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub(super) properties: Vec<Property>,
    pub(super) first_child: Option<usize>,
    pub(super) last_child: Option<usize>,
    pub(super) next_sibling: Option<usize>,
}

impl Node {
    /// All properties.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The values of a property; none when the node does not have it.
    pub fn values(&self, name: &str) -> &[Value] {
        self.properties.iter().find(|property| property.name == name).map_or(&[], |property| &property.values)
    }

    /// The first value of a property.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values(name).first()
    }
}

/// A property: a name, and one value or more. A name that comes twice in a node is one property with all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Capital letters, such as `AB`, and digits.
    pub name: String,
    /// At least one value.
    pub values: Vec<Value>,
}

/// A value and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// What stands between the brackets, with its escapes.
    pub(super) raw: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Value {
    /// The value as text of several lines.
    pub fn text(&self) -> String {
        text::unescape(&self.raw)
    }

    /// The value as text of one line.
    pub fn simple_text(&self) -> String {
        text::unescape(&self.raw).replace('\n', " ")
    }

    /// The value without the space around it, for numbers and points.
    pub(super) fn trimmed(&self) -> &str {
        self.raw.trim()
    }

    /// The two parts of a value with a colon; the second is empty when there is none.
    pub(super) fn composed(&self) -> (String, String) {
        let (first, second) = text::split_composed(&self.raw);
        (text::unescape(first).replace('\n', " "), text::unescape(second).replace('\n', " "))
    }

    /// An error at this value.
    pub(super) fn fault(&self, fault: Fault) -> Error {
        Error { line: self.line, column: self.column, fault }
    }

    /// The error that this value of a property is not what it should be.
    pub(super) fn bad(&self, property: &'static str, wanted: &'static str) -> Error {
        self.fault(Fault::BadValue(property, self.raw.clone(), wanted))
    }
}
