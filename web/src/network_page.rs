//! Weights of networks: of a model, of one against another, and of several side by side.

use axum::extract::{Path, State};
use axum::response::Response;
use config::ModelRef;
use maud::{Markup, html};
use models::{ModelName, Models};
use page::{DataLinks, facts_element};
use serde::Deserialize;
use study::inspect::{self, Inspection};

use crate::models_page::model_number;
use crate::plots::format_of;
use crate::query::Query;
use crate::view::Section;
use crate::watch::Snapshot;
use crate::{App, PageError};

/// Networks side by side: more would not fit into memory and onto a page.
const MOST: u32 = 12;

/// What the network is compared with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    against: String,
}

/// Which models are shown side by side: so many, evenly from one to another.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Range {
    from: String,
    to: String,
    count: String,
}

/// The network of a model.
pub(crate) async fn of_model(
    State(app): State<App>,
    Path((run, number)): Path<(String, String)>,
    Query(options): Query<Options>,
) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.make(move |app| {
        let found = one(app, &snapshot, &number, &options)?;
        let form = html! {
            form.line {
                label { "Against model" input type="number" name="against" min="1" value=(options.against); }
                button { "Compare" }
                a href=(format!("/runs/{run}/models/{number}")) { "Model " (number) }
                a href=(format!("/runs/{run}/networks")) { "Networks side by side" }
            }
        };
        let against = options.against.trim();
        let query =
            if against.is_empty() { String::new() } else { format!("?against={}", number_of("against", against, 0)?) };
        let data = format!("/runs/{run}/models/{number}/network/");
        page(app, &snapshot, &form, &found, &|file| format!("{data}{file}{query}"), None)
    })
    .await
}

/// A table of the network of a model: `/runs/{run}/models/{number}/network/tensors.csv` and the like.
pub(crate) async fn data_of_model(
    State(app): State<App>,
    Path((run, number, file)): Path<(String, String, String)>,
    Query(options): Query<Options>,
) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.make(move |app| {
        let found = one(app, &snapshot, &number, &options)?;
        table(&found, &file, &format!("{run}-{number}"))
    })
    .await
}

/// The networks of several models of a run.
pub(crate) async fn of_run(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(range): Query<Range>,
) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.make(move |app| {
        let numbers = range.numbers(&snapshot)?;
        let found = several(app, &snapshot, &numbers)?;
        // Data of the found models alone would be of other ones: those in between are chosen by the ends.
        let ((first, last), count) = (range.ends(&snapshot)?, range.count()?);
        let field = |text: &str, name: &str, most: u32, value: u32| {
            html! { label { (text) input type="number" name=(name) min="1" max=(most) value=(value); } }
        };
        let newest = snapshot.facts.newest_model.unwrap_or(last);
        let form = html! {
            form.line {
                (field("From model", "from", newest, first))
                (field("To model", "to", newest, last))
                (field("Networks", "count", MOST, count))
                button { "Show" }
            }
            p #single { "Networks of one model:" @for number in &numbers {
                " " a href=(format!("/runs/{run}/models/{number}/network")) { (number) }
            } }
        };
        let address = |file: &str| format!("/runs/{run}/networks/{file}?from={first}&to={last}&count={count}");
        // Without an end the page follows the run to its newest model.
        let events = range.to.trim().is_empty().then(|| snapshot.model_events());
        page(app, &snapshot, &form, &found, &address, events)
    })
    .await
}

/// A table of several networks: `/runs/{run}/networks/histograms.csv` and the like.
pub(crate) async fn data_of_run(
    State(app): State<App>,
    Path((run, file)): Path<(String, String)>,
    Query(range): Query<Range>,
) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.make(move |app| {
        let found = several(app, &snapshot, &range.numbers(&snapshot)?)?;
        table(&found, &file, &format!("{run}-networks"))
    })
    .await
}

/// A number of an address, or a default for none.
fn number_of(name: &str, text: &str, default: u32) -> Result<u32, PageError> {
    match text.trim() {
        "" => Ok(default),
        text => text.parse().map_err(|_| PageError::Bad(format!("{name}={text}: a whole number is expected"))),
    }
}

impl Range {
    fn count(&self) -> Result<u32, PageError> {
        Ok(number_of("count", &self.count, MOST)?.clamp(1, MOST))
    }

    /// The first and the last model, whose weights may be deleted.
    fn ends(&self, snapshot: &Snapshot) -> Result<(u32, u32), PageError> {
        let newest = snapshot.facts.newest_model.filter(|newest| *newest > 0).ok_or_else(|| absent(snapshot))?;
        let first = number_of("from", &self.from, 1)?.clamp(1, newest);
        let last = number_of("to", &self.to, newest)?.clamp(first, newest);
        Ok((first, last))
    }

