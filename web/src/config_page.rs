//! The configuration of a run, as it is stored.

use axum::extract::{Path, State};
use config::RunConfig;
use maud::html;
use store::Run;

use crate::download::file;
use crate::error::Page;
use crate::view::Section;
use crate::{App, PageError};

/// The configuration of a run. Call it in [`App::read`].
pub(crate) fn configuration(run: &Run) -> Result<RunConfig, PageError> {
    run.config()?.ok_or_else(|| PageError::NotFound(format!("configuration of run \"{}\"", run.name())))
}

/// The page.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>) -> Page {
    app.page(move |app| {
        let run = app.run(&run)?;
        let toml = configuration(&run)?.to_toml();
        let content = html! {
            h1 { "Configuration of " (run.name()) }
            p.quiet { a href=(format!("/runs/{}/config.toml", run.name())) download { "TOML" } " · "
                a href=(format!("/compare?run={}", run.name())) { "Compare with another run" } }
            section { pre.scroll tabindex="0" { code { (toml) } } }
        };
        let view = app.view(format!("Configuration of {}", run.name()), Section::Runs).of_run(run.name(), "config");
        Ok(view.page(&content))
    })
    .await
}

/// The file.
pub(crate) async fn data(State(app): State<App>, Path(run): Path<String>) -> Page {
    app.page(move |app| {
        let toml = configuration(&app.run(&run)?)?.to_toml();
        Ok(file(toml, "application/toml; charset=utf-8", &format!("{run}.toml")))
    })
    .await
}
