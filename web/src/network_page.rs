//! Weights of networks: of a model, of one against another, and of several side by side.

use axum::extract::{Path, State};
use axum::response::Response;
use config::ModelRef;
use maud::{Markup, PreEscaped, html};
use models::Models;
use serde::Deserialize;
use study::inspect::{self, NETWORK, Parts, SERIES};

use crate::models_page::model_number;
use crate::query::Query;
use crate::view::{Section, View};
use crate::watch::Snapshot;
use crate::{App, PageError};

/// Networks side by side, evenly from the first to the newest.
const MOST: u32 = 12;

/// What the network is compared with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    against: String,
}

/// The network of a model.
pub(crate) async fn of_model(
    State(app): State<App>,
    Path((run, number)): Path<(String, String)>,
    Query(options): Query<Options>,
) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.export(move |app| {
        let number = model_number(&snapshot, &number)?;
        let against = match options.against.trim() {
            "" => None,
            other => Some(ModelRef::Exact(snapshot.run.name().model(model_number(&snapshot, other)?))),
        };
        let model = ModelRef::Exact(snapshot.run.name().model(number));
        let facts = inspect::network(&Models::new(app.store().clone()), &model, against.as_ref());
        let facts = facts.map_err(|error| PageError::Failed(format!("{error:#}")))?;
        let form = html! {
            form.line {
                label { "Against model" input type="number" name="against" min="1" value=(options.against); }
                button { "Compare" }
                a href=(format!("/runs/{run}/models/{number}")) { "Model " (number) }
            }
        };
        Ok(page(&snapshot, &format!("Network of {run}-{number}"), &form, &NETWORK, "network", &facts))
    })
    .await
}

/// The networks of several models of a run.
pub(crate) async fn of_run(State(app): State<App>, Path(run): Path<String>) -> Result<Response, PageError> {
    let snapshot = app.snapshot(&run).await?;
    app.export(move |app| {
        let newest = snapshot.facts.newest_model.filter(|newest| *newest > 0);
        let newest = newest.ok_or_else(|| PageError::NotFound(format!("model of run \"{run}\"")))?;
        let count = MOST.min(newest);
        let number = |place: u32| 1 + place * (newest - 1) / (count - 1).max(1);
        let models: Vec<ModelRef> =
            (0..count).map(|place| ModelRef::Exact(snapshot.run.name().model(number(place)))).collect();
        let facts = inspect::networks(&Models::new(app.store().clone()), &models);
        let facts = facts.map_err(|error| PageError::Failed(format!("{error:#}")))?;
        Ok(page(&snapshot, &format!("Networks of {run}"), &html! {}, &SERIES, "networks", &facts))
    })
    .await
}

fn page(
    snapshot: &Snapshot,
    title: &str,
    form: &Markup,
    parts: &Parts,
    assets: &str,
    facts: &serde_json::Value,
) -> Response {
    let json = facts.to_string().replace('<', "\\u003c");
    let content = html! {
        (form)
        (PreEscaped(parts.body))
        // Data, which the policy does not count as a script.
        script type="application/json" id="facts" { (PreEscaped(json)) }
    };
    let view = View::new(title, Section::Runs).of_run(snapshot.run.name(), "models");
    view.style(&format!("{assets}.css")).script(&format!("{assets}.js")).page(&content)
}
