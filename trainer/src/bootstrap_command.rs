//! `trainer bootstrap`: a run that does not begin with random play.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use config::RunConfig;
use models::{ModelName, Models};
use net::TrainDevice;
use runtime::{Classify, Stop};
use store::{ModelMetadata, Run, Source};

use crate::health_checks::Alarm;
use crate::{Bootstrap, BootstrapOptions, Console, HumanGames, InitialWeights, TrainerError, files};

/// Arguments of `trainer bootstrap`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Human games for supervised training: .sgf or .sgf.gz [default: none, with --from]
    #[arg(long, num_args = 1.., value_name = "FILE", required_unless_present = "from")]
    sgf: Vec<PathBuf>,
    /// Initial weights: v15-330, v15 for the newest of run v15, 9x9-demo (built in), or a file of weights, ONNX
    /// included [default: random]
    #[arg(long, value_name = "MODEL|FILE")]
    from: Option<ModelName>,
    /// Grow to the network of the configuration (Net2Net): more blocks or filters, or tactics instead of features. The
    /// grown network computes the same function
    #[arg(long, requires = "from")]
    grow: bool,
    /// Steps of supervised training [default: no limit, with --minutes]
    #[arg(long, value_name = "N", requires = "sgf", allow_negative_numbers = true, value_parser = runtime::within(1_u64..))]
    steps: Option<u64>,
    /// Minutes of supervised training, those before an interruption included [default: no limit, with --steps]
    #[arg(long, value_name = "N", requires = "sgf", allow_negative_numbers = true, value_parser = runtime::within(0.001..=MOST_MINUTES))]
    minutes: Option<f64>,
    /// Steps between evaluations on held-out games
    #[arg(long, default_value_t = 500, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u64..))]
    eval_interval: u64,
}

/// Minutes of a year, which no run of this needs.
const MOST_MINUTES: f64 = 366.0 * 24.0 * 60.0;

/// What a run begins with.
pub(crate) enum Beginning {
    /// Weights, which become model 1 as they are.
    Weights(InitialWeights),
    /// Human games to train on, from these weights or from random ones.
    Games(HumanGames, Option<InitialWeights>),
}

/// What the arguments name, if it fits the configuration. Warns of a learning rate that is far above the last one of a
/// model. To be called before the run begins, which would keep its configuration.
pub(crate) fn beginning(models: &Models, config: &RunConfig, args: &Args) -> anyhow::Result<Beginning> {
    if !args.sgf.is_empty() && args.steps.is_none() && args.minutes.is_none() {
        return Err(anyhow!("for how long? --steps N or --minutes N")).misconfigured();
    }
    let initial = args.from.as_ref().map(|from| initial(models, config, from, args.grow)).transpose()?;
    let weights = initial.map(|(weights, jump)| {
        if let Some(alarm) = jump {
            tracing::warn!(model = weights.source.name.as_str(), %alarm, "health check");
        }
        weights
    });
    match (weights, args.sgf.is_empty()) {
        (Some(weights), true) => Ok(Beginning::Weights(weights.calibrated()?)),
        (weights, _) => Ok(Beginning::Games(human_games(config, args)?, weights)),
    }
}

/// The weights that a run begins with, and the alarm where they are those of a model with the same network that had a
/// far lower learning rate in the end.
fn initial(
    models: &Models,
    config: &RunConfig,
    from: &ModelName,
    grow: bool,
) -> anyhow::Result<(InitialWeights, Option<Alarm>)> {
    let named = models.weights(from)?;
    let parent = named.metadata.clone();
    let weights = InitialWeights::new(named)?;
    let before = weights.weights.shape();
    let weights = if grow { weights.grown(config)? } else { weights.with_heads_of(config)? };
    weights.check(config)?;
    let is_same = weights.weights.shape().in_play() == before.in_play();
    let jump = parent.filter(|_| is_same).and_then(|parent| rate_jump(models, config, &parent));
    Ok((weights, jump))
}

/// The alarm of a run whose first learning rate is far above that of the last step of a model. No alarm where that is
/// not known: the model has taken no step, or another version wrote the configuration of its run, which is no error
/// here.
fn rate_jump(models: &Models, config: &RunConfig, parent: &ModelMetadata) -> Option<Alarm> {
    let last = parent.step.checked_sub(1)?;
    let theirs = models.run(&parent.run).ok()?.config().ok().flatten()?;
    Alarm::of_rates(&[net::learning_rate(&theirs.train, last), net::learning_rate(&config.train, 0)])
}

/// The games of the collections. Logs how many there are.
fn human_games(config: &RunConfig, args: &Args) -> anyhow::Result<HumanGames> {
    let files: Vec<_> = args.sgf.iter().map(|path| files::read(path)).collect::<Result<_, _>>()?;
    let human_games = HumanGames::read(config, &files)?;
    human_games.left_out.iter().for_each(|why| tracing::warn!(%why, "skipped games of a collection"));
    let (games, positions, holdout) = (human_games.games(), human_games.positions(), human_games.holdout_games());
    tracing::info!(games, positions, holdout_games = holdout, left_out = human_games.left_out.len(), "human games");
    if holdout == 0 {
        tracing::warn!("selfplay.holdout_fraction is 0, so held-out accuracy is not measured");
    }
    Ok(human_games)
}

