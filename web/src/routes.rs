//! Which address leads where, and what every request passes on its way.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::guard::{self, MOST_BODY};
use crate::play::{self, PlayArgs};
use crate::{App, PageError, WebError, assets, runs, sign_in};

/// The application as one service.
///
/// # Errors
/// What the pages for players need cannot be had.
pub(crate) fn routes(app: &App, args: &PlayArgs) -> Result<Router, WebError> {
    let mut pages = Router::new()
        .route("/", get(runs::list))
        .route("/assets/{digest}/{name}", get(assets::serve))
        .route("/healthz", get(|| async { "alive\n" }))
        .route(sign_in::PATH, get(sign_in::form).post(sign_in::submit));
    if !app.is_read_only() {
        pages = pages.merge(play::routes(app, args)?);
    }
    // Outermost last: the guard sees a request before everything else does.
    Ok(pages
        .fallback(absent)
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
