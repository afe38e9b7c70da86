//! Many games as one file: SGF in a zip archive, or a table for pandas, Polars and DuckDB.

use std::fmt;
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use config::RunName;
use facts::search::{GamesFile, search};
use record::{GameRecord, games};
use store::Run;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::config_page::configuration;
use crate::download::{self, packed_file};
use crate::error::Page;
use crate::games_page::{MOST_OF_FILE, Wanted};
use crate::query::Query;
use crate::{App, PageError};

/// Longest time to search for them.
const PATIENCE: Duration = Duration::from_secs(60);
/// The header of a file in which games may be missing: the file of games where its search ended.
const INCOMPLETE: HeaderName = HeaderName::from_static("tengen-incomplete");
/// The text that such an archive has besides its games.
const INCOMPLETE_TEXT: &str = "INCOMPLETE.txt";

/// The games that fit as SGF.
pub(crate) async fn zip(State(app): State<App>, Path(run): Path<String>, Query(query): Query<Wanted>) -> Page {
    app.export(move |app| zipped(&app.run(&run)?, &query, PATIENCE)).await
}

fn zipped(run: &Run, query: &Wanted, patience: Duration) -> Result<Response, PageError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let rest = each_file(run, query, patience, &mut |games| {
        for game in games {
            let entry = archive.start_file(format!("{}/{}.sgf", game.folder(), game.id), options);
            entry.map_err(failed)?;
            archive.write_all(game.to_sgf().as_bytes()).map_err(failed)?;
        }
        Ok(())
    })?;
    if let Some(rest) = &rest {
        archive.start_file(INCOMPLETE_TEXT, options).map_err(failed)?;
        archive.write_all(rest.to_string().as_bytes()).map_err(failed)?;
    }
    let bytes = archive.finish().map_err(failed)?.into_inner();
    let name = games_name(run.name(), rest.as_ref());
    Ok(marked(packed_file(bytes, "application/zip", &format!("{name}.zip")), rest.as_ref()))
}

/// The games that fit as a table.
pub(crate) async fn parquet(State(app): State<App>, Path(run): Path<String>, Query(query): Query<Wanted>) -> Page {
    app.export(move |app| {
        let run = app.run(&run)?;
        let mut all = Vec::new();
        let rest = each_file(&run, &query, PATIENCE, &mut |games| {
            all.extend(games);
            Ok(())
        })?;
        let table = store::encode(&games::to_batch(&all));
        Ok(marked(download::parquet(table, &games_name(run.name(), rest.as_ref())), rest.as_ref()))
    })
    .await
}

/// Where a search ended before it had every game.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest {
    /// Games that it found.
    games: usize,
    /// The file that it would read next.
    file: GamesFile,
}

impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rest { games, file } = self;
        writeln!(
            f,
            "These {games} games are the newest that fit, and perhaps not all: a search stops after {} s or {MOST_OF_FILE} games.",
            PATIENCE.as_secs()
        )?;
        writeln!(f, "Games of {file} and of older files may be missing. Narrow the search, such as to a model.")
    }
}

/// The name of a file of games, without its ending.
fn games_name(run: &RunName, rest: Option<&Rest>) -> String {
    format!("{run}-games{}", if rest.is_some() { "-incomplete" } else { "" })
}

/// A file that says in a header whether games are missing.
fn marked(mut response: Response, rest: Option<&Rest>) -> Response {
    if let Some(file) = rest.and_then(|rest| HeaderValue::from_str(&rest.file.to_string()).ok()) {
        response.headers_mut().insert(INCOMPLETE, file);
    }
    response
}

