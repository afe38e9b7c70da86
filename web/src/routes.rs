//! Which address leads where, and what every request passes on its way.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::book_page::{self, Book};
use crate::guard::{self, MOST_BODY};
use crate::play::{self, PlayArgs};
use crate::{
    App, PageError, WebError, assets, bulk, compare, config_page, error, events, game_page, games_page, live_page,
    matches_page, models_page, network_page, openings_page, plots, run_page, runs, sign_in,
};

/// The application as one service, with the pages for players and of a book where there are arguments for them.
///
/// # Errors
/// What the play pages need is missing.
pub(crate) fn routes(app: &App, args: Option<&PlayArgs>, book: Option<Book>) -> Result<Router, WebError> {
    let mut pages = Router::new()
        .route("/", get(runs::list))
        .route("/events", get(runs::events))
        .route("/runs/{run}", get(run_page::page))
        .route("/runs/{run}/events", get(events::of_run))
        .route("/runs/{run}/plots/{file}", get(plots::data))
        .route("/runs/{run}/models", get(models_page::table))
        .route("/runs/{run}/models.json", get(models_page::data))
        .route("/runs/{run}/models/{number}", get(models_page::page))
        .route("/runs/{run}/models/{number}/network", get(network_page::of_model))
        .route("/runs/{run}/models/{number}/network/{file}", get(network_page::data_of_model))
        .route("/runs/{run}/networks", get(network_page::of_run))
        .route("/runs/{run}/networks/{file}", get(network_page::data_of_run))
        .route("/runs/{run}/models/{number}/{file}", get(models_page::download))
        .route("/runs/{run}/games", get(games_page::page))
        .route("/runs/{run}/games.zip", get(bulk::zip))
        .route("/runs/{run}/games.parquet", get(bulk::parquet))
        .route("/runs/{run}/games/{model}/{stem}/{row}", get(game_page::of_selfplay))
        .route("/runs/{run}/games/{model}/{stem}/{row}/{file}", get(game_page::data_of_selfplay))
        .route("/runs/{run}/live", get(live_page::page))
        .route("/runs/{run}/live/events", get(live_page::events))
        .route("/runs/{run}/matches", get(matches_page::page))
        .route("/runs/{run}/tables/{file}", get(plots::table))
        .route("/runs/{run}/matches/{stem}/{row}", get(game_page::of_match))
        .route("/runs/{run}/matches/{stem}/{row}/{file}", get(game_page::data_of_match))
        .route("/runs/{run}/openings", get(openings_page::page))
        .route("/runs/{run}/openings/{file}", get(openings_page::data))
        .route("/runs/{run}/config", get(config_page::page))
        .route("/runs/{run}/config.toml", get(config_page::data))
        .route("/compare", get(compare::page))
        .route("/compare/events", get(events::of_runs))
        .route("/compare/plots/{file}", get(compare::data))
        .route("/assets/{digest}/{name}", get(assets::serve))
        .route("/healthz", get(|| async { "alive\n" }))
        .route(sign_in::PATH, get(sign_in::form).post(sign_in::submit));
    if let Some(args) = args {
        pages = pages.merge(play::routes(app, args)?);
    }
    if let Some(book) = book {
        pages = pages.merge(book_page::routes(book));
    }
    // Outermost last: the guard sees a request before everything else does.
    Ok(pages
        .fallback(absent)
        .layer(from_fn_with_state(app.navigation(), error::framed))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(CatchPanicLayer::new())
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app.clone()))
}

async fn absent(uri: Uri) -> Result<Response, PageError> {
    Err(PageError::NotFound(format!("page {}", uri.path())))
}

#[cfg(test)]
mod tests;
