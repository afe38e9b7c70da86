//! A game with its analysis as SGF.
//!
//! | property | program |
//! |---|---|
//! | `C` | all: winrate, its change, best move |
//! | `LB` | all: the best moves of the position as letters |
//! | `BM`, `DO`, `TE` | all: bad, doubtful and best moves |
//! | variations | all: what the best move leads to, beside moves that lose much |
//! | `SBKV`, `HO` | Sabaki: its graph of Black's winrate, and its hotspots |
//! | `LZ` | Lizzie: winrate, visits and candidate moves |
//! | `KT`, `KTV` | KaTrain: the whole analysis |

use std::fmt::Write;

use go::sgf::{Branch, Extra, Record, Turn, point_to_sgf};
use go::{Color, Move};

use crate::katrain;
use crate::report::{MoveInfo, Report};
use crate::review::{Loss, tree_losses};

/// Content of an annotated game.
#[derive(Clone, Debug)]
pub struct Annotation<'a> {
    /// The model, for comments.
    pub model: &'a str,
    /// The reports of the positions, from Black's perspective; the first is that of the position before the first move.
    pub reports: &'a [Option<Report>],
}

/// A move that loses so much of the chance to win is doubtful, and the best move's line is shown beside it.
const DOUBTFUL: f64 = 0.05;
/// A move that loses so much is bad.
const BAD: f64 = 0.15;
/// Hotspots of a game at most.
const HOTSPOTS: usize = 5;
/// Moves of the position that get a letter.
const LETTERS: usize = 5;
/// Moves of a variation.
const VARIATION: usize = 10;

/// Writes a game with its analysis, and beside moves that lose much with the lines of the best.
pub fn annotated(record: &Record, annotation: &Annotation<'_>) -> String {
    let moves = record.line();
    let losses = tree_losses(record.size, &moves, annotation.reports);
    record.to_sgf_with(|nth| {
        let mut extra = properties(record, &moves, annotation, &losses, nth);
        let next = losses.iter().find(|loss| loss.turn == nth);
        let is_bad = next.is_some_and(|loss| loss.loss >= DOUBTFUL && loss.best.is_some());
        if let Some(Some(report)) = annotation.reports.get(nth)
            && is_bad
        {
            extra.variations.extend(variation(record, report));
        }
        extra
    })
}

/// Writes a game with its variations and the analysis of all its positions: the reports are those of the position
/// before the first move, and then of each move. It has no other lines than these, so that it can be read and written
/// again and again.
pub fn annotated_tree(record: &Record, moves: &[Branch], annotation: &Annotation<'_>) -> String {
    let losses = tree_losses(record.size, moves, annotation.reports);
    record.tree_to_sgf(moves, |node| {
        let mut extra = properties(record, moves, annotation, &losses, node);
        let comment = node.checked_sub(1).map_or(&record.comment, |index| &moves[index].turn.comment);
        if comment.ends_with(&extra.comment) {
            // It was read from a file with this analysis.
            extra.comment.clear();
        }
        extra
    })
}

/// What the analysis says of a node.
fn properties(record: &Record, moves: &[Branch], annotation: &Annotation<'_>, losses: &[Loss], node: usize) -> Extra {
    let mut extra = Extra::default();
    if node == 0 {
        extra.properties.push((katrain::VERSION.0, vec![katrain::VERSION.1.to_owned()]));
    }
    let Some(Some(report)) = annotation.reports.get(node) else { return extra };
    let made = losses.iter().position(|loss| loss.turn + 1 == node);
    extra.comment = comment(moves, annotation, report, made.map(|place| &losses[place]));
    extra.properties.extend(judgement(losses, made));
    extra.properties.push(("SBKV", vec![format!("{:.2}", 100.0 * report.winrate())]));
    extra.properties.push(("LB", labels(record, report)));
    extra.properties.push(("LZ", vec![for_lizzie(report)]));
    extra.properties.push((katrain::ANALYSIS, katrain::values(report)));
    extra
}

fn comment(moves: &[Branch], annotation: &Annotation<'_>, report: &Report, made: Option<&Loss>) -> String {
    let mut text = format!("Black wins {:.1} %", 100.0 * report.winrate());
    if let Some(loss) = made {
        let color = moves[loss.turn].turn.color;
        // A string takes all text.
        let _ = write!(text, " ({color} {:+.1} %)", -100.0 * loss.loss + 0.0);
    }
    if let Some(Loss { best: Some(best), .. }) = made {
        let _ = write!(text, "\nBetter: {best}");
    }
    if let Some(best) = report.move_infos.first() {
        let line: Vec<&str> = best.pv.iter().take(VARIATION).map(String::as_str).collect();
        let _ = write!(text, "\nNext: {}", line.join(" "));
    }
    let _ = write!(text, "\n{} visits, {}", report.root_info.visits, annotation.model);
    text
}

