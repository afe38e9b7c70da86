//! The data of plots, as JSON and CSV.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use config::RunName;
use facts::plots::plot;
use page::{DataLinks, Plot};

use crate::error::Page;
use crate::{App, PageError};

/// Links of a plot of a run to its data.
pub(crate) fn links(run: &RunName, name: &str) -> DataLinks {
    let link = |text: &str, ending: &str| (text.to_owned(), format!("/runs/{run}/plots/{name}.{ending}"));
    DataLinks::of(link("JSON", "json"), link("CSV", "csv"))
}

/// The data of a plot of a run: `/runs/{run}/plots/{name}.json` and `.csv`.
pub(crate) async fn data(State(app): State<App>, Path((run, file)): Path<(String, String)>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |_| {
        let (name, format) = format_of(&file)?;
        let absent = || PageError::NotFound(format!("plot \"{name}\"; there are {}", facts::plots::NAMES.join(", ")));
        let plot = plot(&snapshot.facts, &snapshot.strength, name).ok_or_else(absent)?;
        Ok(format.response(&plot, &format!("{run}-{name}")))
    })
    .await
}

/// A format of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataFormat {
    Json,
    Csv,
}

/// The name of a file without its ending, and the format of the ending.
pub(crate) fn format_of(file: &str) -> Result<(&str, DataFormat), PageError> {
    let absent = || PageError::NotFound(format!("file \"{file}\": its name ends in .json or .csv"));
    let (name, ending) = file.rsplit_once('.').ok_or_else(absent)?;
    match ending {
        "json" => Ok((name, DataFormat::Json)),
        "csv" => Ok((name, DataFormat::Csv)),
        _ => Err(absent()),
    }
}

impl DataFormat {
    pub(crate) fn response(self, plot: &Plot, name: &str) -> Response {
        match self {
            DataFormat::Json => Json(plot.json()).into_response(),
            DataFormat::Csv => {
                let named = format!("attachment; filename=\"{name}.csv\"");
                (
                    [
                        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
                        (header::CONTENT_DISPOSITION, named),
                    ],
                    plot.csv(),
                )
                    .into_response()
            }
        }
    }
}
