//! The configuration of a run, as it is stored.

use axum::extract::{Path, State};
use maud::html;

use crate::download::file;
use crate::error::Page;
use crate::view::{Section, View};
use crate::{App, PageError};

fn text(app: &App, run: &str) -> Result<(store::Run, String), PageError> {
    let run = app.run(run)?;
    let config =
        run.config()?.ok_or_else(|| PageError::NotFound(format!("configuration of run \"{}\"", run.name())))?;
    Ok((run, config.to_toml()))
}

/// The page.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>) -> Page {
    app.page(move |app| {
        let (run, toml) = text(app, &run)?;
        let content = html! {
            h1 { "Configuration of " (run.name()) }
            p.quiet { a href=(format!("/runs/{}/config.toml", run.name())) download { "TOML" } " · "
                a href=(format!("/compare?run={}", run.name())) { "Compare with another run" } }
            section { pre.scroll tabindex="0" { code { (toml) } } }
        };
        Ok(View::new(format!("Configuration of {}", run.name()), Section::Runs)
            .of_run(run.name(), "config")
            .page(&content))
    })
    .await
}

/// The file.
pub(crate) async fn data(State(app): State<App>, Path(run): Path<String>) -> Page {
    app.page(move |app| {
        let (_, toml) = text(app, &run)?;
        Ok(file(toml, "application/toml; charset=utf-8", &format!("{run}.toml")))
    })
    .await
}
