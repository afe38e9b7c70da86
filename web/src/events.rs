//! Server-sent events: a page reads that it is outdated.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde::Deserialize;

use crate::{App, PageError};

/// Shortest time between two events: a page that is being read changes many times a second.
const SHORTEST: Duration = Duration::from_millis(500);
/// A comment keeps proxies from closing a connection on which nothing happens.
const ALIVE: Duration = Duration::from_secs(20);

/// What a page has.
#[derive(Debug, Deserialize)]
pub(crate) struct Shown {
    #[serde(default)]
    version: u64,
}

/// The versions of a run's facts after the one that the page shows.
pub(crate) async fn stream(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(shown): Query<Shown>,
) -> Result<Response, PageError> {
    let state = app.watch(&run).await?;
    let events = unfold((app, run, state, shown.version), async |(app, run, mut state, shown)| {
        let newer = state.wait_for(|state| matches!(state, Some(Ok(snapshot)) if snapshot.version != shown));
        let version = tokio::select! {
            () = app.stopped() => return None,
            newer = newer => match &*newer.ok()? { Some(Ok(snapshot)) => snapshot.version, _ => return None },
        };
        tokio::time::sleep(SHORTEST).await;
        // An open page keeps its run watched.
        drop(app.watch(&run).await);
        Some((
            Ok::<_, Infallible>(Event::default().event("changed").data(version.to_string())),
            (app, run, state, version),
        ))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response())
}
