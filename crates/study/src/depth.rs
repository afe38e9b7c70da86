//! `tengen study depth`: the depth of searches, by the value of a move before its first visit.
//!
//! Positions come from games that the model plays against itself as in self-play, one from each game. Each is
//! searched once with every rule, without noise.

use std::fmt;

use config::{QInit, RunConfig};
use go::Game;
use mcts::{Evaluator, Purpose, Search, Settings};
use play::Budget;
use runtime::Stop;
use serde::Serialize;

use crate::batched_search::BatchedSearch;
use crate::model::ModelArgs;
use crate::positions::positions;
use crate::statistics::Estimate;

/// Compared settings; the first is the baseline.
const Q_INITS: [QInit; 3] = [QInit::PARENT, QInit::LOSS, QInit::Zero];

/// Keys that these and `--visits` set.
const OWN: [&str; 2] = ["search.q_init", "search.visits"];

/// Arguments of `tengen study depth`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    of: ModelArgs,
    /// Positions, each from a separate game
    #[arg(long, default_value = "200", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(2_u32..))]
    positions: u32,
    /// Visits per position
    #[arg(long, default_value = "400", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=mcts::MOST_VISITS))]
    visits: u32,
}

/// Statistics of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measurement {
    mean_depth: f64,
    max_depth: f64,
    /// Moves of the root that were visited.
    moves: f64,
    /// The network's value of the position, for the side to move.
    value: f32,
}

/// Means over some positions, or of differences from another rule at the same positions.
#[derive(Serialize)]
struct Row {
    q_init: String,
    /// The rule that is subtracted.
    less: Option<String>,
    /// All positions, or those where the side to move is ahead or behind, by the network's value.
    side: &'static str,
    positions: usize,
    /// These are none of fewer than two positions.
    mean_depth: Option<Estimate>,
    max_depth: Option<Estimate>,
    moves: Option<Estimate>,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.less.as_ref().map_or(self.q_init.clone(), |less| format!("{} - {less}", self.q_init));
        write!(f, "{name:<15} {:<7} {:>9}", self.side, self.positions)?;
        [self.mean_depth, self.max_depth, self.moves].iter().try_for_each(|of| match of {
            Some(of) => write!(f, " {:>7.2} ± {:<5.2}", of.mean, of.half),
            None => f.write_str("       –        "),
        })
    }
}

/// Plays the games, searches the positions, and prints the table.
///
/// # Errors
/// A model or a configuration that cannot be used, or a device that fails.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let (models, model) = args.of.find(store)?;
    let played = args.of.own_configuration(&models, &model)?;
    let config = args.of.configuration(&models, &model, &["search.algorithm=puct".to_owned()], &OWN)?;
    let player = args.of.open(&models, &config, &model)?;
    let mut evaluator = player.evaluator(args.of.resources.cache());
    let games = positions(&played, player.name(), "depth", args.positions, None, &mut *evaluator, stop)?;
    if stop.requested() {
        return Ok(());
    }
    let mut seen = Vec::new();
    for q_init in Q_INITS {
        let Some(found) = searched(&config, q_init, args.visits, &games, &mut *evaluator, stop)? else {
            return Ok(());
        };
        seen.push(found);
    }
    report(args, player.name(), &seen)
}

/// What the searches of all positions found; none when the program is to stop.
fn searched(
    config: &RunConfig,
    q_init: QInit,
    visits: u32,
    games: &[Game],
    model: &mut dyn Evaluator,
    stop: &Stop,
) -> anyhow::Result<Option<Vec<Measurement>>> {
    let search = config::Search { q_init, ..config.search.clone() };
    let settings = Settings::new(&search, &config.game);
    let budget = Budget { visits, leaves: search.leaves };
    let mut seen = vec![None; games.len()];
    BatchedSearch { model, settings, budget, purpose: Purpose::Win, seed: config.seed, stop }.on(
        games,
        &mut |index, driver| {
            seen[index] = Some(measure(driver.search()));
        },
    )?;
    Ok(seen.into_iter().collect())
}

