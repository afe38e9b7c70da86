//! The list of runs.

use axum::extract::State;
use maud::html;

use crate::error::Page;
use crate::view::{Section, View};
use crate::{App, PageError};

/// All runs of the store.
pub(crate) async fn list(State(app): State<App>) -> Page {
    app.page(|app| {
        let runs = app.store().runs()?;
        let content = html! {
            h1 { "Runs" }
            ul { @for run in &runs { li { a href=(format!("/runs/{run}")) { (run) } } } }
        };
        Ok::<_, PageError>(View::new("Runs", Section::Runs).page(&content))
    })
    .await
}
