//! `tengen study values`: values and moves of a model beside those of deep searches.
//!
//! Matches tell models apart after hundreds of games; some hundred positions with the result of a far deeper search do
//! it in a minute. They are for measuring alone: nothing is trained on them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use config::RunConfig;
use go::{Game, Move};
use mcts::{Evaluator, Purpose, Search, Settings, Value};
use models::{ModelName, ModelSource, Models, Searcher};
use play::Budget;
use record::{DeepPosition, Stage};
use runtime::{Classify, Stop};
use serde::Serialize;

use crate::batched_search::BatchedSearch;
use crate::model::ModelArgs;
use crate::statistics::{Estimate, Share, three_places};

mod difference;
#[cfg(test)]
mod made_up;
mod network;
mod one_ply;
mod outputs;
mod spread;

use difference::Difference;
use network::NetworkReport;

/// Arguments of `tengen study values`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    of: ModelArgs,
    /// Positions of `tengen study positions`: one JSON object per line with moves (GTP vertices from the empty board),
    /// value (for Black, -1 to 1) and visits (pairs of vertex and number)
    #[arg(long, value_name = "FILE")]
    positions: PathBuf,
    /// Visits below the root per position; may be repeated. 0: the network alone, without a search
    #[arg(long, default_values = ["0", "1", "4", "16", "100"], value_name = "N", value_delimiter = ',', allow_negative_numbers = true, value_parser = runtime::within(0..=mcts::MOST_VISITS))]
    visits: Vec<u32>,
    /// Also print the squared error less that of this model, in the same form, on the same positions [default: none]
    #[arg(long, value_name = "MODEL|FILE")]
    against: Option<ModelName>,
}

/// A model, and the positions that it searches.
struct Subject {
    model: ModelSource,
    config: RunConfig,
    references: Vec<DeepPosition>,
    player: Searcher,
}

/// A model on one position.
#[derive(Clone, Copy)]
struct Measurement {
    /// Moves before the position.
    turn: usize,
    /// Of the value under the policy of the search; without visits that of the network, as is the next.
    squared_error: f64,
    /// Of the mean over all visits, which self-play records.
    squared_error_of_mean: f64,
    /// Whether its move is the most visited one of the deep search, and one of its three most visited. Without visits
    /// it is the move with the highest prior.
    first: bool,
    among_three: bool,
    /// Of the shares of visits of the deep search relative to the network's policy, in nats.
    cross_entropy: f64,
}

/// Means over positions, with half of their 95 % intervals, and shares of the positions.
#[derive(Serialize)]
struct Row {
    model: String,
    visits: u32,
    positions: usize,
    /// Of the value under the policy of the search, which people are shown.
    squared_error: Estimate,
    /// Of the mean over all visits, which self-play records.
    squared_error_of_mean: Estimate,
    /// The first of these by the [`Stage`] of a game; none without positions of a stage.
    squared_error_by_move: [Option<Estimate>; Stage::ALL.len()],
    first: Share,
    among_three: Share,
    cross_entropy: Estimate,
    /// Of the network alone; none where it is searched with.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkReport>,
    /// From the model of `--against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
}

/// The names of the columns of a [`Row`].
fn heading() -> String {
    let [mean, top, three, entropy] = ["mean of visits", "top move, %", "among three, %", "cross-entropy"];
    errors_heading("value error") + &format!(" {mean:>15} {top:>18} {three:>18} {entropy:>15}")
}

/// The names of the columns of errors, with the first one's.
fn errors_heading(errors: &str) -> String {
    let stages: String = Stage::ALL.iter().map(|stage| format!(" {:>15}", stage.moves())).collect();
    format!("{:6} {errors:>15}{stages}", "visits")
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6} {:>15}", self.visits, three_places(Some(self.squared_error)))?;
        for &stage in &self.squared_error_by_move {
            write!(f, " {:>15}", three_places(stage))?;
        }
        write!(f, " {:>15}", three_places(Some(self.squared_error_of_mean)))?;
        write!(f, " {:>18} {:>18}", self.first.percent(), self.among_three.percent())?;
        write!(f, " {:>15}", three_places(Some(self.cross_entropy)))
    }
}

