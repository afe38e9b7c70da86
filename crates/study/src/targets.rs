//! `tengen study targets`: the noise of policy targets.
//!
//! Searches with exploration yield different policies for one position, and so do the models of a window. For targets
//! tᵢ with mean m, the loss of a network's policy p has two parts: mean KL(tᵢ‖p) = mean KL(tᵢ‖m) + KL(m‖p). The first
//! is noise, which training cannot reduce. It is the entropy of m less the mean entropy of tᵢ (Lin, "Divergence
//! measures based on the Shannon entropy", 1991). The second is the reducible loss.

use std::fmt;
use std::iter;

use config::{ModelId, RunConfig};
use go::Game;
use mcts::{Evaluator, Purpose, Settings};
use models::{ModelSource, Models};
use play::{Budget, SearchDriver, game_seed};
use runtime::{Classify, Stop};
use serde::Serialize;

use crate::batched_search::BatchedSearch;
use crate::model::ModelArgs;
use crate::positions::positions;
use crate::statistics::Estimate;

/// Arguments of `tengen study targets`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    of: ModelArgs,
    /// Positions, each from a separate self-play game with resignation
    #[arg(long, default_value = "200", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(2_u32..))]
    positions: u32,
    /// Searches per position. The noise of n searches is underestimated by about 1/n
    #[arg(long, default_value = "16", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(2..=1024_u32))]
    searches: u32,
    /// Models that search in turn: the given one and its predecessors. The number in a window shows the irreducible
    /// loss
    #[arg(long, default_value = "1", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    models: u32,
}

/// Results of the searches of one position, by the index of the move.
#[derive(Clone, Debug, Default)]
struct Searched {
    /// The priors of the given model.
    prior: Vec<f64>,
    /// The policy target of each search.
    targets: Vec<Vec<f64>>,
}

/// Statistics of one position, in nats, and shares of its searches.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measurement {
    /// From the targets to the network's priors.
    divergence: f64,
    /// From the targets to their mean.
    chance: f64,
    /// Of the targets.
    entropy: f64,
    /// Searches that the network's first move is first for.
    network_right: f64,
    /// Searches that the first move of the mean is first for.
    mean_right: f64,
}

/// Means over all positions; divergences and entropies in nats, the rest are shares from 0 to 1.
#[derive(Serialize)]
struct Summary {
    model: String,
    models: u32,
    visits: u32,
    positions: usize,
    searches: u32,
    divergence: Estimate,
    chance: Estimate,
    to_learn: Estimate,
    target_entropy: Estimate,
    network_right: Estimate,
    mean_right: Estimate,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = match self.models {
            1 => self.model.clone(),
            models => format!("the {models} models up to {}", self.model),
        };
        let Summary { visits, positions, searches, .. } = self;
        writeln!(f, "Policy targets of {by}: {visits} visits, {positions} positions, {searches} searches of each")?;
        write!(f, "means with 95 % intervals")?;
        let nats = |of: Estimate| format!("{:>6.3} ± {:.3} nats", of.mean, of.half);
        let percent = |of: Estimate| format!("{:>6.1} ± {:.1} %", 100.0 * of.mean, 100.0 * of.half);
        for (name, value) in [
            ("from the targets to the network's policy", nats(self.divergence)),
            ("  irreducible: to the mean of the targets", nats(self.chance)),
            ("  reducible: from that mean to the network's policy", nats(self.to_learn)),
            ("entropy of a target", nats(self.target_entropy)),
            ("the network's first move is the target's", percent(self.network_right)),
            ("the mean's first move is the target's", percent(self.mean_right)),
        ] {
            write!(f, "\n{name:<51} {value}")?;
        }
        Ok(())
    }
}

