//! Pages for players: play against models, watch them, and review games.
//!
//! The cast: a page holds its game and sends it whole with each request over a WebSocket (`message`). A
//! `Session` takes the requests of one page. `Engines` are the open models; the
//! `Desk` lets few searches run at a time and is fair between visitors; `Reports` remember
//! finished analyses. Closing a page closes its socket and stops its searches.

mod args;
#[cfg(any(test, feature = "testing"))]
mod check;
mod desk;
mod engines;
mod fair_queue;
mod files;
mod message;
mod model_list;
mod offload;
mod pages;
mod position;
mod prediction;
mod predictor;
mod reports;
mod results;
mod review;
mod save;
mod searching;
mod session;
mod socket;
mod state;
mod tree;
mod values;
mod visitor;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{State, WebSocketUpgrade};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};

pub use args::PlayArgs;
#[cfg(any(test, feature = "testing"))]
pub use check::check_message;
use fair_queue::VisitorId;
use files::OfferedFile;
use message::LONGEST_MESSAGE;
use serde::Deserialize;
use state::Play;
#[cfg(any(test, feature = "testing"))]
pub use values::check_values;

use crate::error::Page;
use crate::listen::Connection;
use crate::query::Query;
use crate::{App, PageError, WebError};

/// The pages at `/play` and below. They are not there with `--read-only`.
///
/// # Errors
/// Models or threads that cannot be started.
pub(crate) fn routes(app: &App, args: &PlayArgs) -> Result<Router<App>, WebError> {
    let play = Arc::new(args.open(app.store())?);
    let [models, last] = [&play; 2].map(Arc::clone);
    // Models end their threads and publish evaluations, for which async threads cannot wait.
    app.at_end(move || last.engines.close());
    let most = args.most_visits;
    Ok(Router::new()
        .route("/play", get(move |State(app): State<App>| pages::play(app, most)))
        .route("/play/review", get(move |State(app): State<App>| pages::review(app, most)))
        .route("/play/watch", get(pages::watch))
        .route("/play/values/{file}", post(values::file))
        .route("/play/models", get(move |State(app): State<App>| choices(app, models)))
        .route("/play/runs", get(runs))
        .route(
            "/play/socket",
            get(move |State(app): State<App>, Query(browser), connection, upgrade| {
                connect(app, play, browser, connection, upgrade)
            }),
        ))
}

async fn choices(app: App, play: Arc<Play>) -> Page {
    let read = move |app: &App| {
        let models = play.engines.models().map_err(|error| PageError::Failed(error.to_string()))?;
        let (runs, _) = app.run_list().list(app.store())?;
        let mut choices = model_list::choices(&models, &runs).map_err(|error| PageError::Failed(error.to_string()))?;
        choices.extend(play.engines.files().iter().map(OfferedFile::choice));
        Ok(choices)
    };
    Ok(Json(app.read(read).await?).into_response())
}

async fn runs(State(app): State<App>) -> Page {
    let runs = app.read(|app| Ok(model_list::watchable(&app.run_list().list(app.store())?.0))).await?;
    Ok(Json(runs).into_response())
}

/// The browser that opens a socket.
#[derive(Deserialize)]
struct Browser {
    /// What its pages call themselves, in hexadecimal; pages without it are visitors of their own.
    visitor: Option<String>,
}

impl Browser {
    /// The visitor whose turns its searches take. `unnamed` counts the pages without a name.
    fn id(&self, unnamed: &AtomicU64) -> Result<VisitorId, PageError> {
        match &self.visitor {
            None => Ok(VisitorId::Page(unnamed.fetch_add(1, Ordering::Relaxed))),
            Some(name) => u64::from_str_radix(name, 16)
                .map(VisitorId::Browser)
                .map_err(|_| PageError::Bad(format!("visitor=\"{name}\": at most 16 hexadecimal digits are expected"))),
        }
    }
}

async fn connect(
    app: App,
    play: Arc<Play>,
    browser: Browser,
    connection: Option<Extension<Connection>>,
    upgrade: WebSocketUpgrade,
) -> Page {
    let place = app.stream()?;
    let visitor = browser.id(&play.visitors)?;
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE).max_frame_size(LONGEST_MESSAGE);
    Ok(upgrade.on_upgrade(async move |socket| {
        socket::serve(play, app, visitor, socket).await;
        drop((place, connection));
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_browser_are_one_visitor() {
        let unnamed = AtomicU64::new(0);
        let id = |name: Option<&str>| Browser { visitor: name.map(str::to_owned) }.id(&unnamed).ok();
        assert_eq!(id(Some("9f")), id(Some("9f")));
        assert_ne!(id(Some("0")), id(None));
        assert_ne!(id(None), id(None));
        for bad in ["", "x", "-1", "10000000000000000"] {
            assert_eq!(id(Some(bad)), None, "{bad}");
        }
    }
}
