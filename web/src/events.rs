//! Server-sent events: a page reads that it is outdated.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, RawQuery, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::future::select_all;
use futures::stream::{Stream, unfold};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::compare::Choice;
use crate::error::Page;
use crate::query::Query;
use crate::watch::{OpenRun, SHORTEST, Snapshot};
use crate::{App, PageError};

/// Where nothing happens, an event says so: proxies do not close the connection, and a page sees that it has one.
const ALIVE: Duration = Duration::from_secs(20);

/// Open pages that take their whole share of the server's time; of more, each takes less.
const PAGES: usize = 10;
/// Longest time between two events of a page that takes long to make.
const LONGEST: Duration = Duration::from_secs(60);

/// What a page has, and what it follows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    pub(crate) version: u64,
    /// Shortest time between two events, in milliseconds; see [`Snapshot::events_for`].
    pause: u64,
    /// Longest time between two events, in milliseconds, of a page that shows how long ago something was.
    age: Option<u64>,
    of: Followed,
}

/// What changes the version of a page.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Followed {
    /// Anything that is published.
    #[default]
    Facts,
    /// A new model.
    Models,
}

impl Followed {
    fn version(self, snapshot: &Snapshot) -> u64 {
        match self {
            Followed::Facts => snapshot.version,
            Followed::Models => snapshot.models(),
        }
    }
}

/// The versions of a run's facts after the one that the page shows.
pub(crate) async fn of_run(State(app): State<App>, Path(run): Path<String>, Query(shown): Query<Shown>) -> Page {
    stream(app, vec![run], shown).await
}

/// The same of the runs of a comparison; the version is the sum of theirs.
pub(crate) async fn of_runs(State(app): State<App>, RawQuery(query): RawQuery, Query(shown): Query<Shown>) -> Page {
    stream(app, Choice::read(query.as_deref()).runs, shown).await
}

async fn stream(app: App, runs: Vec<String>, shown: Shown) -> Page {
    if runs.is_empty() {
        return Err(PageError::Bad("events: name a run".to_owned()));
    }
    let permit = app.stream()?;
    let states = watch_all(&app, &runs).await?;
    let Shown { version, pause, age, of } = shown;
    let pause = Duration::from_millis(pause);
    let age = age.map(|age| Duration::from_millis(age).min(LONGEST));
    // The page was made a moment ago, which counts as an event.
    let begin = (app, states, version, Instant::now(), permit);
    let events = unfold(begin, move |(app, mut states, shown, last, permit)| async move {
        let version = tokio::select! {
            () = app.stopped() => return None,
            version = newer(&mut states, of, shown) => version?,
            () = aged(last, age) => shown,
        };
        let next = last + between(pause, app.open_streams());
        tokio::select! {
            () = app.stopped() => return None,
            () = tokio::time::sleep_until(next) => {}
        }
        Some((changed(version), (app, states, version, Instant::now(), permit)))
    });
    Ok(response(events, ALIVE))
}

/// Returns when so much time has passed; never for a page that does not age.
async fn aged(last: Instant, age: Option<Duration>) {
    match age {
        Some(age) => tokio::time::sleep_until(last + age).await,
        None => std::future::pending().await,
    }
}

/// Time between two events of a page that wants this one, where so many pages are open: each that reads an event is
/// made again.
fn between(pause: Duration, open: usize) -> Duration {
    pause.min(LONGEST).saturating_mul(open.div_ceil(PAGES) as u32).max(SHORTEST)
}

/// The versions after the one that a page shows, of something that is looked at every so often.
pub(crate) fn polled(
    app: App,
    permit: OwnedSemaphorePermit,
    shown: u64,
    every: Duration,
    version: impl Fn(&App) -> Result<u64, PageError> + Clone + Send + 'static,
) -> Response {
    let events = unfold((app, version, shown, permit), move |(app, look, shown, permit)| async move {
        loop {
            tokio::select! {
                () = app.stopped() => return None,
                () = tokio::time::sleep(every) => {}
            }
            // Where the store cannot be read the stream ends, and the page tries again.
            let version = app.read(look.clone()).await.ok()?;
            if version != shown {
                return Some((changed(version), (app, look, version, permit)));
            }
        }
    });
    response(events, ALIVE)
}

/// The response with these events, which stays open and has an event each so often at least. nginx passes events on at
/// once only where the response requests it.
fn response(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static, each: Duration) -> Response {
    let alive = KeepAlive::new().interval(each).event(Event::default().event("alive").data("alive"));
    ([("x-accel-buffering", "no")], Sse::new(events).keep_alive(alive)).into_response()
}

fn changed(version: u64) -> Result<Event, Infallible> {
    Ok(Event::default().event("changed").data(version.to_string()))
}

async fn watch_all(app: &App, runs: &[String]) -> Result<Vec<OpenRun>, PageError> {
    let mut states = Vec::new();
    for run in runs {
        states.push(app.watch(run).await?);
    }
    Ok(states)
}

/// The version of all of them as soon as it is another; nothing when one of them is not read any more.
async fn newer(states: &mut [OpenRun], of: Followed, shown: u64) -> Option<u64> {
    loop {
        let version = |run: &mut OpenRun| match &*run.state.borrow_and_update() {
            Some(Ok(snapshot)) => Some(of.version(snapshot)),
            _ => None,
        };
        let version: Option<u64> = states.iter_mut().map(version).sum();
        if let Some(version) = version.filter(|version| *version != shown) {
            return Some(version);
        }
        let changes = states.iter_mut().map(|run| Box::pin(run.state.changed()));
        select_all(changes).await.0.ok()?;
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::runtime::Runtime;

    use super::*;
    use crate::assets::text;

    #[test]
    fn stream_without_changes_has_events() {
        Runtime::new().unwrap().block_on(async {
            let mut body = response(futures::stream::pending(), Duration::from_millis(1)).into_body();
            let event = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(event.starts_with(b"event: alive\n"), "{event:?}");
        });
    }

    #[test]
    fn page_waits_for_several_events_before_the_server_is_away() {
        let (_, silence) = text("page.js").split_once("const SILENCE = ").unwrap();
        let silence = silence.split(';').next().unwrap().replace('_', "").parse().unwrap();
        assert!(2 * ALIVE < Duration::from_millis(silence), "{silence} ms");
    }

    #[test]
    fn pages_that_take_long_follow_less_often_and_many_even_less() {
        let between = |pause, open| between(Duration::from_millis(pause), open).as_millis();
        assert_eq!([between(0, 1), between(0, 500), between(u64::MAX, 1)], [500, 500, 60_000]);
        // A page that takes 50 ms: 5 % of a core each, and at most half a core for all.
        assert_eq!([1, 10, 11, 50].map(|open| between(1000, open)), [1000, 1000, 2000, 5000]);
        assert_eq!(between(20_000, 50), 100_000);
        assert!((1..500).all(|open| 50 * open as u128 <= between(1000, open) / 2));
    }
}
