//! Pages for players: play against models, watch them, and review games.
//!
//! The cast: a page holds its game and sends it whole with each request over a WebSocket ([`message`]). A
//! `Session` takes the requests of one page. `Engines` are the open models; the
//! `Desk` lets few searches run at a time and is fair between visitors; `Reports` remember
//! finished analyses. Closing a page closes its socket and stops its searches.

mod args;
mod catalog;
mod desk;
mod engines;
mod fair_queue;
mod files;
pub mod message;
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
pub mod tree;
mod values;
mod visitor;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{State, WebSocketUpgrade};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};

pub use args::PlayArgs;
use fair_queue::VisitorId;
use files::OfferedFile;
use message::{Action, At, LONGEST_MESSAGE, Open, Request};
use serde::Deserialize;
use state::Play;

use crate::assets::Asset;
use crate::error::Page;
use crate::listen::Connection;
use crate::query::Query;
use crate::{App, PageError, WebError};

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

/// Reads a message of a page, with the game or the file in it, as far as that needs no model.
///
/// # Errors
/// Why it cannot be used.
pub fn check_message(text: &str) -> Result<(), String> {
    let game = match Request::parse(text).map_err(|refusal| refusal.reason)?.action {
        Action::Position(At { game }) => game,
        Action::Analyze(search) | Action::Review(search) => search.game,
        Action::Genmove(genmove) => genmove.game,
        Action::Score(score) => score.game,
        Action::Planes(seen) | Action::Predict(seen) => seen.game,
        Action::Save(save) => return save::check(&save),
        Action::Start(start) => start.game().map_err(|error| error.to_string())?,
        Action::Open(Open { sgf }) => return tree::read(&sgf).map(drop),
        Action::Stop(_) => return Ok(()),
    };
    game.replay().map(drop).map_err(|error| error.to_string())
}

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
        .route("/play", get(move || pages::play(most)))
        .route("/play/review", get(move || pages::review(most)))
        .route("/play/watch", get(pages::watch))
        .route("/play/values/{file}", post(values::file))
        .route("/play/models", get(move |State(app): State<App>| choices(app, models)))
        .route(
            "/play/socket",
            get(move |State(app): State<App>, Query(browser), connection, upgrade| {
                connect(app, play, browser, connection, upgrade)
            }),
        ))
}

async fn choices(app: App, play: Arc<Play>) -> Page {
    let read = move |_: &App| {
        let models = play.engines.models().map_err(|error| PageError::Failed(error.to_string()))?;
        let mut choices = catalog::choices(&models).map_err(|error| PageError::Failed(error.to_string()))?;
        choices.extend(play.engines.files().iter().map(OfferedFile::choice));
        Ok(choices)
    };
    Ok(Json(app.read(read).await?).into_response())
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
    use play::generator;
    use rand::RngExt;

    use super::*;

    const MESSAGES: [&str; 6] = [
        r#"{"id":1,"do":{"start":{"size":9,"komi":0.5,"handicap":2}}}"#,
        r#"{"id":2,"do":{"position":{"game":{"size":3,"komi":7,"moves":[["B","B2"],["W","pass"],["B","A1"]]}}}}"#,
        r#"{"id":3,"do":{"open":{"sgf":"(;SZ[3];B[bb](;W[aa];B[ab])(;W[cc]C[a]))"}}}"#,
        r#"{"id":4,"do":{"stop":{"id":3}}}"#,
        r#"{"id":5,"do":{"predict":{"game":{"size":3,"komi":7,"moves":[["B","B2"]]},"model":"v1-2"}}}"#,
        r#"{"id":6,"do":{"save":{"game":{"size":3,"komi":7},"tree":[{"played":["B","B2"]},{"parent":0,"played":["W","A1"]}]}}}"#,
    ];

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

    #[test]
    fn messages_are_checked_and_damaged_ones_do_no_harm() {
        let mut rng = generator(1);
        let mut refused = 0;
        for message in MESSAGES {
            assert_eq!(check_message(message), Ok(()));
            for _ in 0..2_000 {
                let mut bytes = message.as_bytes().to_vec();
                for _ in 0..rng.random_range(1..4) {
                    let place = rng.random_range(0..bytes.len());
                    bytes[place] = rng.random_range(b' '..127);
                }
                let text = String::from_utf8(bytes).expect("ASCII");
                refused += usize::from(check_message(&text).is_err());
            }
        }
        assert!(refused > 4_000, "{refused}");
    }
}