fn measure(search: &Search) -> Measurement {
    Measurement {
        mean_depth: search.depth().mean().into(),
        max_depth: search.depth().max().into(),
        moves: search.root_moves().len() as f64,
        value: search.network_value().mover(search.game().to_move()),
    }
}

/// First each rule, then each less the first.
fn report(args: &Args, model: &str, seen: &[Vec<Measurement>]) -> anyhow::Result<()> {
    if !args.of.json {
        let (positions, visits) = (args.positions, args.visits);
        runtime::print(format!(
            "Depths of {model}'s searches, {visits} visits, {positions} positions; means with 95 % intervals"
        ))?;
        runtime::print("q_init          side    positions      mean depth       max depth      root moves")?;
    }
    let rules = Q_INITS.iter().zip(seen).map(|(q_init, seen)| (q_init, None, seen.clone()));
    let less = |(q_init, other): (_, &Vec<Measurement>)| (q_init, Some(Q_INITS[0]), differences(other, &seen[0]));
    let differences = Q_INITS.iter().zip(seen).skip(1).map(less);
    for (q_init, less, seen) in rules.chain(differences) {
        for (side, ahead) in [("all", None), ("ahead", Some(true)), ("behind", Some(false))] {
            let those: Vec<Measurement> =
                seen.iter().filter(|seen| ahead.is_none_or(|ahead| ahead == (seen.value > 0.0))).copied().collect();
            let row = row(*q_init, less, side, &those);
            if args.of.json { runtime::print(serde_json::to_string(&row)?)? } else { runtime::print(row)? }
        }
    }
    Ok(())
}

fn row(q_init: QInit, less: Option<QInit>, side: &'static str, seen: &[Measurement]) -> Row {
    let estimate = |of: fn(&Measurement) -> f64| Estimate::of_any(seen.iter().map(of));
    Row {
        q_init: q_init.to_string(),
        less: less.map(|less| less.to_string()),
        side,
        positions: seen.len(),
        mean_depth: estimate(|seen| seen.mean_depth),
        max_depth: estimate(|seen| seen.max_depth),
        moves: estimate(|seen| seen.moves),
    }
}

/// The same positions with one rule less with another; the value is that of the position.
fn differences(one: &[Measurement], other: &[Measurement]) -> Vec<Measurement> {
    let less = |(a, b): (&Measurement, &Measurement)| Measurement {
        mean_depth: a.mean_depth - b.mean_depth,
        max_depth: a.max_depth - b.max_depth,
        moves: a.moves - b.moves,
        value: b.value,
    };
    one.iter().zip(other).map(less).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_taken_position_by_position() {
        let seen = |mean_depth, value| Measurement { mean_depth, max_depth: 2.0 * mean_depth, moves: 3.0, value };
        let (one, other) = ([seen(5.0, 0.5), seen(9.0, -0.5)], [seen(4.0, 0.5), seen(8.0, -0.5)]);
        let row = row(QInit::LOSS, Some(QInit::PARENT), "all", &differences(&one, &other));
        // Both are deeper by 1, though the positions themselves differ by 4.
        let mean = |of: Option<Estimate>| of.map(|of| (of.mean, of.half));
        assert_eq!(mean(row.mean_depth), Some((1.0, 0.0)));
        assert_eq!((mean(row.max_depth), mean(row.moves)), (Some((2.0, 0.0)), Some((0.0, 0.0))));
    }

    #[test]
    fn row_of_one_position_has_no_numbers() {
        let seen = Measurement { mean_depth: 4.0, max_depth: 8.0, moves: 3.0, value: 0.5 };
        let row = row(QInit::LOSS, None, "ahead", &[seen]);
        let json = serde_json::to_value(&row).expect("plain fields are JSON");
        assert!(json["mean_depth"].is_null() && json["moves"].is_null(), "{json}");
        assert!(!row.to_string().contains("NaN"), "{row}");
    }
}
