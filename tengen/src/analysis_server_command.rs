//! `tengen analysis-server`: KataGo's analysis protocol on standard input and output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use analysis::katago::{Server, ServerOptions, VARIATION};
use analysis::{BATCH, Perspective, ReportStyle};
use anyhow::Context;
use models::ConfiguredModel;
use runtime::{Lines, Stop};

use crate::analyze_command::{MOST_POINTS, POINTS};
use crate::player::PlayerArgs;

/// Bytes of a line. A query of 1,000 moves has 20,000. A longer line is cut, so that it is no JSON.
const LONGEST_LINE: usize = 1 << 24;

/// How soon a client that has gone or a request to stop is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Arguments of `tengen analysis-server`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    model: PlayerArgs,
    /// Visits per position where a query gives no maxVisits [default: the model's own]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: Option<u32>,
    /// Player whose winrate is reported where a query does not say: black, white or side-to-move
    #[arg(long, default_value = "black", value_name = "PLAYER", value_parser = perspective)]
    perspective: Perspective,
    /// Lead reported for a sure win, in points; search predicts no score
    #[arg(long, default_value_t = POINTS, value_name = "POINTS", allow_negative_numbers = true, value_parser = runtime::within(0.0..=MOST_POINTS))]
    points: f32,
    /// Exit at the end of the input without finishing the queries
    #[arg(long)]
    quit_without_waiting: bool,
}

fn perspective(text: &str) -> Result<Perspective, String> {
    match text {
        "black" => Ok(Perspective::Black),
        "white" => Ok(Perspective::White),
        "side-to-move" => Ok(Perspective::SideToMove),
        _ => Err("not black, white or side-to-move".to_owned()),
    }
}

/// Serves queries on standard input until its end.
///
/// # Errors
/// No such model, or one that cannot be opened; an input that cannot be read, or an output that cannot be written.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let ConfiguredModel { config, searcher, any_size } = args.model.open(store, "analysis-server", BATCH, stop)?;
    let options = ServerOptions {
        model: searcher.name().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        size: (!any_size).then_some(config.game.board()),
        komi: config.game.komi,
        visits: args.visits.unwrap_or(config.search.visits),
        style: ReportStyle {
            perspective: args.perspective,
            points: args.points,
            moves: usize::MAX,
            variation: VARIATION,
            policy: false,
            path_visits: false,
        },
    };
    let (engine, _) = args.model.start_engine(&Arc::new(searcher), config.seed)?;
    tracing::info!(
        model = options.model,
        size = config.game.size,
        "ready; scoreLead is the expected outcome in points"
    );
    let server = Server::new(engine, options, io::stdout());
    serve(&server, Lines::stdin(LONGEST_LINE, stop.clone())?)?;
    if !args.quit_without_waiting {
        while !stop.requested() && !server.is_abandoned() && !server.finish_within(PATIENCE) {}
    }
    server.end().context("cannot write to standard output")
}

fn serve(server: &Server<io::Stdout>, mut lines: Lines) -> anyhow::Result<()> {
    while !server.is_abandoned() {
        if lines.wait(PATIENCE) {
            let Some(line) = lines.next() else { break };
            server.line(&line.context("cannot read standard input")?.bytes);
        }
    }
    Ok(())
}
