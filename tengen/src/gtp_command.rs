//! `tengen gtp`: a model that plays over GTP.

use std::cell::Cell;
use std::path::PathBuf;

use analysis::book::Openings;
use go::{Game, Move};
use gtp::server::{self, EngineOptions, EnginePlayer, Session, Setup, WIDTH};
use models::ConfiguredModel;
use play::{game_seed, generator};
use runtime::{Classify, Stop};

use crate::player::PlayerArgs;

/// Arguments of `tengen gtp`. A game has one search, on one thread, whatever `--threads` and its variable say.
#[derive(clap::Args, Debug)]
#[command(mut_arg("threads", |threads| threads.hide(true)))]
pub(crate) struct Args {
    #[command(flatten)]
    model: PlayerArgs,
    /// Visits per move, an upper limit with a clock [default: the model's own; with a clock as time permits]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: Option<u32>,
    /// Opening book of `tengen book`, whose moves are played without search [default: none]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Resign below this expected outcome, from -1 to 0 [default: never]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = runtime::within(-1.0..=0.0_f32))]
    resign: Option<f32>,
    /// Search during the opponent's turn
    #[arg(long)]
    ponder: bool,
    /// Response to `name`; Lizzie shows the analysis of programs whose name begins with KataGo
    #[arg(long, default_value = "Tengen", value_name = "NAME", value_parser = name)]
    name: String,
}

/// A name is one line of a response.
fn name(text: &str) -> Result<String, String> {
    let fits = !text.trim().is_empty() && !text.contains(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err("a name is one line that is not empty".to_owned()) }
}

/// The moves of a book. A game that it is not for is said once, until there is one again that it is for. Where a game
/// leaves it, the number of its moves that were played is said.
fn played(openings: Openings) -> impl Fn(&Game, f32) -> Option<Move> {
    let (was_for, last, moves) = (Cell::new(true), Cell::new(0), Cell::new(0_usize));
    move |game, komi| {
        let is_for = openings.fits(game.size(), komi);
        if was_for.replace(is_for) && !is_for {
            let (book, size) = (openings.game(), game.size().side());
            tracing::warn!(book, size, komi, "the opening book is for other games, and not used");
        }
        // A turn that is not later than the last one is of another game.
        let before = if game.turn() > last.replace(game.turn()) { moves.get() } else { 0 };
        let best = openings.best(game, komi);
        moves.set(if best.is_some() { before + 1 } else { 0 });
        if best.is_none() && before > 0 {
            tracing::info!(turn = game.turn(), moves = before, "out of the opening book");
        }
        best
    }
}

/// Serves GTP commands on standard input until `quit` or the end of the input.
///
/// # Errors
/// No such model, or one that cannot be opened.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let ConfiguredModel { config, searcher: opened, any_size } =
        args.model.on_one_thread().open(store, "gtp", WIDTH, stop)?;
    let visits = args.visits.unwrap_or(config.search.visits);
    let setup = Setup {
        size: config.game.board(),
        any_size,
        komi: config.game.komi,
        scoring: opened.settings().scoring,
        name: args.name.clone(),
        version: format!("{} {}", env!("CARGO_PKG_VERSION"), opened.name()),
        visits,
        ponder: args.ponder,
    };
    let options = EngineOptions {
        settings: opened.settings(),
        leaves: opened.budget().leaves.min(WIDTH),
        visits,
        visits_are_maximum: args.visits.is_some(),
        resign: args.resign,
    };
    let rng = generator(game_seed(config.seed, opened.name(), "gtp", 0));
    let mut player = EnginePlayer::new(opened.evaluator(args.model.cache()), options, rng);
    if let Some(path) = &args.book {
        let openings = Openings::read(path).misconfigured()?;
        tracing::info!(positions = openings.len(), "opening book");
        player = player.with_book(Box::new(played(openings)));
    }
    Ok(server::run(&mut Session::new(setup, &mut player), stop)?)
}
