//! From a record to text.

use super::coordinates;
use super::number;
use super::record::{Branch, Record, Turn};
use super::text::{escape, escape_part};
use crate::color::Color;
use crate::point::Move;
use crate::point_set::PointSet;

/// Moves on one line of text.
const MOVES_A_LINE: usize = 10;

/// Properties that are added to a node of a game when it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Properties with their values as text.
    pub properties: Vec<(&'static str, Vec<String>)>,
    /// Text behind the comment that the node has.
    pub comment: String,
    /// Lines of moves that follow the node beside the game's own move. Behind the last move the first of them is the
    /// main line.
    pub variations: Vec<Vec<Turn>>,
}

/// A part of the text of a tree.
enum Step {
    Open,
    Move(usize),
    Close,
    Variations(Vec<Vec<Turn>>),
}

/// What comes after a node, the last part first.
fn next_steps(followers: &[usize], variations: Vec<Vec<Turn>>) -> Vec<Step> {
    match followers {
        [only] if variations.is_empty() => vec![Step::Move(*only)],
        _ => {
            let branches = followers.iter().rev().flat_map(|node| [Step::Close, Step::Move(*node), Step::Open]);
            [Step::Variations(variations)].into_iter().chain(branches).collect()
        }
    }
}

impl Record {
    /// Writes the game as a collection of one: what describes it in the root, then a node a move.
    pub fn to_sgf(&self) -> String {
        self.to_sgf_with(|_| Extra::default())
    }

    /// Writes the game with what `extra` adds to the node after so many moves; 0 is the root.
    pub fn to_sgf_with(&self, extra: impl FnMut(usize) -> Extra) -> String {
        self.tree_to_sgf(&self.line(), extra)
    }

    /// Writes a game with variations: what describes the record in the root, and these moves instead of its own, each
    /// of which comes after its parent. The first of the moves after a node continues its line. `extra` adds to the
    /// root, which is 0, and to the node of each move, which is one more than its index.
    ///
    /// # Panics
    /// When a parent comes after its move.
    pub fn tree_to_sgf(&self, moves: &[Branch], mut extra: impl FnMut(usize) -> Extra) -> String {
        let mut followers = vec![Vec::new(); moves.len() + 1];
        let mut depths = vec![0; moves.len() + 1];
        for (index, Branch { parent, .. }) in moves.iter().enumerate() {
            let parent = parent.map_or(0, |parent| parent + 1);
            assert!(parent <= index, "move {index} comes before its parent");
            followers[parent].push(index + 1);
            depths[index + 1] = depths[parent] + 1;
        }
        let mut out = String::from("(;");
        self.write_root(&mut out);
        let variations = self.write_extra(&mut out, &self.comment, extra(0));
        // The next step is last. Variations of a node come behind all that follows its first move.
        let mut steps = next_steps(&followers[0], variations);
        while let Some(step) = steps.pop() {
            match step {
                Step::Open => out.push_str("\n("),
                Step::Close => out.push(')'),
                Step::Variations(variations) => self.write_variations(&mut out, &variations),
                Step::Move(node) => {
                    if !out.ends_with('(') && depths[node] % MOVES_A_LINE == 1 {
                        out.push('\n');
                    }
                    let turn = &moves[node - 1].turn;
                    self.write_move(&mut out, turn.color, turn.mv);
                    let variations = self.write_extra(&mut out, &turn.comment, extra(node));
                    steps.extend(next_steps(&followers[node], variations));
                }
            }
        }
        out.push_str(")\n");
        out
    }

    fn write_move(&self, out: &mut String, color: Color, mv: Move) {
        out.push(';');
        write_raw(out, letter(color), &coordinates::write_move(self.size, mv));
    }

    /// Writes a comment and the properties of its node; returns the variations.
    fn write_extra(&self, out: &mut String, comment: &str, extra: Extra) -> Vec<Vec<Turn>> {
        let texts = [comment, &extra.comment].into_iter().filter(|text| !text.is_empty());
        write_text(out, "C", &texts.collect::<Vec<_>>().join("\n\n"));
        for (name, values) in extra.properties.iter().filter(|(_, values)| !values.is_empty()) {
            out.push_str(name);
            out.extend(values.iter().map(|value| format!("[{}]", escape(value))));
        }
        extra.variations
    }

    fn write_variations(&self, out: &mut String, variations: &[Vec<Turn>]) {
        for turns in variations.iter().filter(|turns| !turns.is_empty()) {
            out.push_str("\n(");
            for turn in turns {
                self.write_move(out, turn.color, turn.mv);
                write_text(out, "C", &turn.comment);
            }
            out.push(')');
        }
    }

