//! `tengen analyze`: all positions of games, as SGF with the analysis and as JSON.
//!
//! The cast: `Work` is a game, its positions and the file to which they are added; `run` hands positions of a few games at a
//! time to an `Engine` and adds what it finds. A process that is killed loses the positions that it searched at the time.

mod work;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

use analysis::{Engine, Event, Report, ReportStyle, Task};
use anyhow::anyhow;
use go::Size;
use models::{Player, Searcher};
use runtime::{Classify, Progress, Stop, format};

use crate::player::{BATCH, PlayerArgs, receive};
use work::{Analyst, Work};

/// Points of lead for a sure win. On 9x9 a stone that decides a game is worth about that much.
pub(crate) const POINTS: f32 = ReportStyle::STANDARD.points;

/// Positions that wait for the engine, for each thread.
const AHEAD: usize = 8 * BATCH;

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
    /// Folder for the results [default: that of each file]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Lead reported for a sure win, in points; search predicts no score
    #[arg(long, default_value_t = POINTS, value_name = "POINTS", allow_negative_numbers = true, value_parser = runtime::within(0.0..=400.0_f32))]
    points: f32,
}

/// A position that is over: the number of its game, its turn, and its result.
type Finished = (usize, usize, Event);

/// Analyses all games.
///
/// # Errors
/// No such model, or one that cannot be opened; games that cannot be analysed, after all others were.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let Player { config, searcher, any_size } = args.model.open(store, "analyze", BATCH, stop)?;
    let visits = args.visits.unwrap_or(config.search.visits);
    let analyst = Analyst {
        model: searcher.name().to_owned(),
        evaluations: searcher.kept().map(|kept| kept.name().to_owned()),
        size: if any_size { None } else { Some(Size::new(config.game.size).misconfigured()?) },
        komi: config.game.komi,
        visits,
        style: ReportStyle { points: args.points, ..ReportStyle::STANDARD },
    };
    let (mut games, mut failed) = work::open(&args.files, args.out.as_deref(), &analyst)?;
    let searcher = Arc::new(searcher);
    let (engine, options) = args.model.start_engine(&searcher, config.seed)?;
    let began = Instant::now();
    let done = analyse(&mut games, &analyst, &engine, AHEAD * options.threads, stop);
    drop(engine);
    let done = done?;
    failed += done.failed;
    summarise(done.searched, began.elapsed(), &searcher)?;
    if failed > 0 {
        let games = if failed == 1 { "1 game is".to_owned() } else { format!("{failed} games are") };
        return Err(anyhow!("{games} not analysed; the errors above say why")).misconfigured();
    }
    Ok(())
}

/// What was done.
#[derive(Default)]
struct Done {
    /// Positions that were searched.
    searched: u64,
    /// Games whose files cannot be used.
    failed: usize,
}

/// Analyses all positions that have no report.
fn analyse(games: &mut [Work], analyst: &Analyst, engine: &Engine, ahead: usize, stop: &Stop) -> anyhow::Result<Done> {
    let (sender, finished) = mpsc::channel();
    let progress = Progress::new("analyze", Some(games.iter().map(|game| game.positions() as u64).sum()));
    let (mut next, mut waiting, mut known, mut done) = (0, 0, 0, Done::default());
    loop {
        while waiting < ahead && next < games.len() && !stop.requested() {
            let left = begin(&mut games[next], analyst)?;
            done.failed += usize::from(left.is_none());
            let left = left.unwrap_or_default();
            left.iter().for_each(|turn| submit(next, *turn, &games[next], analyst, engine, &sender));
            waiting += left.len();
            let before = (games[next].positions() - left.len()) as u64;
            progress.skip(before);
            known += before;
            next += 1;
        }
        if waiting == 0 {
            return Ok(done);
        }
        let Some((game, turn, event)) = receive(&finished, engine, stop) else { continue };
        waiting -= 1;
        let analysis = match event {
            Event::Done(analysis) if !stop.requested() => analysis,
            Event::Failed(error) => {
                let class = models::evaluate_class(&error);
                return Err(anyhow!("{}, turn {turn}: {error}", games[game].name())).class(class);
            }
            // Stopped before its visits.
            _ => continue,
        };
        games[game].add(Report::new(&analysis, false, &analyst.style))?;
        games[game].finish_when_whole(analyst)?;
        done.searched += 1;
        progress.set(known + done.searched);
    }
}

/// Begins a game. Returns the turns to analyse; `None` for a game whose file cannot be used, which is printed.
fn begin(game: &mut Work, analyst: &Analyst) -> anyhow::Result<Option<Vec<usize>>> {
    match game.begin(analyst) {
        Ok(left) => {
            game.finish_when_whole(analyst)?;
            Ok(Some(left))
        }
        Err(error) => {
            tracing::error!(game = game.name(), %error, "game cannot be analysed");
            Ok(None)
        }
    }
}

/// Hands a position of a game to the engine.
fn submit(number: usize, turn: usize, game: &Work, analyst: &Analyst, engine: &Engine, sender: &Sender<Finished>) {
    let sender = sender.clone();
    let listener = move |event| {
        // Nothing listens after a failure.
        let _ = sender.send((number, turn, event));
    };
    engine.submit(Task::new(game.game(), turn, game.komi(), analyst.visits), Box::new(listener));
}

fn summarise(searched: u64, took: Duration, searcher: &Searcher) -> anyhow::Result<()> {
    let rate = searched as f64 / took.as_secs_f64();
    runtime::print(format!("{searched} positions searched in {}, {rate:.1}/s", format::duration(took)))?;
    let Some(kept) = searcher.kept() else { return Ok(()) };
    runtime::print(format!("evaluation cache: {}", kept.lookups()))
}
