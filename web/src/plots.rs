//! The data of plots and tables, as JSON, CSV and Parquet.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use config::RunName;
use facts::plots::{PLOTS, plot};
use facts::sections;
use maud::{Markup, html};
use page::{DataColumn, DataLinks, DataTable, Plot};
use store::TableColumn;

use crate::error::Page;
use crate::{App, PageError, download};

/// Links of a plot of a run to its data.
pub(crate) fn links(run: &RunName, name: &str) -> DataLinks {
    DataLinks::of(|ending| format!("/runs/{run}/plots/{name}.{ending}"))
}

/// The data of a plot of a run: `/runs/{run}/plots/{name}.json`, `.csv` and `.parquet`.
pub(crate) async fn data(State(app): State<App>, Path((run, file)): Path<(String, String)>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |_| {
        let (name, format) = format_of(&file)?;
        let names = || PLOTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let absent = || PageError::NotFound(format!("plot \"{name}\"; there are {}", names()));
        let plot = plot(&snapshot.facts, &snapshot.strength, name).ok_or_else(absent)?;
        Ok(format.response(&plot, &format!("{run}-{name}")))
    })
    .await
}

/// The data of a table of a run: `/runs/{run}/tables/{name}.json`, `.csv` and `.parquet`, of `matches` and `ratings`.
pub(crate) async fn table(State(app): State<App>, Path((run, file)): Path<(String, String)>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |_| {
        let (name, format) = format_of(&file)?;
        let table = match name {
            "matches" => sections::pairs_data(&snapshot.facts, &snapshot.strength),
            "ratings" => sections::players_data(&snapshot.strength),
            _ => return Err(PageError::NotFound(format!("table \"{name}\"; there are matches, ratings"))),
        };
        let named = format!("{run}-{name}");
        Ok(format.table(&table, &named))
    })
    .await
}

/// Links to the formats of a table.
pub(crate) fn table_links(run: &RunName, name: &str) -> Markup {
    let DataLinks { links, .. } = DataLinks::of(|ending| format!("/runs/{run}/tables/{name}.{ending}"));
    html! { @for (format, address) in &links { a href=(address) download { (format) } " " } }
}

/// A format of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataFormat {
    Json,
    Csv,
    Parquet,
}

/// The name of a file without its ending, and the format of the ending.
pub(crate) fn format_of(file: &str) -> Result<(&str, DataFormat), PageError> {
    let absent = || PageError::NotFound(format!("file \"{file}\": its name ends in .json, .csv or .parquet"));
    let (name, ending) = file.rsplit_once('.').ok_or_else(absent)?;
    match ending {
        "json" => Ok((name, DataFormat::Json)),
        "csv" => Ok((name, DataFormat::Csv)),
        "parquet" => Ok((name, DataFormat::Parquet)),
        _ => Err(absent()),
    }
}

impl DataFormat {
    /// The data of a plot. As JSON it is by series, as scripts read it.
    pub(crate) fn response(self, plot: &Plot, name: &str) -> Response {
        match self {
            DataFormat::Json => Json(plot.json()).into_response(),
            DataFormat::Csv | DataFormat::Parquet => self.table(&plot.data(), name),
        }
    }

    /// A table, with the name of the file without its ending.
    pub(crate) fn table(self, table: &DataTable, name: &str) -> Response {
        match self {
            DataFormat::Json => Json(table.json()).into_response(),
            DataFormat::Csv => download::file(table.csv(), "text/csv; charset=utf-8", &format!("{name}.csv")),
            DataFormat::Parquet => parquet(table, name),
        }
    }
}

fn parquet(table: &DataTable, name: &str) -> Response {
    let columns = table.columns.iter().map(|(name, column)| {
        let column = match column {
            DataColumn::Text(texts) => TableColumn::Text(texts),
            DataColumn::Number(numbers) => TableColumn::Number(numbers),
        };
        (*name, column)
    });
    download::parquet(store::data_table(&columns.collect::<Vec<_>>()), name)
}
