//! The models of a run: a table that can be sorted and filtered, and a page for each model.

use std::time::Instant;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use facts::{players_model, sections};
use maud::{Markup, html};
use net::Shape;
use page::number::{counted, short, signed, whole};
use serde::Deserialize;
use serde_json::{Value, json};
use store::RatingRow;

use crate::download::packed_file;
use crate::error::Page;
use crate::exports::{self, FORMATS};
use crate::paging::{pages, place};
use crate::query::Query;
use crate::view::Section;
use crate::watch::Snapshot;
use crate::{App, PageError};

/// Rows of a page of the table.
const ROWS: usize = 100;

/// How the table is filtered and sorted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    sort: String,
    order: String,
    only: String,
    from: String,
    to: String,
    page: usize,
}

/// Columns that the table can be sorted by: names in addresses and on the page.
const COLUMNS: [(&str, &str); 8] = [
    ("number", "Model"),
    ("elo", "Elo"),
    ("matches", "Match games"),
    ("games", "Self-play games"),
    ("positions", "Positions"),
    ("step", "Step"),
    ("hours", "Hours"),
    ("alarms", "Alarms"),
];

/// Filters: names in addresses and on the page.
const FILTERS: [(&str, &str); 5] =
    [("", "all"), ("rated", "rated"), ("unrated", "not rated"), ("alarms", "with alarms"), ("retired", "retired")];

/// A row of the table.
#[derive(Clone, Debug)]
struct Row {
    number: u32,
    name: String,
    rating: Option<RatingRow>,
    games: u64,
    positions: u64,
    step: Option<u64>,
    hours: Option<f64>,
    alarms: usize,
    is_retired: bool,
    size: Option<String>,
}

impl Row {
    fn key(&self, column: &str) -> f64 {
        let missing = f64::NEG_INFINITY;
        match column {
            "elo" => self.rating.as_ref().map_or(missing, |rating| rating.elo),
            "matches" => self.matches().into(),
            "games" => self.games as f64,
            "positions" => self.positions as f64,
            "step" => self.step.map_or(missing, |step| step as f64),
            "hours" => self.hours.unwrap_or(missing),
            "alarms" => self.alarms as f64,
            _ => self.number.into(),
        }
    }

    /// Games of matches.
    fn matches(&self) -> u32 {
        self.rating.as_ref().map_or(0, |rating| rating.games)
    }

    fn passes(&self, options: &Options) -> bool {
        let of = match options.only.as_str() {
            "rated" => self.rating.is_some(),
            "unrated" => self.rating.is_none(),
            "alarms" => self.alarms > 0,
            "retired" => self.is_retired,
            _ => true,
        };
        let bound = |text: &str, default| text.trim().parse().unwrap_or(default);
        of && (bound(&options.from, 0)..=bound(&options.to, u32::MAX)).contains(&self.number)
    }

    fn json(&self) -> Value {
        let of_rating = |of: fn(&RatingRow) -> f64| self.rating.as_ref().map(of);
        json!({
            "model": self.number, "name": self.name,
            "elo": of_rating(|rating| rating.elo), "error": of_rating(|rating| rating.error),
            "above_pool": of_rating(|rating| rating.above_pool),
            "above_pool_error": of_rating(|rating| rating.above_pool_error),
            "match_games": self.matches(), "games": self.games, "positions": self.positions, "step": self.step,
            "hours": self.hours, "alarms": self.alarms, "retired": self.is_retired,
        })
    }
}

fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let Snapshot { facts, strength, .. } = snapshot;
    let newest = facts.newest_model.unwrap_or_default();
    let row = |number: u32| {
        let games = facts.games.get(&number).map(|games| &games.counts);
        let metadata = facts.models.get(&number);
        Row {
            number,
            name: facts.run.model(number).to_string(),
            rating: None,
            games: games.map_or(0, facts::Counts::games),
            positions: games.map_or(0, |games| games.positions),
            step: metadata.map(|metadata| metadata.step),
            hours: strength.effort.get(&number).and_then(|effort| effort.hours),
            alarms: facts.curves.alarms_of(number),
            is_retired: facts.retired.contains(&number),
            size: metadata.map(|metadata| format!("{} × {}", metadata.network.blocks, metadata.network.filters)),
        }
    };
    let mut rows: Vec<Row> = (1..=newest).map(row).collect();
    for player in strength.models() {
        let place = player.model.and_then(|number| rows.get_mut(number.checked_sub(1)? as usize));
        if let Some(row) = place {
            row.rating = Some(player.rating.clone());
        }
    }
    rows
}

