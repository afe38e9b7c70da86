//! Openings over the models of a run: which first moves, and what follows them.

use std::collections::BTreeMap;
use std::time::Instant;

use axum::extract::{Path, State};
use facts::board;
use facts::corners::{self, CornerMove, Corners};
use facts::openings::{Openings, canonical, text};
use go::{Game, Move, Size};
use maud::{Markup, html};
use page::number::{counted, percent, whole};
use page::{Axis, DataLinks, Format, Plot, Point, Series};
use serde::Deserialize;
use store::Run;

use crate::config_page::configuration;
use crate::error::Page;
use crate::games_page::escaped;
use crate::plots::format_of;
use crate::query::Query;
use crate::view::Section;
use crate::{App, PageError};

/// Models whose games are counted, evenly from the first to the newest.
const MODELS: usize = 24;
/// Games of a model from which no further file is counted: the share of a move is within 5 % with that.
const GAMES: u64 = 400;
/// First moves with a line of their own in the plot.
const LINES: usize = 6;
/// Moves in the table.
const ROWS: usize = 20;

/// What is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    model: String,
    line: String,
}

/// The page.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>, Query(shown): Query<Shown>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |app| {
        let begin = Instant::now();
        let (run, size) = (&snapshot.run, snapshot.facts.config.game.board());
        let counted = app.openings(run, &chosen(&run.games().models()?), GAMES)?;
        let content = content(run, size, &counted, &shown)?;
        let view = app.view(format!("Openings of {}", run.name()), Section::Runs).of_run(run.name(), "openings");
        Ok(view.live(snapshot.events_for(begin.elapsed())).page(&content))
    })
    .await
}

/// The data of a plot: `/runs/{run}/openings/first-moves.json`, `corner-moves.csv` and the like.
pub(crate) async fn data(State(app): State<App>, Path((run, file)): Path<(String, String)>) -> Page {
    app.page(move |app| {
        let run = app.run(&run)?;
        let size = configuration(&run)?.game.board();
        let counted = app.openings(&run, &chosen(&run.games().models()?), GAMES)?;
        let (name, format) = format_of(&file)?;
        let plot = [shares(size, &counted), corner_shares(&counted)].into_iter().find(|plot| plot.id == name);
        let absent = || PageError::NotFound(format!("plot \"{name}\"; there are first-moves, corner-moves"));
        Ok(format.response(&plot.ok_or_else(absent)?, &format!("{}-{name}", run.name())))
    })
    .await
}

fn links(run: &Run, plot: &Plot) -> DataLinks {
    DataLinks::of(|ending| format!("/runs/{}/openings/{}.{ending}", run.name(), plot.id))
}

/// At most so many models: the first, then every second, fourth or eighth and so on, and the newest. So a new model
/// adds one to those whose games were counted, and takes the place of the newest.
fn chosen(models: &[u32]) -> Vec<u32> {
    let Some(newest) = models.len().checked_sub(1) else { return Vec::new() };
    let step = (0..).map(|power| 1 << power).find(|step| newest.div_ceil(*step) < MODELS).unwrap_or(1);
    (0..newest).step_by(step).chain([newest]).map(|place| models[place]).collect()
}

type Counted = BTreeMap<u32, std::sync::Arc<Openings>>;

