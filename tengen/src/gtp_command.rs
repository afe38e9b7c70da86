//! `tengen gtp`: a model that plays over GTP.

use cli::{Classify, PlaceArgs, Stop};
use config::{ModelId, ModelRef, RunName};
use evaluator::Searcher as Opened;
use go::Size;
use play::{game_seed, generator};

use crate::model;
use gtp::server::{self, Manner, Session, Setup, Voice, WIDTH};

/// Arguments of `tengen gtp`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The model: v15-330, or v15 for the newest of run v15; 9x9-demo, which comes with the program; or a built-in
    /// one without a network, uniform or random
    #[arg(long, env = "TENGEN_MODEL")]
    model: ModelRef,
    /// The run whose rules a built-in model plays by [default: the rules of configs/9x9.toml, on any board]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Visits for each move, at most these where there is a clock [default: as the model was published with, and as many
    /// as there is time for where there is a clock]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = cli::within(1_u32..))]
    visits: Option<u32>,
    /// Resign when the expected outcome falls below this, from -1 to 0 [default: never]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = cli::within(-1.0..=0.0_f32))]
    resign: Option<f32>,
    /// Think while the opponent does
    #[arg(long)]
    ponder: bool,
    /// What to answer to `name`: Lizzie shows the analysis of programs whose name begins with KataGo
    #[arg(long, default_value = "Tengen", value_name = "NAME", value_parser = name)]
    name: String,
    #[command(flatten)]
    place: PlaceArgs,
}

/// A name is one line of an answer.
fn name(text: &str) -> Result<String, String> {
    let fits = !text.trim().is_empty() && !text.contains(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err("a name is one line that is not empty".to_owned()) }
}

/// Answers GTP commands on standard input until `quit` or the end of the input.
///
/// # Errors
/// No such model, or one that cannot be opened.
pub fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let device = args.place.device.parse().misconfigured()?;
    let store = model::store_of(store, &args.model)?;
    let id = model::resolve(&store, &args.model)?;
    let config = model::configuration(&store, &id, args.run.as_ref(), &[])?;
    let opened = Opened::open(&store, &config, &id, device, WIDTH)?;
    let visits = args.visits.unwrap_or(config.search.visits);
    let setup = Setup {
        size: Size::new(config.game.size).misconfigured()?,
        any_size: !matches!(id, ModelId::Trained { .. }),
        komi: config.game.komi,
        scoring: opened.settings().scoring,
        name: args.name.clone(),
        version: format!("{} {id}", env!("CARGO_PKG_VERSION")),
        visits,
        ponder: args.ponder,
    };
    let manner = Manner {
        settings: opened.settings(),
        leaves: opened.leaves().min(WIDTH),
        visits,
        no_more: args.visits.is_some(),
        resign: args.resign,
    };
    let rng = generator(game_seed(config.seed, &id.to_string(), "gtp", 0));
    let mut player = Voice::new(opened.evaluator(args.place.cache()), manner, rng);
    Ok(server::run(&mut Session::new(setup, &mut player), stop)?)
}