fn chosen(snapshot: &Snapshot, options: &Options) -> Vec<Row> {
    let mut rows: Vec<Row> = rows(snapshot).into_iter().filter(|row| row.passes(options)).collect();
    let ascending = options.order == "up";
    rows.sort_by(|one, other| {
        let order = one.key(&options.sort).total_cmp(&other.key(&options.sort));
        if ascending { order } else { order.reverse() }
    });
    rows
}

/// The table.
pub(crate) async fn table(State(app): State<App>, Path(run): Path<String>, Query(options): Query<Options>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |app| {
        let begin = Instant::now();
        let content = content(&snapshot, &chosen(&snapshot, &options), &options);
        let view = app.view(format!("Models of {run}"), Section::Runs).of_run(snapshot.run.name(), "models");
        Ok(view.live(snapshot.events_for(begin.elapsed())).reloaded_if(snapshot.is_incomplete()).page(&content))
    })
    .await
}

/// The table as JSON: all rows that pass the filter.
pub(crate) async fn data(State(app): State<App>, Path(run): Path<String>, Query(options): Query<Options>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |_| Ok(Json(chosen(&snapshot, &options).iter().map(Row::json).collect::<Value>()))).await
}

fn content(snapshot: &Snapshot, rows: &[Row], options: &Options) -> Markup {
    let run = &snapshot.facts.run;
    let address = |sort: &str, order: &str, page: usize| {
        let Options { only, from, to, .. } = options;
        let number = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let only = FILTERS.iter().find(|(name, _)| name == only).map_or("", |(name, _)| name);
        format!("?sort={sort}&order={order}&only={only}&from={}&to={}&page={page}", number(from), number(to))
    };
    let sort = COLUMNS.iter().find(|(name, _)| *name == options.sort).map_or("number", |(name, _)| name);
    let order = if options.order == "up" { "up" } else { "down" };
    html! {
        h1 { "Models of " (run) }
        div #notes { (sections::notes(&snapshot.facts)) }
        form.line role="search" {
            label { "Show" select name="only" { @for (name, text) in FILTERS { option value=(name) selected[name == options.only] { (text) } } } }
            label { "From model" input type="number" name="from" min="0" value=(options.from) size="6"; }
            label { "to model" input type="number" name="to" min="0" value=(options.to) size="6"; }
            input type="hidden" name="sort" value=(sort);
            input type="hidden" name="order" value=(order);
            button { "Filter" }
        }
        section #models {
            p.quiet { (counted(rows.len(), "model", "models")) ". " a href=(format!("/runs/{run}/models.json{}", address(sort, order, 0))) { "JSON" }
                " · " a href=(format!("/runs/{run}/networks")) { "Networks side by side" } }
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        @for (name, text) in COLUMNS {
                            @let next = if name == sort && order == "down" { "up" } else { "down" };
                            th scope="col" class=[(name == "number").then_some("text")] aria-sort=[(name == sort).then_some(if order == "up" { "ascending" } else { "descending" })] {
                                a href=(address(name, next, 0)) { (text) @if name == sort { @if order == "up" { " ↑" } @else { " ↓" } } }
                            }
                        }
                        th scope="col" { "Blocks × filters" }
                    } }
                    tbody { @for row in rows.iter().skip(options.page.saturating_mul(ROWS)).take(ROWS) { (row_of(run.as_str(), row)) } }
                }
            }
            (pages(rows.len(), ROWS, options.page, &|page| address(sort, order, page)))
        }
    }
}

fn row_of(run: &str, row: &Row) -> Markup {
    html! {
        tr {
            th.text scope="row" { a href=(format!("/runs/{run}/models/{}", row.number)) { (row.name) } @if row.is_retired { span.quiet { " retired" } } }
            td { @if let Some(rating) = &row.rating { (signed(rating.elo)) span.quiet { " ± " (whole(rating.margin())) } } @else { "–" } }
            td { (whole(row.matches().into())) }
            td { (whole(row.games as f64)) }
            td { (whole(row.positions as f64)) }
            td { @if let Some(step) = row.step { (whole(step as f64)) } @else { "…" } }
            td { @if let Some(hours) = row.hours { (format!("{hours:.1}")) } @else { "–" } }
            td.bad[row.alarms > 0] { (row.alarms) }
            td { @if let Some(size) = &row.size { (size) } @else { "…" } }
        }
    }
}

