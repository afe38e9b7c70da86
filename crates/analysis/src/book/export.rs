//! A book for editors, tables and pages.

use std::fmt::Write;

use go::sgf::point_to_sgf;
use go::{Color, Move, Size};
use serde_json::{Value, json};

use super::{BookHeader, Graph, Spot};
use crate::report::letter;

/// A move of a position of a book, for a table.
#[derive(Clone, Debug, PartialEq)]
pub struct BookRow {
    /// The position.
    pub key: String,
    /// The cheapest line to it, as GTP writes moves.
    pub line: String,
    /// The player to move.
    pub to_move: String,
    /// The move; empty for a position without moves.
    pub r#move: String,
    /// The position after the move; empty where it is not in the book.
    pub next: String,
    /// The network's probability of the move.
    pub prior: f32,
    /// Visits of the move in the search of the position.
    pub visits: u32,
    /// Their mean value for Black.
    pub value: f32,
    /// Minimax value for Black.
    pub minimax: f32,
}

/// A row for each move of each position.
pub fn book_rows(graph: &Graph) -> Vec<BookRow> {
    let size = graph.size();
    let of_spot = |spot: &Spot| {
        let row = |edge: &super::Edge| BookRow {
            key: spot.entry.key.to_string(),
            line: line(size, spot),
            to_move: spot.entry.to_move.clone(),
            r#move: edge.mv.to_gtp(size),
            next: edge.child.map(|_| edge.key.to_string()).unwrap_or_default(),
            prior: edge.prior,
            visits: edge.visits,
            value: edge.value,
            minimax: spot.bounds.value as f32,
        };
        spot.edges.iter().map(row).collect::<Vec<_>>()
    };
    graph.spots().iter().flat_map(of_spot).collect()
}

fn line(size: Size, spot: &Spot) -> String {
    let moves = spot.line.iter().map(|mv| mv.to_gtp(size));
    moves.collect::<Vec<_>>().join(" ")
}

/// One object with all positions, for pages. `to` is the place of a position in the list.
pub fn book_json(header: &BookHeader, graph: &Graph) -> Value {
    let size = graph.size();
    let position = |spot: &Spot| {
        let moves = spot.edges.iter().map(|edge| {
            json!({
                "move": edge.mv.to_gtp(size), "prior": edge.prior, "visits": edge.visits, "value": edge.value,
                "to": edge.child,
                // A position that several lines reach is turned as the cheapest one has it.
                "sameTurn": edge.child.is_some_and(|child| is_continuation(spot, &graph.spots()[child], edge.mv)),
            })
        });
        json!({
            "key": spot.entry.key, "line": line(size, spot), "toMove": spot.entry.to_move, "visits": spot.entry.visits,
            "value": spot.entry.value, "minimax": spot.bounds.value, "low": spot.bounds.low, "high": spot.bounds.high,
            "cost": spot.cost, "best": spot.best().map(|best| best.mv.to_gtp(size)), "moves": moves.collect::<Vec<_>>(),
        })
    };
    json!({ "book": header, "positions": graph.spots().iter().map(position).collect::<Vec<_>>() })
}

/// Whether a position's line is that of another and one more move.
fn is_continuation(from: &Spot, to: &Spot, mv: Move) -> bool {
    to.line.split_last().is_some_and(|(last, before)| *last == mv && before == from.line)
}

/// The book as a tree: each position once, on its cheapest line, the best moves first. A comment names the best move,
/// since the position after it may stand on another line.
pub fn book_sgf(header: &BookHeader, graph: &Graph) -> String {
    let size = graph.size();
    let mut out = format!("(;GM[1]FF[4]CA[UTF-8]AP[Tengen]SZ[{}]KM[{}]", size.side(), header.komi);
    let spots = graph.spots();
    if let Some(root) = spots.first() {
        comment(&mut out, size, root);
    }
    // A stack of pending output: a position with its move, or the end of a variation.
    let mut open: Vec<Option<usize>> = children(graph, 0);
    while let Some(next) = open.pop() {
        let Some(place) = next else {
            out.push(')');
            continue;
        };
        let spot = &spots[place];
        let Some(mv) = spot.line.last() else { continue };
        // Black begins.
        let color = if spot.line.len() % 2 == 1 { Color::Black } else { Color::White };
        let point = mv.point().map(|point| point_to_sgf(size, point)).unwrap_or_default();
        // A string takes all text.
        let _ = write!(out, "\n(;{}[{point}]", letter(color));
        comment(&mut out, size, spot);
        open.push(None);
        open.extend(children(graph, place));
    }
    out + ")\n"
}

fn comment(out: &mut String, size: Size, spot: &Spot) {
    let percent = |value: f64| 50.0 * (1.0 + value);
    let (low, value, high) = (percent(spot.bounds.low), percent(spot.bounds.value), percent(spot.bounds.high));
    let searched = percent(f64::from(spot.entry.value));
    let _ = write!(
        out,
        "SBKV[{value:.2}]C[Black wins {value:.1} % ({low:.1} to {high:.1} %)\nsearch: {searched:.1} %, {} visits",
        spot.entry.visits
    );
    // It is the first variation, unless the position after it stands on a cheaper line.
    if let Some(best) = spot.best() {
        let _ = write!(out, "\nbest: {}", best.mv.to_gtp(size));
    }
    out.push(']');
}

/// The positions that continue a line, the best last.
fn children(graph: &Graph, place: usize) -> Vec<Option<usize>> {
    let Some(spot) = graph.spots().get(place) else { return Vec::new() };
    let continues = |edge: &super::Edge| {
        edge.child.filter(|child| is_continuation(spot, &graph.spots()[*child], edge.mv)).map(Some)
    };
    spot.edges.iter().rev().filter_map(continues).collect()
}
