//! Many games as one file: SGF in a zip archive, or a table for pandas, Polars and DuckDB.

use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use facts::search::{Place, search};
use go::Size;
use record::GameRecord;
use store::Run;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::Page;
use crate::games_page::{MOST_OF_FILE, Wanted};
use crate::query::Query;
use crate::{App, PageError};

/// Longest time to search for them.
const PATIENCE: Duration = Duration::from_secs(60);

/// The games that fit as SGF.
pub(crate) async fn zip(State(app): State<App>, Path(run): Path<String>, Query(query): Query<Wanted>) -> Page {
    app.export(move |app| {
        let run = app.run(&run)?;
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        each_file(&run, &query, &mut |games| {
            for game in games {
                let entry =
                    archive.start_file(format!("{}/{}.sgf", game.black.replace(['/', '\\'], "_"), game.id), options);
                entry.map_err(failed)?;
                archive.write_all(game.to_sgf().as_bytes()).map_err(failed)?;
            }
            Ok(())
        })?;
        let bytes = archive.finish().map_err(failed)?.into_inner();
        Ok(file(bytes, "application/zip", &format!("{}-games.zip", run.name())))
    })
    .await
}

/// The games that fit as a table.
pub(crate) async fn parquet(State(app): State<App>, Path(run): Path<String>, Query(query): Query<Wanted>) -> Page {
    app.export(move |app| {
        let run = app.run(&run)?;
        let mut all = Vec::new();
        each_file(&run, &query, &mut |games| {
            all.extend(games);
            Ok(())
        })?;
        let bytes = store::games_table(&all).to_vec();
        Ok(parquet_file(bytes, &format!("{}-games", run.name())))
    })
    .await
}

/// The games that fit, of one file after the other.
fn each_file(
    run: &Run,
    query: &Wanted,
    take: &mut dyn FnMut(Vec<GameRecord>) -> Result<(), PageError>,
) -> Result<(), PageError> {
    let config =
        run.config()?.ok_or_else(|| PageError::NotFound(format!("configuration of run \"{}\"", run.name())))?;
    let size = Size::new(config.game.size).map_err(failed)?;
    let begin = Instant::now();
    let found = search(run, &query.search(size)?, None, MOST_OF_FILE, &|| begin.elapsed() < PATIENCE)?;
    let mut rest = found.games.as_slice();
    while let Some(first) = rest.first() {
        let place: &Place = &first.place;
        let (these, others) = rest.split_at(rest.iter().take_while(|game| game.place == *place).count());
        let mut games: Vec<Option<GameRecord>> = place.games(run)?.into_iter().map(Some).collect();
        take(these.iter().filter_map(|game| games.get_mut(game.row)?.take()).collect())?;
        rest = others;
    }
    Ok(())
}

fn failed(error: impl ToString) -> PageError {
    PageError::Failed(error.to_string())
}

/// A table as a download, with a name without its ending.
pub(crate) fn parquet_file(bytes: Vec<u8>, name: &str) -> Response {
    file(bytes, "application/vnd.apache.parquet", &format!("{name}.parquet"))
}

fn file(bytes: Vec<u8>, kind: &'static str, name: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        // It is packed already.
        (header::CONTENT_ENCODING, "identity".to_owned()),
    ];
    (headers, bytes).into_response()
}