/// Begins a run as the arguments say.
pub(crate) fn run(
    run: &Run,
    config: &RunConfig,
    beginning: &Beginning,
    args: &Args,
    train_device: TrainDevice,
    stop: &Stop,
) -> anyhow::Result<()> {
    match beginning {
        Beginning::Weights(weights) => drop(weights.publish(run, config)?),
        Beginning::Games(human_games, weights) => {
            train(run, config, weights.as_ref(), human_games, args, train_device, stop)?;
        }
    }
    if !run.models().exists(1)? {
        return Ok(()); // It was stopped.
    }
    let metadata = run.models().metadata(1)?;
    let origin = metadata.origin.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
    tracing::info!(model = %metadata.id(), step = metadata.step, origin, "published");
    Ok(())
}

/// Whether model 1 of the run is what these arguments make: a Job that is run again has nothing to do, whether or not a
/// trainer works on the run meanwhile.
pub(crate) fn is_complete(run: &Run, beginning: &Beginning, args: &Args) -> Result<bool, TrainerError> {
    if !run.models().exists(1)? {
        return Ok(false);
    }
    let metadata = run.models().metadata(1)?;
    let origin: Vec<&Source> = match beginning {
        Beginning::Weights(weights) => vec![&weights.source],
        Beginning::Games(human_games, weights) => {
            weights.iter().map(|weights| &weights.source).chain(&human_games.sources).collect()
        }
    };
    // How many steps --minutes are is not known.
    let is_as_long = args.minutes.is_some() || args.steps.is_none_or(|steps| steps == metadata.step);
    Ok(is_as_long && metadata.origin.iter().eq(origin))
}

fn train(
    run: &Run,
    config: &RunConfig,
    beginning: Option<&InitialWeights>,
    human_games: &HumanGames,
    args: &Args,
    train_device: TrainDevice,
    stop: &Stop,
) -> anyhow::Result<()> {
    let time = args.minutes.map_or(Duration::MAX, |minutes| Duration::from_secs_f64(60.0 * minutes));
    let options = BootstrapOptions { steps: args.steps, time, eval_interval: args.eval_interval };
    let console = Console::new(run, config, stop.health().clone());
    let mut bootstrap = Bootstrap::new(run, config, beginning, human_games, options, train_device, console)?;
    Ok(runtime::drive(&mut bootstrap, stop)?)
}

#[cfg(test)]
mod tests {
    use config::{LearningRate, Preset};
    use net::{Shape, Weights};
    use store::Store;

    use super::*;

    fn config(first_rate: f32, overrides: &[&str]) -> RunConfig {
        let mut config = Preset::Tiny.with(overrides).unwrap();
        let rates = [(0, first_rate), (10, 0.002)];
        config.train.learning_rate = rates.map(|(from_step, rate)| LearningRate { from_step, rate }).to_vec();
        config
    }

    #[test]
    fn run_that_begins_far_above_the_last_rate_of_a_model_raises_an_alarm() {
        let models = Models::new(Store::in_memory().unwrap());
        let theirs = config(0.02, &[]);
        let weights = Weights::synthetic(Shape::new(&theirs.game, &theirs.network), 1).to_bytes();
        let [old, unknown] = ["old", "unknown"].map(|name| models.store().run(&name.parse().unwrap()));
        old.create(&theirs).unwrap();
        for run in [&old, &unknown] {
            for (number, step) in [(1, 0), (2, 10), (3, 11)] {
                let metadata = ModelMetadata::new(run.name(), number, step, &theirs);
                run.models().publish(&metadata, weights.clone().into()).unwrap();
            }
        }
        let alarm = |from: &str, first_rate: f32, overrides: &[&str]| {
            let config = config(first_rate, overrides);
            initial(&models, &config, &from.parse().unwrap(), !overrides.is_empty()).unwrap().1
        };
        let jump = Alarm::RateJump { before: 0.002, rate: 0.02 };
        assert_eq!(alarm("old", 0.02, &[]), Some(jump.clone()));
        assert_eq!(alarm("old", 0.02, &["network.score=true"]), Some(jump), "the same network in play");
        assert_eq!(alarm("old", 0.02, &["network.filters=12"]), None, "a larger network");
        assert_eq!(alarm("old", 0.005, &[]), None, "within the bound");
        assert_eq!(alarm("old-2", 0.02, &[]), None, "its last step had the first rate");
        assert_eq!(alarm("old-1", 0.02, &[]), None, "it has taken no step");
        assert_eq!(alarm("unknown-3", 0.02, &[]), None, "its run has no configuration");
    }
}