    fn write_root(&self, out: &mut String) {
        write_raw(out, "GM", "1");
        write_raw(out, "FF", "4");
        write_raw(out, "CA", "UTF-8");
        if let Some(application) = &self.application {
            let value = format!("{}:{}", escape_part(&application.name), escape_part(&application.version));
            write_raw(out, "AP", &value);
        }
        write_raw(out, "SZ", &self.size.to_string());
        if let Some(komi) = self.komi.filter(|komi| komi.is_finite()) {
            write_raw(out, "KM", &number::write_komi(komi));
        }
        write_text(out, "RU", &self.rules);
        write_text(out, "PB", &self.black.name);
        write_text(out, "BR", &self.black.rank);
        write_text(out, "PW", &self.white.name);
        write_text(out, "WR", &self.white.rank);
        write_text(out, "DT", &self.date);
        if let Some(outcome) = self.outcome {
            write_raw(out, "RE", &outcome.to_string());
        }
        if self.handicap > 0 {
            write_raw(out, "HA", &self.handicap.to_string());
        }
        self.write_points(out, "AB", &self.setup.black);
        self.write_points(out, "AW", &self.setup.white);
        // Programs differ in who begins after stones without HA.
        let is_unsaid = self.turns.is_empty() && self.handicap < 2 && self.first == Color::White;
        if is_unsaid || self.first != self.natural_first() {
            write_raw(out, "PL", letter(self.first));
        }
    }

    fn write_points(&self, out: &mut String, name: &str, points: &PointSet) {
        if !points.is_empty() {
            out.push_str(name);
        }
        for point in points {
            out.push_str(&format!("[{}]", coordinates::write(self.size, point)));
        }
    }
}

fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

/// Writes a property that has text, and nothing when there is none.
fn write_text(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        write_raw(out, name, &escape(text));
    }
}

fn write_raw(out: &mut String, name: &str, value: &str) {
    out.extend([name, "[", value, "]"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sgf::parse;

    fn record(text: &str) -> Record {
        Record::parse(text.as_bytes()).expect("a game")
    }

    #[test]
    fn trees_are_read_back_with_their_variations_and_comments() {
        let game = record("(;SZ[5]KM[7]C[start])");
        let branch = |parent, color, index, comment: &str| Branch {
            parent,
            turn: Turn { color, mv: Move::from_index(game.size, index).expect("a move"), comment: comment.to_owned() },
        };
        let (black, white) = (Color::Black, Color::White);
        let moves = [
            branch(None, black, 0, ""),
            branch(Some(0), white, 1, "main"),
            branch(None, black, 2, ""),
            branch(Some(0), white, 3, "beside [it]"),
            branch(Some(3), black, 25, ""),
        ];
        let text = game.tree_to_sgf(&moves, |node| Extra { comment: format!("{node}"), ..Extra::default() });
        let root = "(;GM[1]FF[4]CA[UTF-8]SZ[5]KM[7]C[start\n\n0]";
        let expected = "\n(;B[aa]C[1]\n(;W[ba]C[main\n\n2])\n(;W[da]C[beside [it\\]\n\n4];B[]C[5]))\n(;B[ca]C[3]))\n";
        assert_eq!(text, format!("{root}{expected}"));
        let tree = &parse(text.as_bytes()).expect("SGF")[0];
        assert_eq!(tree.nodes().len(), moves.len() + 1);
        assert_eq!(tree.main_line().count(), 3);
    }

    #[test]
    fn deep_trees_are_written_without_recursion() {
        let game = record("(;SZ[5])");
        let mut moves = Vec::new();
        for index in 0..100_000 {
            let turn = Turn { color: Color::Black, mv: Move::Pass, comment: String::new() };
            // Every second move is beside the next.
            moves.push(Branch { parent: (index >= 2).then(|| index / 2 * 2 - 2), turn });
        }
        let text = game.tree_to_sgf(&moves, |_| Extra::default());
        assert_eq!(parse(text.as_bytes()).expect("SGF")[0].nodes().len(), moves.len() + 1);
    }

    #[test]
    fn extra_properties_and_variations_are_read_back() {
        let game = record("(;SZ[5];B[aa];W[bb]C[old];B[cc])");
        let turn = |color, index| Turn {
            color,
            mv: Move::from_index(game.size, index).expect("a move"),
            comment: "a \\ b]".to_owned(),
        };
        let text = game.to_sgf_with(|nth| Extra {
            properties: vec![("LB", vec!["aa:1".to_owned(), "bb:2]".to_owned()]), ("BM", Vec::new())],
            comment: format!("new {nth}"),
            variations: match nth {
                1 => vec![vec![turn(Color::White, 7), turn(Color::Black, 25)], vec![turn(Color::White, 8)]],
                3 => vec![vec![turn(Color::White, 9)]],
                _ => Vec::new(),
            },
        });
        let tree = &parse(text.as_bytes()).expect("SGF")[0];
        let nodes: Vec<_> = tree.main_line().collect();
        assert_eq!(nodes.iter().map(|node| tree.children(node).count()).collect::<Vec<_>>(), [1, 3, 1, 1, 0]);
        let comments: Vec<String> = nodes.iter().map(|node| node.value("C").expect("a comment").text()).collect();
        assert_eq!(comments[..4], ["new 0", "new 1", "old\n\nnew 2", "new 3"]);
        assert_eq!(nodes[2].values("LB").iter().map(super::super::Value::text).collect::<Vec<_>>(), ["aa:1", "bb:2]"]);
        assert!(nodes[2].value("BM").is_none());
        let variation = tree.children(nodes[1]).nth(1).expect("a variation");
        assert_eq!(variation.value("C").expect("a comment").text(), "a \\ b]");
        let pass = tree.children(variation).next().expect("a move").value("B").expect("Black's").text();
        assert_eq!(pass, "");
        // At the end of the game a variation continues it.
        assert_eq!(nodes[4].value("W").expect("White's").text(), "eb");
        assert_eq!(record(&text).turns.len(), 4);
    }
}
