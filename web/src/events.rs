//! Server-sent events: a page reads that it is outdated.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::future::select_all;
use futures::stream::unfold;
use serde::Deserialize;
use tokio::sync::watch::Receiver;

use crate::compare::Choice;
use crate::error::Page;
use crate::query::Query;
use crate::{App, PageError, watch};

/// Shortest time between two events: a page that is being read changes many times a second.
const SHORTEST: Duration = Duration::from_millis(500);
/// A comment keeps proxies from closing a connection on which nothing happens.
pub(crate) const ALIVE: Duration = Duration::from_secs(20);

/// What a page has.
#[derive(Debug, Deserialize)]
pub(crate) struct Shown {
    #[serde(default)]
    pub(crate) version: u64,
}

/// The versions of a run's facts after the one that the page shows.
pub(crate) async fn of_run(State(app): State<App>, Path(run): Path<String>, Query(shown): Query<Shown>) -> Page {
    stream(app, vec![run], shown.version).await
}

/// The same of the runs of a comparison; the version is the sum of theirs.
pub(crate) async fn of_runs(State(app): State<App>, RawQuery(query): RawQuery, Query(shown): Query<Shown>) -> Page {
    stream(app, Choice::read(query.as_deref()).runs, shown.version).await
}

async fn stream(app: App, runs: Vec<String>, shown: u64) -> Page {
    if runs.is_empty() {
        return Err(PageError::Bad("events: name a run".to_owned()));
    }
    let place = app.stream()?;
    let states = watched(&app, &runs).await?;
    let events = unfold((app, runs, states, shown, place), async |(app, runs, mut states, shown, place)| {
        let version = tokio::select! {
            () = app.stopped() => return None,
            version = newer(&mut states, shown) => version?,
        };
        tokio::time::sleep(SHORTEST).await;
        // An open page keeps its runs watched.
        drop(watched(&app, &runs).await);
        let event = Event::default().event("changed").data(version.to_string());
        Some((Ok::<_, Infallible>(event), (app, runs, states, version, place)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response())
}

async fn watched(app: &App, runs: &[String]) -> Result<Vec<Receiver<watch::State>>, PageError> {
    let mut states = Vec::new();
    for run in runs {
        states.push(app.watch(run).await?);
    }
    Ok(states)
}

/// The version of all of them as soon as it is another; nothing when one of them is not read any more.
async fn newer(states: &mut [Receiver<watch::State>], shown: u64) -> Option<u64> {
    loop {
        let version = |state: &mut Receiver<watch::State>| match &*state.borrow_and_update() {
            Some(Ok(snapshot)) => Some(snapshot.version),
            _ => None,
        };
        let version: Option<u64> = states.iter_mut().map(version).sum();
        if let Some(version) = version.filter(|version| *version != shown) {
            return Some(version);
        }
        let changes = states.iter_mut().map(|state| Box::pin(state.changed()));
        select_all(changes).await.0.ok()?;
    }
}
