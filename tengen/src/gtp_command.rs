//! `tengen gtp`: a model that plays over GTP.

use config::{ModelId, RunName};
use go::Size;
use models::{EvaluationCacheOptions, ModelName, Models, Place, Priority, Searcher};
use play::{game_seed, generator};
use runtime::{Classify, EvalcacheArgs, InferenceArgs, ResourceArgs, Stop};
use store::Store;

use gtp::server::{self, EngineOptions, EnginePlayer, Session, Setup, WIDTH};
use study::model;

/// Arguments of `tengen gtp`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), a file of weights, uniform or random
    #[arg(long, env = "TENGEN_MODEL", value_name = "MODEL|FILE")]
    model: ModelName,
    /// Run whose rules a file or a built-in model plays by [default: those of configs/9x9.toml, any board size]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Visits per move, an upper limit with a clock [default: the model's own; with a clock as time permits]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: Option<u32>,
    /// Resign below this expected outcome, from -1 to 0 [default: never]
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = runtime::within(-1.0..=0.0_f32))]
    resign: Option<f32>,
    /// Search during the opponent's turn
    #[arg(long)]
    ponder: bool,
    /// Response to `name`; Lizzie shows the analysis of programs whose name begins with KataGo
    #[arg(long, default_value = "Tengen", value_name = "NAME", value_parser = name)]
    name: String,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    inference: InferenceArgs,
    #[command(flatten)]
    evalcache: EvalcacheArgs,
}

impl Args {
    fn evaluations(&self) -> anyhow::Result<Option<EvaluationCacheOptions>> {
        let EvalcacheArgs { evalcache, evalcache_steps, evalcache_symmetry, evalcache_copies } = &self.evalcache;
        let Some(store) = evalcache else { return Ok(None) };
        let options =
            EvaluationCacheOptions::parse(store, evalcache_steps, evalcache_symmetry, evalcache_copies.clone());
        Ok(Some(options.misconfigured()?))
    }
}

/// A name is one line of a response.
fn name(text: &str) -> Result<String, String> {
    let fits = !text.trim().is_empty() && !text.contains(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err("a name is one line that is not empty".to_owned()) }
}

/// Serves GTP commands on standard input until `quit` or the end of the input.
///
/// # Errors
/// No such model, or one that cannot be opened.
pub fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let models = Models::new(Store::open(store)?);
    let place = Place::open(&args.resources, &args.inference, "gtp", Priority::Interactive, stop)?;
    let configuration = |id| model::configuration(&models, id, args.run.as_ref(), &[]);
    let (config, opened, has_network) = match &args.model {
        ModelName::Model(model) => {
            let id = models.resolve(model)?;
            let config = configuration(&id)?;
            let opened = Searcher::open(&models, &config, &id, &place, WIDTH)?;
            (config, opened, matches!(id, ModelId::Trained { .. }))
        }
        ModelName::File(path) => {
            let config = configuration(&ModelId::Uniform)?;
            let opened = Searcher::of_file(path, &config, &place, WIDTH)?;
            (config, opened, true)
        }
    };
    let opened = opened.keeping(args.evaluations()?.as_ref())?;
    let visits = args.visits.unwrap_or(config.search.visits);
    let setup = Setup {
        size: Size::new(config.game.size).misconfigured()?,
        any_size: !has_network,
        komi: config.game.komi,
        scoring: opened.settings().scoring,
        name: args.name.clone(),
        version: format!("{} {}", env!("CARGO_PKG_VERSION"), opened.name()),
        visits,
        ponder: args.ponder,
    };
    let manner = EngineOptions {
        settings: opened.settings(),
        leaves: opened.budget().leaves.min(WIDTH),
        visits,
        no_more: args.visits.is_some(),
        resign: args.resign,
    };
    let rng = generator(game_seed(config.seed, opened.name(), "gtp", 0));
    let mut player = EnginePlayer::new(opened.evaluator(args.resources.cache()), manner, rng);
    Ok(server::run(&mut Session::new(setup, &mut player), stop)?)
}