/// Plays the games, searches the positions, and prints what was found.
///
/// # Errors
/// A model or a configuration that cannot be used, more models than there are, or a device that fails.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let (models, model) = args.of.find(store)?;
    let config = args.of.configuration(&models, &model, &[], &[])?;
    let before = before(&model, args.models, args.searches).misconfigured()?;
    let series: Vec<&ModelSource> = iter::once(&model).chain(&before).collect();
    let mut games = Vec::new();
    let mut seen: Vec<Searched> = Vec::new();
    for (nth, by) in series.iter().enumerate() {
        let player = args.of.open(&models, &config, by)?;
        let mut evaluator = player.evaluator(args.of.resources.cache());
        if nth == 0 {
            let (name, threshold) = (model.to_string(), threshold(&models, &model)?);
            games = positions(&config, &name, "targets", args.positions, threshold, &mut *evaluator, stop)?;
            seen.resize(games.len(), Searched::default());
        }
        for search in (nth as u32..args.searches).step_by(series.len()) {
            if stop.requested() {
                return Ok(());
            }
            searched(&config, search, &games, &mut *evaluator, &mut seen, stop)?;
        }
    }
    if stop.requested() {
        return Ok(());
    }
    let seen: Vec<Measurement> = seen.iter().map(measure).collect();
    let summary = summary(args, &model, config.search.visits, &seen);
    if args.of.json {
        runtime::print(serde_json::to_string(&summary)?)?;
    } else {
        runtime::print(&summary)?;
    }
    Ok(())
}

/// The resign threshold in force in its run: decided positions are not part of the training data.
fn threshold(models: &Models, model: &ModelSource) -> anyhow::Result<Option<f32>> {
    let ModelSource::Id(ModelId::Trained { run, .. }) = model else { return Ok(None) };
    Ok(models.run(run)?.resign().newest()?.map(|resign| resign.threshold))
}

/// The models before a model in its run, the newest first, so that there are `count` with it. Each makes one of the
/// searches at least.
fn before(model: &ModelSource, count: u32, searches: u32) -> anyhow::Result<Vec<ModelSource>> {
    anyhow::ensure!(count <= searches, "--models {count}: of {searches} searches not each of them gets one");
    match model {
        ModelSource::Id(ModelId::Trained { run, number }) if *number >= count => {
            Ok((number - count + 1..*number).rev().map(|number| ModelSource::Id(run.model(number))).collect())
        }
        _ if count == 1 => Ok(Vec::new()),
        _ => anyhow::bail!("--models {count}: there are not so many models up to {model}"),
    }
}

/// Searches each position again, as in self-play but with an empty tree.
fn searched(
    config: &RunConfig,
    nth: u32,
    games: &[Game],
    model: &mut dyn Evaluator,
    seen: &mut [Searched],
    stop: &Stop,
) -> anyhow::Result<()> {
    let settings = Settings::new(&config.search, &config.game);
    let budget = Budget { visits: config.search.visits, leaves: config.search.leaves };
    let purpose = Purpose::selfplay(&config.selfplay, config.game.board().area());
    let seed = game_seed(config.seed, "", "targets", nth.into());
    BatchedSearch { model, settings, budget, purpose, seed, stop }.on(games, &mut |index, driver| {
        let seen = &mut seen[index];
        if seen.targets.is_empty() {
            seen.prior = driver.priors().iter().copied().map(f64::from).collect();
        }
        seen.targets.push(target(driver));
    })
}

fn target(driver: &SearchDriver) -> Vec<f64> {
    let search = driver.search();
    let (size, counts) = (search.game().size(), search.policy_target());
    let total: u32 = counts.iter().map(|(_, count)| count).sum();
    let mut target = vec![0.0; size.moves()];
    counts.iter().for_each(|&(mv, count)| target[mv.index(size)] = f64::from(count) / f64::from(total));
    target
}