fn content(run: &Run, size: Size, counted: &Counted, shown: &Shown) -> Result<Markup, PageError> {
    let newest = counted.last_key_value().map(|(&model, _)| model);
    let model = shown.model.parse().ok().filter(|model| counted.contains_key(model)).or(newest);
    let line = line(size, &shown.line)?;
    let address = |model: u32, line: &[u16]| format!("?model={model}&line={}#tree", escaped(&text(size, line)));
    Ok(html! {
        h1 { "Openings of " (run.name()) }
        // A script replaces parts, so all of them are there from the beginning.
        @if counted.is_empty() {
            section #moves { p.empty { "No games yet." } }
            section #tree hidden {}
            section #corners hidden {}
        }
        @if let Some((model, openings)) = model.and_then(|model| Some((model, counted.get(&model)?))) {
            section #moves { h2 { "First moves" } ({ let plot = shares(size, counted); plot.figure(&links(run, &plot)) }) }
            section #tree {
                h2 { "Tree" }
                p.choices { span { "Games of model " @for &other in counted.keys() { " " a href=(address(other, &line)) aria-current=[(other == model).then_some("true")] { (other) } } } }
                p {
                    a href=(address(model, &[])) { "start" }
                    @for length in 1..=line.len() { " → " a href=(address(model, &line[..length])) { (text(size, &line[length - 1..length])) } }
                }
                div.replay {
                    div { (board(&position(size, &line), line.last().and_then(|&mv| Move::from_index(size, mv.into())))) }
                    (next(size, openings, &line, &|moves| address(model, moves)))
                }
            }
            @if size.side() >= Corners::SMALLEST { (corner_section(run, model, counted, &openings.corners)) }
        }
    })
}

