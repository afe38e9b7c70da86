//! A position of an opening book: the board, its moves with what they are worth, and the best line.

use std::path::Path;
use std::sync::Arc;

use analysis::FileError;
use analysis::book::{BookFile, BookHeader, Bounds, Edge, Graph, Spot};
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use facts::board;
use go::{Color, Game, Move, Size};
use maud::{Markup, html};
use page::number::{counted, percent, whole};
use serde::Deserialize;

use crate::error::Page;
use crate::games_page::escaped;
use crate::query::Query;
use crate::view::Section;
use crate::{App, PageError};

/// A book that is served, as it was when the server started.
#[derive(Debug)]
pub(crate) struct Book {
    header: BookHeader,
    size: Size,
    graph: Graph,
}

/// What is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    /// The moves from the empty board, as GTP writes them.
    line: String,
}

impl Book {
    /// Reads a book.
    ///
    /// # Errors
    /// The file is no book, or one without the empty board.
    pub(crate) fn read(path: &Path) -> Result<Book, FileError> {
        let (header, entries) = BookFile::read(path)?;
        let size = header.size();
        let graph = Graph::new(size, entries);
        if graph.spots().is_empty() {
            return Err(FileError::NoBook { path: path.to_owned(), differs: ": it has no positions".to_owned() });
        }
        Ok(Book { header, size, graph })
    }

    /// The position after these moves; `None` where a move is none, or leads out of the book.
    fn game(&self, line: &str) -> Option<Game> {
        let mut game = Game::new(self.size);
        self.graph.at(&game)?;
        for text in line.split_whitespace() {
            let mv = Move::from_gtp(self.size, text)?;
            game.play(mv).ok()?;
            self.graph.at(&game)?;
        }
        Some(game)
    }
}

/// The page of a book.
pub(crate) fn routes(book: Book) -> Router<App> {
    let book = Arc::new(book);
    Router::new().route("/book", get(move |State(app): State<App>, Query(shown)| page(app, book, shown)))
}

/// Nothing here reads a file, so it takes no turn of those that do.
async fn page(app: App, book: Arc<Book>, shown: Shown) -> Page {
    let absent = || PageError::NotFound(format!("position after \"{}\" in the book", shown.line));
    let game = book.game(&shown.line).ok_or_else(absent)?;
    let (spot, edges) = book.graph.at(&game).ok_or_else(absent)?;
    Ok(app.view("Opening book", Section::Book).page(&content(&book, &game, spot, &edges)))
}

fn content(book: &Book, game: &Game, spot: &Spot, edges: &[Edge]) -> Markup {
    let (header, size) = (&book.header, book.size);
    let positions = counted(book.graph.spots().len(), "position", "positions");
    let best = book.graph.best_line(game);
    html! {
        h1 { "Opening book" }
        p.quiet { (size.side()) "×" (size.side()) ", komi " (header.komi) ", model " (header.model) ", " (positions) ". All values are for Black." }
        p { (path(size, &[], game.moves(), "start")) }
        div.replay {
            div { (board(game, game.moves().last().copied())) }
            div {
                p { (to_move(game)) " Black wins " b { (share(spot.bounds.value)) } " (" (range(spot.bounds)) ")." }
                p.quiet { (searched(spot)) }
                @if edges.is_empty() {
                    p.empty { "The game is over." }
                } @else {
                    (moves(book, game, edges))
                }
                @if !best.is_empty() { p { "Best line: " (path(size, game.moves(), &best, "")) } }
            }
        }
    }
}

fn searched(spot: &Spot) -> String {
    match spot.entry.visits {
        0 => "The value is that of the end of a game.".to_owned(),
        visits => {
            format!("Its own search: {} with {} visits.", share(spot.entry.value.into()), whole(visits.into()))
        }
    }
}

fn to_move(game: &Game) -> &'static str {
    if game.to_move() == Color::Black { "Black to move." } else { "White to move." }
}

/// Moves after others, each with a link to the position after it.
fn path(size: Size, before: &[Move], moves: &[Move], start: &str) -> Markup {
    let line = [before, moves].concat();
    html! {
        @if !start.is_empty() { a href=(address(size, before)) { (start) } }
        @for (place, mv) in moves.iter().enumerate() {
            @if place > 0 || !start.is_empty() { " → " }
            a href=(address(size, &line[..=before.len() + place])) { (mv.to_gtp(size)) }
        }
    }
}

fn moves(book: &Book, game: &Game, edges: &[Edge]) -> Markup {
    let size = book.size;
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr { th.text scope="col" { "Move" } th scope="col" { "Prior" } th scope="col" { "Visits" } th scope="col" { "Search" } th scope="col" { "Minimax" } th scope="col" { "Bounds" } } }
                tbody {
                    @for edge in edges {
                        @let worth = book.graph.worth(edge, game.to_move());
                        @let line = [game.moves(), &[edge.mv]].concat();
                        tr {
                            th.text scope="row" { @if edge.child.is_some() { a href=(address(size, &line)) { (edge.mv.to_gtp(size)) } } @else { (edge.mv.to_gtp(size)) } }
                            td { (percent(edge.prior.into(), 1)) }
                            td { (whole(edge.visits.into())) }
                            td { (share(edge.value.into())) }
                            td { @if edge.child.is_some() { (share(worth.value)) } @else { "–" } }
                            td { (range(worth)) }
                        }
                    }
                }
            }
        }
        p.quiet { "Best first. A move without a link leads out of the book; its worse bound counts." }
    }
}

fn address(size: Size, line: &[Move]) -> String {
    let moves: Vec<String> = line.iter().map(|mv| mv.to_gtp(size)).collect();
    if moves.is_empty() { "/book".to_owned() } else { format!("/book?line={}", escaped(&moves.join(" "))) }
}

/// A value for Black as the share of games that Black wins.
fn share(value: f64) -> String {
    percent((1.0 + value) / 2.0, 1)
}

fn range(bounds: Bounds) -> String {
    format!("{} to {}", share(bounds.low), share(bounds.high))
}