    /// The models, without those whose weights were deleted.
    fn numbers(&self, snapshot: &Snapshot) -> Result<Vec<u32>, PageError> {
        let (first, last) = self.ends(snapshot)?;
        let mut numbers = Vec::new();
        for number in evenly(first, last, self.count()?) {
            if !snapshot.run.models().weights_are_deleted(number)? {
                numbers.push(number);
            }
        }
        if numbers.is_empty() { Err(absent(snapshot)) } else { Ok(numbers) }
    }
}

fn absent(snapshot: &Snapshot) -> PageError {
    PageError::NotFound(format!("weights of a model of run \"{}\"", snapshot.facts.run))
}

/// At most so many numbers, evenly from the first to the last.
fn evenly(first: u32, last: u32, count: u32) -> impl Iterator<Item = u32> {
    let count = count.min(last - first + 1);
    (0..count).map(move |place| if place + 1 == count { last } else { first + place * (last - first) / (count - 1) })
}

/// A model of a run.
fn model(snapshot: &Snapshot, number: u32) -> ModelName {
    ModelName::Model(ModelRef::Exact(snapshot.run.name().model(number)))
}

fn one(app: &App, snapshot: &Snapshot, number: &str, options: &Options) -> Result<Inspection, PageError> {
    let own = model(snapshot, model_number(snapshot, number)?);
    let against = match options.against.trim() {
        "" => None,
        other => Some(model(snapshot, model_number(snapshot, other)?)),
    };
    inspect::network(&Models::new(app.store().clone()), &own, against.as_ref()).map_err(failed)
}

fn several(app: &App, snapshot: &Snapshot, numbers: &[u32]) -> Result<Inspection, PageError> {
    let models: Vec<ModelName> = numbers.iter().map(|number| model(snapshot, *number)).collect();
    inspect::networks(&Models::new(app.store().clone()), &models).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> PageError {
    PageError::Failed(format!("{error:#}"))
}

/// A page of networks, which changes with these events.
fn page(
    app: &App,
    snapshot: &Snapshot,
    form: &Markup,
    found: &Inspection,
    address: &dyn Fn(&str) -> String,
    events: Option<String>,
) -> Result<Response, PageError> {
    let facts = found.facts().map_err(failed)?;
    let links = |name: &str| {
        let DataLinks { links, .. } = DataLinks::of(|ending| address(&format!("{name}.{ending}")));
        html! { p.numbers {
            span.quiet { "Data of " (name) ":" }
            @for (format, address) in &links {
                a href=(address) download aria-label=(format!("{name} as {format}")) { (format) }
            }
        } }
    };
    let content = html! {
        (form)
        (found.body(&links))
        (facts_element(&facts))
    };
    let mut view = app.view(found.title(), Section::Runs).of_run(snapshot.run.name(), "models");
    if let Some(events) = events {
        view = view.live(events);
    }
    Ok(view.style("network.css").script("network.js").page(&content))
}

fn table(found: &Inspection, file: &str, named: &str) -> Result<Response, PageError> {
    let (name, format) = format_of(file)?;
    let absent = || PageError::NotFound(format!("table \"{name}\"; there are {}", found.tables().join(", ")));
    let table = found.table(name).ok_or_else(absent)?;
    Ok(format.table(&table, &format!("{named}-{name}")))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use config::Preset;
    use facts::{Reader, Strength};
    use store::{ModelMetadata, Store};

    use super::*;

    /// Of a run with four models, of which the first has no weights any more.
    fn snapshot() -> Snapshot {
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        let config = Preset::Tiny.config();
        run.create(&config).unwrap();
        for number in 1..=4 {
            let metadata = ModelMetadata::new(run.name(), number, 10, &config);
            run.models().publish(&metadata, Bytes::from_static(b"weights")).unwrap();
        }
        run.models().delete_weights(1).unwrap();
        let mut reader = Reader::open(run.clone()).unwrap();
        reader.refresh().unwrap();
        let facts = reader.facts();
        Snapshot { version: 1, strength: Strength::of(&facts), facts, run }
    }

    #[test]
    fn data_has_the_models_of_its_page_where_weights_were_deleted() {
        let snapshot = snapshot();
        let range = |from: &str, to: &str| Range { from: from.to_owned(), to: to.to_owned(), count: "3".to_owned() };
        let shown = range("", "");
        let numbers = shown.numbers(&snapshot).unwrap();
        assert_eq!(numbers, [2, 4]);
        let (first, last) = shown.ends(&snapshot).unwrap();
        assert_eq!(range(&first.to_string(), &last.to_string()).numbers(&snapshot).unwrap(), numbers);
    }

    #[test]
    fn models_are_chosen_evenly_with_both_ends() {
        let chosen = |first, last, count| evenly(first, last, count).collect::<Vec<_>>();
        assert_eq!(chosen(1, 5, 12), [1, 2, 3, 4, 5]);
        assert_eq!(chosen(3, 103, 3), [3, 53, 103]);
        assert_eq!((chosen(7, 7, 12), chosen(2, 9, 1)), (vec![7], vec![9]));
    }
}