/// The page of a model.
pub(crate) async fn page(State(app): State<App>, Path((run, number)): Path<(String, String)>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |app| {
        let begin = Instant::now();
        let number = model_number(&snapshot, &number)?;
        let (metadata, digest) = snapshot.run.models().described(number)?;
        let deleted = snapshot.run.models().weights_are_deleted(number)?;
        let name = metadata.id().to_string();
        let shape = exports::shape(&metadata).map_err(PageError::Failed)?;
        let details = serde_json::to_value(&metadata).map_err(|error| PageError::Failed(error.to_string()))?;
        let content = html! {
            h1 { "Model " (name) }
            p #place { (place(number, snapshot.facts.newest_model.unwrap_or(number), &|other| format!("/runs/{run}/models/{other}"))) }
            section #downloads {
                h2 { "Download" }
                @if deleted { p.quiet { "Its weights were deleted." } } @else { (downloads(&run, number, shape)) }
                p { a href=(format!("/runs/{run}/games?model={number}")) { "Its games" }
                    @if !app.is_read_only() { " · " a href=(format!("/play?model={name}")) { "Play it" } }
                    @if !deleted { " · " a href=(format!("/runs/{run}/models/{number}/network")) { "Its network" } } }
            }
            section #training { h2 { "Training" } (training(&snapshot, number)) }
            section #matches { h2 { "Matches" } (matches(&snapshot, number)) }
            section #metadata {
                h2 { "Metadata" }
                table.facts { tbody { (flat("", &details)) tr { th scope="row" { "weights, SHA-256" } td { code { (digest) } } } } }
            }
        };
        let view = app.view(format!("Model {name}"), Section::Runs).of_run(snapshot.run.name(), "models");
        Ok(view.live(snapshot.events_for(begin.elapsed())).reloaded_if(snapshot.is_incomplete()).page(&content))
    })
    .await
}

/// A number of an address that is that of a model.
pub(crate) fn model_number(snapshot: &Snapshot, text: &str) -> Result<u32, PageError> {
    let newest = snapshot.facts.newest_model.unwrap_or_default();
    let number = text.parse().ok().filter(|number| (1..=newest).contains(number));
    number.ok_or_else(|| PageError::NotFound(format!("model {text} of run \"{}\"", snapshot.facts.run)))
}

fn downloads(run: &str, number: u32, shape: Shape) -> Markup {
    html! {
        ul.downloads {
            @for format in FORMATS.iter().filter(|format| (format.holds)(shape)) {
                li { a href=(format!("/runs/{run}/models/{number}/{}", format.file(run, number))) download { (format.label) } " " span.quiet { (format.purpose) } }
            }
        }
    }
}

/// What the logs say after its last step.
fn training(snapshot: &Snapshot, number: u32) -> Markup {
    let curves = &snapshot.facts.curves;
    let sets: Vec<&str> = curves.sets().collect();
    let last = |set: &str, metric: &str| {
        curves.values(set, metric).filter(|(_, _, line)| line.model == Some(number)).last().map(|(_, value, _)| value)
    };
    let metrics: Vec<&String> =
        curves.metrics().iter().filter(|metric| sets.iter().any(|set| last(set, metric).is_some())).collect();
    let alarms = || curves.alarms.iter().filter(|alarm| alarm.model == number);
    let forgotten = curves.alarms_of(number) - alarms().count();
    html! {
        @if forgotten > 0 { p.quiet { (counted(forgotten, "older alarm is", "older alarms are")) " in the logs." } }
        @if alarms().next().is_some() {
            ul.notes { @for alarm in alarms() { li { b { (alarm.name) } " – " (alarm.text) } } }
        }
        @if metrics.is_empty() { p.empty { "The logs have no lines of this model." } } @else {
            div.scroll tabindex="0" { table {
                thead { tr { th.text scope="col" { "After its last step" } @for set in &sets { th scope="col" { (set) } } } }
                tbody { @for metric in metrics { tr {
                    th.text scope="row" { (metric.replace('_', " ")) }
                    @for set in &sets { td { @if let Some(value) = last(set, metric) { (short(value)) } @else { "–" } } }
                } } }
            } }
        }
    }
}