/// Searches the positions with each number of visits, and prints the table; below it the difference from another model,
/// and what is measured of the network alone.
///
/// # Errors
/// A model, a configuration or a file that cannot be used, or a device that fails.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let (models, model) = args.of.find(store)?;
    let subject = Subject::open(args, &models, model)?;
    let other = args.against.as_ref().map(|other| models.find(other)).transpose()?;
    let other = other.map(|other| Subject::open(args, &models, other)).transpose()?;
    let cache = args.of.resources.cache();
    let mut evaluator = subject.player.evaluator(cache);
    let mut against = other.as_ref().map(|other| (other, other.player.evaluator(cache)));
    let Subject { model, config, references, .. } = &subject;
    if !args.of.json {
        runtime::print(format!(
            "{model} on {} positions of {}; means with 95 % intervals",
            references.len(),
            args.positions.display()
        ))?;
        runtime::print(heading())?;
    }
    let (mut network, mut differences) = (None, Vec::new());
    for &visits in &args.visits {
        if stop.requested() {
            return Ok(());
        }
        let Some(seen) = subject.searched(visits, &mut *evaluator, stop)? else { return Ok(()) };
        let mut row = row(model.to_string(), visits, &seen);
        if visits == 0 {
            row.network = NetworkReport::measure(config, references, &mut *evaluator, stop)?;
            if row.network.is_none() {
                return Ok(());
            }
        }
        if let Some((other, evaluator)) = &mut against {
            let Some(theirs) = other.searched(visits, &mut **evaluator, stop)? else { return Ok(()) };
            row.difference = Some(difference(other.model.to_string(), &seen, &theirs));
        }
        if args.of.json {
            runtime::print(serde_json::to_string(&row)?)?;
        } else {
            runtime::print(&row)?;
            network = row.network.or(network);
            differences.extend(row.difference.map(|difference| format!("\n{visits:>6} {difference}")));
        }
    }
    if let Some((other, _)) = against.filter(|_| !differences.is_empty()) {
        let heading = errors_heading("difference");
        runtime::print(format!("\nvalue error less that of {}\n{heading}{}", other.model, differences.concat()))?;
    }
    network.map_or(Ok(()), runtime::print)
}

fn read(path: &Path, config: &RunConfig) -> anyhow::Result<Vec<DeepPosition>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let positions = DeepPosition::read_all(&text, config.game.board(), config.game.komi)
        .with_context(|| path.display().to_string())?;
    anyhow::ensure!(positions.len() >= 2, "{}: fewer than two positions", path.display());
    Ok(positions)
}

impl Subject {
    fn open(args: &Args, models: &Models, model: ModelSource) -> anyhow::Result<Subject> {
        let config = args.of.configuration(models, &model, &[], &["search.visits"])?;
        let references = read(&args.positions, &config).misconfigured()?;
        let player = args.of.open(models, &config, &model)?;
        Ok(Subject { model, config, references, player })
    }

    /// What the searches of all positions found; none when the program is to stop.
    fn searched(
        &self,
        visits: u32,
        model: &mut dyn Evaluator,
        stop: &Stop,
    ) -> anyhow::Result<Option<Vec<Measurement>>> {
        let Subject { config, references, .. } = self;
        let settings = Settings::new(&config.search, &config.game);
        let budget = Budget { visits, leaves: config.search.leaves };
        let games: Vec<Game> = references.iter().map(|reference| reference.game.clone()).collect();
        let mut seen = vec![None; games.len()];
        BatchedSearch { model, settings, budget, purpose: Purpose::Win, seed: config.seed, stop }.on(
            &games,
            &mut |index, driver| {
                seen[index] = Some(measure(&references[index], driver.search()));
            },
        )?;
        Ok(seen.into_iter().collect())
    }
}

