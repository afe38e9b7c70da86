//! Games of a run: searched by their players, result, length, end, opening and more.

use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use facts::openings;
use facts::search::{Found, FoundGames, GamesFile, Kind, Search, search};
use go::{Move, Size};
use maud::{Markup, html};
use page::number::whole;
use record::{EndReason, GameOutline, Outcome};
use serde::Deserialize;

use crate::error::Page;
use crate::query::Query;
use crate::view::Section;
use crate::{App, PageError};

/// Games of a page.
const MOST: usize = 100;
/// Games of a file that is downloaded: of 19x19 they take 60 MB while they are packed.
pub(crate) const MOST_OF_FILE: usize = 10_000;
/// A page is shown after this time and a file of games, whether it is full or not.
const PATIENCE: Duration = Duration::from_millis(700);
/// Characters of a query's text.
const LONGEST: usize = 100;

/// What the form sends.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    kind: String,
    model: String,
    player: String,
    result: String,
    end: String,
    least: String,
    most: String,
    calibration: String,
    threshold: String,
    opening: String,
    /// Where the search continues: a file, and rows of it.
    after: String,
    rows: String,
}

impl Wanted {
    /// What is searched for on boards of a size.
    pub(crate) fn search(&self, size: Size) -> Result<Search, PageError> {
        let number = |text: &str, what: &str| match text.trim() {
            "" => Ok(None),
            text => {
                text.parse::<u32>().map(Some).map_err(|_| PageError::Bad(format!("{what} \"{text}\" is no number")))
            }
        };
        let moves = self.opening.split([' ', ',']).filter(|text| !text.is_empty()).take(GameOutline::OPENING);
        let opening = moves.map(|text| {
            let bad = || {
                PageError::Bad(format!(
                    "opening: \"{text}\" is no move on {size}×{size}, as {} is",
                    if size.side() > 4 { "C3" } else { "A1" }
                ))
            };
            Move::from_gtp(size, text).ok_or_else(bad)
        });
        Ok(Search {
            kind: if self.kind == "match" { Kind::Match } else { Kind::SelfPlay },
            model: number(&self.model, "model")?,
            player: self.player.trim().chars().take(LONGEST).collect(),
            outcome: match self.result.as_str() {
                "black" => Some(Outcome::Black),
                "white" => Some(Outcome::White),
                "draw" => Some(Outcome::Draw),
                _ => None,
            },
            end: self.end.parse::<EndReason>().ok(),
            moves: number(&self.least, "moves")?.unwrap_or(0)..=number(&self.most, "moves")?.unwrap_or(u32::MAX),
            calibration: yes_or_no(&self.calibration),
            reached_threshold: yes_or_no(&self.threshold),
            opening: opening.collect::<Result<_, _>>()?,
        })
    }

    /// Where the search continues.
    pub(crate) fn from(&self) -> Option<(GamesFile, usize)> {
        let place = GamesFile::parse(&self.after)?;
        Some((place, self.rows.parse().unwrap_or(usize::MAX)))
    }

    /// The same search as an address.
    pub(crate) fn address(&self) -> String {
        let fields = [
            ("kind", &self.kind),
            ("model", &self.model),
            ("player", &self.player),
            ("result", &self.result),
            ("end", &self.end),
            ("least", &self.least),
            ("most", &self.most),
            ("calibration", &self.calibration),
            ("threshold", &self.threshold),
            ("opening", &self.opening),
        ];
        let given = fields.iter().filter(|(_, value)| !value.is_empty());
        given.map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("&")
    }
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// A value in an address (RFC 3986).
pub(crate) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The page.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>, Query(query): Query<Wanted>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |app| {
        let run = &snapshot.run;
        let wanted = query.search(snapshot.facts.config.game.board())?;
        let (begin, from) = (Instant::now(), query.from());
        let found = search(run, &wanted, from.as_ref(), MOST, &|| begin.elapsed() < PATIENCE)?;
        let mut view = app.view(format!("Games of {}", run.name()), Section::Runs).of_run(run.name(), "games");
        // What is new comes first, and the pages after the first stay as they are.
        if from.is_none() {
            view = view.live(snapshot.events_for(begin.elapsed()));
        }
        Ok(view.page(&content(run.name().as_str(), &query, &found)))
    })
    .await
}

fn content(run: &str, query: &Wanted, found: &FoundGames) -> Markup {
    let address = query.address();
    html! {
        h1 { "Games of " (run) }
        (form(run, query))
        section #found {
            p.quiet {
                (found.games.len()) " of " (whole(found.searched as f64)) " searched games, newest first. "
                @if !found.games.is_empty() {
                    "Download all matching games: " a href=(format!("/runs/{run}/games.zip?{address}")) { "SGF (zip)" } ", "
                    a href=(format!("/runs/{run}/games.parquet?{address}")) { "Parquet" }
                    ", at most " (whole(MOST_OF_FILE as f64)) "."
                }
            }
            @if found.games.is_empty() { p.empty { "No matching game in the searched files." } } @else { (table(run, &found.games)) }
            @if let Some((place, rows)) = &found.next {
                nav.pages aria-label="Pages of the search" {
                    a rel="next" href=(format!("?{address}&after={}&rows={rows}", escaped(&place.to_string()))) { "Search older games" }
                }
            }
        }
    }
}

