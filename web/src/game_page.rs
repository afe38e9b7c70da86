//! A game: its record, the values of its searches, and its positions.

use axum::extract::{Path, State};
use facts::board;
use facts::search::GamesFile;
use go::{Game, Move};
use maud::{Markup, html};
use page::number::counted;
use page::{Axis, DataLinks, Mark, Plot, Point, Series};
use record::GameRecord;
use serde::Deserialize;
use store::Run;

use crate::error::Page;
use crate::games_page::escaped;
use crate::plots::format_of;
use crate::query::Query;
use crate::view::Section;
use crate::{App, PageError, download};

/// Which position is shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Shown {
    #[serde(rename = "move")]
    turn: Option<usize>,
}

/// A game of self-play.
pub(crate) async fn of_selfplay(
    State(app): State<App>,
    Path((run, model, stem, row)): Path<(String, String, String, String)>,
    Query(shown): Query<Shown>,
) -> Page {
    show(app, run, format!("games/{model}/{stem}"), row, shown).await
}

/// A game of a match.
pub(crate) async fn of_match(
    State(app): State<App>,
    Path((run, stem, row)): Path<(String, String, String)>,
    Query(shown): Query<Shown>,
) -> Page {
    show(app, run, format!("matches/{stem}"), row, shown).await
}

/// The values of a game of self-play: `/runs/{run}/games/{model}/{stem}/{row}/values.json`, `.csv` and `.parquet`.
pub(crate) async fn data_of_selfplay(
    State(app): State<App>,
    Path((run, model, stem, row, file)): Path<(String, String, String, String, String)>,
) -> Page {
    data(app, run, format!("games/{model}/{stem}"), row, file).await
}

/// The values of a game of a match.
pub(crate) async fn data_of_match(
    State(app): State<App>,
    Path((run, stem, row, file)): Path<(String, String, String, String)>,
) -> Page {
    data(app, run, format!("matches/{stem}"), row, file).await
}

async fn data(app: App, run: String, place: String, row: String, file: String) -> Page {
    app.page(move |app| {
        let (name, format) = format_of(&file)?;
        if name != "values" {
            return Err(PageError::NotFound(format!("plot \"{name}\" of a game; there is values")));
        }
        let (_, game) = find(&app.run(&run)?, &place, &row)?;
        Ok(format.response(&values(&game), &format!("{}-values", game.id)))
    })
    .await
}

/// A game by its file and its row there, and what kind it is of.
fn find(run: &Run, place: &str, row: &str) -> Result<(GamesFile, GameRecord), PageError> {
    let absent = || PageError::NotFound(format!("game {place}/{row} of run \"{}\"", run.name()));
    let of = GamesFile::parse(place).ok_or_else(absent)?;
    let number: usize = row.parse().map_err(|_| absent())?;
    let game = of.games(run)?.into_iter().nth(number).ok_or_else(absent)?;
    Ok((of, game))
}

async fn show(app: App, run: String, place: String, row: String, shown: Shown) -> Page {
    app.page(move |app| {
        let file = row.strip_suffix(".sgf");
        let number = file.unwrap_or(&row);
        let stored = app.run(&run)?;
        let (of, game) = find(&stored, &place, number)?;
        if file.is_some() {
            let name = format!("{}.sgf", game.id);
            return Ok(download::file(game.to_sgf(), "application/x-go-sgf; charset=utf-8", &name));
        }
        let address = format!("/runs/{run}/{place}/{number}");
        let section = if matches!(of, GamesFile::Match(_)) { "matches" } else { "games" };
        let view = app.view(format!("{} – {}", game.black, game.white), Section::Runs).of_run(stored.name(), section);
        Ok(view.page(&content(&game, &address, &shown, !app.is_read_only())))
    })
    .await
}