fn measure(reference: &DeepPosition, search: &Search) -> Measurement {
    let priors = outputs::priors(search);
    let mv = search.best_move().map_or(priors[0].0, |root| root.mv);
    let squared = |value: Value| f64::from(value.black() - reference.value).powi(2);
    let prior = |mv: Move| priors.iter().find(|(of, _)| *of == mv).map_or(0.0, |(_, prior)| *prior);
    let nats = |(mv, share): (Move, f64)| -share * f64::from(prior(mv).max(f32::MIN_POSITIVE)).ln();
    Measurement {
        turn: reference.game.moves().len(),
        squared_error: squared(search.policy_value()),
        squared_error_of_mean: squared(search.root_value()),
        first: reference.visits[0].0 == mv,
        among_three: reference.visits.iter().take(3).any(|&(of, _)| of == mv),
        cross_entropy: reference.shares().map(nats).sum(),
    }
}

fn row(model: String, visits: u32, seen: &[Measurement]) -> Row {
    let estimate = |of: fn(&Measurement) -> f64| Estimate::of(seen.iter().map(of));
    let share = |of: fn(&Measurement) -> bool| Share::new(seen.iter().filter(|seen| of(seen)).count(), seen.len());
    let of_stage = |stage: Stage| {
        Estimate::of_any(seen.iter().filter(|seen| Stage::of(seen.turn) == stage).map(|seen| seen.squared_error))
    };
    Row {
        model,
        visits,
        positions: seen.len(),
        squared_error: estimate(|seen| seen.squared_error),
        squared_error_of_mean: estimate(|seen| seen.squared_error_of_mean),
        squared_error_by_move: Stage::ALL.map(of_stage),
        first: share(|seen| seen.first),
        among_three: share(|seen| seen.among_three),
        cross_entropy: estimate(|seen| seen.cross_entropy),
        network: None,
        difference: None,
    }
}

/// The errors less those of another model on the same positions.
fn difference(less: String, seen: &[Measurement], theirs: &[Measurement]) -> Difference {
    let less_theirs = |(own, other): (&Measurement, &Measurement)| (own.turn, own.squared_error - other.squared_error);
    Difference::of(less, &seen.iter().zip(theirs).map(less_theirs).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_names_the_stages() {
        let stages = "       before 15        15 to 26         from 27";
        let others = "  mean of visits        top move, %     among three, %   cross-entropy";
        assert_eq!(heading(), format!("visits     value error{stages}{others}"));
    }

    fn seen(turn: usize, squared_error: f64) -> Measurement {
        Measurement {
            turn,
            squared_error,
            squared_error_of_mean: 1.0,
            first: turn < 15,
            among_three: true,
            cross_entropy: 2.0,
        }
    }

    #[test]
    fn errors_are_subtracted_position_by_position() {
        let own = [seen(3, 0.1), seen(14, 0.9), seen(27, 0.5)];
        let theirs = [seen(3, 0.2), seen(14, 1.0), seen(27, 0.6)];
        let text = difference("m".to_owned(), &own, &theirs).to_string();
        assert_eq!(text, " -0.100 ± 0.000  -0.100 ± 0.000               –               –");
    }

    #[test]
    fn rows_are_means_by_stage() {
        let row = row("m".to_owned(), 4, &[seen(3, 0.1), seen(14, 0.3), seen(27, 0.5), seen(40, 0.7)]);
        let mean = |of: &Option<Estimate>| of.as_ref().map(|of| (of.mean * 1e6).round() / 1e6);
        assert_eq!(row.squared_error_by_move.each_ref().map(mean), [Some(0.2), None, Some(0.6)]);
        assert!((row.squared_error.mean - 0.4).abs() < 1e-12);
        assert_eq!((row.first.share, row.among_three.share, row.cross_entropy.mean), (0.5, 1.0, 2.0));
        assert!(row.among_three.low < 1.0, "four positions leave more than one share possible");
    }
}