/// What is played in corners: by all models as a plot, by one as a table.
fn corner_section(run: &Run, model: u32, counted: &Counted, corners: &Corners) -> Markup {
    let (first, plot) = (corners.after(&[]), corner_shares(counted));
    let share = |part: u64, of: u64| percent(part as f64 / of.max(1) as f64, 1);
    html! {
        section #corners {
            h2 { "Corners" }
            (plot.figure(&links(run, &plot)))
            p.quiet {
                "Moves in a corner of games of model " (model) ", by the lines from its edges, turned and mirrored into one. "
                "Tenuki: the opponent played elsewhere."
            }
            div.scroll tabindex="0" {
                table {
                    thead { tr { th.text scope="col" { "First move" } th scope="col" { "Corners" } th scope="col" { "Share" } th.text scope="col" { "Usual sequence" } th scope="col" { "Of these" } } }
                    tbody {
                        @for &(line, games) in first.iter().take(LINES) {
                            @let (usual, found) = corners.usual(line);
                            tr {
                                th.text scope="row" { (corners::text(line)) }
                                td { (whole(games as f64)) }
                                td { (share(games, corners.corners)) }
                                td.text { (corners::text(usual)) }
                                td { (share(found, games)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The share of the most frequent first moves in corners, by model.
fn corner_shares(counted: &Counted) -> Plot {
    let mut totals: BTreeMap<&[CornerMove], u64> = BTreeMap::new();
    for (line, corners) in counted.values().flat_map(|openings| openings.corners.after(&[])) {
        *totals.entry(line).or_default() += corners;
    }
    let mut most: Vec<_> = totals.into_iter().collect();
    most.sort_by_key(|(_, corners)| std::cmp::Reverse(*corners));
    let points = |line: &[CornerMove]| {
        let played = counted.iter().filter(|(_, openings)| openings.corners.corners > 0);
        let point = |(&model, openings): (&u32, &std::sync::Arc<Openings>)| {
            let (corners, all) = (openings.corners.line(line), openings.corners.corners);
            Point::new(model.into(), corners as f64 / all as f64).label(format!("{corners} of {all} corners"))
        };
        played.map(point).collect()
    };
    let series = most.iter().take(LINES);
    let series =
        series.map(|(line, _)| Series { name: corners::text(line), points: points(line), ..Series::default() });
    Plot {
        id: "corner-moves".to_owned(),
        title: "First moves in corners by model".to_owned(),
        x: Axis::new("model; 0 is random"),
        y: Axis::new("share of corners").format(Format::Percent),
        series: series.collect(),
        empty: "No games yet.".to_owned(),
        ..Plot::default()
    }
}

/// The moves of an address, in the form that stands for all symmetric ones.
fn line(size: Size, moves: &str) -> Result<Vec<u16>, PageError> {
    let bad = |text: &str| PageError::Bad(format!("line: \"{text}\" is no move on {size}×{size}"));
    let moves = moves.split_whitespace().take(Openings::DEPTH);
    let moves = moves.map(|text| Move::from_gtp(size, text).map(|mv| mv.index(size) as u16).ok_or_else(|| bad(text)));
    Ok(canonical(size, &moves.collect::<Result<Vec<_>, _>>()?))
}

fn position(size: Size, line: &[u16]) -> Game {
    let mut game = Game::new(size);
    for mv in line.iter().filter_map(|&mv| Move::from_index(size, mv.into())) {
        if game.play(mv).is_err() {
            break;
        }
    }
    game
}

/// The share of the most frequent first moves, by model.
fn shares(size: Size, counted: &Counted) -> Plot {
    let mut totals: BTreeMap<&[u16], u64> = BTreeMap::new();
    for openings in counted.values() {
        for (moves, line) in openings.after(&[]) {
            *totals.entry(moves).or_default() += line.games;
        }
    }
    let mut most: Vec<_> = totals.into_iter().collect();
    most.sort_by_key(|(_, games)| std::cmp::Reverse(*games));
    let series = most.iter().take(LINES).map(|(moves, _)| Series {
        name: text(size, moves),
        points: counted
            .iter()
            .filter(|(_, openings)| openings.games > 0)
            .map(|(&model, openings)| {
                let games = openings.line(moves).games;
                Point::new(model.into(), games as f64 / openings.games as f64)
                    .label(format!("{games} of {} games", openings.games))
            })
            .collect(),
        ..Series::default()
    });
    Plot {
        id: "first-moves".to_owned(),
        title: "First moves by model".to_owned(),
        caption: format!(
            "Share of the games in the newest files of a model, until there are {GAMES}, turned and mirrored into one."
        ),
        x: Axis::new("model; 0 is random"),
        y: Axis::new("share of games").format(Format::Percent),
        series: series.collect(),
        empty: "No games yet.".to_owned(),
        ..Plot::default()
    }
}

fn next(size: Size, openings: &Openings, line: &[u16], address: &dyn Fn(&[u16]) -> String) -> Markup {
    let all = if line.is_empty() { openings.games } else { openings.line(line).games };
    let moves = openings.after(line);
    html! {
        @if moves.is_empty() {
            p.empty { "No game of this model continues the line, or it is longer than " (Openings::DEPTH) " moves." }
        } @else {
            div.scroll tabindex="0" {
                table {
                    thead { tr { th.text scope="col" { "Next move" } th scope="col" { "Games" } th scope="col" { "Share" } th scope="col" { "Score of Black" } } }
                    tbody {
                        @for (moves, found) in moves.iter().take(ROWS) {
                            tr {
                                th.text scope="row" { a href=(address(moves)) { (text(size, &moves[line.len()..])) } }
                                td { (whole(found.games as f64)) }
                                td { (percent(found.games as f64 / all.max(1) as f64, 1)) }
                                td { (percent(found.black_points / found.games as f64, 0)) }
                            }
                        }
                    }
                }
                @if moves.len() > ROWS { p.quiet { (counted(moves.len() - ROWS, "more move", "more moves")) "." } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_model_changes_little_of_what_is_counted() {
        let of = |count: u32| chosen(&(0..count).collect::<Vec<_>>());
        assert_eq!((of(0), of(1), of(2)), (vec![], vec![0], vec![0, 1]));
        assert_eq!(of(24), (0..24).collect::<Vec<_>>());
        assert_eq!(of(26), (0..25).step_by(2).chain([25]).collect::<Vec<_>>());
        let mut before = of(1);
        for count in 2..500 {
            let models = of(count);
            assert!(models.len() <= MODELS && models.is_sorted(), "{models:?}");
            let new = models.iter().filter(|model| !before.contains(model)).count();
            assert!(models.last() == Some(&(count - 1)) && new == 1, "{before:?} {models:?}");
            before = models;
        }
    }
}
