//! SGF files as trees of moves, with their variations.

use std::collections::BTreeMap;

use go::sgf::{self, Node, Notice, Record, Tree};
use go::{Color, Game, Mark, Position};

use super::message::{GameMessage, MOST_MOVES, MOST_NODES, NodeMessage, Player, TreeMessage};
use super::position::vertices;

/// Bytes of a comment; the rest of a longer one is left out.
const LONGEST_COMMENT: usize = 10_000;

/// Reads the first game of a file.
///
/// # Errors
/// Why it cannot be read, as a sentence for the person at the page.
pub(crate) fn read(text: &str) -> Result<TreeMessage, String> {
    // Found before the tree is built: text of a few megabytes could be a million nodes.
    let semicolons = text.bytes().filter(|byte| *byte == b';').count();
    if semicolons > 4 * MOST_NODES {
        return Err(format!("the file has {semicolons} nodes; files of at most {MOST_NODES} nodes are read"));
    }
    let tree = &sgf::first_game(text.as_bytes()).map_err(|error| error.to_string())?;
    if tree.nodes().len() > MOST_NODES {
        return Err(format!("the game has {} nodes; games of at most {MOST_NODES} nodes are read", tree.nodes().len()));
    }
    let record = Record::from_tree(tree).map_err(|error| error.to_string())?;
    let mut notices = Vec::new();
    match sgf::parse(text.as_bytes()) {
        Ok(games) if games.len() > 1 => {
            notices.push(format!("The file has {} games; this is the first.", games.len()));
        }
        Ok(_) => {}
        Err(error) => notices.push(format!("What follows the first game is not read: {error}.")),
    }
    let komi = record.usable_komi();
    notices.extend(record.notices().into_iter().map(|notice| match notice {
        Notice::Komi(other) => format!("Komi {other} is none of this board, and is not used."),
        Notice::Handicap(stones) => {
            format!("The file says HA[{stones}], but not where the stones are; the board has none of them.")
        }
    }));
    let nodes = Walk::new(&record, tree)?.nodes(&mut notices);
    Ok(TreeMessage {
        game: game(&record, komi.unwrap_or_default()),
        says_komi: komi.is_some(),
        players: [record.black.name, record.white.name],
        ranks: [record.black.rank, record.white.rank],
        date: record.date,
        rules: record.rules,
        result: record.outcome.map(|outcome| outcome.to_string()).unwrap_or_default(),
        comment: shortened(&record.comment),
        nodes,
        notices,
    })
}

fn game(record: &Record, komi: f32) -> GameMessage {
    let of = |color: Color| {
        let points = vertices(record.size, *record.setup.of(color));
        points.into_iter().map(move |vertex| (Player::from(color), vertex))
    };
    GameMessage {
        size: record.size.side(),
        komi,
        initial_stones: Color::BOTH.into_iter().flat_map(of).collect(),
        initial_player: record.first.into(),
        moves: Vec::new(),
    }
}

/// A walk over all lines of a tree with one game, which goes back to each branch.
struct Walk<'a> {
    tree: &'a Tree,
    game: Game,
    start: Mark,
    /// The nodes of the main line before its first move: those whose stones are on the board.
    setup: Vec<&'a Node>,
    /// The moves that were found, and the game after each.
    found: Vec<NodeMessage>,
    marks: Vec<Mark>,
}

/// Why a line ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cut {
    Illegal,
    Setup,
    Long,
}