fn measure(Searched { prior, targets }: &Searched) -> Measurement {
    let count = targets.len() as f64;
    let mut mean = vec![0.0; prior.len()];
    for target in targets {
        mean.iter_mut().zip(target).for_each(|(mean, share)| *mean += share / count);
    }
    let over = |of: &dyn Fn(&Vec<f64>) -> f64| targets.iter().map(of).sum::<f64>() / count;
    let share_first = |policy: &[f64]| over(&|target| f64::from(u8::from(first(target) == first(policy))));
    Measurement {
        divergence: over(&|target| divergence(target, prior)),
        chance: over(&|target| divergence(target, &mean)),
        entropy: over(&|target| {
            -target.iter().filter(|share| **share > 0.0).map(|share| share * share.ln()).sum::<f64>()
        }),
        network_right: share_first(prior),
        mean_right: share_first(&mean),
    }
}

/// The Kullback-Leibler divergence of `from` from `to`, in nats.
fn divergence(from: &[f64], to: &[f64]) -> f64 {
    let term = |(p, q): (&f64, &f64)| if *p > 0.0 { p * (p / q.max(f64::from(f32::MIN_POSITIVE))).ln() } else { 0.0 };
    from.iter().zip(to).map(term).sum()
}

/// The move with the largest share; of equals the first.
fn first(policy: &[f64]) -> Option<usize> {
    (0..policy.len()).rev().max_by(|&a, &b| policy[a].total_cmp(&policy[b]))
}

fn summary(args: &Args, model: &ModelSource, visits: u32, seen: &[Measurement]) -> Summary {
    let estimate = |of: fn(&Measurement) -> f64| Estimate::of(seen.iter().map(of));
    Summary {
        model: model.to_string(),
        models: args.models,
        visits,
        positions: seen.len(),
        searches: args.searches,
        divergence: estimate(|seen| seen.divergence),
        chance: estimate(|seen| seen.chance),
        to_learn: estimate(|seen| seen.divergence - seen.chance),
        target_entropy: estimate(|seen| seen.entropy),
        network_right: estimate(|seen| seen.network_right),
        mean_right: estimate(|seen| seen.mean_right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two searches, each certain of another move: the noise is ln 2. A network with 0.4 for each of the moves has an
    /// excess loss for 0.2 of its mass.
    #[test]
    fn divergence_is_noise_plus_underfitting() {
        let targets = vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
        let seen = measure(&Searched { prior: vec![0.4, 0.4, 0.2], targets });
        assert!((seen.chance - 2f64.ln()).abs() < 1e-12, "{seen:?}");
        assert!((seen.divergence - seen.chance - (0.5f64 / 0.4).ln()).abs() < 1e-12, "{seen:?}");
        assert_eq!((seen.entropy, seen.network_right, seen.mean_right), (0.0, 0.5, 0.5));
    }

    #[test]
    fn targets_that_are_alike_have_no_chance_in_them() {
        let target = vec![0.75, 0.25];
        let seen = measure(&Searched { prior: vec![0.25, 0.75], targets: vec![target.clone(), target] });
        let expected = 0.75 * 3f64.ln() - 0.25 * 3f64.ln();
        assert!(seen.chance.abs() < 1e-12 && (seen.divergence - expected).abs() < 1e-12, "{seen:?}");
        assert_eq!((seen.network_right, seen.mean_right), (0.0, 1.0));
    }

    #[test]
    fn models_that_are_not_there_or_would_not_search_are_refused() {
        let [model, uniform] = ["v15-3", "uniform"].map(|id| ModelSource::Id(id.parse().unwrap()));
        let names = |models: Vec<ModelSource>| models.iter().map(ModelSource::to_string).collect::<Vec<_>>();
        assert_eq!(names(before(&model, 3, 3).unwrap()), ["v15-2", "v15-1"]);
        assert!(before(&model, 1, 1).unwrap().is_empty() && before(&uniform, 1, 1).unwrap().is_empty());
        for (model, count, searches) in [(&model, 4, 16), (&uniform, 2, 16), (&model, 3, 2)] {
            assert!(before(model, count, searches).is_err(), "{count} of {model}, {searches} searches");
        }
    }
}