fn matches(snapshot: &Snapshot, number: u32) -> Markup {
    let run = &snapshot.facts.run;
    let of = |player: &str| players_model(run, player) == Some(number);
    let pairs = sections::pairs(&snapshot.facts, &snapshot.strength);
    let own: Vec<_> = pairs.iter().filter(|pair| of(&pair.one) || of(&pair.other)).collect();
    html! {
        @if own.is_empty() { p.empty { "No matches yet." } } @else { (sections::pairs_table(own.iter().copied().take(ROWS))) }
        @if own.len() > ROWS {
            p.quiet {
                "The " (ROWS) " pairs with most games, of " (whole(own.len() as f64)) ". "
                a href=(format!("/runs/{run}/matches?player={}", run.model(number))) { "All pairs" }
            }
        }
    }
}

/// Nested values as rows with dotted names.
fn flat(prefix: &str, value: &Value) -> Markup {
    html! {
        @match value {
            Value::Object(fields) => {
                @for (name, value) in fields {
                    (flat(&if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") }, value))
                }
            }
            Value::Null => {}
            value => tr { th scope="row" { (prefix) } td { (text_of(value)) } },
        }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A model as a file, in a format that the name of the file states.
pub(crate) async fn download(
    State(app): State<App>,
    Path((run, number, file)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.export(move |_| {
        let number = model_number(&snapshot, &number)?;
        let missing = || PageError::NotFound(format!("file \"{file}\" of model {number}"));
        let format = FORMATS.iter().find(|format| format.file(&run, number) == file).ok_or_else(missing)?;
        let (metadata, weights) = snapshot.run.models().get(number)?;
        if !(format.holds)(exports::shape(&metadata).map_err(PageError::Failed)?) {
            return Err(missing());
        }
        let bytes = (format.write)(weights).map_err(PageError::Failed)?;
        Ok(packed_file(bytes, "application/octet-stream", &file))
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use config::Preset;
    use facts::{Facts, Pool, Reader, Results, Strength};
    use store::Store;

    use super::*;

    #[test]
    fn page_of_a_model_leads_to_pairs_that_it_has_no_rows_for() {
        let run = Store::in_memory().unwrap().run(&"a".parse().unwrap());
        run.create(&Preset::Tiny.config()).unwrap();
        let page = |opponents: usize| {
            let mut pool = Pool::default();
            for opponent in 0..opponents {
                let results = Results { black_won: 1, ..Results::default() };
                pool.pairs.insert((format!("e{opponent}"), "a-80".to_owned()), results);
            }
            let facts = Facts { pool: Arc::new(pool), ..Reader::open(run.clone()).unwrap().facts() };
            let snapshot = Snapshot { version: 1, strength: Strength::of(&facts), facts, run: run.clone() };
            matches(&snapshot, 80).into_string()
        };
        assert!(!page(ROWS).contains("All pairs"));
        let more = page(ROWS + 1);
        assert!(more.contains("The 100 pairs with most games, of 101. ") && more.contains("?player=a-80\""), "{more}");
    }

    fn row() -> Row {
        let name = "a-80".to_owned();
        let (elo, error, above_pool, above_pool_error) = (2851.0, 427.8, 612.5, 22.2);
        let rating =
            RatingRow { player: name.clone(), elo, error, above_pool, above_pool_error, games: 9, points: 4.5 };
        Row {
            number: 80,
            name,
            rating: Some(rating),
            games: 100,
            positions: 5000,
            step: Some(1000),
            hours: Some(1.5),
            alarms: 0,
            is_retired: false,
            size: None,
        }
    }

    #[test]
    fn data_have_the_errors_of_the_store() {
        let json = row().json();
        assert_eq!((&json["elo"], &json["error"]), (&json!(2851.0), &json!(427.8)));
        assert_eq!((&json["above_pool"], &json["above_pool_error"]), (&json!(612.5), &json!(22.2)));
        assert_eq!(json["match_games"], json!(9));
        // The page has the interval of the table of ratings.
        assert!(row_of("a", &row()).into_string().contains("± 44"));
    }
}