impl<'a> Walk<'a> {
    fn new(record: &Record, tree: &'a Tree) -> Result<Walk<'a>, String> {
        let start = Position::from_stones(record.size, &record.setup, record.first);
        let start = start.map_err(|error| format!("the first stones make no position: {}", error.on(record.size)))?;
        let game = Game::from_position(start);
        let setup = tree.main_line().take_while(|node| node.played(record.size).is_none()).collect();
        Ok(Walk { tree, start: game.mark(), game, setup, found: Vec::new(), marks: Vec::new() })
    }

    /// All moves, each after its parent. Omitted ones are added to `notices`.
    fn nodes(mut self, notices: &mut Vec<String>) -> Vec<NodeMessage> {
        // The next node is last, so that all that follows a node comes before its siblings.
        let mut open: Vec<(&Node, Option<usize>)> = vec![(self.tree.root(), None)];
        let mut cuts: BTreeMap<Cut, usize> = BTreeMap::new();
        while let Some((node, parent)) = open.pop() {
            match self.step(node, parent) {
                Ok(place) => {
                    let children: Vec<&Node> = self.tree.children(node).collect();
                    open.extend(children.into_iter().rev().map(|child| (child, place)));
                }
                Err(cut) => *cuts.entry(cut).or_default() += 1,
            }
        }
        notices.extend(cuts.into_iter().map(|(cut, lines)| cut.notice(lines)));
        self.found
    }

    /// Adds the move of a node. Returns the place of the last move up to the node.
    fn step(&mut self, node: &Node, parent: Option<usize>) -> Result<Option<usize>, Cut> {
        let has = |names: &[&str]| names.iter().any(|name| node.value(name).is_some());
        let Some((color, mv)) = node.played(self.game.size()) else {
            return match parent {
                // A point that is not on the board.
                _ if has(&["B", "W"]) => Err(Cut::Illegal),
                Some(_) if has(&["AB", "AW", "AE"]) => Err(Cut::Setup),
                Some(place) => {
                    add_comment(&mut self.found[place].comment, node);
                    Ok(parent)
                }
                None if has(&["AB", "AW", "AE"]) && !self.setup.iter().any(|own| std::ptr::eq(*own, node)) => {
                    Err(Cut::Setup)
                }
                None => Ok(None),
            };
        };
        self.game.rewind(parent.map_or(&self.start, |parent| &self.marks[parent]));
        if self.game.turn() >= MOST_MOVES {
            return Err(Cut::Long);
        }
        let other = color.opponent();
        let before = *self.game.position().stones().of(other);
        self.game.set_to_move(color);
        self.game.play(mv).map_err(|_| Cut::Illegal)?;
        let size = self.game.size();
        let mut comment = String::new();
        add_comment(&mut comment, node);
        self.found.push(NodeMessage {
            parent,
            played: (color.into(), mv.to_gtp(size)),
            captured: vertices(size, before - *self.game.position().stones().of(other)),
            comment,
        });
        self.marks.push(self.game.mark());
        Ok(Some(self.found.len() - 1))
    }
}

impl Cut {
    fn notice(self, lines: usize) -> String {
        let lines = if lines == 1 { "1 line is cut".to_owned() } else { format!("{lines} lines are cut") };
        let reason = match self {
            Cut::Illegal => "the next move is illegal under positional superko without suicide".to_owned(),
            Cut::Setup => {
                "the next node adds or removes stones (AB, AW, AE), which is read only before the first move".to_owned()
            }
            Cut::Long => format!("only {MOST_MOVES} moves of a line are read"),
        };
        format!("{lines} early: {reason}.")
    }
}

fn add_comment(comment: &mut String, node: &Node) {
    let Some(value) = node.value("C") else { return };
    if !comment.is_empty() {
        comment.push('\n');
    }
    comment.push_str(&shortened(&value.text()));
}

fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST_COMMENT);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(sgf: &str) -> TreeMessage {
        read(sgf).expect("a game")
    }

    /// Each move with the index of its parent.
    fn lines(tree: &TreeMessage) -> Vec<(Option<usize>, &str)> {
        tree.nodes.iter().map(|node| (node.parent, &*node.played.1)).collect()
    }

    #[test]
    fn variations_follow_the_main_line_and_go_back_to_their_branch() {
        let tree = tree("(;SZ[3]KM[7]PB[a]BR[1d]PW[b]DT[x]RU[y]RE[B+R];B[bb](;W[aa];B[ab])(;W[cc](;B[])(;B[bc])))");
        let expected =
            [(None, "B2"), (Some(0), "A3"), (Some(1), "A2"), (Some(0), "C1"), (Some(3), "pass"), (Some(3), "B1")];
        assert_eq!(lines(&tree), expected);
        assert_eq!((&tree.players, &tree.ranks), (&["a", "b"].map(str::to_owned), &["1d", ""].map(str::to_owned)));
        assert_eq!((&*tree.date, &*tree.rules), ("x", "y"));
        assert_eq!((&*tree.result, tree.says_komi), ("B+R", true));
        assert!(tree.notices.is_empty());
    }

    #[test]
    fn captures_comments_and_first_stones_are_read() {
        let tree = tree("(;SZ[3]HA[2]AB[ab][ba]C[one];W[aa]C[no];C[more];W[cc]C[two];B[bb])");
        assert_eq!(tree.game.initial_stones.len(), 2);
        assert_eq!(tree.comment, "one");
        // White's first move is suicide.
        assert_eq!(lines(&tree), []);
        assert_eq!(
            tree.notices,
            ["1 line is cut early: the next move is illegal under positional superko without suicide."]
        );
        let other = read("(;SZ[3]AW[aa];B[ab];C[more];B[ba]C[takes])").expect("a game");
        assert_eq!(other.nodes[0].comment, "more");
        assert_eq!((&other.nodes[1].captured, &*other.nodes[1].comment), (&vec!["A3".to_owned()], "takes"));
    }

    #[test]
    fn lines_with_what_cannot_be_played_end_there() {
        let tree = tree("(;SZ[3];B[bb](;W[aa])(;W[bb];B[cc])(;AW[cc];W[aa]))(;SZ[9])");
        assert_eq!(lines(&tree), [(None, "B2"), (Some(0), "A3")]);
        assert_eq!(tree.notices.len(), 3, "{:?}", tree.notices);
        assert!(tree.notices[0].contains("2 games"));
        assert_eq!(
            tree.notices[2],
            "1 line is cut early: the next node adds or removes stones (AB, AW, AE), which is read only before the first move."
        );
    }

    #[test]
    fn variations_with_stones_of_their_own_before_the_first_move_end_there() {
        let cut = tree("(;SZ[9](;AB[cc];AW[gc];W[dd])(;AB[gg];B[ee]))");
        assert_eq!(lines(&cut), [(None, "D6")]);
        assert_eq!(cut.game.initial_stones.len(), 2);
        assert!(cut.notices[0].starts_with("1 line is cut early: the next node adds"), "{:?}", cut.notices);
        assert_eq!(lines(&tree("(;SZ[9]AB[cc](;W[dd])(;W[ee]))")), [(None, "D6"), (None, "E5")]);
    }

    #[test]
    fn first_game_is_read_before_a_broken_one() {
        let tree = tree("(;SZ[9];B[aa])\n(;SZ[9];B[bb");
        assert_eq!(lines(&tree), [(None, "A9")]);
        assert!(tree.notices[0].starts_with("What follows the first game is not read: line 2"), "{:?}", tree.notices);
    }

    #[test]
    fn handicap_without_stones_is_noticed() {
        let notices = |sgf: &str| tree(sgf).notices;
        let expected = "The file says HA[4], but not where the stones are; the board has none of them.";
        assert_eq!(notices("(;SZ[9]HA[4];W[ee])"), [expected]);
        assert_eq!(notices("(;SZ[9]HA[2]AB[cc][gg];W[ee])"), [""; 0]);
    }

    #[test]
    fn large_and_broken_files_are_refused_with_the_reason() {
        let many = |nodes: usize| format!("(;SZ[9]{})", ";".repeat(nodes - 1));
        assert!(read(&many(MOST_NODES)).is_ok());
        assert!(read(&many(MOST_NODES + 1)).expect_err("too many").contains("has 10001 nodes"));
        assert!(read(&many(100_000)).expect_err("too many").contains("has 100000 nodes"));
        assert!(read("hello").expect_err("no game").contains("there is no game"));
        assert!(read("(;SZ[25])").expect_err("too large").contains("from 2 to 19"));
        let deep = format!("(;SZ[2]{})", ";B[];W[]".repeat(MOST_MOVES / 2 + 1));
        let deep = tree(&deep);
        assert_eq!(deep.nodes.len(), MOST_MOVES);
        assert!(deep.notices[0].contains("only 2000 moves"));
    }
}