/// How the move is judged that led here.
fn judgement(losses: &[Loss], made: Option<usize>) -> Vec<(&'static str, Vec<String>)> {
    let Some(place) = made else { return Vec::new() };
    let loss = &losses[place];
    let mut found = Vec::new();
    if loss.best.is_none() {
        found.push(("TE", vec!["1".to_owned()]));
    } else if loss.loss >= BAD {
        found.push(("BM", vec!["1".to_owned()]));
    } else if loss.loss >= DOUBTFUL {
        found.push(("DO", vec![String::new()]));
    }
    if place < HOTSPOTS && loss.loss >= DOUBTFUL {
        found.push(("HO", vec!["1".to_owned()]));
    }
    found
}

/// Letters on the best moves.
fn labels(record: &Record, report: &Report) -> Vec<String> {
    let points = report.move_infos.iter().filter_map(|info| Move::from_gtp(record.size, &info.r#move)?.point());
    let letters = ('A'..).zip(points).take(LETTERS);
    letters.map(|(letter, point)| format!("{}:{letter}", point_to_sgf(record.size, point))).collect()
}

/// Lizzie's property: the winrate of the last mover in percent, visits, and the moves as Leela Zero writes them, each
/// from the perspective of the player to move.
fn for_lizzie(report: &Report) -> String {
    let black_to_move = report.root_info.current_player == "B";
    let mover = |winrate: f64| if black_to_move { winrate } else { 1.0 - winrate };
    let info = |info: &MoveInfo| {
        let winrate = 10_000.0 * mover(info.outlook.winrate);
        format!("move {} visits {} winrate {winrate:.0} pv {}", info.r#move, info.visits, info.pv.join(" "))
    };
    let moves: Vec<String> = report.move_infos.iter().map(info).collect();
    let winrate = 100.0 * (1.0 - mover(report.winrate()));
    format!("Tengen {winrate:.1} {}\n{}", report.root_info.visits, moves.join(" info "))
}

/// The line of the best move.
fn variation(record: &Record, report: &Report) -> Option<Vec<Turn>> {
    let best = report.move_infos.first()?;
    let mut color = if report.root_info.current_player == "B" { Color::Black } else { Color::White };
    let mut turns = Vec::new();
    for vertex in best.pv.iter().take(VARIATION) {
        turns.push(Turn { color, mv: Move::from_gtp(record.size, vertex)?, comment: String::new() });
        color = color.opponent();
    }
    let winrate = 100.0 * best.outlook.winrate;
    turns.first_mut()?.comment = format!("Better: Black wins {winrate:.1} %, {} visits", best.visits);
    Some(turns)
}

#[cfg(test)]
mod tests {
    use go::sgf::parse;

    use super::*;
    use crate::ReportStyle;
    use crate::report::tests::analysis;
    use crate::review::tests::reports;

    #[test]
    fn nodes_have_what_editors_read_and_bad_moves_a_variation() {
        let record = Record::parse(b"(;SZ[2]C[a game];B[aa]C[old];W[bb];B[])").expect("a game");
        let reports = reports(&[Some(0.5), Some(0.25), Some(0.31), None]);
        let text = annotated(&record, &Annotation { model: "v1-2", reports: &reports });
        let tree = &parse(text.as_bytes()).expect("SGF")[0];
        let nodes: Vec<_> = tree.main_line().collect();
        let value = |nth: usize, name: &str| nodes[nth].value(name).map(go::sgf::Value::text);
        assert_eq!(value(0, "KTV").as_deref(), Some("1.0"));
        assert_eq!(value(0, "SBKV").as_deref(), Some("50.00"));
        assert_eq!(
            value(1, "C").expect("a comment"),
            "old\n\nBlack wins 25.0 % (black -25.0 %)\nBetter: B1\nNext: B1 pass A2\n13 visits, v1-2"
        );
        assert_eq!((value(1, "BM").as_deref(), value(1, "HO").as_deref()), (Some("1"), Some("1")));
        // White played the best move.
        assert_eq!((value(2, "TE").as_deref(), value(2, "DO"), value(2, "BM")), (Some("1"), None, None));
        assert_eq!(value(2, "LB").as_deref(), Some("bb:A"));
        let lizzie =
            "Tengen 25.0 13\nmove B1 visits 9 winrate 3000 pv B1 pass A2 info move pass visits 3 winrate 1000 pv pass";
        assert_eq!(value(1, "LZ").as_deref(), Some(lizzie));
        assert_eq!(nodes[1].values("KT").len(), 3);
        // Beside Black's first move only: White's was the best, and the end is not analysed.
        assert_eq!(nodes.iter().map(|node| tree.children(node).count()).collect::<Vec<_>>(), [2, 1, 1, 0]);
        let better = tree.children(nodes[0]).nth(1).expect("a variation");
        assert_eq!(better.value("C").expect("a comment").text(), "Better: Black wins 70.0 %, 9 visits");
    }

    /// It would be the main line: programs would take it for moves of the game.
    #[test]
    fn no_variation_continues_the_game() {
        let record = Record::parse(b"(;SZ[2];B[aa];W[bb])").expect("a game");
        let reports = reports(&[Some(0.5), Some(0.25), Some(0.31)]);
        let text = annotated(&record, &Annotation { model: "v1-2", reports: &reports });
        let read = Record::parse(text.as_bytes()).expect("a game");
        assert_eq!(read.turns.len(), 2, "{text}");
        assert!(read.turns[1].comment.contains("Next: B1 pass A2"), "{text}");
    }

    /// A candidate move as Lizzie shows it.
    #[derive(Debug, PartialEq)]
    struct Shown {
        coordinate: String,
        visits: u32,
        winrate: f64,
        line: String,
    }

    /// The property as Lizzie reads it (`SGFParser.parse` and `MoveData.fromInfo`): the winrate of the player to move
    /// in percent, visits, and the candidates. The first line has the program, the winrate of the other player and
    /// visits. The second has pairs of a key and a value for each move, of which unknown ones are omitted, and `pv`
    /// with all that follows it.
    fn read_by_lizzie(text: &str) -> (f64, u32, Vec<Shown>) {
        let (first, second) = text.split_once('\n').expect("two lines");
        let [_, winrate, visits] = first.split(' ').collect::<Vec<_>>()[..] else { panic!("{first}") };
        let shown = |info: &str| {
            let (pairs, line) = info.trim().split_once(" pv ").expect("a line of moves");
            let words: Vec<&str> = pairs.split(' ').collect();
            let value = |key: &str| words.chunks_exact(2).find(|pair| pair[0] == key).expect("a key")[1];
            Shown {
                coordinate: value("move").to_owned(),
                visits: value("visits").parse().expect("an integer"),
                winrate: f64::from(value("winrate").parse::<u32>().expect("an integer")) / 100.0,
                line: line.to_owned(),
            }
        };
        let winrate = 100.0 - winrate.parse::<f64>().expect("a number");
        (winrate, visits.parse().expect("an integer"), second.split(" info ").map(shown).collect())
    }

    #[test]
    fn lizzie_reads_winrates_of_the_player_to_move() {
        let shown = |coordinate: &str, visits, winrate, line: &str| Shown {
            coordinate: coordinate.to_owned(),
            visits,
            winrate,
            line: line.to_owned(),
        };
        let moves = ["move R5 visits 38 winrate 5404 prior 1200 pv R5 Q5", "move C3 visits 2 winrate 9 pv C3"];
        let own = format!("Lizzie-0.7 45.5 1500\n{}", moves.join(" info "));
        let moves = vec![shown("R5", 38, 54.04, "R5 Q5"), shown("C3", 2, 0.09, "C3")];
        assert_eq!(read_by_lizzie(&own), (54.5, 1500, moves));
        // Black wins 75 %, and 70 % or 90 % after the moves.
        let mut report = Report::new(&analysis(), &ReportStyle::STANDARD);
        let moves = vec![shown("B1", 9, 30.0, "B1 pass A2"), shown("pass", 3, 10.0, "pass")];
        assert_eq!(read_by_lizzie(&for_lizzie(&report)), (25.0, 13, moves));
        report.root_info.current_player = "B".to_owned();
        let moves = vec![shown("B1", 9, 70.0, "B1 pass A2"), shown("pass", 3, 90.0, "pass")];
        assert_eq!(read_by_lizzie(&for_lizzie(&report)), (75.0, 13, moves));
    }

    #[test]
    fn trees_keep_their_lines_when_they_are_written_again() {
        let mut record = Record::parse(b"(;SZ[2];B[aa])").expect("a game");
        let mut moves = record.line();
        moves.push(Branch {
            parent: None,
            turn: Turn { color: Color::Black, mv: Move::Pass, comment: "mine".to_owned() },
        });
        let reports = reports(&[Some(0.5), Some(0.25), Some(0.44)]);
        let annotation = Annotation { model: "v1-2", reports: &reports };
        let text = annotated_tree(&record, &moves, &annotation);
        let trees = parse(text.as_bytes()).expect("SGF");
        let read: Vec<_> = trees[0].children(trees[0].root()).collect();
        let comments: Vec<String> = read.iter().map(|node| node.value("C").expect("a comment").text()).collect();
        assert_eq!(
            comments,
            [
                "Black wins 25.0 % (black -25.0 %)\nBetter: B1\nNext: B1 pass A2\n13 visits, v1-2",
                "mine\n\nBlack wins 44.0 % (black -6.0 %)\nBetter: B1\nNext: B1 pass A2\n13 visits, v1-2",
            ]
        );
        assert!(read[0].value("BM").is_some() && read[1].value("DO").is_some());
        assert_eq!(
            (read[1].values("KT").len(), read[1].value("SBKV").map(go::sgf::Value::text)),
            (3, Some("44.00".to_owned()))
        );
        // What was read is written as it was.
        record.comment = trees[0].root().value("C").expect("a comment").text();
        moves.iter_mut().zip(comments).for_each(|(one, comment)| one.turn.comment = comment);
        assert_eq!(annotated_tree(&record, &moves, &annotation), text);
    }
}