/// The games that fit, of one file after the other. Returns where the search ended if games may be missing.
fn each_file(
    run: &Run,
    query: &Wanted,
    patience: Duration,
    take: &mut dyn FnMut(Vec<GameRecord>) -> Result<(), PageError>,
) -> Result<Option<Rest>, PageError> {
    let size = configuration(run)?.game.board();
    let begin = Instant::now();
    let found = search(run, &query.search(size)?, None, MOST_OF_FILE, &|| begin.elapsed() < patience)?;
    let mut rest = found.games.as_slice();
    while let Some(first) = rest.first() {
        let file: &GamesFile = &first.file;
        let (these, others) = rest.split_at(rest.iter().take_while(|game| game.file == *file).count());
        let mut games: Vec<Option<GameRecord>> = file.games(run)?.into_iter().map(Some).collect();
        take(these.iter().filter_map(|game| games.get_mut(game.row)?.take()).collect())?;
        rest = others;
    }
    let games = found.games.len();
    Ok(found.next.map(|(file, _)| Rest { games, file }))
}

fn failed(error: impl ToString) -> PageError {
    PageError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::http::header;
    use config::Preset;
    use http_body_util::BodyExt;
    use record::synthetic;
    use store::{FileRef, Stem};
    use tokio::runtime::Runtime;
    use zip::ZipArchive;

    use super::*;

    /// A run with two files of three games, two of which are in both.
    fn run(app: &App) -> Run {
        let run = app.store().run(&"r".parse().unwrap());
        let config = Preset::Tiny.config();
        run.create(&config).unwrap();
        let size = config.game.board();
        for time in [1, 2] {
            let games: Vec<_> = (time..time + 3).map(|index| synthetic::game("r-1", "w", index, size, 8)).collect();
            let stem = Stem::new("w", time).unwrap();
            run.games().publish_as(&FileRef { model: 1, stem }, &games).unwrap();
        }
        run
    }

    fn unzipped(response: Response) -> ZipArchive<Cursor<Vec<u8>>> {
        let bytes =
            Runtime::new().unwrap().block_on(async { response.into_body().collect().await.unwrap().to_bytes() });
        ZipArchive::new(Cursor::new(bytes.to_vec())).unwrap()
    }

    #[test]
    fn game_of_two_files_is_once_in_the_zip() {
        let app = App::in_memory();
        let response = zipped(&run(&app), &Wanted::default(), PATIENCE).unwrap();
        assert!(!response.headers().contains_key(INCOMPLETE));
        assert_eq!(unzipped(response).len(), 4);
    }

    #[test]
    fn search_that_is_stopped_is_named_in_the_zip() {
        let app = App::in_memory();
        let response = zipped(&run(&app), &Wanted::default(), Duration::ZERO).unwrap();
        assert!(response.headers().contains_key(INCOMPLETE));
        let mut archive = unzipped(response);
        let mut text = String::new();
        archive.by_name(INCOMPLETE_TEXT).unwrap().read_to_string(&mut text).unwrap();
        assert!(text.contains("may be missing") && archive.len() < 5, "{text}");
    }

    #[test]
    fn incomplete_file_says_so_in_its_name_a_header_and_a_text() {
        let run: RunName = "r".parse().unwrap();
        let rest = Rest { games: 7, file: GamesFile::parse("games/3/w-0000000000005").unwrap() };
        let of =
            |rest: Option<&Rest>| marked(packed_file(Vec::new(), "application/zip", &games_name(&run, rest)), rest);
        let incomplete = of(Some(&rest));
        assert_eq!(incomplete.headers()[header::CONTENT_DISPOSITION], "attachment; filename=\"r-games-incomplete\"");
        assert_eq!(incomplete.headers()[INCOMPLETE], "games/3/w-0000000000005");
        assert!(rest.to_string().starts_with("These 7 games are the newest that fit, and perhaps not all"), "{rest}");
        assert!(rest.to_string().contains("Narrow the search"), "{rest}");
        let complete = of(None);
        assert_eq!(complete.headers()[header::CONTENT_DISPOSITION], "attachment; filename=\"r-games\"");
        assert!(!complete.headers().contains_key(INCOMPLETE));
    }
}
