//! Pages for players: play against models, watch them, and review games.
//!
//! The cast: a page holds its game and sends it whole with each request over a WebSocket ([`message`]). A [`Session`](session) takes
//! the requests of one page. [`Engines`] are the open models; the [`Desk`] lets few searches run at a time and is fair between
//! visitors; [`Reports`] remember finished analyses. When a page goes, its socket ends and with it its searches.

mod args;
mod catalog;
mod desk;
mod engines;
mod fair_queue;
pub mod message;
mod offload;
mod pages;
mod position;
mod reports;
mod results;
mod review;
mod searching;
mod session;
mod socket;
pub mod tree;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use analysis::{Perspective, ReportStyle};
use axum::Json;
use axum::Router;
use axum::extract::{State, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

pub use args::PlayArgs;
use desk::Desk;
use engines::Engines;
use fair_queue::VisitorId;
use message::LONGEST_MESSAGE;
use offload::Offload;
use reports::Reports;

use crate::assets::Asset;
use crate::error::Page;
use crate::{App, PageError, WebError};

/// What reports contain. Pages turn them for the player whom they show.
const STYLE: ReportStyle = ReportStyle {
    perspective: Perspective::Black,
    points: 10.0,
    moves: 20,
    variation: 15,
    policy: true,
    path_visits: false,
};

/// The reply to a search that does not fit into the queue.
const FULL: &str = "the server has too many searches to do; try again in a minute";

macro_rules! assets {
    ($($name:literal),*) => { &[$(Asset { name: $name, text: include_str!(concat!("../assets/", $name)) }),*] };
}

/// Files of `web/assets` that the pages for players use.
pub(crate) const ASSETS: &[Asset] = assets![
    "play.css",
    "board.js",
    "clock.js",
    "dom.js",
    "game.js",
    "graph.js",
    "link.js",
    "panels.js",
    "play.js",
    "review.js",
    "tree.js",
    "watch.js"
];

/// What all pages for players share.
pub struct Play {
    engines: Engines,
    desk: Desk,
    reports: Reports,
    offload: Offload,
    most_visits: u32,
    visitors: AtomicU64,
}

/// The pages at `/play` and below. They are not there with `--read-only`.
///
/// # Errors
/// Models or threads that cannot be had.
pub(crate) fn routes(app: &App, args: &PlayArgs) -> Result<Router<App>, WebError> {
    let play = Arc::new(args.open(app.store())?);
    let [models, last] = [&play; 2].map(Arc::clone);
    // Models end their threads and publish evaluations, for which async threads cannot wait.
    app.at_end(move || last.engines.close());
    Ok(Router::new()
        .route("/play", get(pages::play))
        .route("/play/review", get(pages::review))
        .route("/play/watch", get(pages::watch))
        .route("/play/models", get(move |State(app): State<App>| choices(app, models)))
        .route("/play/socket", get(move |State(app): State<App>, upgrade| connect(app, play, upgrade))))
}

async fn choices(app: App, play: Arc<Play>) -> Page {
    let read = move |_: &App| {
        let models = play.engines.models().map_err(|error| PageError::Failed(error.to_string()))?;
        catalog::choices(&models).map_err(|error| PageError::Failed(error.to_string()))
    };
    Ok(Json(app.read(read).await?).into_response())
}

async fn connect(app: App, play: Arc<Play>, upgrade: WebSocketUpgrade) -> Response {
    let visitor = VisitorId(play.visitors.fetch_add(1, Ordering::Relaxed));
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE).max_frame_size(LONGEST_MESSAGE);
    upgrade.on_upgrade(move |socket| socket::serve(play, app, visitor, socket))
}
