//! Pages for players: play and review. This module plugs in here.

use axum::Router;

use crate::assets::Asset;
use crate::{App, WebError};

/// Arguments of the pages for players.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Play and analysis")]
pub struct PlayArgs {}

/// Files of `web/assets` that the pages for players use.
pub(crate) const ASSETS: &[Asset] = &[];

/// The pages at `/play` and below. They are not there with `--read-only`.
///
/// # Errors
/// Models or threads that cannot be had.
pub(crate) fn routes(_app: &App, _args: &PlayArgs) -> Result<Router<App>, WebError> {
    Ok(Router::new())
}