fn content(game: &GameRecord, address: &str, shown: &Shown, may_review: bool) -> Markup {
    let turns = game.turns.len();
    let turn = shown.turn.unwrap_or(turns).min(turns);
    let (position, last) = after(game, turn);
    let step = |text: &str, label: &str, to: Option<usize>| {
        html! {
            @match to.filter(|to| *to <= turns && *to != turn) {
                Some(to) => a href=(format!("{address}?move={to}")) aria-label=(label) { (text) },
                None => span.quiet aria-hidden="true" { (text) },
            }
        }
    };
    html! {
        h1 { (game.black) " – " (game.white) ", " (game.outcome.sgf_result(game.score, game.end)) }
        p.quiet {
            (counted(turns, "move", "moves")) ", ended by " (game.end.as_str()) "; komi " (game.komi) ", "
            (counted(game.visits_budget as usize, "visit", "visits")) ". "
            a href=(format!("{address}.sgf")) download { "SGF" }
            @if may_review { " · " a href=(format!("/play/review?sgf={}", escaped(&format!("{address}.sgf")))) { "Review" } }
        }
        div.replay {
            div {
                (board(&position, last))
                nav.pages aria-label="Moves" {
                    (step("|◀", "first position", Some(0)))
                    (step("◀ 10", "ten moves back", Some(turn.saturating_sub(10))))
                    (step("◀", "one move back", turn.checked_sub(1)))
                    span { "move " (turn) " of " (turns) }
                    (step("▶", "next move", Some(turn + 1)))
                    (step("10 ▶", "ten moves on", Some((turn + 10).min(turns))))
                    (step("▶|", "last position", Some(turns)))
                }
            }
            div {
                h2 { "Search" }
                (values(game).figure(&DataLinks::of(|ending| format!("{address}/values.{ending}"))))
                (details(game, turn))
            }
        }
    }
}

pub(crate) fn thousandths(number: f32) -> String {
    format!("{number:.3}").replace('-', "−")
}

/// The position after so many moves, and the last of them.
pub(crate) fn after(game: &GameRecord, turns: usize) -> (Game, Option<Move>) {
    let mut position = Game::new(game.size);
    let mut last = None;
    for turn in game.turns.iter().take(turns) {
        // A record of the store was checked when it was published.
        if position.play(turn.mv).is_err() {
            break;
        }
        last = Some(turn.mv);
    }
    (position, last)
}

fn values(game: &GameRecord) -> Plot {
    let searched = || game.turns.iter().enumerate().filter(|(_, turn)| turn.is_searched());
    let point = |(number, value): (usize, f32)| Point::new(number as f64 + 1.0, value.into());
    let series = |name: &str, of: fn(&record::Turn) -> f32| Series {
        name: name.to_owned(),
        points: searched().map(|(number, turn)| point((number, of(turn)))).collect(),
        ..Series::default()
    };
    Plot {
        id: "values".to_owned(),
        title: "Values for Black".to_owned(),
        x: Axis::new("move"),
        y: Axis::new("value, −1 to 1"),
        series: vec![series("search", |turn| turn.root_value), series("network", |turn| turn.network_value)],
        marks: vec![Mark { name: String::new(), y: 0.0 }],
        empty: "No move was searched.".to_owned(),
        ..Plot::default()
    }
}

fn details(game: &GameRecord, turn: usize) -> Markup {
    let of_turn = turn.checked_sub(1).and_then(|turn| game.turns.get(turn));
    html! {
        table.facts {
            tbody {
                @if let Some(of_turn) = of_turn {
                    tr { th scope="row" { "move " (turn) } td { (of_turn.mv.to_gtp(game.size)) } }
                    @if of_turn.is_searched() {
                        tr { th scope="row" { "value for Black" } td { (thousandths(of_turn.root_value)) " by search, " (thousandths(of_turn.network_value)) " by the network" } }
                        tr { th scope="row" { "entropy of priors" } td { (format!("{:.2} nats", of_turn.prior_entropy)) } }
                    }
                }
                @if game.calibration { tr { th scope="row" { "calibration game" } td { "resignation was disabled" } } }
                @if let Some(threshold) = game.resign_threshold { tr { th scope="row" { "resign threshold" } td { (thousandths(threshold)) } } }
                @if let Some(turn) = game.would_resign_turn { tr { th scope="row" { "below the threshold" } td { "from move " (turn + 1) } } }
                @if let Some(depth) = game.mean_depth { tr { th scope="row" { "mean search depth" } td { (format!("{depth:.1}")) } } }
                tr { th scope="row" { "worker" } td { (game.worker) ", game " (game.index) } }
                tr { th scope="row" { "seed" } td { (game.seed) } }
                tr { th scope="row" { "configuration" } td { code { (game.config_digest) } } }
                tr { th scope="row" { "id" } td { code { (game.id) } } }
            }
        }
    }
}