fn choice(label: &str, name: &str, chosen: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        label { (label) select name=(name) { @for (value, text) in options { option value=(value) selected[*value == chosen] { (text) } } } }
    }
}

fn form(run: &str, query: &Wanted) -> Markup {
    html! {
        form.line role="search" {
            (choice("Games of", "kind", &query.kind, &[("", "self-play"), ("match", "matches")]))
            label { "Model" input type="text" inputmode="numeric" name="model" value=(query.model) size="5"; }
            label { "Player" input type="text" name="player" value=(query.player) size="12"; }
            (choice("Winner", "result", &query.result, &[("", "any"), ("black", "Black"), ("white", "White"), ("draw", "none")]))
            (choice("End", "end", &query.end, &[("", "any"), ("passes", "two passes"), ("pass-alive", "all pass-alive"), ("resignation", "resignation"), ("move-limit", "move limit"), ("forfeit", "forfeit")]))
            label { "Moves from" input type="text" inputmode="numeric" name="least" value=(query.least) size="4"; }
            label { "to" input type="text" inputmode="numeric" name="most" value=(query.most) size="4"; }
            (choice("Calibration", "calibration", &query.calibration, &[("", "any"), ("yes", "yes"), ("no", "no")]))
            (choice("Resign threshold", "threshold", &query.threshold, &[("", "any"), ("yes", "reached"), ("no", "not reached")]))
            label { "Opening, in any symmetry" input type="text" name="opening" value=(query.opening) placeholder="C3 E5" size="14"; }
            button { "Search" }
        }
        p.quiet {
            "A player is a whole name, with or without the settings after +: " code { (run) "-1" } " finds " code { (run) "-1+visits=100" }
            " and not " code { (run) "-10" } ". A model finds the games that it played; in matches with either colour and any settings."
        }
    }
}

fn table(run: &str, games: &[Found]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th.text scope="col" { "Game" } th.text scope="col" { "Black" } th.text scope="col" { "White" } th.text scope="col" { "Result" }
                    th.text scope="col" { "End" } th scope="col" { "Moves" } th.text scope="col" { "Opening" } th.text scope="col" { "Kind" }
                } }
                tbody {
                    @for game in games {
                        @let summary = &game.outline.summary;
                        @let id = summary.id.to_string();
                        tr {
                            th.text scope="row" { a data-game href=(format!("/runs/{run}/{}/{}", game.file, game.row)) { code { (id[..8]) } } }
                            td.text { (summary.black) }
                            td.text { (summary.white) }
                            td.text { (summary.outcome.sgf_result(summary.score, summary.end)) }
                            td.text { (summary.end.as_str()) }
                            td { (game.outline.moves) }
                            td.text { code { (openings::text(game.outline.size, &game.outline.opening[..game.outline.opening.len().min(4)])) } }
                            td.text.quiet {
                                @if summary.calibration { "calibration" }
                                @if summary.would_resign_turn.is_some() && summary.calibration { ", would resign" }
                                @if summary.holdout { " validation" }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic;
    use store::{FileRef, Stem, Store};

    use super::*;
    use crate::assets::text;

    #[test]
    fn games_are_marked_for_the_page_that_shows_self_play() {
        let (size, run) = (Size::new(5).unwrap(), Store::in_memory().unwrap().run(&"r".parse().unwrap()));
        let file = FileRef { model: 1, stem: Stem::new("w", 1).unwrap() };
        run.games().publish_as(&file, &[synthetic::game("r-1", "w", 0, size, 8)]).unwrap();
        let found = search(&run, &Wanted::default().search(size).unwrap(), None, MOST, &|| true).unwrap();
        let page = table("r", &found.games).into_string();
        assert!(page.contains(&format!("<a data-game href=\"/runs/r/{}/0\">", found.games[0].file)), "{page}");
        assert!(text("watch.js").contains("querySelectorAll('[data-game]')"));
    }

    #[test]
    fn query_is_checked_and_kept() {
        let size = Size::new(9).unwrap();
        let query = Wanted {
            opening: "C3 e5".to_owned(),
            result: "black".to_owned(),
            least: "10".to_owned(),
            ..Wanted::default()
        };
        let found = query.search(size).unwrap();
        assert_eq!((found.opening.len(), found.outcome, found.moves), (2, Some(Outcome::Black), 10..=u32::MAX));
        assert_eq!(query.address(), "result=black&least=10&opening=C3%20e5");
        for bad in [
            Wanted { opening: "Z99".to_owned(), ..Wanted::default() },
            Wanted { model: "x".to_owned(), ..Wanted::default() },
        ] {
            assert!(matches!(bad.search(size), Err(PageError::Bad(_))));
        }
    }

    #[test]
    fn addresses_are_escaped() {
        assert_eq!(escaped("a b&c=\"<é"), "a%20b%26c%3D%22%3C%C3%A9");
    }
}
