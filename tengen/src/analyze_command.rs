//! `tengen analyze`: all positions of games, as SGF with the analysis and as JSON.
//!
//! The cast: `AnalyzedGame` is a game, its positions and the file to which they are added; `Searches` hands positions
//! of a few games at a time to an `Engine`, adds what it finds, and then hands it the positions after other candidate
//! moves, of which only the evaluation cache keeps anything. A process that is killed loses the positions that it
//! searched at the time.

mod searches;
mod work;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use analysis::{BATCH, ReportStyle};
use anyhow::anyhow;
use models::{ConfiguredModel, Searcher};
use runtime::{Classify, Stop, format};

use crate::player::{PlayerArgs, rounding};
use searches::Done;
use work::Analyst;

/// Points of lead for a sure win. On 9x9 a stone that decides a game is worth about that much.
pub(crate) const POINTS: f32 = ReportStyle::STANDARD.points;
/// The most that an option may name.
pub(crate) const MOST_POINTS: f32 = 400.0;

/// Positions that wait for the engine, for each thread.
const AHEAD: usize = 8 * BATCH;

/// Candidate moves that a report has.
const MOST_CANDIDATES: usize = ReportStyle::STANDARD.moves;

/// Arguments of `tengen analyze`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Games: .sgf or .sgf.gz, collections included
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    model: PlayerArgs,
    /// Visits per position [default: the model's own]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: Option<u32>,
    /// Candidate moves per position, besides the one played, that are searched as well, for --evalcache
    #[arg(long, default_value = "0", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(0..=MOST_CANDIDATES))]
    candidates: usize,
    /// Folder for the results [default: that of each file]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Lead reported for a sure win, in points; search predicts no score
    #[arg(long, default_value_t = POINTS, value_name = "POINTS", allow_negative_numbers = true, value_parser = runtime::within(0.0..=MOST_POINTS))]
    points: f32,
}

/// Analyses all games.
///
/// # Errors
/// No such model, or one that cannot be opened; games that cannot be analysed, after all others were.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let ConfiguredModel { config, searcher, any_size } = args.model.open(store, "analyze", BATCH, stop)?;
    if args.candidates > 0 && searcher.kept().is_none() {
        let model = searcher.name();
        let problem = format!("--candidates fills an evaluation cache, and {model} has none here; add --evalcache URL");
        return Err(anyhow!(problem)).misconfigured();
    }
    let visits = args.visits.unwrap_or(config.search.visits);
    let analyst = Analyst {
        model: searcher.name().to_owned(),
        weights: searcher.weights_digest(),
        evaluations: rounding(&searcher),
        size: (!any_size).then_some(config.game.board()),
        komi: config.game.komi,
        visits,
        candidates: args.candidates,
        style: ReportStyle { points: args.points, ..ReportStyle::STANDARD },
    };
    let (mut games, mut failed) = work::open(&args.files, args.out.as_deref(), &analyst)?;
    let searcher = Arc::new(searcher);
    let (engine, options) = args.model.start_engine(&searcher, config.seed)?;
    let began = Instant::now();
    let done = searches::run(&mut games, &analyst, &engine, AHEAD * options.threads, stop);
    drop(engine);
    let mut done = done?;
    failed += done.failed;
    summarise(&mut done, began.elapsed(), &searcher);
    if failed > 0 {
        let games = if failed == 1 { "1 game is".to_owned() } else { format!("{failed} games are") };
        return Err(anyhow!("{games} not analysed; the errors above say why")).misconfigured();
    }
    done.notes.finish()
}

fn summarise(done: &mut Done, took: Duration, searcher: &Searcher) {
    let (searched, candidates) = (done.positions, done.candidates);
    let rate = (searched + candidates) as f64 / took.as_secs_f64();
    let beside = if candidates > 0 { format!(" and {candidates} after candidates") } else { String::new() };
    done.notes.print(format!("{searched} positions{beside} searched in {}, {rate:.1}/s", format::duration(took)));
    if let Some(kept) = searcher.kept() {
        done.notes.print(format!("evaluation cache: {}", kept.lookups()));
    }
}
